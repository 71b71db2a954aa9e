"""Figures of experiments: a line with its confidence interval per protocol or parameter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.typing import NDArray

from tailback.experiments.model import Data, Measure
from tailback.figures import style
from tailback.figures.tables import Numbers
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


FREE = len(ORDER)
"""The number of a look that no protocol has: of a variant of one, in a figure with its usual form."""


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
    *,
    kind: int | None = None,
) -> None:
    """A line with error bars, and gaps where points are missing; those that are hollow are lower bounds.

    Lines of one number and several kinds have one colour.
    """
    x = np.array(steps, dtype=float)
    y = np.array([point.mean for point in points], dtype=float)
    looks, marker = style.line(number, kind), style.marker(number, kind)
    axes.plot([], [], label=label, marker=marker, **looks)
    axes.plot(x, y, **looks)
    intervals(axes, x, points, looks["color"])
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


def intervals(axes: Axes, places: NDArray[Any], points: Sequence[Interval], colour: str) -> None:
    """Bars over confidence intervals, none where the spread is not known.

    One that passes zero runs out of a logarithmic axis at its bottom, where no cap is: it is open there.
    """
    known = [
        (place, point) for place, point in zip(places, points, strict=True) if not math.isnan(point.half)
    ]
    if known:
        axes.errorbar(
            [place for place, _ in known],
            [point.mean for _, point in known],
            yerr=[point.half for _, point in known],
            fmt="none",
            ecolor=colour,
            elinewidth=0.8,
            capsize=2,
        )


def hold(axes: Axes, low: float = 0.0, high: float | None = None) -> None:
    """A vertical axis from `low`, to `high` if given, or as far as intervals reach: none is cut unnoticed."""
    drawn = axes.dataLim
    room = 0.05 * (max(drawn.ymax, low if high is None else high) - min(drawn.ymin, low))
    # Of nothing drawn the ends are infinite.
    is_known = math.isfinite(room)
    axes.set_ylim(bottom=drawn.ymin - room if is_known and drawn.ymin < low else low)
    if high is not None:
        axes.set_ylim(top=drawn.ymax + room if is_known and drawn.ymax > high else high)


def whole_decades(*panels: Axes) -> None:
    """Logarithmic vertical axes, alike, from a power of ten to another: small differences look small."""
    least = min(axes.dataLim.minposy for axes in panels)
    most = max(axes.dataLim.ymax for axes in panels)
    if not 0 < least <= most < math.inf:  # nothing is drawn
        return
    for axes in panels:
        axes.set_ylim(10.0 ** math.floor(math.log10(least)), 10.0 ** math.ceil(math.log10(most)))


def seeds_told(data: Data, shown: str = "95 % intervals", **labels: Any) -> str:
    """Of how many runs what is drawn is, those with these labels, and what is shown of their spread."""
    number = len(data.values("seed", **labels))
    return f"means of {number} seeds, {shown}" if number > 1 else "one seed"


def finish(figure: Figure, axes: Axes, x: str, y: str, note: str = "") -> Figure:
    """Labels, legend beside the data, and a note under the figure."""
    axes.set_xlabel(x)
    style.notes(figure, [note] if note else [])
    axes.set_ylabel(y)
    style.legend(figure, axes)
    return figure


def plain_ticks(axes: Axes, ticks: Sequence[float]) -> None:
    """Given ticks on a logarithmic horizontal axis, written plainly."""
    axes.set_xticks(list(ticks), [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


Height = Interval | float
"""Of a bar: a mean with its interval, or a number that has none."""


def grouped_bars(
    axes: Axes, names: Sequence[str], heights: Mapping[str, Sequence[Height]], numbers: Sequence[int] = ()
) -> None:
    """A group of bars at every name, a bar in each for every label, which may have the number of its look."""
    width = 0.8 / len(heights)
    looks = numbers or range(len(heights))
    for at, (number, (label, own)) in enumerate(zip(looks, heights.items(), strict=True)):
        places = np.arange(len(names)) + width * (at - (len(heights) - 1) / 2)
        _bars(axes, places, own, number, width=width, label=label)
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def bars(axes: Axes, names: Sequence[str], heights: Sequence[Height], numbers: Sequence[int]) -> None:
    """A bar at every name, each with the number of its look."""
    for at, (own, number) in enumerate(zip(heights, numbers, strict=True)):
        _bars(axes, np.array([at]), [own], number)
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def _bars(axes: Axes, places: NDArray[Any], heights: Sequence[Height], number: int, **shown: Any) -> None:
    points = [own if isinstance(own, Interval) else Interval(own, math.nan, 1) for own in heights]
    axes.bar(places, [point.mean for point in points], **shown, **style.bar(number))
    intervals(axes, places, points, "black")


def dots(
    axes: Axes, names: Sequence[str], points: Mapping[str, Sequence[Interval]], numbers: Sequence[int]
) -> None:
    """A group of points at every name, one for each label: where an axis does not begin at zero."""
    step = 0.5 / max(1, len(points) - 1)
    for at, (label, own) in enumerate(points.items()):
        places = np.arange(len(names)) + step * (at - (len(points) - 1) / 2)
        _dots(axes, places, own, numbers[at], label=label)
    _columns(axes, names)


def single_dots(axes: Axes, names: Sequence[str], points: Sequence[Interval], numbers: Sequence[int]) -> None:
    """A point at every name, each with the number of its look."""
    for at, (own, number) in enumerate(zip(points, numbers, strict=True)):
        _dots(axes, np.array([at]), [own], number)
    _columns(axes, names)


def _dots(axes: Axes, places: NDArray[Any], points: Sequence[Interval], number: int, **shown: Any) -> None:
    colour = style.line(number)["color"]
    means = [point.mean for point in points]
    axes.plot(places, means, style.marker(number), color=colour, markersize=6, **shown)
    intervals(axes, places, points, colour)


def _columns(axes: Axes, names: Sequence[str]) -> None:
    """The names under the axis, and lines between them."""
    axes.set_xticks(range(len(names)), names)
    axes.set_xlim(-0.5, len(names) - 0.5)
    for edge in range(len(names) - 1):
        axes.axvline(edge + 0.5, color="#dddddd", linewidth=0.6)
    axes.grid(visible=False, axis="x")


BAND = "bands: 95 % intervals"
"""What `banded_line` shows of the spread."""


def banded_line(axes: Axes, times: Numbers, points: Sequence[Interval], **looks: Any) -> None:
    """A line with markers or without, and a light band of the intervals where they are known."""
    means, halves = (np.array([getattr(p, part) for p in points]) for part in ("mean", "half"))
    axes.plot(times, means, **looks)
    axes.fill_between(times, means - halves, means + halves, color=looks["color"], alpha=0.2, linewidth=0)


def mark(axes: Axes, at: float, name: str = "hot spot begins") -> None:
    """A place on the horizontal axis, behind the lines and told in the legend."""
    axes.axvline(at, color="#777777", linewidth=0.8, label=name, zorder=0.5)


def explained(figure: Figure) -> None:
    """Says under a figure what its error bars are, unless it says so."""
    has_bars = any(isinstance(drawn, ErrorbarContainer) for axes in figure.axes for drawn in axes.containers)
    texts = [str(text.get_text()) for text in figure.findobj(Text)]
    if has_bars and not any(word in text for text in texts for word in ("interval", "deviation", "bracket")):
        style.notes(figure, ["error bars: 95 % confidence intervals"])


def described(figure: Figure) -> str:
    """What a figure shows, for who does not see it: its axes, and what stands in its legends."""
    panels = [
        f"{axes.get_title() + ': ' if axes.get_title() else ''}{axes.get_ylabel()} over {_first(axes)}"
        for axes in figure.axes
        if axes.get_ylabel() and _first(axes)
    ]
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    names = [text.get_text() for one in legends if one is not None for text in one.get_texts()]
    lines = [f"of {', '.join(dict.fromkeys(names))}"] if names else []
    return " ".join("; ".join([*dict.fromkeys(panels), *lines]).split())


def _first(axes: Axes) -> str:
    """What the horizontal axis shows, without notes below it; of panels that share one, the lowest has it."""
    shared = axes.get_shared_x_axes().get_siblings(axes)
    labels = (one.get_xlabel().split("\n")[0] for one in [axes, *shared])
    return next((label for label in labels if label), "")


@dataclass(frozen=True)
class Line:
    """A line of a figure: what it is called, the number of its look, and the labels of its runs."""

    label: str
    number: int
    where: Mapping[str, Any]
    kind: int | None = None
    """Of lines that share a number, and so a colour: what tells them apart."""


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
        scaled = [point.scaled(scale) for point in points]
        curve(axes, shown, scaled, line.label, line.number, kind=line.kind)


OFFERED = "offered load [% of injection bandwidth]"


def over_load(data: Data, measure: Measure, lines: Sequence[Line], y: str) -> Figure:
    """One panel over the offered load, of shares in percent."""
    with style.styled():
        figure, (axes,) = style.figure()
        curves(axes, data, measure, "load", lines, 100)
        hold(axes)
        return finish(figure, axes, OFFERED, y)
