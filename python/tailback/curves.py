"""Figures of sweeps: what was measured over a swept key.

if __name__ == "__main__":  # a sweep starts processes
    done = tailback.sweep(scenario, over={"traffic.hot.load": [0.1, 0.5]}, seeds=3)
    tailback.curves.measured_over(done.table, "accepted").savefig("accepted.png")
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tailback.errors import mistake
from tailback.figures import means, style
from tailback.figures.means import Point
from tailback.figures.tables import time_unit
from tailback.stats import mean_interval
from tailback.sweeps.merged import CLASS, FAILED, count, lost
from tailback.sweeps.paired import MISSING, STABLE
from tailback.sweeps.space import SEED, quantity, told, told_apart
from tailback.units import family as family_of
from tailback.words import all_stable, named, tells_stable

if TYPE_CHECKING:
    from tailback.sweeps.model import Sweep

__all__ = ["QUANTITIES", "axis", "keys", "measured_over"]


def __dir__() -> list[str]:
    """What it is for."""
    return __all__


ALL, _MEAN = "all", "_latency_mean_ns"

QUANTITIES: Mapping[str, tuple[str, float, bool]] = {
    "accepted": ("accepted throughput\n[% of injection bandwidth]", 100.0, False),
    "accepted_per_destination": ("accepted throughput\n[% of ejection bandwidth]", 100.0, False),
    "message_latency_mean_ns": ("mean message latency [{unit}]", 1.0, True),
    "message_latency_p99_ns": ("99th percentile of\nmessage latency [{unit}]", 1.0, True),
    "fairness": ("Jain's index of\nthe sources' throughput", 1.0, False),
    "message_slowdown_p50": ("median slowdown\nof messages", 1.0, True),
    "message_slowdown_p99": ("99th percentile of\nslowdown of messages", 1.0, True),
    "time_ns": ("time of the job [us]", 1e-3, False),
    "communication_max_ns": ("largest communication\ntime of a rank [us]", 1e-3, False),
    "slowdown": ("time of the job over\nthat of the job alone", 1.0, False),
    "phase_time_mean_ns": ("mean time of a phase [us]", 1e-3, False),
    "time_over_bound_mean": ("time of a phase over\nload of its busiest link", 1.0, False),
    "endpoints_held": ("endpoints held [%]", 100.0, False),
    "channels_held": ("channels between\nswitches held [%]", 100.0, False),
    "strangers": ("held flits that are\nnot for the root [%]", 100.0, False),
}
"""What `tailback plot` draws of a sweep: the axis' name, a factor, whether it is a latency (logarithmic).

