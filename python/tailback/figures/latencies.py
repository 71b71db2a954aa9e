"""Figures of latencies: over load, and how they are distributed."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from tailback.errors import mistake
from tailback.figures import means, style
from tailback.figures.means import Point
from tailback.figures.tables import (
    ALL,
    Numbers,
    Results,
    Traffic,
    by_class,
    by_label,
    checked,
    chosen,
    distinct,
    having,
    join,
    name_class,
    numbers,
    recorded,
    time_unit,
)
from tailback.result import Result
from tailback.stats import mean_interval
from tailback.words import all_stable, tells_stable, withheld

_LATENCIES = ("message", "packet", "network")
_BINS_PER_DECADE = 20


def latency_over_load(
    results: Mapping[str, Iterable[Result]] | Iterable[Result],
    *,
    traffic: str = "all",
    latency: str = "packet",
) -> Figure:
    """Mean latency over offered load: a line per label. From the summaries.

    Runs of a label that differ in the seed only are one point, with the 95 % confidence interval of their
    mean. There is none where a latency is not known. Latencies of runs that are not stable, which grow with
    the window, are hollow, and means without what had not arrived, which are lower bounds, have an arrow up.
    """
    check_latency(latency)
    if not isinstance(traffic, str):
        raise mistake(f"{traffic!r} is no traffic class", "the name of one")
    given = results if isinstance(results, Mapping) else {"": results}
    lines = {label: checked(runs) for label, runs in given.items()} or {"": checked(())}
    with style.styled():
        figure, (axes,) = style.figure()
        is_told = tells_stable({state for runs in lines.values() for state in _states(_of(runs, traffic))})
        points_of = {
            label: [_load_point(_of(alike, traffic), latency, is_told) for alike in _by_seed(runs)]
            for label, runs in lines.items()
        }
        drawn = [point for points in points_of.values() for point in points]
        unit, size = time_unit(point.mean.mean for point in drawn)
        for number, (label, points) in enumerate(points_of.items()):
            none = "" if any(point.is_known for point in points) else " (none known)" if label else ""
            shown = [point.scaled(1 / size) for point in points]
            means.line(axes, shown, f"{style.plain(label)}{none}", number)
        notes = means.notes(axes, drawn)
        if not all(point.is_known for point in drawn):
            notes.append("no point: not known, as where a network is saturated, or no messages")
        means.hold(axes, [point.place for point in drawn])
        axes.set_xlabel("\n".join(["offered load [% of injection bandwidth]", *notes]))
        axes.set_ylabel(f"mean {latency} latency [{unit}]")
        style.from_zero(axes)
        style.legend(figure, axes)
    return figure


def _by_seed(runs: Iterable[Result]) -> list[list[Result]]:
    """Runs together that differ in the seed only."""
    found: dict[str, list[Result]] = {}
    for run in runs:
        found.setdefault(_without_seed(run.scenario), []).append(run)
    return list(found.values())


def _without_seed(scenario: str) -> str:
    """What a scenario says besides its seed, and the title, which may name it."""
    try:
        table = tomllib.loads(scenario)
        run = {key: value for key, value in table.get("run", {}).items() if key != "seed"}
    except (ValueError, AttributeError, RecursionError):
        return scenario
    return repr({**table, "run": run, "title": ""})


def _of(runs: Sequence[Result], traffic: str) -> list[Mapping[str, Any]]:
    """What the summaries of runs tell of a traffic class."""
    members = []
    for run in runs:
        classes = run.summary["classes"]
        if traffic not in classes:
            raise mistake(f"there is no traffic class {traffic!r}", f"one of: {', '.join(classes)}")
        members.append(classes[traffic])
    return members


def _states(members: Iterable[Mapping[str, Any]]) -> set[bool | None]:
    """Whether they are stable."""
    return {one.get("stable") for one in members}


def _load_point(members: Sequence[Mapping[str, Any]], latency: str, is_told: bool) -> Point:
    """The mean latency of runs of one load, at what they offer; it may be told whether they are stable."""
    told = [one.get(f"{latency}_latency_ns") for one in members]
    known = [values if isinstance(values, Mapping) else {} for values in told]
    values = [one.get("mean") for one in known]
    return Point(
        100 * float(np.mean([one["offered"] for one in members])),
        mean_interval([math.nan if value is None else float(value) for value in values]),
        all_stable(_states(members)) if is_told else True,
        any(one.get("missing") for one in known),
    )


def latency_histogram(results: Results, *, traffic: Traffic = None, latency: str = "message") -> Figure:
    """How latencies are distributed, in bins of equal width on a logarithmic axis. Table `histograms`.

    A line per run and class; of several runs and several classes, a panel per class.
    """
    return _distribution(results, traffic, latency, are_shares=True)


def latency_distribution(results: Results, *, traffic: Traffic = ALL, latency: str = "network") -> Figure:
    """How many packets had which latency, both axes logarithmic, of the classes `traffic`.

    Drawn as `latency_histogram`; without `traffic`, of all classes together. Table `histograms`.
    """
    return _distribution(results, traffic, latency, are_shares=False)


def _distribution(results: Results, traffic: Traffic, latency: str, *, are_shares: bool) -> Figure:
    check_latency(latency)
    members = _members(results, traffic, latency)
    with style.styled():
        figure, panels = style.figure(len(members), height=3.6 if len(members) == 1 else 2.2)
        drawn = [list(by_class(results, "histograms", member, latency=latency)) for member in members]
        # The same for all: shares of bins of other widths would not compare.
        fineness = min(bins_per_decade(line.table) for lines in drawn for line in lines)
        bins = [[(line, *log_bins(line.table, fineness)) for line in lines] for lines in drawn]
        unit, size = time_unit(edges[-1] for lines in bins for _, edges, _ in lines)
        for axes, member, lines in zip(panels, members, bins, strict=True):
            some = False
            for line, edges, counts in lines:
                some = some or bool(counts.any())
                values = 100 * counts / max(counts.sum(), 1) if are_shares else counts
                axes.stairs(values, edges / size, label=line.label, **style.outline(line.number, line.kind))
            if some and not are_shares:  # a logarithmic axis cannot show that nothing came
                style.logarithmic(axes, "y")
            parts = "messages" if latency == "message" else "packets"
            axes.set_ylabel(f"share of {parts} [%]" if are_shares else parts)
            name_class(axes, member)
        style.logarithmic(panels[-1], "x")
        panels[-1].set_xlabel(f"{latency} latency [{unit}]")
        tell_saturated(figure, results, traffic, latency)
        style.legend(figure, panels)
    return figure


def _members(results: Results, traffic: Traffic, latency: str) -> list[Traffic]:
    """What each panel is of: of several runs of several classes one class, whose lines would hide others."""
    lines = by_class(results, "histograms", traffic, latency=latency)
    if all(line.kind is None for line in lines):
        return [traffic]
    tables = [recorded(result, "histograms") for _, _, result in having(results, "histograms")]
    return list(dict.fromkeys(name for one in tables for name in chosen(distinct(one, "class"), traffic)))


def tell_saturated(figure: Figure, results: Results, traffic: Traffic, latency: str) -> None:
    """Names below the figure the drawn classes of which too much has not arrived."""
    parts, told = "messages" if latency == "message" else "packets", dict[str, list[str]]()
    for label, result in by_label(results).items():
        for name in chosen(result.summary.get("classes", {}), traffic):
            if why := withheld(result.summary["classes"][name], latency):
                told.setdefault(why, []).append(join(label, style.plain(name)))
    notes = [f"{why} ({'; '.join(of)}): {parts} that did not arrive are missing" for why, of in told.items()]
    if notes:
        style.notes(figure, notes)


def bins_per_decade(table: pa.Table) -> float:
    """How many even bins of the logarithm leave each at least two of the steps in which most latencies come.

    Of a few whole ns, or flits, finer bins would have one value or none.
    """
    low, counts = (numbers(table, name) for name in ("low_ns", "count"))
    often = np.unique(low[(counts >= _OFTEN * counts.max(initial=0)) & (low > 0)])
    steps = np.diff(often)
    # Values that are further apart than they are large are no row of steps.
    near = steps < often[:-1]
    if not near.any():
        return _BINS_PER_DECADE
    first, step = often[:-1][near].min(), np.median(steps[near])
    return float(min(_BINS_PER_DECADE, 1 / np.log10(1 + 2 * step / first)))


_OFTEN = 0.05
"""Part of the count of the commonest latency that others must have to be among most."""


def log_bins(table: pa.Table, per_decade: float = _BINS_PER_DECADE) -> tuple[Numbers, Numbers]:
    """Rows of the table `histograms` in even bins of the logarithm: edges in ns, and how many are between.

    A row counts where its middle is, one below 1 ps at 1 ps.
    """
    if not table.num_rows:
        return np.array([1.0, 10.0]), np.zeros(1)
    middles = np.maximum((numbers(table, "low_ns") + numbers(table, "high_ns")) / 2, 1e-3)
    bins = np.floor(np.log10(middles) * per_decade).astype(int)
    counts = np.bincount(bins - bins.min(), weights=numbers(table, "count")).astype(float)
    return 10 ** (np.arange(bins.min(), bins.max() + 2) / per_decade), counts


def check_latency(latency: str) -> None:
    """Raises `InputError` if there is no such latency."""
    if latency not in _LATENCIES:
        raise mistake(f"there is no latency {latency!r}", f"one of: {', '.join(_LATENCIES)}")
