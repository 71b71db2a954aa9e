"""The figure of pauses, where the flow control has some."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tailback.figures import style
from tailback.figures.spans import end_ns
from tailback.figures.tables import Numbers, Results, having, numbers, recorded
from tailback.result import Result

_SENDERS = {"endpoint": "endpoints", "switch": "switches"}
_BINS = 200


def pauses_over_time(results: Results) -> Figure:
    """Virtual channels that are paused over simulated time: of endpoints, and of channels between switches.

    Means of 200 equal parts of the run. A line per run. Table `pauses`.
    """
    runs = having(results, "pauses")
    with style.styled():
        figure, panels = style.figure(len(_SENDERS), height=2.2)
        for axes, (sender, senders) in zip(panels, _SENDERS.items(), strict=True):
            for number, label, result in runs:
                times, paused = _paused(result, sender)
                axes.plot(times, paused, label=label, **style.line(number))
            style.from_zero(axes)
            axes.set_ylabel(f"paused virtual channels\nof {senders}")
            axes.yaxis.set_major_formatter("{x:,.10g}")
        panels[-1].set_xlabel("simulated time [us]")
        style.legend(figure, panels)
    return figure


def _paused(run: Result, sender: str) -> tuple[Numbers, Numbers]:
    """The middles of the bins in us, and how many senders of a kind are paused in each, in the mean."""
    table = recorded(run, "pauses")
    of_kind = np.array([name.startswith(sender) for name in table["from"].to_pylist()], dtype=bool)
    starts, ends = (numbers(table, column)[of_kind] for column in ("start_ns", "end_ns"))
    last = end_ns(run) if np.isfinite(end_ns(run)) else np.nanmax([1.0, *starts, *ends])
    edges = np.linspace(0, last, _BINS + 1)
    until = _passed(starts, edges) - _passed(np.nan_to_num(ends, nan=np.inf), edges)
    return (edges[1:] + edges[:-1]) / 2e3, np.diff(until) / np.diff(edges)


def _passed(moments: Numbers, times: Numbers) -> Numbers:
    """For each of ascending times, the sum of how long the moments before it have passed."""
    moments = np.sort(moments[np.isfinite(moments)])
    before = np.searchsorted(moments, times)
    sums: Numbers = np.concatenate([[0.0], np.cumsum(moments)])
    passed: Numbers = before * times - sums[before]
    return passed