A latency has the unit that suits what is drawn.
"""


_OF_NETWORK = ("endpoints_held", "channels_held", "strangers")
"""Those of all classes together."""
_HIGHEST = {"accepted_per_destination": 1.0} | dict.fromkeys(("fairness", "accepted", *_OF_NETWORK), 1.0)
"""What a quantity is at most."""
_SIGNED = ("backlog_growth",)
"""What can be negative."""
_RECORDED = {
    "fairness": "sources",
    "source_accepted": "sources",
    "message_slowdown": "messages",
    **dict.fromkeys(_OF_NETWORK, "trees"),
}
"""What columns begin with that a scenario has to ask for, and by which key."""


def measured_over(sweep: pa.Table | Sweep, column: str, over: str | None = None) -> Figure:
    """A column of a sweep's table over the swept key `over` (default: the one with the most numbers).

    `sweep` is what `tailback.sweep` returns, or its table.

    A panel per traffic class, a line per combination of the other keys, and with several seeds the 95 %
    confidence interval of each mean. There is no point where a latency is not known, or a job did not end;
    latencies of runs that are not stable, which grow with the window, are hollow, and means without what had
    not arrived, which are lower bounds, have an arrow up. Runs that gave no result are left out, and counted
    under the axis. Raises `InputError` if no key was swept, or not that one, or if nothing is known of the
    column.
    """
    table = _table_of(sweep)
    swept = keys(table)
    over = axis(table, swept) if over is None else over
    if over == "run.seed":
        raise mistake("seeds are no axis: a point is their mean", f"one of {', '.join(swept) or 'no keys'}")
    if over not in swept:
        raise mistake(f"the sweep does not change {over!r}", f"one of {', '.join(swept) or 'no keys'}")
    if (
        not isinstance(column, str)
        or column not in table.column_names
        or not _is_numeric(table.schema.field(column).type)
    ):
        raise mistake(f"{column!r} is not measured", _asked_for(column, table.column_names))
    name, factor, is_latency = QUANTITIES.get(column) or _of_latencies(column) or (column, 1.0, False)
    # Of runs that are not stable latencies alone grow.
    kept = [key for key in table.column_names if is_latency or key != STABLE or key == column]
    rows = table.select(kept).to_pylist()
    places = _places([row[over] for row in rows])
    others = [key for key in swept if key != over and not _follows(rows, key, over)]
    members = [name for name in dict.fromkeys(row[CLASS] for row in rows) if name not in (ALL, None)]
    # What is of the network stands in the row of each class.
    members = members[:1] if column in _OF_NETWORK else members

    def lines_of(member: str) -> _Lines:
        return _lines(list(_of_class(rows, member)), column, over, others, places)

    # Of few messages in each class, a quantile may be known of all together alone.
    known = _known(members, lines_of) or _known([ALL], lines_of)
    if not known:
        longer = "run.drain lets more messages arrive" if is_latency else "run.duration lets jobs end"
        raise mistake(f"{column} is known of no point", f"a longer {longer}")
    if "{unit}" in name:
        unit, size = time_unit(point.mean.mean for lines in known.values() for point in _points(lines))
        name, factor = name.format(unit=unit), 1 / size
    is_signed = column in _SIGNED or any((row[column] or 0) < 0 for row in rows)
    limits = (-math.inf if is_signed else 0.0, factor * _HIGHEST.get(column, math.inf))
    shown = _Shown(factor, *limits, is_latency=is_latency)
    with style.styled():
        figure, panels = style.figure(len(known), height=3.6 if len(known) == 1 else 2.8)
        # A line looks alike in all panels, also where one has no rows.
        every = list(dict.fromkeys(one for lines in known.values() for one in lines))
        looks = _looks(every)
        names = {one: _name(one, [lines[one] for lines in known.values() if one in lines]) for one in every}
        for (member, lines), axes in zip(known.items(), panels, strict=True):
            _draw(axes, lines, looks, names, places, shown)
            axes.set_ylabel(name)
            if len(members) > 1:
                axes.set_title(style.folded(member), loc="left", fontsize="medium")
        gone = [member for member in members if member not in known]
        lacking = _lacking(column, is_latency=is_latency)
        notes = _notes(panels[0], list(known.values()), gone, lacking, shown.lowest)
        if failed := lost(table):
            notes.append(f"left out: {len(failed)} of {count(table)} runs, which gave no result")
        panels[-1].set_xlabel(_axis_name(over, places))
        style.notes(figure, notes)
        style.legend(figure, panels, title="\n".join(map(_folded, others)))
    return figure


def _of_latencies(column: str) -> tuple[str, float, bool] | None:
    """The name of the axis of any other latency or slowdown; none of something else."""
    found = re.fullmatch(
        r"(packet|network|message)_(latency|slowdown)_(mean|p50|p95|p99|p999|max)(_ns)?", column
    )
    if found is None:
        return None
    of, kind, quantity, _ = found.groups()
    unit = " [{unit}]" if kind == "latency" else ""
    name = f"network latency{unit}" if of == "network" else f"{of} {kind}{unit}"
    return _QUANTILES[quantity] + name, 1.0, True


_QUANTILES = {
    "mean": "mean ",
    "p50": "median ",
    "p95": "95th percentile of\n",
    "p99": "99th percentile of\n",
    "p999": "99.9th percentile of\n",
    "max": "largest ",
}


def _asked_for(column: str, measured: Sequence[str]) -> str:
    """How a column that is not there can be had, or which are."""
    for start, record in _RECORDED.items():
        if column.startswith(start):
            return f"ask for it in the scenario: [record] {record} = true"
    known = [name for name in QUANTITIES if name in measured]
    return f"such as {', '.join(known or QUANTITIES)}"


_KEY_WIDTH = 28
"""Letters of a key in a line over the legend, which takes its room from the data."""


def _folded(key: str) -> str:
    """A key as a line of a legend's title, or as two."""
    table, _, name = key.rpartition(".")
    return style.plain(f"{table}.\n{name}" if table and len(key) > _KEY_WIDTH else key)


