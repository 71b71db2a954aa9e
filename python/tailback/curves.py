"""Figures of sweeps: what was measured over a swept key.

done = tailback.sweep(scenario, over={"traffic.hot.load": [0.1, 0.5]}, seeds=3)
tailback.curves.measured_over(done.table, "accepted").savefig("accepted.png")
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailback import style
from tailback.errors import mistake
from tailback.stats import mean_interval
from tailback.sweep_table import SEED, quantity

CLASS = "class"

QUANTITIES: Mapping[str, tuple[str, float, bool]] = {
    "accepted": ("accepted throughput\n[% of injection bandwidth]", 100.0, False),
    "accepted_per_destination": ("accepted throughput\n[% of ejection bandwidth]", 100.0, False),
    "message_latency_mean_ns": ("mean message latency [ns]", 1.0, True),
    "message_latency_p99_ns": ("99th percentile of\nmessage latency [ns]", 1.0, True),
}
"""What `tailback plot` draws of a sweep, by column: the axis' name, a factor, whether it is logarithmic."""


def measured_over(table: pa.Table, column: str, over: str | None = None) -> Figure:
    """A column of a sweep's table over the swept key `over` (default: the one with the most numbers).

    A panel per traffic class, a line per combination of the other keys, and with several seeds the 95 %
    confidence interval of each mean. There is no point where a latency is missing, as the class is saturated.
    Raises `InputError` if no key was swept, or not that one, or if nothing is known of the column.
    """
    swept = list(keys(table))
    if over is None:
        over = _axis(table, swept)
    elif over not in swept:
        raise mistake(f"the sweep does not change {over!r}", f"one of {', '.join(swept) or 'no keys'}")
    name, factor, logarithmic = QUANTITIES.get(column, (column, 1.0, False))
    rows = table.to_pylist()
    known = [row for row in rows if row[column] is not None and math.isfinite(row[column])]
    classes = list(dict.fromkeys(row[CLASS] for row in known))
    classes = [member for member in classes if member != "all"] or classes
    named = len({row[CLASS] for row in rows} - {"all"}) > 1
    if not classes:
        raise mistake(f"{column} is known of no point", "a longer drain lets more messages arrive")
    others = [key for key in swept if key != over]
    with style.styled():
        figure, panels = style.figure(len(classes), height=3.6 if len(classes) == 1 else 2.8)
        for member, axes in zip(classes, panels, strict=True):
            _draw_class(axes, [row for row in rows if row[CLASS] == member], column, over, others, factor)
            axes.set_ylabel(name)
            if logarithmic:
                axes.set_yscale("log")
            else:
                axes.set_ylim(bottom=0)
            if named:
                axes.set_title(member, loc="left", fontsize="medium")
        gap = "" if len(known) == len(rows) else "\nno point: saturated"
        panels[-1].set_xlabel(_axis_name(rows, over) + gap)
        style.legend(figure, panels[0], title=", ".join(others))
    return figure


def keys(table: pa.Table) -> list[str]:
    """The swept keys of a sweep's table, without the seed, in order."""
    columns = table.column_names
    return [key for key in columns[: columns.index(CLASS)] if key != SEED]


def _axis(table: pa.Table, swept: list[str]) -> str:
    if not swept:
        raise mistake("the sweep changes the seed alone", "there is nothing to draw it over")

    def steps(key: str) -> int:
        values = set(table[key].to_pylist())
        return len(values) if all(_number(value) is not None for value in values) else 0

    return max(swept, key=steps)


def _draw_class(
    axes: Axes, rows: list[dict[str, Any]], column: str, over: str, others: list[str], factor: float
) -> None:
    places, in_a_row = _places([row[over] for row in rows])
    lines: dict[tuple[Any, ...], dict[Any, list[float]]] = {}
    for row in rows:
        value = row[column]
        line = lines.setdefault(tuple(row[key] for key in others), {})
        line.setdefault(row[over], []).append(math.nan if value is None else factor * value)
    for number, (combination, points) in enumerate(lines.items()):
        order = sorted(points, key=lambda value: places[value])
        means = [mean_interval(points[value]) for value in order]
        axes.errorbar(
            [places[value] for value in order],
            [mean.mean for mean in means],
            yerr=None if all(mean.values == 1 for mean in means) else [mean.half for mean in means],
            label=", ".join(map(str, combination)) or None,
            marker=style.MARKERS[number % len(style.MARKERS)],
            capsize=2.5,
            **(style.line(number) | ({"linestyle": ""} if in_a_row else {})),
        )
    if in_a_row:
        axes.set_xticks(list(places.values()), [str(value) for value in places])


def _places(values: list[Any]) -> tuple[dict[Any, float], bool]:
    """Where each value stands on the axis: numbers and quantities of one unit as such, others in a row."""
    numbers = {value: _number(value) for value in values}
    known = {value: number for value, number in numbers.items() if number is not None}
    if len(known) == len(numbers) and len({unit for _, unit in known.values()}) == 1:
        return {value: number for value, (number, _) in known.items()}, False
    return {value: float(place) for place, value in enumerate(numbers)}, True


def _number(value: Any) -> tuple[float, str] | None:
    try:
        number, unit = quantity(value)
    except ValueError:
        return None
    return float(number), unit


def _axis_name(rows: list[dict[str, Any]], over: str) -> str:
    units = {number[1] for row in rows if (number := _number(row[over])) is not None}
    unit = units.pop() if len(units) == 1 else ""
    return f"{over} [{unit}]" if unit else over
