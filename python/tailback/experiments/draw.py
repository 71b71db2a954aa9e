"""Figures of experiments: a line with its confidence interval per protocol or parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.model import Data, Measure
from tailback.stats import Interval

LABELS = {
    "none": "baseline",
    "ecn": "ECN",
    "srp": "SRP",
    "smsrp": "SMSRP",
    "lhrp": "LHRP",
    "lhrp+srp": "LHRP+SRP",
}
"""Protocols by kind, as the papers write them."""
ORDER = tuple(LABELS)


def look(protocol: str) -> int:
    """The number of a protocol's colour, dashes and marker: the same in every figure."""
    return ORDER.index(protocol)


def curve(
    axes: Axes,
    steps: Sequence[float],
    points: Sequence[Interval],
    label: str,
    number: int,
    hollow: Sequence[bool] = (),
) -> None:
    """A line with error bars, and gaps where points are missing; those that are hollow are lower bounds."""
    x = np.array(steps, dtype=float)
    y = np.array([point.mean for point in points], dtype=float)
    looks = style.line(number)
    marker = style.MARKERS[number % len(style.MARKERS)]
    axes.plot([], [], label=label, marker=marker, **looks)
    axes.errorbar(x, y, yerr=_halves(points), capsize=2, elinewidth=0.8, **looks)
    for at in range(len(points)):
        empty = bool(hollow) and hollow[at]
        axes.plot(
            x[at],
            y[at],
            marker=marker,
            color=looks["color"],
            linestyle="none",
            markerfacecolor="white" if empty else looks["color"],
        )


def _halves(points: Sequence[Interval]) -> tuple[list[float], list[float]]:
    """What error bars reach down and up. An interval past zero would break a logarithmic axis."""
    up = [0.0 if math.isnan(point.half) else point.half for point in points]
    return [min(half, 0.95 * abs(point.mean)) for half, point in zip(up, points, strict=True)], up


def finish(figure: Figure, axes: Axes, x: str, y: str, note: str = "") -> Figure:
    """Labels, legend beside the data, and a note under the figure."""
    axes.set_xlabel(x + (f"\n{note}" if note else ""))
    axes.set_ylabel(y)
    style.legend(figure, axes)
    return figure


def plain_ticks(axes: Axes, ticks: Sequence[float]) -> None:
    """Given ticks on a logarithmic horizontal axis, written plainly."""
    axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def grouped_bars(axes: Axes, names: Sequence[str], heights: Mapping[str, Sequence[float]]) -> None:
    """A group of bars at every name, a bar in each for every label."""
    width = 0.8 / len(heights)
    for number, (label, own) in enumerate(heights.items()):
        places = np.arange(len(names)) + width * (number - (len(heights) - 1) / 2)
        axes.bar(places, own, width=width, label=label, **style.bar(number))
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def dots(
    axes: Axes, names: Sequence[str], points: Mapping[str, Sequence[Interval]], numbers: Sequence[int]
) -> None:
    """A group of points at every name, one for each label: where an axis does not begin at zero."""
    step = 0.5 / max(1, len(points) - 1)
    for at, (label, own) in enumerate(points.items()):
        shown = [place for place, point in enumerate(own) if not math.isnan(point.mean)]
        low, high = _halves([own[place] for place in shown])
        axes.errorbar(
            [place + step * (at - (len(points) - 1) / 2) for place in shown],
            [own[place].mean for place in shown],
            yerr=[low, high],
            label=label,
            color=style.line(numbers[at])["color"],
            marker=style.MARKERS[numbers[at] % len(style.MARKERS)],
            markersize=6,
            linestyle="none",
            capsize=2,
            elinewidth=0.8,
        )
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    for edge in range(len(names) - 1):
        axes.axvline(edge + 0.5, color="#dddddd", linewidth=0.6)
    axes.grid(visible=False, axis="x")


@dataclass(frozen=True)
class Line:
    """A line of a figure: what it is called, the number of its look, and the labels of its runs."""

    label: str
    number: int
    where: Mapping[str, Any]


def protocol_lines(data: Data, **where: Any) -> list[Line]:
    """A line per protocol among the runs with these labels."""
    kinds = data.values("protocol", **where)
    return [Line(LABELS[kind], look(kind), {**where, "protocol": kind}) for kind in kinds]


def value_lines(data: Data, label: str, name: str = "{}", **where: Any) -> list[Line]:
    """A line per value of a label, called `name` with the value in it."""
    found = data.values(label, **where)
    return [Line(name.format(value), number, {**where, label: value}) for number, value in enumerate(found)]


def curves(
    axes: Axes, data: Data, measure: Measure, along: str, lines: Sequence[Line], scale: float = 1.0
) -> None:
    """A measured quantity along a label; loads, which are below 1 or so, are shown in percent."""
    for line in lines:
        steps, points = data.curve(measure, along, **line.where)
        shown = [100 * step for step in steps] if along == "load" else steps
        curve(axes, shown, [point.scaled(scale) for point in points], line.label, line.number)


OFFERED = "offered load [% of injection bandwidth]"


def over_load(data: Data, measure: Measure, lines: Sequence[Line], y: str) -> Figure:
    """One panel over the offered load, of shares in percent."""
    with style.styled():
        figure, (axes,) = style.figure()
        curves(axes, data, measure, "load", lines, 100)
        axes.set_ylim(bottom=0)
        return finish(figure, axes, OFFERED, y)
