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
    """Mean in ns; a lower bound where not all have arrived."""
    arrived: Numbers
    """Share of the messages."""
    complete: NDArray[np.bool_]
    """Whether all have arrived, but for one in a hundred."""


def arrivals(results: Sequence[Result], traffic: str) -> Arrivals:
    """The mean over runs of one scenario, of the tables `series` of one traffic class.

    A message that has not arrived counts with the age that it has at least at the end of the run.
    """
    found = [_of_one(result, traffic) for result in results]
    times = found[0][0]
    latency, arrived = (np.mean([each[part] for each in found], axis=0) for part in (1, 2))
    return Arrivals(times, latency, arrived, arrived >= _COMPLETE)


def _of_one(result: Result, traffic: str) -> tuple[Numbers, Numbers, Numbers]:
    """Times, latencies and shares that have arrived."""
    table = only(recorded(result, "series"), "class", traffic)
    bound, arrived = _bound(table, end_ns(result))
    latency = np.where(arrived >= _COMPLETE, numbers(table, "message_latency_ns"), bound)
    starts = numbers(table, "time_ns")
    return (starts + _ends(starts, end_ns(result))) / 2e3, latency, arrived


def _ends(starts: Numbers, end: float) -> Numbers:
    """When bins of equal width end, of which the end of the run may cut the last short."""
    width = starts[1] - starts[0] if len(starts) > 1 else math.inf
    # Of an end that is not known it is only known that the last bin began before.
    return np.minimum(starts + width, end if math.isfinite(end) else starts.max(initial=0))


def _bound(table: Any, end: float) -> tuple[Numbers, Numbers]:
    """What the mean latency of the messages of each bin is at least, in ns, and the share that arrived.

    Those that are missing may all have been created at the end of the bin.
    """
    latency, created, messages = (
        numbers(table, name) for name in ("message_latency_ns", "created", "messages")
    )
    ends = _ends(numbers(table, "time_ns"), end)
    arrived = np.nan_to_num(np.minimum(messages / np.where(created > 0, created, math.nan), 1))
    return arrived * np.nan_to_num(latency) + (1 - arrived) * (ends.max(initial=0) - ends), arrived


def least(table: Any, late: NDArray[np.bool_], end: float) -> Numbers:
    """What the latency of messages, in ns, is at least in the late bins of a time series, as far as it tells.

    The run ended at `end`, infinite where that is not known. It begins at the last known point before these
    bins and ends at the first after them; NaN elsewhere.
    """
    if not late.any():
        return np.full(len(late), np.nan)
    (bound, arrived), times = _bound(table, end), numbers(table, "time_ns")
    unripe = min(1e3 * UNRIPE_US, _UNRIPE * times.max())
    shown = late & (arrived >= _MOST) & (times <= times.max() - unripe)
    latency = np.where(late, bound, numbers(table, "message_latency_ns"))
    return np.where(_joined(shown) & (shown | ~late), latency, np.nan)


def _joined(least: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """From the last point of the line to the first where it goes on."""
    joined: NDArray[np.bool_] = least | np.append(least[1:], False) | np.append(False, least[:-1])
    return joined


def draw(axes: Axes, label: str, number: int, spans: Arrivals) -> None:
    """A line in us where all messages have arrived, dots where their latency is at least so long."""
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
