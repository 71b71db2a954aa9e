"""Latency of messages over time, and where it is only known to be at least so much: some have not arrived."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from tailback.figures import style
from tailback.figures.spans import end_ns
from tailback.figures.tables import MISSING_MAX, Numbers, numbers, only, recorded
from tailback.result import Result

UNRIPE_US = 5.0
"""What is created so short before the end of a run may not have arrived for no fault."""
AT_LEAST: Any = (0, (1, 1.5))
"""Dashes of what is only known to be at least so much."""
_UNRIPE = 0.1
"""Of a short run the part that is as long."""
_COMPLETE = 1 - MISSING_MAX
"""Share of the messages that must have arrived for their mean latency to be known."""
_MOST = 0.5
"""Share that must have arrived for the lower bound to tell more than how long the run lasted."""


@dataclass(frozen=True)
class Arrivals:
    """What became of the messages of a traffic class, by the time of their creation."""

    times: Numbers
    """The middles of the bins, as far as the run reaches, in microseconds."""
    latency: Numbers
    """Mean in ns; a lower bound where not all have arrived, which count with the age that they reached."""
    arrived: Numbers
    """Share of the messages."""
    complete: NDArray[np.bool_]
    """Whether all have arrived, but for one in a hundred."""


def arrivals(results: Sequence[Result], traffic: str) -> Arrivals:
    """The mean over runs of one scenario, of tables `series` of one traffic class, until the first ends."""
    found = [_of_one(result, traffic) for result in results]
    times = min((each[0] for each in found), key=len)
    latency, arrived = (np.mean([each[part][: len(times)] for each in found], axis=0) for part in (1, 2))
    return Arrivals(times, latency, arrived, arrived >= _COMPLETE)


def _of_one(result: Result, traffic: str) -> tuple[Numbers, Numbers, Numbers]:
    """Times, latencies and shares that have arrived."""
    table = only(recorded(result, "series"), "class", traffic)
    starts = numbers(table, "time_ns")
    # Nothing was created in a bin without a mean.
    latency = np.nan_to_num(numbers(table, "message_latency_ns"))
    return (starts + _ends(starts, end_ns(result))) / 2e3, latency, _arrived(table)


def _ends(starts: Numbers, end: float) -> Numbers:
    """When bins of equal width end, of which the end of the run may cut the last short."""
    width = starts[1] - starts[0] if len(starts) > 1 else math.inf
    # Of an end that is not known it is only known that the last bin began before.
    return np.minimum(starts + width, end if math.isfinite(end) else starts.max(initial=0))


def _arrived(table: Any) -> Numbers:
    """The share of the messages of each bin that arrived; 0 where none were created."""
    created, messages = (numbers(table, name) for name in ("created", "messages"))
    return np.nan_to_num(np.minimum(messages / np.where(created > 0, created, math.nan), 1))


def late(table: Any, column: str) -> NDArray[np.bool_]:
    """The bins of a time series of which something was missing at the end: a mean is a lower bound."""
    missing = column.removesuffix("_ns") + "_missing"
    if missing not in table.column_names:  # a result of an older engine
        return np.zeros(table.num_rows, dtype=bool)
    is_late: NDArray[np.bool_] = numbers(table, missing) > 0
    return is_late


def least(table: Any, column: str) -> Numbers:
    """What a latency of a time series, in ns, is at least in its late bins, as far as it tells.

    It begins at the last known point before these bins and ends at the first after them; NaN elsewhere.
    """
    is_late = late(table, column)
    if not is_late.any():
        return np.full(len(is_late), np.nan)
    times = numbers(table, "time_ns")
    unripe = min(1e3 * UNRIPE_US, _UNRIPE * times.max())
    shown = is_late & (_arrived(table) >= _MOST) & (times <= times.max() - unripe)
    return np.where(_joined(shown) & (shown | ~is_late), numbers(table, column), np.nan)


def _joined(least: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """From the last point of the line to the first where it goes on."""
    joined: NDArray[np.bool_] = least | np.append(least[1:], False) | np.append(False, least[:-1])
    return joined


def draw(axes: Axes, label: str, number: int, spans: Arrivals) -> None:
    """A line in us where nearly all messages have arrived, dots where their latency is at least so long."""
    shown = {**style.marked_line(number, len(spans.times)), "label": label}
    axes.plot(spans.times, np.where(spans.complete, spans.latency, np.nan) / 1e3, **shown)
    late = ~spans.complete & (spans.times <= spans.times.max(initial=0) - UNRIPE_US)
    least = late & (spans.arrived >= _MOST)
    if least.any():
        faint = {**style.line(number), "linestyle": AT_LEAST}
        at_ends = _joined(least) & (least | spans.complete)
        axes.plot(spans.times, np.where(at_ends, spans.latency, np.nan) / 1e3, **faint)
    if (late & ~least).any():
        last = np.flatnonzero(spans.complete | least)[-1]
        span = spans.times.max(initial=0)
        right = spans.times[last] > 0.7 * span
        # To the left of its end a curve may have been higher.
        under = (spans.complete | least) & (spans.times > spans.times[last] - 0.3 * span)
        top = spans.latency[under].max() if right else spans.latency[last]
        axes.annotate(
            f"{label}: later ones\nmostly do not arrive",
            (spans.times[last], top / 1e3),
            xytext=(0, 7) if right else (7, 0),
            va="bottom" if right else "center",
            textcoords="offset points",
            ha="right" if right else "left",
            color=style.line(number)["color"],
            fontsize=9,
            in_layout=False,
        )


def explain(axes: Axes) -> None:
    """Puts the dots into the legend."""
    axes.plot([], [], color="#555555", linestyle=AT_LEAST, label="at least\n(some have\nnot arrived)")
