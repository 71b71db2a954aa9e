"""The figure of congestion trees."""

from __future__ import annotations

from collections import Counter

import numpy as np
from matplotlib.figure import Figure

from tailback.congestion_trees import congestion_trees
from tailback.figures import style
from tailback.figures.tables import Numbers, Results, distinct, having, recorded
from tailback.result import Result

_PANELS = (
    "endpoints that\ncannot send",
    "channels between\nswitches held",
    "held flits that are\nnot for the root [%]",
)


def trees_over_time(results: Results) -> Figure:
    """How far congestion reaches over simulated time: all trees of a time together.

    Endpoints and channels between switches that have something to send and no room ahead, and how much of
    what waits at their ends, in trees that end at an endpoint, is for others. A line per run. Table `trees`,
    and `occupancy` for the times.
    """
    runs = having(results, "trees")
    with style.styled():
        figure, panels = style.figure(len(_PANELS), height=1.9)
        for number, label, result in runs:
            times, lines = _lines(result)
            for axes, line in zip(panels, lines, strict=True):
                axes.plot(times, line, label=label, **style.marked_line(number, len(times)))
        for axes, name in zip(panels, _PANELS, strict=True):
            style.from_zero(axes)
            axes.set_ylabel(name)
            axes.yaxis.set_major_formatter("{x:,.10g}")
        panels[-1].set_xlabel("simulated time [us]")
        style.legend(figure, panels)
    return figure


def _lines(run: Result) -> tuple[Numbers, list[Numbers]]:
    """The recorded times in us, and what each panel shows of them."""
    endpoints, channels, flits, strangers = (Counter[float]() for _ in range(4))
    for tree in congestion_trees(recorded(run, "trees")):
        endpoints[tree.time_ns] += tree.endpoints
        channels[tree.time_ns] += tree.channels
        flits[tree.time_ns] += tree.flits
        strangers[tree.time_ns] += tree.strangers
    times = sorted(distinct(recorded(run, "occupancy"), "time_ns"))
    shares = [100 * strangers[time] / flits[time] if flits[time] else np.nan for time in times]
    counts = [np.array([count[time] for time in times], dtype=float) for count in (endpoints, channels)]
    return np.array(times, dtype=float) / 1e3, [*counts, np.array(shares)]
