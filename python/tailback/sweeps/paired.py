"""How much the points of a sweep differ from those under one value of a key, seed by seed.

Runs that differ in a scheme or a network alone have the same arrivals under the same seed, so that the
difference of two of them varies far less than either does (common random numbers: A. M. Law, “Simulation
modeling and analysis”, section 11.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tailback.errors import mistake
from tailback.sweeps.inner_columns import inside
from tailback.sweeps.merged import CLASS, FAILED, WARNINGS, column, swept
from tailback.sweeps.space import SEED, quantity, told
from tailback.words import all_stable

_Row = Mapping[str, Any]

STABLE, MISSING = "stable", "_latency_missing"
"""The column that says whether runs are, and the end of those that count what had not arrived."""
OF_BASE = "_base"
"""The end of the columns of such counts of the points compared with."""
_CONFIDENCES = ("_ci95", "_ci95_ns")
"""Ends of columns of half intervals, whose differences mean nothing: those over the seeds are to be had."""
_OVER = {"time_over_ns": "time_ns", "slowdown_over": "slowdown"}
"""Columns of what jobs that did not end took longer than, and what others took, which it is compared with."""


def differences(table: pa.Table, base: Mapping[str, str], zipped: Sequence[Sequence[str]] = ()) -> pa.Table:
    """The table of a sweep with differences in place of what was measured.

    Of each point that has not all of the values of `base`, as the sweep tells them, what it has more than the
    one that has and is of the same class, seed and other keys; null where either is not known. Keys that
    change together with one of `base` (`zipped`) do not count if no two points are alike in them. A key is
    one of the sweep, or is inside of its tables; a kind has the key of its table as well.

    Where something had not arrived a mean latency is a lower bound, and the difference of two of these none:
    it is null. How much had not arrived stands there as it is, that of the other point under the name with
    `_base` at its end. A difference is `stable` if both runs are.

    Raises `InputError` if the sweep does not change a key or has no such value, if several points of a class
    and seed have all of them, or if no other point has its like among those that do.
    """
    keys = swept(table)
    rows = [row for row in table.to_pylist() if row[CLASS] is not None]
    is_base, axes = [True] * len(rows), set[str]()
    for key, value in base.items():
        axis, at_key = _axis(rows, keys, key)
        known = dict.fromkeys(one for one in at_key if one is not None)
        if not any(_is_same(one, value) for one in known):
            raise mistake(f"no point has {value} at {key}", f"one of {', '.join(known)}")
        has = [one is not None and _is_same(one, value) for one in at_key]
        is_base = [one and other for one, other in zip(is_base, has, strict=True)]
        axes.add(axis)
    told_base = " and ".join(f"{value} at {key}" for key, value in base.items())
    partners = {name for names in zipped if axes.intersection(names) for name in names} - axes - {SEED}
    # What changes together with the base tells points apart where points under both have it.
    for left_out in (axes, axes | partners):
        names = [name for name in (*keys, CLASS) if name not in left_out]
        based = [row for row, one in zip(rows, is_base, strict=True) if one]
        base_of = {tuple(row[name] for name in names): row for row in based}
        if len(base_of) < len(based):
            raise mistake(f"several points have {told_base}", _told_apart(based, sorted(left_out)))
        others = [
            (row, base_of.get(tuple(row[name] for name in names), {}))
            for row, one in zip(rows, is_base, strict=True)
            if not one
        ]
        if any(of for _, of in others):
            break
    else:
        raise mistake(f"no other point has its like with {told_base}", "points that differ in more than that")
    return _subtracted(table, others)


def _subtracted(table: pa.Table, others: Sequence[tuple[_Row, _Row]]) -> pa.Table:
    """What the first of each two rows has more than the second."""
    kept = [*swept(table), CLASS, "directory"]
    columns = {name: column([row[name] for row, _ in others]) for name in table.column_names if name in kept}
    columns |= {
        name: pa.array([_less(row, of, name) for row, of in others], pa.float64())
        for name in _measured(table)
        if name not in kept
    }
    for name in (name for name in table.column_names if name.endswith(MISSING)):
        columns[name] = column([row[name] for row, _ in others])
        columns[f"{name}{OF_BASE}"] = column([of.get(name) for _, of in others])
    if STABLE in table.column_names:
        states = [all_stable({row[STABLE], of.get(STABLE)}) for row, of in others]
        columns[STABLE] = pa.array(states, pa.bool_())
    return pa.table(columns)


def _measured(table: pa.Table) -> list[str]:
    """The columns of numbers whose differences mean something."""
    return [
        field.name
        for field in table.schema
        if _is_number(field.type)
        and not field.name.endswith((*_CONFIDENCES, MISSING))
        and field.name not in (WARNINGS, FAILED)
    ]


def _told_apart(rows: Sequence[_Row], names: Sequence[str]) -> str:
    """How to name one of the rows, by the keys that differ among them."""
    differ = [name for name in names if len({told(row[name]) for row in rows}) > 1]
    several = dict.fromkeys(" and ".join(f'"{name}={told(row[name])}"' for name in differ) for row in rows)
    return f"add one of {', '.join(several)}"


def _axis(rows: Sequence[_Row], keys: Sequence[str], key: str) -> tuple[str, list[str | None]]:
    """The key of the sweep that changes a key, and what each row has there, None for nothing."""
    for same in (key, f"{key}.kind"):  # of a kind, the key of its table means the same
        if same in keys:
            return same, [told(row[same]) for row in rows]
    found = {axis: inside([row[axis] for row in rows], axis, of_texts=True) for axis in keys}
    for axis, settings in found.items():
        if any(key in one for one in settings):
            return axis, [told(one[key]) if key in one else None for one in settings]
    inner = dict.fromkeys(name for settings in found.values() for one in settings for name in one)
    known = ", ".join((*keys, *inner)) or "no keys"
    raise mistake(f"the sweep does not change {key!r}", f"one of {known}")


def _is_same(one: str, other: str) -> bool:
    """Whether two values are written alike, or are the same number."""
    try:
        return one == other or quantity(one) == quantity(other)
    except ValueError:
        return False


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _less(row: _Row, of: _Row, name: str) -> float | None:
    first, second = row[name], of.get(_OVER.get(name, name))
    missing = f"{name.removesuffix('_latency_mean_ns')}{MISSING}"
    if first is None or second is None or (row.get(missing) and of.get(missing)):
        return None
    return float(first) - float(second)
