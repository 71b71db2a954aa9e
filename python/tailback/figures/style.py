"""One look for all figures: colour-blind safe, readable in grey, units on every axis."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from textwrap import wrap
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogFormatter, NullLocator
from matplotlib.transforms import ScaledTranslation

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette without its yellow, which is too pale for lines."""
DASHES: tuple[Any, ...] = (
    "-",
    "--",
    "-.",
    (0, (3, 3)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
    (0, (10, 2, 3, 2)),
)
"""None dotted: dots are what is only known to be at least so much."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "+++", "ooo")

_LEGEND_WIDTH = 40
"""Characters of a line, so that long names leave room for the data."""
_TITLE_WIDTH = 70
"""Characters of a line over a panel."""
_NOTE_WIDTH = 14
"""Characters in an inch of a note under a figure, in letters of ten points."""
_NARROW = 5.0
"""Inches of a figure below which letters are small, and the legend stands above the data."""
_NARROW_SETTINGS: Any = {
    "font.size": 8,
    "axes.titlesize": "medium",
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
}
_given_width: ContextVar[float | None] = ContextVar("width", default=None)
_PANEL_SHARE = 0.6
"""Part of a panel's height or width, ticks and names included, that a narrow figure has for an axis' name."""
_LEGEND_SHARE = 0.4
"""Part of a figure's width that the columns of a legend may take."""
_LEGEND_EDGE = 5 / 72
"""Inches over and under a legend: half a letter, as matplotlib leaves."""
_LEGEND_MAX = 500
"""Names in a legend: those of more make a figure that is too large for a file."""
_PLAIN = (1e-4, 1e6)
"""Where a logarithmic axis has plain numbers."""
_SETTINGS: Any = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "figure.dpi": 110,
    "savefig.dpi": 160,
    "svg.hashsalt": "tailback",
    "pdf.fonttype": 42,  # publishers take no fonts of type 3
}


@contextmanager
def width(inches: float | None) -> Iterator[None]:
    """Curves and bars drawn inside are so wide; a column of a paper has 3.3 inches. None changes nothing."""
    token = _given_width.set(inches)
    try:
        yield
    finally:
        _given_width.reset(token)


def _is_narrow(inches: float | None) -> bool:
    return inches is not None and inches < _NARROW


@contextmanager
def styled() -> Iterator[None]:
    """What is drawn inside has the shared look, without warnings of what cannot be helped.

    Letters that the font lacks are boxes, and names that leave panels no room overlap them.
    """
    settings = _SETTINGS | (_NARROW_SETTINGS if _is_narrow(_given_width.get()) else {})
    with mpl.rc_context(settings), warnings.catch_warnings():
        for unavoidable in ("Glyph .* missing from", "constrained_layout not applied"):
            warnings.filterwarnings("ignore", message=unavoidable)
        yield


def figure(panels: int = 1, *, width: float = 7.2, height: float = 3.6) -> tuple[Figure, list[Axes]]:
    """A figure with panels one above the other that share the horizontal axis.

    Inside of `width` it is as wide as that says, and narrow ones are taller in proportion.
    """
    part = (_given_width.get() or width) / width
    made = Figure(figsize=(part * width, part**0.6 * height * panels), layout="constrained")
    return made, list(made.subplots(panels, 1, sharex=panels > 1, squeeze=False)[:, 0])


