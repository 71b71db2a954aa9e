"""Keys of a sweep that lead to the same place: a class or a job is called by its name or by its number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tailback.errors import Problem
from tailback.scenario import Scenario
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


def _any_sets(axis: Axis, key: str, rest: Place) -> bool:
    at = axis.keys.index(key)
    return any(_sets(step[at], rest) for step in axis.steps)


def _sets(value: Any, rest: Place) -> bool:
    """Whether a value for a place sets the one below it that has the rest of the key."""
    for part in rest:
        if isinstance(value, str):
            value = {"kind": value}  # where it stands for a table
        if not isinstance(value, Mapping):
            return True
        if part not in value:
            return False
        value = value[part]
    return True