_SHARES = {"load": "share of injection bandwidth", "load_per_destination": "share of ejection bandwidth"}
"""What numbers of some keys are parts of."""


def _looks(combinations: Sequence[tuple[Any, ...]]) -> dict[tuple[Any, ...], tuple[int, int | None]]:
    """The number of each line's look, and with several other keys the first's, and a kind for the rest."""
    firsts, rests = ({one[part]: None for one in combinations} for part in (slice(1), slice(1, None)))
    if len(firsts) < 2 or len(rests) < 2:
        return {one: (number, None) for number, one in enumerate(combinations)}
    return {one: (list(firsts).index(one[:1]), list(rests).index(one[1:])) for one in combinations}


def keys(table: pa.Table) -> list[str]:
    """The swept keys of a sweep's table, without the seed, in order."""
    columns = table.column_names
    if CLASS not in columns:
        raise mistake("this is no table of a sweep", "sweep.parquet, or the table of tailback.sweep")
    return [key for key in columns[: columns.index(CLASS)] if key != SEED]


def of_traffic(table: pa.Table, names: Collection[str]) -> pa.Table:
    """The rows of classes or jobs, and of points without a result. Raises `InputError` for others."""
    there = {name: None for name in table[CLASS].to_pylist() if name is not None}
    for name in names:
        if name not in there:
            raise mistake(f"there is no traffic class or job {name!r}", f"one of: {', '.join(there)}")
    return table.filter(pa.array([name is None or name in names for name in table[CLASS].to_pylist()]))


def axis(table: pa.Table, swept: Sequence[str]) -> str:
    """The key to draw a sweep over: the one with the most numbers."""
    if not swept:
        raise mistake("the sweep changes the seed alone", "there is nothing to draw it over")

    def steps(key: str) -> int:
        places = _places(table[key].to_pylist())
        return 0 if places.are_words else len(places.at)

    return max(swept, key=steps)


_WIDE, _GROWS = 30, 1.8
"""How far values reach, and how most of them grow, that have a logarithmic axis though not by one factor."""


