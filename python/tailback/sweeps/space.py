"""What a sweep runs: the `[sweep]` table of a scenario file, or `over` in Python, as a product of values.

[sweep]
"traffic.hot.load" = [0.1, 0.5, 0.9]                       # a list
"routing.threshold" = { from = "12 flits", to = "96 flits", step = "12 flits" }
"link.global" = { from = "100 ns", to = "10 us", points = 3, log = true }   # any units of one kind
zip = { "topology.a" = [4, 8], "topology.h" = [2, 4] }      # go together; a list of such tables is allowed
seeds = 5                                                  # run.seed from 1 to 5; or a list of seeds
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from typing import Any

from tailback.errors import InputError, Problem
from tailback.units import family

Changes = dict[str, Any]
"""A point: the value of every key that the sweep changes."""

SEED = "run.seed"
_LEVELS_MAX = 1_000_000  # values of one key
_DIGITS = 60  # a bit in TiB is exact
_RANGE_KEYS = {"from", "to", "step", "points", "log"}
_EXPONENT_MAX = 300  # of a quantity: numbers of more digits take for ever to compute with
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_QUANTITY = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*(.*?)\s*")


@dataclass(frozen=True)
class Axis:
    """Keys that change together, and their values: one tuple per step."""

    keys: tuple[str, ...]
    steps: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Space:
    """All points of a sweep: the product of its axes; the last axis (the seeds) changes fastest."""

    axes: tuple[Axis, ...]

    def __len__(self) -> int:
        """How many points there are."""
        return math.prod(len(axis.steps) for axis in self.axes)

    @property
    def keys(self) -> list[str]:
        """The keys that change, in order."""
        return [key for axis in self.axes for key in axis.keys]

    def points(self, start: int = 0, stop: int | None = None) -> Iterator[Changes]:
        """The points from one number to another, without making those before."""
        for number in range(start, len(self) if stop is None else min(stop, len(self))):
            yield self._point(number)

    def with_seeds(self, seeds: Space) -> Space:
        """The space under the seeds of another one that has nothing else, in place of its own.

        Raises `InputError` if its seeds change together with other keys.
        """
        if any(SEED in axis.keys and axis.keys != (SEED,) for axis in self.axes):
            told = "the [sweep] table changes the seed together with other keys"
            raise InputError([Problem(told, path="sweep", help="leave out seeds")])
        return Space((*(axis for axis in self.axes if SEED not in axis.keys), *seeds.axes))

    def with_one_seed(self) -> Space:
        """The space under the largest of its seeds alone."""
        return Space(tuple(_largest(axis) if axis.keys == (SEED,) else axis for axis in self.axes))

    def samples(self) -> Iterator[Changes]:
        """A point for every value of every axis but the seeds: enough to find what is wrong."""
        first = self._point(0)
        yield first
        for axis in self.axes:
            for step in _largest(axis).steps if axis.keys == (SEED,) else axis.steps[1:]:
                yield first | dict(zip(axis.keys, step, strict=True))

    def _point(self, number: int) -> Changes:
        changes: Changes = {}
        for axis in reversed(self.axes):
            number, step = divmod(number, len(axis.steps))
            changes = dict(zip(axis.keys, axis.steps[step], strict=True)) | changes
        return changes


def _largest(seeds: Axis) -> Axis:
    """Seeds are whole numbers, of which the largest may be too large."""
    return replace(seeds, steps=(max(seeds.steps),))


def told(value: Any) -> str:
    """A swept value for a person: a table (also as JSON) by its kind, and what else it says."""
    table = _table(value)
    if table is not None:
        return _settings(table)
    return str(value).lower() if isinstance(value, bool) else str(value)  # as a file has it


def told_apart(values: Sequence[Any]) -> list[str]:
    """Swept values of a key for a person: of tables, only what is not alike in all of them."""
    tables = [_table(value) for value in values]
    known = [table for table in tables if table is not None]
    if len(known) < max(len(values), 2):
        return [told(value) for value in values]
    alike = [key for key in known[0] if all(key in own and own[key] == known[0][key] for own in known)]
    rest = [{key: own[key] for key in own if key not in alike} for own in known]
    return [_settings(differs or own) for differs, own in zip(rest, known, strict=True)]


def _table(value: Any) -> dict[str, Any] | None:
    try:
        table = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None
    return table if isinstance(table, dict) else None


def _settings(table: Mapping[str, Any]) -> str:
    return " ".join(str(setting) if key == "kind" else f"{key} {setting}" for key, setting in table.items())


def _entry(name: str, kind: str, doc: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "required": False, "default": None, "doc": doc}


TABLE: Mapping[str, Any] = {
    "name": "sweep",
    "doc": "What `tailback sweep` runs: the product of the values of all keys.",
    "parameters": [
        _entry(
            '"dotted.key"',
            "a list of values, or a range",
            'Values of a key of the scenario, such as `"traffic.hot.load" = [0.1, 0.5]`; values may be whole '
            'tables, such as `congestion_control = ["none", { kind = "ecn", threshold = "96 flits" }]`. A '
            "range is `{ from = 0.1, to = 0.9, step = 0.1 }`, or has `points = 9` in place of its step, with "
            "`log = true` spaced by a factor.",
        ),
        _entry(
            "zip",
            "a table of lists of one length, or a list of such tables",
            'Keys that change together: `zip = { "topology.a" = [4, 8], "topology.h" = [2, 4] }`.',
        ),
        _entry(
            "seeds",
            "a whole number or a list",
            "Repeats every point with the seeds from 1 to this, or with these.",
        ),
    ],
}
"""The table, as the engine tells of others."""

_KEYS_HELP = 'such as "traffic.hot.load" = [0.1, 0.5]'


def space(table: Mapping[str, Any], seeds: int | Sequence[int] | None = None) -> Space:
    """The space of a table by dotted key; raises all mistakes at once."""
    if not isinstance(table, Mapping):
        raise InputError([_problem("sweep", "this is no table of lists by dotted key", _KEYS_HELP)])
    problems: list[Problem] = []
    axes: list[Axis] = []
    seed_values = _plain(seeds)
    for key, value in _flat(_plain(table)):
        if key == "seeds":
            seed_values = value if seeds is None else seed_values
        elif key == "zip":
            axes += _zipped(value, problems)
        else:
            axes.append(Axis((key,), tuple((item,) for item in _distinct(key, value, problems))))
    if seed_values is not None:
        axes.append(Axis((SEED,), tuple((seed,) for seed in _seeds(seed_values, problems))))
    problems += _repeated(axes)
    if not axes and not problems:
        problems.append(_problem("sweep", "the sweep has no keys", _KEYS_HELP))
    if problems:
        raise InputError(problems)
    return Space(tuple(axes))


def _plain(value: Any) -> Any:
    """NumPy's arrays and numbers, wherever they are in a value, as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _problem(path: str, message: str, remedy: str = "") -> Problem:
    return Problem(message, path=path if path == "sweep" else f"sweep.{path}", help=remedy)


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Keys and values; an unquoted dotted key is a table in a table.

    The first name and the last may be dotted keys themselves, as in `"traffic.hot.load" = [0.1]`.
    """
    for name, value in table.items():
        key = f"{prefix}{name}"
        if not prefix and name in ("zip", "seeds"):
            yield key, value
        elif isinstance(value, Mapping) and not _is_range(value):
            yield from _flat(value, f"{prefix}{_quoted(name)}." if prefix else f"{key}.")
        else:
            yield key, value


def _quoted(name: Any) -> str:
    """A name as a part of a dotted key: the class "a b.c" is one part."""
    return str(name) if _BARE.fullmatch(str(name)) else json.dumps(str(name), ensure_ascii=False)


def _is_range(value: Mapping[str, Any]) -> bool:
    """Whether a table is meant for a range, also one with other names: those would be keys without lists."""
    if not value or value.keys() & {"from", "to"}:
        return True
    has_lists = any(isinstance(item, Mapping | list) for item in value.values())
    return not has_lists and bool(value.keys() & {"start", "stop", "end", "step", "points"})


def _zipped(value: Any, problems: list[Problem]) -> list[Axis]:
    tables = value if isinstance(value, list) else [value]
    axes = []
    for table in tables:
        if not isinstance(table, Mapping) or not table:
            problems.append(_problem("zip", "a table of lists of one length is expected", _ZIP_HELP))
            continue
        before = len(problems)
        columns = {key: list(_values(key, values, problems)) for key, values in _flat(table)}
        lengths = {key: len(values) for key, values in columns.items()}
        if len(problems) > before:
            continue
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{key} has {count}" for key, count in lengths.items())
            problems.append(_problem("zip", f"lists that go together need one length: {told}", _ZIP_HELP))
            continue
        axes.append(Axis(tuple(columns), tuple(zip(*columns.values(), strict=True))))
        if _names_twice(axes[-1].steps):
            problems.append(_problem("zip", f"the values of {', '.join(columns)} are together twice"))
    return axes


_ZIP_HELP = 'such as zip = { "topology.a" = [4, 8], "topology.h" = [2, 4] }'


def _values(key: str, value: Any, problems: list[Problem]) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return _range(key, value, problems)
    if not isinstance(value, Sequence) or isinstance(value, str):
        problems.append(
            _problem(key, "a list or a range is expected", f"write [{value!r}], or set it in the scenario")
        )
        return ()
    if not value:
        problems.append(_problem(key, "the list is empty", "give at least one value"))
    return value


def _distinct(key: str, value: Any, problems: list[Problem]) -> Sequence[Any]:
    values = _values(key, value, problems)
    if _names_twice(values):
        problems.append(_problem(key, "the list names a value twice", "several seeds: seeds = 5"))
    return values


def _names_twice(values: Sequence[Any]) -> bool:
    return len({repr(item) for item in values}) < len(values)


def _seeds(value: Any, problems: list[Problem]) -> Sequence[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        if 1 <= value <= _LEVELS_MAX:
            return range(1, value + 1)
        problems.append(_problem("seeds", f"{value} seeds are not possible", f"1 to {_LEVELS_MAX:,}"))
        return ()
    if isinstance(value, float):
        problems.append(_problem("seeds", f"{value} is no whole number", "seeds = 5, or seeds = [1, 7, 9]"))
        return ()
    values = _distinct("seeds", value, problems)
    if not all(isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 for seed in values):
        problems.append(_problem("seeds", "seeds are whole numbers", "seeds = 5, or seeds = [1, 7, 9]"))
        return ()
    return values


def _repeated(axes: Sequence[Axis]) -> list[Problem]:
    keys = [key for axis in axes for key in axis.keys]
    twice = dict.fromkeys(key for key in keys if keys.count(key) > 1)
    return [_problem(key, "the key is given twice", _ONCE[key == SEED]) for key in twice]


_ONCE = ("leave out one", "leave out one: seeds = … changes run.seed too")


def _range(key: str, table: Mapping[str, Any], problems: list[Problem]) -> Sequence[Any]:
    try:
        with localcontext(prec=_DIGITS):
            return _range_values(table)
    except ValueError as error:
        problems.append(_problem(key, str(error), "{ from = 0.1, to = 0.9, step = 0.1 } or points = 9"))
        return ()


def _range_values(table: Mapping[str, Any]) -> list[Any]:
    unknown = table.keys() - _RANGE_KEYS
    if unknown:
        raise ValueError(f"a range has no key {sorted(unknown)[0]!r}; it has from, to, step or points, log")
    if not {"from", "to"} <= table.keys() or ("step" in table) == ("points" in table):
        raise ValueError("a range needs from, to, and either step or points")
    names = [name for name in ("from", "to", "step") if name in table]
    (first, last, *step), unit = _in_one_unit([quantity(table[name]) for name in names])
    log = table.get("log", False)
    if not isinstance(log, bool):
        raise ValueError(f"log is true or false, not {log!r}")
    if step:
        numbers = _stepped(first, last, step[0], log)
    else:
        numbers = _rounded(_spaced(first, last, table["points"], log), unit)
    return [_written(number, unit) for number in numbers]


def _in_one_unit(quantities: Sequence[tuple[Decimal, str]]) -> tuple[list[Decimal], str]:
    """The numbers, exactly, in the smallest of their units."""
    units = [unit for _, unit in quantities]
    if len(set(units)) == 1:
        return [number for number, _ in quantities], units[0]
    sizes = family(units)
    if sizes is None:
        told = ", ".join(map(repr, dict.fromkeys(units)))
        raise ValueError(f"the quantities of a range need units of one kind, not {told}")
    smallest = min(units, key=lambda unit: (sizes[unit], -len(unit)))  # "packets" rather than "packet"
    return [number * sizes[unit] / sizes[smallest] for number, unit in quantities], smallest


def _stepped(first: Decimal, last: Decimal, size: Decimal, log: bool) -> list[Decimal]:
    if log:
        raise ValueError("a logarithmic range takes points, not step")
    if size == 0 or (last - first) / size < 0:
        raise ValueError("the step never leads from the first value to the last")
    parts = int((last - first) / size)
    if parts >= _LEVELS_MAX:
        raise ValueError(f"the range has too many values; at most {_LEVELS_MAX:,}")
    return [first + size * number for number in range(parts + 1)]


def _spaced(first: Decimal, last: Decimal, points: Any, log: bool) -> list[Decimal]:
    if not isinstance(points, int) or isinstance(points, bool) or not 2 <= points <= _LEVELS_MAX:
        raise ValueError(f"points is a whole number from 2 to {_LEVELS_MAX:,}")
    if first == last:
        raise ValueError("both ends are the same")
    if log and (first <= 0 or last <= 0):
        raise ValueError("a logarithmic range lies over 0")
    parts = [Decimal(number) / (points - 1) for number in range(1, points - 1)]
    inner = [first * (last / first) ** part if log else first + (last - first) * part for part in parts]
    return [first, *inner, last]


def _rounded(numbers: Sequence[Decimal], unit: str) -> list[Decimal]:
    """A range with the values between its ends rounded to what a scenario can hold, or to 12 digits."""
    first, *inner, last = numbers
    grain, name = _grain(unit, (first, last))
    if grain is None:
        return [first, *(Decimal(f"{number:.12g}") for number in inner), last]
    rounded = [first, *((number / grain).to_integral_value() * grain for number in inner), last]
    if len(set(rounded)) < len(rounded):
        raise ValueError(
            f"there are no {len(rounded)} values between the ends that are whole numbers of {name}"
        )
    return rounded


def _grain(unit: str, ends: Sequence[Decimal]) -> tuple[Decimal | None, str]:
    """Of what quantities in a unit are whole numbers, in this unit, with its name; none if the ends are not.

    Sizes are whole bits, and whole bytes between two of those; in GiB whole MiB, because a byte of one has
    more decimals than the engine reads, and so on.
    """
    sizes = family([unit])
    if sizes is None or "" in sizes:
        return None, ""
    below = sizes[unit] / 1024 if "i" in unit else 0
    wholes = [name for name, size in sizes.items() if size in (1, below) or name == "B"]
    for name in sorted(wholes, key=lambda name: (sizes[name], len(name)), reverse=True):
        grain = Decimal(sizes[name]) / sizes[unit]
        if all(end / grain == (end / grain).to_integral_value() for end in ends):
            return grain, name
    return None, ""


def quantity(value: Any) -> tuple[Decimal, str]:
    """The number and the unit, which may be empty, of a value; raises `ValueError` if it is neither."""
    match = _QUANTITY.fullmatch(str(value))
    if isinstance(value, bool) or match is None:
        raise ValueError(f"{value!r} is neither a number nor a number with a unit")
    try:
        number = Decimal(match[1])
    except ArithmeticError:
        raise ValueError(f"{value!r} is not a number") from None
    if number and abs(number.adjusted()) > _EXPONENT_MAX:
        raise ValueError(f"{value!r} is too large or too small for a number")
    return number, match[2]


def _written(number: Decimal, unit: str) -> Any:
    """The number, a whole one without a point; as text with its unit if it has one."""
    if unit:
        return f"{number.normalize():f} {unit}"
    return int(number) if number == number.to_integral_value() and abs(number) < 2**53 else float(number)
