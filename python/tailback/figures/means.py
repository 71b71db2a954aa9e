"""Means over seeds as points of a line, each with its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from matplotlib.axes import Axes

from tailback.figures import style
from tailback.stats import Interval


@dataclass(frozen=True)
class Point:
    """What was measured at a place of the horizontal axis."""

    place: float
    mean: Interval
    is_stable: bool | None = True
    """None if that is not to be told."""
    is_bound: bool = False
    """Whether the mean is only known to be at least so much, as what had not arrived is slower."""

    @property
    def is_known(self) -> bool:
        """Whether it can be drawn."""
        return math.isfinite(self.mean.mean)

    def scaled(self, factor: float) -> Point:
        """The point in another unit."""
        return replace(self, mean=self.mean.scaled(factor))


_LOWEST = 0.1
"""Part of a mean down to which its bar is drawn on a logarithmic axis, which has no zero."""


def line(
    axes: Axes,
    points: Sequence[Point],
    label: str,
    number: int,
    kind: int | None = None,
    *,
    joined: bool = True,
    lowest: float = 0.0,
    highest: float = math.inf,
) -> None:
    """A line through points, with the look of a number, and perhaps of a kind, with gaps where none is known.

    Those of runs that are not stable are hollow, and lower bounds have an arrow up. Intervals are cut where
    nothing can be: under what is `lowest`, or on a logarithmic axis, which the vertical one has to be by
    then, under a tenth of the mean; an arrow down tells. None reaches over what is `highest`.
    """
    points = sorted(points, key=lambda point: point.place)
    looks = style.line(number, kind) | ({} if joined else {"linestyle": ""})
    ends = [_lowest(axes, point, lowest) for point in points]
    down = [min(one.mean.half, one.mean.mean - low) for one, low in zip(points, ends, strict=True)]
    up = [max(min(one.mean.half, highest - one.mean.mean), 0.0) for one in points]
    axes.errorbar(
        [point.place for point in points],
        [point.mean.mean for point in points],
        yerr=[down, up] if _have_bars(points) else None,
        label=label or None,
        marker=style.marker(number, kind),
        capsize=2.5,
        **looks,
    )
    cut = [(one.place, low) for one, low in zip(points, ends, strict=True) if one.mean.low < low]
    for place, low in cut:
        axes.plot(place, low, "v", color=looks["color"], markersize=5, clip_on=False)
    known = [point for point in points if point.is_known]
    for state in (False, None):
        marked = [one for one in known if one.is_stable is state]
        where, values = [one.place for one in marked], [one.mean.mean for one in marked]
        style.hollow(axes, number, where, values, kind, half=state is None)
    bounds = [one for one in known if one.is_bound]
    style.upward(axes, number, [one.place for one in bounds], [one.mean.high for one in bounds])


def _lowest(axes: Axes, point: Point, lowest: float) -> float:
    """Where the interval of a point is cut at the latest."""
    return _LOWEST * point.mean.mean if axes.get_yscale() == "log" else lowest


def notes(axes: Axes, points: Iterable[Point], lowest: float = 0.0) -> list[str]:
    """What has to be said under the figure of points that are drawn into such axes."""
    shown = list(points)
    told = ["bars: 95 % confidence intervals over the seeds"] if _have_bars(shown) else []
    if any(point.mean.low < _lowest(axes, point, lowest) for point in shown):
        end = "a tenth of the mean" if axes.get_yscale() == "log" else f"{lowest:g}"
        told.append(f"arrows down: the interval is cut at {end}")
    known = [point for point in shown if point.is_known]
    marks = {
        style.AT_LEAST: any(point.is_bound for point in known),
        style.UNSTABLE: any(point.is_stable is False for point in known),
        style.DOUBTFUL: any(point.is_stable is None for point in known),
    }
    return told + [note for note, is_there in marks.items() if is_there]


def _have_bars(points: Iterable[Point]) -> bool:
    return any(point.mean.values > 1 and point.is_known for point in points)


def hold(axes: Axes, places: Iterable[float]) -> None:
    """A horizontal axis with every place on it, whether or not something is known there."""
    known = list(places)
    low, high = min(known), max(known)
    margin = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
    axes.set_xlim(low - margin, high + margin)
