"""The curves on the page of `tailback view`: the time series of every run and traffic class, as steps."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from tailback.figures import style
from tailback.figures.spans import end_ns, time_us
from tailback.figures.tables import ALL, Numbers, chosen, distinct, join, numbers, only, unknown
from tailback.result import Result


class Panel(NamedTuple):
    """A column of the time series, and how its panel is named and scaled."""

    column: str
    title: str
    axis: str
    scale: float


PANELS = (
    Panel(
        "accepted_per_destination",
        "accepted, of the destinations' channels: mean of each",
        "accepted [%]",
        100.0,
    ),
    Panel(
        "message_latency_ns",
        "message latency: mean of the messages created in each",
        "mean message<br>latency [ns]",
        1.0,
    ),
)
DASHES = ("solid", "10px,4px", "10px,3px,2px,3px", "2px,3px", "20px,5px", "20px,4px,2px,4px,2px,4px")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
"""Markers; each also hollow."""
_MARKERS = 12
"""About how many of them a line has."""
_ROUNDING = 1e-6
"""Of a bin: times are read as floats."""
_WITHIN = 1e-6
"""Of a bin, how far from its ends its line begins and ends."""


class Curve(NamedTuple):
    """The time series of a traffic class of a run."""

    label: str
    look: dict[str, Any]
    starts: Numbers
    """Of its whole bins, in us."""
    width: float
    table: Any
    """The rows of these bins."""
    is_cut: bool
    """Whether the end of the run cut a last bin short, which is left out."""

    def values(self, panel: Panel) -> Numbers:
        """What it shows of every bin: nothing where too few of the bin's messages have arrived."""
        values = panel.scale * numbers(self.table, panel.column)
        return np.where(unknown(self.table), np.nan, values) if panel.column.endswith("_ns") else values

    @property
    def messages(self) -> float:
        """How many were created in its bins, or arrived, where an older engine did not tell the former."""
        column = "created" if "created" in self.table.column_names else "messages"
        return float(numbers(self.table, column).sum())


def curves(results: Mapping[str, Result]) -> list[Curve]:
    """A curve for every run and traffic class; of several runs a colour is a run, dashes are a class."""
    members = {label: chosen(distinct(one.tables["series"], "class"), None) for label, one in results.items()}
    kinds = list(dict.fromkeys(member for names in members.values() for member in names))
    found = []
    for run, (label, result) in enumerate(results.items()):
        table = result.tables["series"]
        width = _bin_ns(result)
        end = end_ns(result)
        # What is all together lies under the others.
        for member in sorted(members[label], key=lambda name: name != ALL):
            kind = kinds.index(member)
            look = _look(run, kind, len(kinds)) if len(results) > 1 else _look(kind, 0, 1)
            rows = only(table, "class", member)
            whole = numbers(rows, "time_ns") + width <= end + _ROUNDING * width
            rows = rows.filter(whole)
            starts = numbers(rows, "time_ns") / 1e3
            found.append(Curve(join(label, member), look, starts, width / 1e3, rows, not whole.all()))
    return found


def _look(colour: int, kind: int, kinds: int) -> dict[str, Any]:
    """Colour, dashes and marker of a line: no two lines of up to 546 look the same."""
    rounds, colour = divmod(colour, len(style.COLOURS))
    symbol, dash = divmod(kind + rounds * kinds, len(DASHES))
    looks: dict[str, Any] = {"line": {"color": style.COLOURS[colour], "dash": DASHES[dash]}, "mode": "lines"}
    if symbol:
        hollow, number = divmod((symbol - 1) % (2 * len(SYMBOLS)), len(SYMBOLS))
        name = SYMBOLS[number] + "-open" * hollow
        marker = {"symbol": name, "size": 8, "maxdisplayed": _MARKERS}
        looks |= {"mode": "lines+markers", "marker": marker}
    return looks


