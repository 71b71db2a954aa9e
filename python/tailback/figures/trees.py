"""The figure of congestion trees."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import isnan

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tailback.congestion_trees import held
from tailback.figures import style
from tailback.figures.tables import Numbers, Results, distinct, having, recorded
from tailback.result import Result

_COUNTED = ("endpoints\nheld", "channels between\nswitches held")
_SHARE = "held flits that are\nnot for the root [%]"


def trees_over_time(results: Results) -> Figure:
    """How far congestion reaches over simulated time: all trees of a time together.

    Endpoints and channels between switches that have something to send and no room ahead, and how much of
    what waits at their ends, in trees that end at an endpoint, is for others. A line per run. Table `trees`,
    and `occupancy` for the times.
    """
    runs = having(results, "trees")
    with style.styled():
        figure, panels = style.figure(len(_COUNTED) + 1, height=1.9)
        is_known = False
        for number, label, result in runs:
            times, lines = _lines(result)
            is_known |= bool(np.isfinite(lines[-1]).any())
            for axes, line in zip(panels, lines, strict=True):
                axes.plot(times, line, label=label, **style.marked_line(number, len(times)))
        for axes, name in zip(panels, (*_COUNTED, _SHARE), strict=True):
            style.from_zero(axes)
            axes.set_ylabel(name)
            axes.yaxis.set_major_formatter("{x:,.10g}")
            if name != _SHARE:
                axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
            elif not is_known:
                axes.text(0.5, 0.5, "no tree of an endpoint", transform=axes.transAxes, ha="center")
        panels[-1].set_xlabel("simulated time [us]")
        style.legend(figure, panels)
    return figure


def _lines(run: Result) -> tuple[Numbers, list[Numbers]]:
    """The recorded times in us, and what each panel shows of them."""
    ends: tuple[defaultdict[float, set[tuple[int, int]]], ...] = (defaultdict(set), defaultdict(set))
    flits, strangers = Counter[float](), Counter[float]()
    for row in held(recorded(run, "trees")):
        ends[0 if row.is_of_endpoint else 1][row.time_ns].add((row.switch, row.port))
        if not isnan(row.strangers):
            flits[row.time_ns] += row.flits
            strangers[row.time_ns] += int(row.strangers)
    times = sorted(distinct(recorded(run, "occupancy"), "time_ns"))
    shares = [100 * strangers[time] / flits[time] if flits[time] else np.nan for time in times]
    counts = [np.array([len(own[time]) for time in times], dtype=float) for own in ends]
    return np.array(times, dtype=float) / 1e3, [*counts, np.array(shares)]
