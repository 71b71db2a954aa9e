"""Numbers from a result."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
import pyarrow.compute as pc

from tailback.experiments.model import Measure
from tailback.figures.tables import Numbers, middles, series
from tailback.result import Result
from tailback.stats import Interval, mean_interval


def _facts(result: Result, traffic: str) -> dict[str, Any]:
    facts: dict[str, Any] = result.summary["classes"][traffic]
    return facts


def accepted_per_destination(traffic: str) -> Measure:
    """Accepted data throughput per destination, as a fraction of its channel."""
    return lambda result: float(_facts(result, traffic)["accepted_per_destination"])


def accepted(traffic: str) -> Measure:
    """Accepted data throughput, as a fraction of the sources' channels."""
    return lambda result: float(_facts(result, traffic)["accepted"])


def latency(traffic: str, kind: str = "network") -> Measure:
    """The mean latency in ns; NaN where it is reported as saturated: over 1 % of what is due never came."""

    def measure(result: Result) -> float:
        number = _facts(result, traffic)[f"{kind}_latency_ns"]["mean"]
        return math.nan if number is None else float(number)

    return measure


def delivered_latency(traffic: str, kind: str = "network") -> Measure:
    """The mean latency in ns of what did arrive, even where the latency is reported as saturated.

    Past saturation that is a lower bound: what has not arrived is slower. From the histogram, whose bins are
    at most 1 % wide.
    """

    def measure(result: Result) -> float:
        exact = latency(traffic, kind)(result)
        if not math.isnan(exact):
            return exact
        table = result.tables["histograms"]
        table = table.filter(pc.and_(pc.equal(table["class"], traffic), pc.equal(table["latency"], kind)))
        counts = np.asarray(table["count"].to_numpy(), dtype=float)
        middles = (table["low_ns"].to_numpy() + table["high_ns"].to_numpy()) / 2
        return float((counts * middles).sum() / counts.sum()) if counts.size else math.nan

    return measure


def is_saturated(traffic: str, kind: str = "network") -> Measure:
    """1 where the latency is reported as saturated, else 0."""
    return lambda result: float(bool(_facts(result, traffic)[f"{kind}_latency_ns"]["saturated"]))


def ejection_share(kind: str) -> Measure:
    """Share of the ejection channels taken by packets of a kind."""
    return lambda result: float(result.summary["ejection_shares"].get(kind, 0.0))


def mean_series(results: list[Result], traffic: str, column: str) -> tuple[Numbers, Numbers]:
    """The beginnings of bins in us, and the mean of a time series over several runs in each.

    Bins that are empty in a run are left out of its mean.
    """
    times, stacked = _stacked(results, traffic, column)
    known = ~np.isnan(stacked)
    sums = np.where(known, stacked, 0.0).sum(axis=0)
    counts = known.sum(axis=0)
    return times, np.where(counts > 0, sums / np.maximum(counts, 1), math.nan)


def interval_series(results: list[Result], traffic: str, column: str) -> tuple[Numbers, list[Interval]]:
    """The middles of the bins and the same mean, with its confidence interval in each: for a figure."""
    times, stacked = _stacked(results, traffic, column)
    return middles(times), [mean_interval(values[~np.isnan(values)].tolist()) for values in stacked.T]


def _stacked(results: list[Result], traffic: str, column: str) -> tuple[Numbers, Numbers]:
    """Times in us and a row of values for each run, as long as the shortest."""
    columns = [series(result, traffic, column) for result in results]
    length = min(len(times) for times, _ in columns)
    return columns[0][0][:length], np.vstack([values[:length] for _, values in columns])


def packets_share(traffic: str, count: str) -> Measure:
    """Packets of a count, such as "dropped" or "speculative", as a share of the sources' channels."""

    def measure(result: Result) -> float:
        facts = _facts(result, traffic)
        return float(facts[f"{count}_packets"] / max(1, facts["packets"]) * facts["offered"])

    return measure


def per_packet(traffic: str, count: str) -> Measure:
    """Packets of a count, such as "dropped" or "reordered", over those created in the window."""
    return lambda result: float(
        _facts(result, traffic)[f"{count}_packets"] / max(1, _facts(result, traffic)["packets"])
    )


def largest(numbers: Iterable[float]) -> float:
    """The largest of them; NaN if one is, where `max` would leave it out or not by their order."""
    return float(np.max(list(numbers)))


def least(numbers: Iterable[float]) -> float:
    """The least of them; NaN if one is."""
    return float(np.min(list(numbers)))


def utilisation(channels: dict[str, int], kinds: Collection[str] = ()) -> Measure:
    """Mean share of time in which a channel carries flits; `channels` by link class, of any kind or these."""

    def measure(result: Result) -> float:
        facts = result.summary
        classes = {**facts["channel_shares"], "injection": facts["injection_shares"]}
        classes["ejection"] = facts["ejection_shares"]
        busy = sum(
            count * sum(share for kind, share in classes[name].items() if not kinds or kind in kinds)
            for name, count in channels.items()
        )
        return float(busy / sum(channels.values()))

    return measure