def line(number: int, kind: int | None = None) -> dict[str, Any]:
    """Colour and dashes of the n-th line; of several kinds of lines, the colour of the n-th of each kind."""
    dashes = _shifted(number) if kind is None else (kind + number // len(COLOURS)) % len(DASHES)
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": DASHES[dashes]}


def outline(number: int, kind: int | None = None) -> dict[str, Any]:
    """The look of the n-th line if it has no markers: beyond the dashes, kinds of lines are thinner."""
    return line(number, kind) | {"linewidth": 1.6 / (1 + (kind or 0) // len(DASHES))}


def marker(number: int, kind: int | None = None) -> str:
    """The marker of the n-th line, or of a kind of lines."""
    if kind is None:
        return MARKERS[_shifted(number)]
    return MARKERS[(kind + 3 * (kind // len(DASHES)) + 2 * (number // len(COLOURS))) % len(MARKERS)]


def _shifted(number: int) -> int:
    """Beyond the colours the other looks are shifted, so that no two of many lines or bars look the same."""
    return (number + number // len(COLOURS)) % len(COLOURS)


def marked_line(number: int, points: int, kind: int | None = None) -> dict[str, Any]:
    """The n-th line, perhaps of a kind, with about twelve markers along it."""
    every = max(1, points // 12)
    first = number * every // 4 % every if every > 1 else 0
    return {**line(number, kind), "marker": marker(number, kind), "markevery": (first, every)}


UNSTABLE = "hollow: not stable, grows with the window"
"""What `hollow` markers mean."""
DOUBTFUL = "half hollow: not to be told whether stable"
"""What it means if they are so in half."""


def hollow(
    axes: Axes,
    number: int,
    where: Sequence[float],
    values: Sequence[float],
    kind: int | None = None,
    *,
    half: bool = False,
) -> None:
    """Empties markers of the n-th line, or their lower half: latencies of runs that are not stable."""
    if len(where) == 0:
        return
    colour = COLOURS[number % len(COLOURS)]
    axes.plot(
        where,
        values,
        color=colour,
        marker=marker(number, kind),
        fillstyle="top" if half else "full",
        markerfacecolor=colour if half else "white",
        markerfacecoloralt="white",
        linestyle="",
        zorder=3,  # before the full markers of the line, and of its intervals
    )


AT_LEAST = "arrows up: at least so much; what had not arrived counts with its age at the end"
"""What `upward` arrows mean."""
_ARROW = 7
"""Points from the middle of a marker, or from the end of a bar, to the middle of the arrow over it."""


def upward(axes: Axes, number: int, where: Sequence[float], tops: Sequence[float]) -> None:
    """Arrows over markers and bars of the n-th line: means that are only known to be at least so much."""
    if len(where) == 0:
        return
    over = ScaledTranslation(0, _ARROW / 72, axes.figure.dpi_scale_trans)
    colour = COLOURS[number % len(COLOURS)]
    axes.plot(
        where, tops, "^", color=colour, markersize=5, transform=axes.transData + over, clip_on=False, zorder=3
    )


PALE_BAR = {"color": "#e4e4e4", "edgecolor": "white", "linewidth": 0.5}
"""The look of bars of what is not there."""


def bar(number: int) -> dict[str, Any]:
    """Colour and hatching of the n-th kind of bar."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "hatch": HATCHES[_shifted(number)],
        "edgecolor": "white",
        "linewidth": 0.5,
    }


class LogNumbers(LogFormatter):
    """Labels of a logarithmic axis: plain numbers, or powers of ten if it leads far down or up."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The label of a tick; none where there are so many that they would touch."""
        if not super().__call__(x, pos):
            return ""
        axis: Any = self.axis
        low, high = sorted(axis.get_view_interval())
        if axis.axis_name == "x" and high > 10 * low and f"{x:e}"[0] in "36":
            return ""  # side by side, those of 2, 3, 4 and 6 would touch
        if _PLAIN[0] <= low and high <= _PLAIN[1]:
            return f"{x:,.10g}"
        power = math.floor(math.log10(x) + 1e-9)
        factor = f"{x / 10.0**power:.3g}"
        return f"$\\mathdefault{{{'' if factor == '1' else factor + ' · '}10^{{{power}}}}}$"


def logarithmic(axes: Axes, name: Literal["x", "y"]) -> None:
    """Makes one of the axes logarithmic; those of all figures have labels of the same kind."""
    axes.set(**{f"{name}scale": "log"})
    axis = axes.xaxis if name == "x" else axes.yaxis
    axis.set_major_formatter(LogNumbers())
    axis.set_minor_formatter(LogNumbers())


def ticks_at(axes: Axes, values: Iterable[float]) -> None:
    """Ticks at these values of a logarithmic horizontal axis, and no others."""
    axes.xaxis.set_major_locator(FixedLocator(sorted(values)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.10g}" if x < _PLAIN[1] else f"{x:.3g}"))
    axes.xaxis.set_minor_locator(NullLocator())


def not_too_close(axes: Axes) -> None:
    """Widens a logarithmic vertical axis to a factor of two, so that what differs little looks alike."""
    low, high = axes.get_ylim()
    if high < 2 * low:
        middle = math.sqrt(low * high)
        axes.set_ylim(middle / math.sqrt(2), middle * math.sqrt(2))
    if math.floor(math.log10(axes.get_ylim()[1])) == math.floor(math.log10(axes.get_ylim()[0])):
        axes.grid(visible=True, axis="y", which="minor")  # there is no whole decade in between


def from_zero(axes: Axes) -> None:
    """A vertical axis from 0 with room for the markers at its top."""
    highest = axes.dataLim.ymax
    axes.set_ylim(0, 1.05 * max(highest, 0.0) if math.isfinite(highest) and highest > 0 else 1.0)


def legend(made: Figure, axes: Axes | Sequence[Axes], title: str = "") -> None:
    """The legend beside the data, where it hides nothing; of many names in columns, or in a taller figure.

    Of several panels in which a name looks alike, each name once.
    """
    drawn_in = [axes] if isinstance(axes, Axes) else axes
    if _is_narrow(made.get_figwidth()):
        _fold_names(made)
    pairs = [zip(*reversed(one.get_legend_handles_labels()), strict=True) for one in drawn_in]
    named: dict[str, Any] = {}
    for label, handle in (pair for one in pairs for pair in one):
        named.setdefault(label, handle)
    labels, handles = list(named), list(named.values())
    if len(labels) < 2:
        return
    if len(labels) > _LEGEND_MAX:
        labels[_LEGEND_MAX:] = [f"and {len(labels) - _LEGEND_MAX:,} more"]
        handles[_LEGEND_MAX:] = [Line2D([], [], linestyle="")]
    folded = ["\n".join(_folded(label)) for label in labels]
    if _is_narrow(made.get_figwidth()):
        _legend_above(made, handles, folded, title)
        return

    def drawn(columns: int) -> Legend:
        place: Any = "outside right upper"
        return made.legend(handles, folded, loc=place, title=title or None, ncols=columns)

    shown = drawn(1)
    columns = 1
    lines = len(made.get_supxlabel().splitlines())
    under = (1.3 * float(mpl.rcParams["font.size"]) * lines) / 72  # notes, over the whole width
    while _height(shown, made.dpi) + under > made.get_figheight():
        columns += 1
        wider = drawn(columns)
        if wider.get_window_extent().width > _LEGEND_SHARE * made.bbox.width:
            wider.remove()
            made.set_figheight(_height(shown, made.dpi) + under)
            return
        shown.remove()
        shown = wider


def _fold_names(made: Figure) -> None:
    """Folds the names of axes to what their panels have room for."""
    panel = _PANEL_SHARE * made.get_figheight() / max(len(made.axes), 1)
    up, along = (max(int(inches * _letters()), 8) for inches in (panel, _PANEL_SHARE * made.get_figwidth()))
    for axes in made.axes:
        axes.set_ylabel(_lines(axes.get_ylabel(), up))
        axes.set_xlabel(_lines(axes.get_xlabel(), along))


def _lines(text: str, room: int) -> str:
    """A text in lines of no more letters."""
    return "\n".join(line for part in text.split("\n") for line in wrap(part, room))


def _letters() -> float:
    """Letters in an inch."""
    return _NOTE_WIDTH * 10 / float(mpl.rcParams["font.size"])


def _legend_above(made: Figure, handles: Sequence[Any], labels: Sequence[str], title: str) -> None:
    """The legend over the data, in as many columns as the figure has room for; the figure grows by it."""
    place: Any = "outside upper left"
    room = made.bbox.width - 2 * _LEGEND_EDGE * made.dpi
    for columns in range(len(labels), 0, -1):
        shown = made.legend(handles, labels, loc=place, title=title or None, ncols=columns, columnspacing=1.0)
        if shown.get_window_extent().width <= room or columns == 1:
            made.set_figheight(made.get_figheight() + _height(shown, made.dpi))
            return
        shown.remove()


def notes(made: Figure, told: Sequence[str]) -> None:
    """Further notes under a whole figure, each from a line of its own on, where no legend narrows them."""
    told = [*filter(None, [made.get_supxlabel()]), *told]
    if told:
        room = int(made.get_figwidth() * _letters())
        lines = [line for note in told for part in note.split("\n") for line in wrap(part, room)]
        size = 0.9 * float(mpl.rcParams["font.size"])
        if _is_narrow(made.get_figwidth()):
            # They are many there, and would take their room from the data.
            new = len(lines) - len(made.get_supxlabel().splitlines())
            made.set_figheight(made.get_figheight() + 1.3 * size * new / 72)
        made.supxlabel("\n".join(lines), fontsize=size)


def _height(of: Legend, dpi: float) -> float:
    """What a legend beside the data needs, in inches."""
    return float(of.get_window_extent().height) / dpi + 2 * _LEGEND_EDGE


def _folded(label: str) -> Iterator[str]:
    for part in label.split("\n"):
        yield from wrap(part, _LEGEND_WIDTH)


def folded(name: object) -> str:
    """A user's name as a title, in lines that fit over a panel."""
    return titled(plain(name))


def titled(text: str, width: int = _TITLE_WIDTH) -> str:
    """A title in lines that fit over a panel; beside a legend there is room for less."""
    return "\n".join(wrap(text, width))


def plain(name: object) -> str:
    """A user's name, with no dollar that begins mathematics, nor a first "_", which legends leave out."""
    text = str(name).replace("$", r"\$")
    return f"\N{HAIR SPACE}{text}" if text.startswith("_") else text
