"""Keys taken out of a scenario, so that a file can be changed to a kind that does not know them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Any

Place = Sequence[str]
"""The parts of a key; members of lists by number."""


def is_toml(text: str) -> bool:
    """Whether a text is TOML: from any other nothing can be taken out."""
    return _parsed(text) != ""


def has(text: str, place: Place) -> bool:
    """Whether a text in TOML sets a key."""
    try:
        _at(tomllib.loads(text), place)
    except (LookupError, ValueError, TypeError):
        return False
    return True


def blanked(text: str, place: Place) -> str | None:
    """The text with the lines that set a key left empty: all others keep their numbers.

    None if the key has no lines of its own, as inside of braces.
    """
    wanted = _without(tomllib.loads(text), place)
    lines = text.split("\n")
    for first in _beginnings(lines, place):
        for last in range(first, len(lines)):
            kept = "\n".join([*lines[:first], *[""] * (last + 1 - first), *lines[last + 1 :]])
            # Of a value over several lines a part is no TOML, and of a table it is another one.
            found = _parsed(kept)
            if found == repr(wanted):  # NaN is no other NaN's equal
                return kept
            if found and not lines[first].lstrip().startswith("["):
                break  # it is the key of another table
    return None


def rest(text: str, place: Place) -> Any:
    """What is left of the table that a key stands in."""
    return _at(_without(tomllib.loads(text), place), place[:-1])


def _beginnings(lines: Sequence[str], place: Place) -> Iterator[int]:
    """The lines that a key, or the header of its table, may begin on."""
    name = re.escape(next(part for part in reversed(place) if not part.isdecimal()))
    begins = re.compile(rf"\s*\[?\[?(?:[^=#]*\.)?\s*[\"']?{name}[\"']?\s*[=\]]").match
    return (number for number, line in enumerate(lines) if begins(line))


def _parsed(text: str) -> str:
    try:
        return repr(tomllib.loads(text))
    except tomllib.TOMLDecodeError:
        return ""


def _at(table: Any, place: Place) -> Any:
    for part in place:
        table = table[int(part)] if isinstance(table, list) else table[part]
    return table


def _without(table: dict[str, Any], place: Place) -> dict[str, Any]:
    table = deepcopy(table)
    *outer, last = place
    inner = _at(table, outer)
    del inner[int(last) if isinstance(inner, list) else last]
    if inner == [] and outer:  # a list without members is not written
        del _at(table, outer[:-1])[outer[-1]]
    return table
