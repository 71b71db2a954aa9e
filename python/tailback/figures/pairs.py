"""What single sources got through to single destinations over time."""

from __future__ import annotations

import math
import tomllib
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from tailback.errors import InputError, mistake
from tailback.figures import style
from tailback.figures.slowdowns import flit_bytes
from tailback.figures.spans import end_ns, time_us
from tailback.figures.tables import Numbers, Results, Traffic, by_class, by_label, name_class, numbers
from tailback.result import Result
from tailback.scenario import Scenario
from tailback.words import counted

_PAIRS_MAX = 10
_Pair = tuple[int, int]


class _Measured(NamedTuple):
    """What a run tells of its pairs."""

    label: str
    times: Numbers
    """The middles of all bins, in us."""
    flits: dict[_Pair, Numbers]
    """By bin."""
    full: float
    """The flits of a bin that fill the channel of a source."""


def pair_throughput(results: Results, *, traffic: Traffic = None) -> Figure:
    """Accepted throughput of the pairs of source and destination that got most through, over simulated time.

    Of all traffic classes together, or only of the classes `traffic`. Of several runs a panel for each, in
    which a pair has the same look. Table `pairs`.
    """
    runs = list(by_label(results).items())
    tables: dict[int, list[pa.Table]] = {}
    for line in by_class(results, "pairs", traffic):
        tables.setdefault(line.run, []).append(line.table)
    measured = [_measured(*runs[run], pa.concat_tables(parts)) for run, parts in tables.items()]
    shown, others = _busiest(measured)
    with style.styled():
        figure, panels = style.figure(len(measured), height=3.6 if len(measured) == 1 else 2.4)
        for axes, run in zip(panels, measured, strict=True):
            for number, pair in enumerate(shown):
                look = style.marked_line(number, len(run.times))
                shares = 100 * run.flits.get(pair, np.zeros_like(run.times)) / run.full
                name = f"{pair[0]} to {pair[1]}"
                axes.plot(run.times, shares, label=name, drawstyle="steps-mid", **look)
            axes.set_title(style.titled(run.label), loc="left", fontsize="medium")
            axes.set_ylabel("accepted throughput\n[% of injection bandwidth]")
        highest = max(one.dataLim.ymax for one in panels)
        for axes in panels:  # of one height, so that they can be compared
            axes.set_ylim(0, 1.05 * highest or 1.0)
        if len(panels) == 1 and not measured[0].label:
            name_class(panels[0], traffic)
        panels[-1].set_xlabel("simulated time [us]")
        style.notes(figure, [f"not shown: {counted(others, 'pair')} with less in all"] if others else [])
        style.legend(figure, panels, "source to destination")
    return figure


def _busiest(measured: list[_Measured]) -> tuple[list[_Pair], int]:
    """The pairs with the most flits in all runs together, first those of low numbers, and how many others."""
    total: dict[_Pair, float] = {}
    for run in measured:
        for pair, flits in run.flits.items():
            total[pair] = total.get(pair, 0.0) + float(flits.sum())
    ordered = sorted(total, key=lambda pair: (-total[pair], pair))
    return sorted(ordered[:_PAIRS_MAX]), len(ordered[_PAIRS_MAX:])


def _measured(label: str, result: Result, table: pa.Table) -> _Measured:
    """What a run tells of its pairs; a bin without a row had no flits."""
    starts, flits = numbers(table, "time_ns"), numbers(table, "flits")
    bandwidth, told = _scale(result)
    # The engine rounds the width of a bin to ticks, of which the rows tell.
    gap = np.diff(np.unique(np.append(starts, 0.0))).min(initial=math.inf)
    width = gap / max(1, round(gap / told)) if math.isfinite(gap) else told
    at = np.round(starts / width).astype(int)
    # A last bin that the end of the run cuts short is left out, unless there is no other.
    end = end_ns(result)
    bins = max(1, math.floor(end / width + 1e-9)) if math.isfinite(end) else int(at.max(initial=0)) + 1
    ends = zip(*(table[name].to_pylist() for name in ("source", "destination")), strict=True)
    found: dict[_Pair, Numbers] = {}
    for pair, place, count in zip(ends, at, flits, strict=True):
        if place < bins:
            found.setdefault(pair, np.zeros(bins))[place] += count
    return _Measured(label, (np.arange(bins) + 0.5) * width / 1e3, found, bandwidth * width)


def _scale(result: Result) -> tuple[float, float]:
    """The flits that the channel of a source carries in a ns, and how many ns a bin is to last."""
    try:
        told = Scenario.loads(result.scenario).channels()
        bits = next(rate for start, _, rate, _ in told["channels"] if start >= told["switches"])
        width = 1e3 * time_us(tomllib.loads(result.scenario)["record"]["pairs"])
        return bits / 8 / flit_bytes(result), width
    except (InputError, ValueError, LookupError, TypeError, StopIteration, RecursionError):
        why = f"the scenario of the result {result.name!r} does not tell bandwidth and bins of its pairs"
        raise mistake(why, "run the scenario again") from None