@dataclass(frozen=True)
class _Places:
    """Where each value of a key stands on the axis."""

    at: Mapping[Any, float]
    unit: str = ""
    are_words: bool = False

    @property
    def are_logarithmic(self) -> bool:
        """Whether they grow by about a factor from one to the next, rather than by about a step."""
        known = sorted(self.at.values())
        if self.are_words or len(known) < 3 or known[0] <= 0 or known[-1] < 2 * known[0]:
            return False
        factor, step = (_off(known, spaced(known[0], known[-1], len(known))) for spaced in _SPACED)
        ratios = [after / before for before, after in pairwise(known)]
        # Such as 1, 2, 5, 10, …, 500: on a linear axis most of them would be one point.
        grows = known[-1] >= _WIDE * known[0] and sorted(ratios)[len(ratios) // 2] >= _GROWS
        return grows or factor < min(step, 1)


_SPACED = (np.geomspace, np.linspace)


def _off(values: Sequence[float], even: NDArray[np.float64]) -> float:
    """How far values are from evenly spaced ones at most; 1 is as far as rounding to whole numbers leads."""
    whole = all(value == round(value) for value in values)
    room = np.maximum(0.02 * even, 0.51 if whole else 0)
    return float((abs(np.array(values) - even) / room).max())


def _places(values: Iterable[Any]) -> _Places:
    """Numbers and quantities whose units go together as such, in the unit of the first; others in a row."""
    distinct = list(dict.fromkeys(values))
    read = [_read(value) for value in distinct]
    known = [number for number in read if number is not None]
    units = [unit for _, unit in known]
    family = family_of(units)
    if len(known) < len(read) or family is None or not units:
        return _Places({value: float(place) for place, value in enumerate(distinct)}, are_words=True)
    unit = next((unit for unit in units if unit + "s" not in family), units[0] + "s")
    places = [number * family[own] / family[unit] for number, own in known]
    return _Places(dict(zip(distinct, places, strict=True)), unit)


def _read(value: Any) -> tuple[float, str] | None:
    try:
        number, unit = quantity(value)
    except ValueError:
        return None
    return (float(number), unit) if family_of([unit]) else None


def _is_numeric(kind: pa.DataType) -> bool:
    """Whether a column holds numbers, or would if something were known of it."""
    return any(test(kind) for test in (pa.types.is_floating, pa.types.is_integer, pa.types.is_null))


def _follows(rows: Sequence[Mapping[str, Any]], key: str, over: str) -> bool:
    """Whether a key has one value for each of another's, as keys that are zipped do."""
    found: dict[Any, Any] = {}
    return all(found.setdefault(row[over], row[key]) == row[key] for row in rows)


def _table_of(sweep: object) -> pa.Table:
    table = sweep if isinstance(sweep, pa.Table) else getattr(sweep, "table", None)
    if not isinstance(table, pa.Table):
        raise mistake(f"{named(sweep)} is no sweep", "the table of a sweep, or what tailback.sweep returns")
    return table


def _axis_name(over: str, places: _Places) -> str:
    unit = places.unit or _SHARES.get(over.rpartition(".")[2], "")
    return f"{over} [{unit}]" if unit else over


def _of_class(rows: Iterable[Mapping[str, Any]], member: str) -> Iterator[Mapping[str, Any]]:
    """The rows of a class, where that of a point that gave no result is one of each."""
    return ({**row, CLASS: member} for row in rows if row[CLASS] in (member, None))


_Lines = Mapping[tuple[Any, ...], Sequence[Point]]


def _known(members: Sequence[str], lines_of: Callable[[str], _Lines]) -> dict[str, _Lines]:
    """The lines of those of the classes of which a point is known."""
    panels = {member: lines_of(member) for member in members}
    return {
        member: lines for member, lines in panels.items() if any(point.is_known for point in _points(lines))
    }


def _lines(
    rows: Sequence[Mapping[str, Any]], column: str, over: str, others: Sequence[str], places: _Places
) -> _Lines:
    """The points of every line of a class, by the values of the other keys."""
    found: dict[tuple[Any, ...], dict[Any, list[Mapping[str, Any]]]] = {}
    for row in rows:
        line = found.setdefault(tuple(row[key] for key in others), {})
        line.setdefault(row[over], []).append(row)
    is_told = tells_stable(_states(rows))
    return {
        combination: [_point(places.at[value], of_value, column, is_told) for value, of_value in line.items()]
        for combination, line in found.items()
    }


def _point(place: float, rows: Sequence[Mapping[str, Any]], column: str, is_told: bool) -> Point:
    """The mean over the runs that gave a result, if any did; it may be told whether they are stable."""
    rows = [row for row in rows if row.get(FAILED) is None]
    values = [math.nan if row[column] is None else float(row[column]) for row in rows]
    missing = f"{column.removesuffix(_MEAN)}{MISSING}"
    return Point(
        place,
        mean_interval(values),
        all_stable(_states(rows)) if is_told else True,
        any(row.get(missing) for row in rows),
    )


def _states(rows: Iterable[Mapping[str, Any]]) -> set[bool | None]:
    """Whether runs are stable that gave a result."""
    return {row.get(STABLE) for row in rows if row.get(FAILED) is None}


def _points(lines: _Lines) -> list[Point]:
    return [point for line in lines.values() for point in line]


def _name(combination: tuple[Any, ...], lines: Sequence[Sequence[Point]]) -> str:
    """The name of a line, that of all panels."""
    name = style.plain(", ".join(map(told, combination)))
    is_drawn = any(point.is_known for points in lines for point in points)
    return name if is_drawn or not name else f"{name} (no point)"


@dataclass(frozen=True)
class _Shown:
    """How a quantity is drawn: in which unit, and what it is at least and at most."""

    factor: float
    lowest: float
    highest: float
    is_latency: bool


_ROW = 0.6
"""The part of the room of a word in which the points of several lines stand side by side."""


def _draw(
    axes: Axes,
    lines: _Lines,
    looks: Mapping[tuple[Any, ...], tuple[int, int | None]],
    names: Mapping[tuple[Any, ...], str],
    places: _Places,
    how: _Shown,
) -> None:
    if how.is_latency:
        style.logarithmic(axes, "y")
    joined = not places.are_words
    line = partial(means.line, joined=joined, lowest=how.lowest, highest=how.highest)
    for number, (combination, points) in enumerate(lines.items()):
        # Side by side: at a word several lines may have the same.
        aside = 0.0 if joined else _ROW * ((number + 0.5) / len(lines) - 0.5)
        shown = [replace(point.scaled(how.factor), place=point.place + aside) for point in points]
        line(axes, shown, names[combination], *looks[combination])
    _set_scales(axes, places, how)


_LETTERS = 56
"""How many stand side by side under a figure."""


_TICKS_MAX = 7
"""Swept values on a logarithmic axis that each have a tick."""


_ASLANT = 24
"""Letters of a line of a name that stands aslant."""


def _name_places(axes: Axes, at: Mapping[Any, float]) -> None:
    """Names places in a row: in lines where names would run into one another, aslant if they still do."""
    names, room = told_apart(list(at)), _LETTERS // len(at)
    lines = [wrap(name, max(room, 6)) or [name] for name in names]
    slant: dict[str, Any] = {}
    if max(len(line) for own in lines for line in own) > room:
        lines = [wrap(name, _ASLANT) or [name] for name in names]
        slant = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(list(at.values()), [style.plain("\n".join(own)) for own in lines], **slant)


def _set_scales(axes: Axes, places: _Places, how: _Shown) -> None:
    """Every swept value is on the axis, whether or not something is known of it."""
    low, high = min(places.at.values()), max(places.at.values())
    if places.are_words:
        _name_places(axes, places.at)
        axes.set_xlim(low - 0.5, high + 0.5)
    elif places.are_logarithmic:
        style.logarithmic(axes, "x")
        if len(places.at) <= _TICKS_MAX:
            style.ticks_at(axes, places.at.values())
        axes.set_xlim(low / 1.15, high * 1.15)
    else:
        means.hold(axes, places.at.values())
    if how.is_latency:
        style.not_too_close(axes)
    elif how.lowest == 0:
        axes.set_ylim(0, 1.05 * axes.get_ylim()[1])


def _lacking(column: str, *, is_latency: bool) -> str:
    """Why nothing may be known of a point."""
    if is_latency:
        return "saturated, or too few messages"
    return (
        "no tree grew from an endpoint" if column in _OF_NETWORK else "a job that did not end, or no messages"
    )


def _notes(
    axes: Axes, known: Sequence[_Lines], gone: Sequence[str], lacking: str, lowest: float
) -> list[str]:
    """What has to be said under the panels; `lacking` tells why a point may not be known."""
    points = [point for lines in known for point in _points(lines)]
    notes = means.notes(axes, points, lowest)
    if not all(point.is_known for point in points if point.mean.values > 0):
        notes.append(f"no point: {lacking}")
    if gone:
        notes.append(f"no points at all: {', '.join(map(style.plain, gone))}")
    return notes
