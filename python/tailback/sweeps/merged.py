"""The table of a sweep, a row per point and class or job, and what is told of points without a result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tailback.sweeps import points
from tailback.sweeps.space import Changes, quantity, told
from tailback.units import family

if TYPE_CHECKING:
    from tailback.sweeps.model import Point

CLASS, WARNINGS, FAILED = "class", "warnings", "failed"
"""Columns: whose numbers a row has; what runs warned of, if any did; if points gave no result, why, in a row
of each that has nothing else."""
_OF_NUMBERS = family([""]) or {}
"""The units that go with numbers of none."""
_WHOLE_MAX = 10
"""Points that gave no result whose reasons are told with all their lines."""


def merged(wanted: Sequence[Point], failed: Mapping[str, str]) -> pa.Table:
    """One table of all points: the same results give the same bytes, whatever the order they were made in.

    `failed` tells by their names why points gave no result.
    """
    keys = list(dict.fromkeys(key for point in wanted for key in point.changes))
    # Those that are one run, as under 0.1 and "10 %", count once: twice would make a mean look sure.
    once: dict[str, Point] = {}
    for point in wanted:
        once.setdefault(point.name, point)
    rows: list[dict[str, Any]] = []
    for point in once.values():
        swept = {key: point.changes.get(key) for key in keys}
        if point.name in failed:
            rows.append({**swept, CLASS: None, FAILED: failed[point.name]})
            continue
        where = {"directory": f"{point.directory.parent.name}/{point.name}"}
        result = point.result(failed, ("classes",))
        if warnings := result.summary.get("warnings"):
            where[WARNINGS] = "\n".join(warnings)
        rows += [{**swept, **row, **where} for row in points.class_rows(result)]
    # The columns of what was measured come first, whichever points failed.
    by_columns = sorted(rows, key=lambda row: FAILED in row)
    columns = list(dict.fromkeys(name for row in by_columns for name in row))
    return pa.table({name: column([row.get(name) for row in rows]) for name in columns})


def column(values: list[Any]) -> pa.Array:
    """Numbers, also with percentages among them, or texts; whatever else, or any other mixture, as text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int}:
        return _whole_numbers(values)
    if len(kinds) <= 1 and kinds <= {float, str, bool}:
        return pa.array(values)
    if kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if (numbers := _as_numbers(values)) is not None:
        return pa.array(numbers, pa.float64())
    return pa.array([_as_text(value) for value in values], pa.string())


def _as_numbers(values: Iterable[Any]) -> list[float | None] | None:
    """Numbers and percentages as numbers; None if anything else is among them."""
    found: list[float | None] = []
    for value in values:
        try:
            number, unit = (None, "") if value is None else quantity(value)
        except ValueError:
            return None
        if unit not in _OF_NUMBERS:
            return None
        found.append(None if number is None else float(number * _OF_NUMBERS[unit] / _OF_NUMBERS[""]))
    return found


def _whole_numbers(values: list[int | None]) -> pa.Array:
    """Of 64 bits, as seeds are; as text if there are larger ones."""
    for kind in (pa.int64(), pa.uint64()):
        with suppress(OverflowError):
            return pa.array(values, kind)
    return pa.array([_as_text(value) for value in values], pa.string())


def _as_text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def swept(table: pa.Table) -> list[str]:
    """The keys, that of the seed too, that a sweep's table has columns of."""
    columns = table.column_names
    return list(columns[: columns.index(CLASS)])


def lost(table: pa.Table) -> list[tuple[Changes, str]]:
    """The points of a sweep's table that gave no result, each with its reason."""
    if FAILED not in table.column_names:
        return []
    keys = swept(table)
    rows = table.select([*keys, FAILED]).to_pylist()
    return [({key: row[key] for key in keys}, row[FAILED]) for row in rows if row[FAILED] is not None]


def count(table: pa.Table) -> int:
    """How many points a sweep's table is of."""
    keys = swept(table)
    return int(table.select(keys).group_by(keys).aggregate([]).num_rows)


def told_lost(failed: Sequence[tuple[Changes, str]], whole: int) -> str:
    """Every point that gave no result, of `whole` points, each with its reason."""
    lines = [f"{len(failed)} of {whole} points gave no result:"]
    for number, (changes, why) in enumerate(failed):
        first, *more = why.split("\n")
        shown = number < _WHOLE_MAX
        lines.append(f"  {described(changes)}: {first}{'' if shown or not more else ' …'}")
        lines += [f"  {line}" for line in more] if shown else []
    if len(failed) > _WHOLE_MAX:
        lines.append(f"  The column {FAILED!r} of the sweep's table has the whole reasons.")
    return "\n".join(lines)


def described(changes: Changes) -> str:
    """A point on one line."""
    return ", ".join(f"{key} = {told(value)}" for key, value in changes.items()) or "the scenario itself"
