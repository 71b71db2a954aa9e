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
    """A line with error bars; points that are hollow are lower bounds."""
    shown = [at for at, point in enumerate(points) if not math.isnan(point.mean)]
    x = np.array([steps[at] for at in shown], dtype=float)
    y = np.array([points[at].mean for at in shown])
    halves = np.array([0.0 if math.isnan(points[at].half) else points[at].half for at in shown])
    looks = style.line(number)
    marker = style.MARKERS[number % len(style.MARKERS)]
    axes.plot([], [], label=label, marker=marker, **looks)
    low = np.minimum(halves, 0.95 * np.abs(y))  # an interval past zero would break a logarithmic axis
    axes.errorbar(x, y, yerr=[low, halves], capsize=2, elinewidth=0.8, **looks)
    for at, place in enumerate(shown):
        empty = bool(hollow) and hollow[place]
        axes.plot(
            x[at],
            y[at],
            marker=marker,
            color=looks["color"],
            linestyle="none",
            markerfacecolor="white" if empty else looks["color"],
        )


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


def over_load(data: Data, measure: Measure, lines: Sequence[Line], y: str, scale: float = 100.0) -> Figure:
    """One panel over the offered load."""
    with style.styled():
        figure, (axes,) = style.figure()
        curves(axes, data, measure, "load", lines, scale)
        axes.set_ylim(bottom=0)
        return finish(figure, axes, OFFERED, y)
