"""How many times as long as in the empty network messages took, by their size."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tailback.errors import mistake
from tailback.figures import style
from tailback.figures.latencies import tell_saturated
from tailback.figures.spans import window
from tailback.figures.tables import (
    Line,
    Numbers,
    Results,
    Traffic,
    by_class,
    by_label,
    distinct,
    having,
    name_class,
    numbers,
    recorded,
)
from tailback.result import Result
from tailback.sweeps.space import quantity
from tailback.units import family

_SIZES_MAX = 12
"""Different sizes that are each a point; more stand together from each power of two to the next."""
_TELLING = 100
"""Messages that have a 99th percentile."""


class _Measured(NamedTuple):
    """The messages of a line that were created in the window, with a known latency in the empty network."""

    line: Line
    sizes: Numbers
    """In bytes."""
    slowdowns: Numbers


def slowdown_by_size(results: Results, *, traffic: Traffic = None) -> Figure:
    """How many times as long as in the empty network messages took, by their size.

    The median, and below it the 99th percentile where there are 100 messages. Of the messages of data created
    in the window; a line per run and traffic class (or only of the classes `traffic`). More than 12 sizes
    stand together from each power of two to the next. Table `messages`.
    """
    runs = list(by_label(results).values())
    measured = [_measured(line, runs[line.run]) for line in by_class(results, "messages", traffic)]
    measured = [one for one in measured if len(one.sizes)]
    if not measured:
        raise mistake(
            "no message has a slowdown",
            "a longer run.duration, or a network on which minimal routing is known",
        )
    bins = _Bins(np.concatenate([one.sizes for one in measured]))
    has_tails = any(np.isfinite(bins.quantile(one, 0.99, _TELLING)[1]).any() for one in measured)
    rows = [(0.5, 1, "median slowdown"), (0.99, _TELLING, "99th percentile\nof slowdown")][: 1 + has_tails]
    with style.styled():
        figure, panels = style.figure(len(rows), height=2.4 if has_tails else 3.6)
        for axes, (share, least, name) in zip(panels, rows, strict=True):
            for one in measured:
                where, values = bins.quantile(one, share, least)
                looks = style.marked_line(one.line.number, len(where), one.line.kind)
                axes.plot(where, values, label=one.line.label, **looks)
            style.logarithmic(axes, "y")
            style.not_too_close(axes)
            axes.set_ylabel(name)
        name_class(panels[0], traffic)
        style.logarithmic(panels[-1], "x")
        low, high = min(bins.places), max(bins.places)
        panels[-1].set_xlim(low / 1.5, high * 1.5)
        panels[-1].set_xlabel("message size [B]")
        notes = ["1: as long as alone in the empty network"]
        few = any(bins.has_few(one) for one in measured)
        notes += ["no 99th percentile where a size has fewer than 100 messages"] * few
        style.notes(figure, notes)
        tell_saturated(figure, results, traffic or _classes(results), "message")
        style.legend(figure, panels)
    return figure


def are_known(run: Result) -> bool:
    """Whether a slowdown is known of any message; results of older engines tell none."""
    return bool(_known(run.tables["messages"], run).any())


def _classes(results: Results) -> list[str]:
    """The classes that have messages of their own."""
    tables = [recorded(result, "messages") for _, _, result in having(results, "messages")]
    return list(dict.fromkeys(name for table in tables for name in distinct(table, "class")))


def _measured(line: Line, run: Result) -> _Measured:
    part = line.table.filter(pa.array(_known(line.table, run)))
    sizes = numbers(part, "flits") * flit_bytes(run)
    slowdowns = numbers(part, "latency_ns") / numbers(part, "zero_load_ns") if len(sizes) else np.zeros(0)
    return _Measured(line, sizes, slowdowns)


def _known(table: pa.Table, run: Result) -> NDArray[np.bool_]:
    """The messages of data created in the window whose latency in the empty network is known."""
    if not {"kind", "zero_load_ns"} <= set(table.column_names):
        return np.zeros(table.num_rows, dtype=bool)
    begin, end = window(run) or (0.0, np.inf)
    created = numbers(table, "created_ns")
    kept: NDArray[np.bool_] = (begin * 1e3 <= created) & (created < end * 1e3)
    kept &= numbers(table, "zero_load_ns") > 0
    kept &= np.array([kind == "data" for kind in table["kind"].to_pylist()], dtype=bool)
    return kept


def flit_bytes(run: Result) -> float:
    """How many bytes a flit has."""
    try:
        size, unit = quantity(tomllib.loads(run.scenario)["packet"]["flit"])
        bits = family(["b"]) or {}
        return float(size) * bits[unit] / bits["B"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise mistake("the result's scenario does not tell how large a flit is", "run it again") from None


class _Bins:
    """Sizes that stand together, and where each is on the axis."""

    def __init__(self, sizes: Numbers) -> None:
        distinct = np.unique(sizes)
        self._are_single = len(distinct) <= _SIZES_MAX
        self._edges: Numbers = distinct if self._are_single else np.unique(_octave(distinct))
        self.places: Sequence[float] = list(self._edges if self._are_single else 2.0 ** (self._edges + 0.5))

    def has_few(self, of: _Measured) -> bool:
        """Whether there are bins with messages, but too few to tell a 99th percentile."""
        return bool(np.isnan(self.quantile(of, 0.5, _TELLING)[1]).any())

    def quantile(self, of: _Measured, share: float, least: int) -> tuple[list[float], list[float]]:
        """Where the bins with messages are, and the quantiles of their slowdowns; NaN where these are few."""
        keys = of.sizes if self._are_single else _octave(of.sizes)
        members = [of.slowdowns[keys == edge] for edge in self._edges]
        told = [(place, one) for place, one in zip(self.places, members, strict=True) if len(one)]
        nearest = [
            float(np.quantile(one, share, method="inverted_cdf")) if len(one) >= least else math.nan
            for _, one in told
        ]
        return [place for place, _ in told], nearest


def _octave(sizes: Numbers) -> NDArray[np.float64]:
    """The power of two that a size is at least."""
    return np.floor(np.log2(sizes))
