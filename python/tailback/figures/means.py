"""Means over seeds as points of a line, each with its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from tailback.figures import style
from tailback.stats import Interval


@dataclass(frozen=True)
class Point:
    """What was measured at a place of the horizontal axis."""

    place: float
    mean: Interval
    is_stable: bool = True

    @property
    def is_known(self) -> bool:
        """Whether it can be drawn."""
        return math.isfinite(self.mean.mean)

    def scaled(self, factor: float) -> Point:
        """The point in another unit."""
        return Point(self.place, self.mean.scaled(factor), self.is_stable)


def line(
    axes: Axes,
    points: Sequence[Point],
    label: str,
    number: int,
    kind: int | None = None,
    *,
    joined: bool = True,
) -> None:
    """A line through points, with the look of a number, and perhaps of a kind, with gaps where none is known.

    Those of runs that are not stable are hollow.
    """
    points = sorted(points, key=lambda point: point.place)
    looks = style.line(number, kind) | ({} if joined else {"linestyle": ""})
    axes.errorbar(
        [point.place for point in points],
        [point.mean.mean for point in points],
        yerr=[point.mean.half for point in points] if _have_bars(points) else None,
        label=label or None,
        marker=style.marker(number, kind),
        capsize=2.5,
        **looks,
    )
    grown = [point for point in points if point.is_known and not point.is_stable]
    style.hollow(axes, number, [one.place for one in grown], [one.mean.mean for one in grown], kind)


def notes(points: Iterable[Point]) -> list[str]:
    """What has to be said of points under the figure."""
    shown = list(points)
    told = ["bars: 95 % confidence intervals over the seeds"] if _have_bars(shown) else []
    return told + [style.UNSTABLE] * any(point.is_known and not point.is_stable for point in shown)


def _have_bars(points: Iterable[Point]) -> bool:
    return any(point.mean.values > 1 and point.is_known for point in points)


def hold(axes: Axes, places: Iterable[float]) -> None:
    """A horizontal axis with every place on it, whether or not something is known there."""
    known = list(places)
    low, high = min(known), max(known)
    margin = 0.04 * (high - low) or 0.5 * abs(high) or 0.5
    axes.set_xlim(low - margin, high + margin)