def _bin_ns(result: Result) -> float:
    """How long a bin is: the distance of two, or of a single one what the scenario asked for."""
    starts = np.unique(numbers(result.tables["series"], "time_ns"))
    if len(starts) > 1:
        return float(np.diff(starts).min())
    try:
        return 1e3 * time_us(tomllib.loads(result.scenario)["record"]["series"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return end_ns(result)


def end_us(results: Mapping[str, Result]) -> float:
    """When the last of the runs ends, in us, or what is known of it."""
    known = [end_ns(result) / 1e3 for result in results.values()]
    for result in results.values():
        tables = [result.tables[name] for name in ("series", "occupancy") if name in result.tables]
        known += [numbers(table, "time_ns").max() / 1e3 for table in tables if table.num_rows]
    return max(filter(math.isfinite, known), default=1.0) or 1.0


def titles(drawn: Sequence[Curve]) -> list[str]:
    """What stands over the panels: what they show, and over how long a bin the means are."""
    spans = " or ".join(f"{width:.10g} us" for width in sorted({curve.width for curve in drawn}))
    return [f"{panel.title} {spans}" for panel in PANELS]


def text(name: str) -> str:
    """A name as plotly shows it as it is: it has tags, and reads dollars as mathematics where it can."""
    return escape(name).replace("$", "&#36;")


def draw(made: go.Figure, drawn: Sequence[Curve], first: int, end: float) -> None:
    """Draws the curves into the panels from row `first` on, whose axes of time lead to `end`."""
    for row, panel in enumerate(PANELS, first):
        made.update_yaxes(title=panel.axis, automargin=False, row=row, col=1)
        (first_axis,) = made.select_xaxes(row=first, col=1)
        same = first_axis.plotly_name.replace("axis", "") if row > first else None
        made.update_xaxes(range=[0, end], showticklabels=True, matches=same, row=row, col=1)
        known = np.concatenate([curve.values(panel) for curve in drawn])
        known = known[np.isfinite(known)]
        if nothing := _nothing(drawn, known):
            _tell_nothing(made, nothing, row)
            continue
        for number, curve in enumerate(drawn):
            made.add_trace(_steps(curve, panel, number, showlegend=row == first), row=row, col=1)
        made.update_yaxes(_scale(panel, known), row=row, col=1)
    made.update_xaxes(title="simulated time [us]", row=first + len(PANELS) - 1, col=1)


def _scale(panel: Panel, known: Numbers) -> dict[str, Any]:
    """From 0 for shares; for latencies logarithmic, unless there may be no 1, 2 or 5 to be a tick."""
    if not panel.column.endswith("_ns"):
        return {"rangemode": "tozero"}
    is_wide = known.max() >= 4 * known.min() > 0
    return {"tickformat": ",", "type": "log" if is_wide else "linear", "dtick": "D2" if is_wide else None}


def _steps(curve: Curve, panel: Panel, number: int, *, showlegend: bool) -> go.Scatter:
    """Every bin from its start to its end, so that one between two gaps is seen too."""
    return go.Scatter(
        # Not quite, so that a bin's end does not tell of the next.
        x=(curve.starts[:, None] + curve.width * np.array([_WITHIN, 1 - _WITHIN])).ravel(),
        y=np.repeat(curve.values(panel), 2),
        customdata=np.repeat(curve.starts, 2),
        hovertemplate=f"%{{customdata:,.10~g}} us + {curve.width:.10g} us: %{{y:,.4~g}}",
        name=text(curve.label),
        legendgroup=str(number),
        showlegend=showlegend,
        **curve.look,
    ).update(line={"simplify": False})


def _nothing(drawn: Sequence[Curve], known: Numbers) -> str:
    """Why a panel has nothing to show; empty if it has."""
    if not any(len(curve.starts) for curve in drawn):
        return "no whole bin"
    if not known.any() and not any(curve.messages for curve in drawn):
        return "no messages"
    return "" if known.size else "no bin of whose messages 99 % arrived"


def _tell_nothing(made: go.Figure, why: str, row: int) -> None:
    """Says so in place of an axis, whose numbers would be invented."""
    made.update_yaxes(showticklabels=False, ticks="", range=[0, 1], row=row, col=1)
    (axis,) = made.select_yaxes(row=row, col=1)
    number = axis.plotly_name.removeprefix("yaxis")
    place = {"xref": f"x{number} domain", "yref": f"y{number} domain", "x": 0.5, "y": 0.5}
    made.add_annotation(text=why, showarrow=False, font={"size": 16, "color": "#666666"}, **place)
