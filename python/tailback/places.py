"""Dotted keys as places in a scenario: a traffic class or a job is called by its name or by its number."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailback.errors import Problem
from tailback.scenario import Scenario
from tailback.sweep_table import Axis, Space

Place = tuple[str, ...]


def tree(scenario: Scenario) -> dict[str, Any]:
    """The file with its changes, as far as it is TOML and they have a place in it, as the engine has it."""
    try:
        root = tomllib.loads(scenario.text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    for key in ("traffic", "job"):
        members = root.get(key)
        for number, member in enumerate(members if isinstance(members, list) else ()):
            if isinstance(member, dict) and not member.get("name"):
                member["name"] = f"{key}{number}"
    for key, text in scenario.overrides:
        _set(root, key, text)
    return root


def place(root: Mapping[str, Any], key: str) -> Place:
    """The parts of a key, those of lists as numbers."""
    node: Any = root
    found = []
    for part in _parts(key):
        at = _at(node, part)
        found.append(str(at))
        node = _child(node, at)
    return tuple(found)


def _parts(key: str) -> Sequence[str]:
    """The parts of a key, which may be quoted as in TOML; the engine complains about what is no key."""
    parts = []
    try:
        node: Any = tomllib.loads(f"{key}=0")
        while isinstance(node, dict):
            ((part, node),) = node.items()
            parts.append(part)
    except (ValueError, RecursionError):
        return key.split(".")
    return parts


def _at(node: Any, part: str) -> str | int:
    """The key, or the number in a list, that a part of a key means."""
    if not isinstance(node, list):
        return part
    named = (at for at, item in enumerate(node) if isinstance(item, dict) and item.get("name") == part)
    return next(named, int(part) if part.isdecimal() and len(part) < 10 else part)


def _child(node: Any, at: str | int) -> Any:
    try:
        return node[at]
    except (LookupError, TypeError):
        return None


def _set(root: dict[str, Any], key: str, text: str) -> None:
    node: Any = root
    *parents, last = _parts(key)
    for part in parents:
        if isinstance(node, dict):
            node.setdefault(part, {})
        node = _child(node, _at(node, part))
    at = _at(node, last)
    if isinstance(node, dict) or _child(node, at) is not None:
        node[at] = _value(text)


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value={text}")["value"]
    except (ValueError, LookupError, RecursionError):
        return text


def is_within(inner: Place, outer: Place) -> bool:
    """Whether a place is another one or lies in it."""
    return inner[: len(outer)] == outer


def shadowed(scenario: Scenario, space: Space) -> Iterator[Problem]:
    """Every key of a sweep that sets what another one sets: the table would name values that nothing had."""
    if len(space.keys) < 2:
        return
    root = tree(scenario)
    found: list[tuple[str, Place, Axis]] = []
    for axis in space.axes:
        for key in axis.keys:
            own = place(root, key)
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
        if not isinstance(value, Mapping):
            return True
        if part not in value:
            return False
        value = value[part]
    return True
