"""Keys of a sweep that lead to the same place: a class or a job is called by its name or by its number."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tailback.errors import Problem
from tailback.scenario import Scenario, inline
from tailback.sweeps.space import Axis, Space

Place = tuple[str, ...]


def is_within(inner: Place, outer: Place) -> bool:
    """Whether a place is another one or lies in it."""
    return inner[: len(outer)] == outer


def replaced(scenario: Scenario, keys: Iterable[str]) -> list[str]:
    """The changes made in a scenario that are lost when these keys are set."""
    outer = scenario.places(keys)
    changed = [key for key, _ in scenario.overrides]
    pairs = zip(changed, scenario.places(changed), strict=True)
    return [key for key, place in pairs if any(is_within(place, own) for own in outer)]


def shadowed(scenario: Scenario, space: Space) -> Iterator[Problem]:
    """Every key of a sweep that sets what another one sets: the table would name values that nothing had."""
    at = dict(zip(space.keys, scenario.places(space.keys), strict=True))
    found: list[tuple[str, Place, Axis]] = []
    for axis in space.axes:
        for key in axis.keys:
            own = at[key]
            for other, outer, of_other in found:
                if is_within(outer, own):
                    told = f"the key sets what {other!r} sets"
                elif is_within(own, outer) and _any_sets(of_other, other, own[len(outer) :]):
                    told = f"values of {other!r} set this too"
                else:
                    continue
                yield Problem(told, path=f"sweep.{key}", help="sweep one of the two")
            found.append((key, own, axis))


def dropped(scenario: Scenario, space: Space) -> Iterator[Problem]:
    """Every value that replaces a table of the file by one of the same kind without what else the table has.

    Who writes the kind alone means the file's own.
    """
    file = tomllib.loads(scenario.text)
    places = dict(zip(space.keys, scenario.places(space.keys), strict=True))
    for axis in space.axes:
        for key, values in zip(axis.keys, zip(*axis.steps, strict=True), strict=True):
            own = _found(file, places[key])
            lacking = [given for value in values if (given := _table(value)) and _lost(own, given)]
            for given in lacking[:1]:
                names = " and ".join(f"{name} = {inline(own[name])}" for name in _lost(own, given))
                told = f"{given['kind']!r} in place of the file's [{key}] is without its {names}"
                remedy = f"{inline({**own, **given})}, or leave it out of the file"
                yield Problem(told, path=f"sweep.{key}", help=remedy)


def _table(value: Any) -> Any:
    """A value that may stand for a table, as one."""
    return {"kind": value} if isinstance(value, str) else value


def _lost(own: Any, given: Any) -> list[str]:
    """The keys of a table that are not those of one of its kind that replaces it."""
    if not isinstance(own, Mapping) or not isinstance(given, Mapping):
        return []
    is_alike = "kind" in own and own["kind"] == given.get("kind")
    return [name for name in own if name not in given] if is_alike else []


def _found(table: Any, place: Place) -> Any:
    """What stands at a place of a file; none if nothing does."""
    for part in place:
        if isinstance(table, list) and part.isdecimal() and int(part) < len(table):
            table = table[int(part)]
        elif isinstance(table, Mapping) and part in table:
            table = table[part]
        else:
            return None
    return table


def _any_sets(axis: Axis, key: str, rest: Place) -> bool:
    at = axis.keys.index(key)
    return any(_sets(step[at], rest) for step in axis.steps)


def _sets(value: Any, rest: Place) -> bool:
    """Whether a value for a place sets the one below it that has the rest of the key."""
    for part in rest:
        value = _table(value)
        if not isinstance(value, Mapping):
            return True
        if part not in value:
            return False
        value = value[part]
    return True
