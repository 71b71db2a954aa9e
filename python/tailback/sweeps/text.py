"""The `[sweep]` table in the text of a scenario: read, found line by line, and taken out."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tailback.errors import InputError, Problem
from tailback.sweeps.space import Space, space

_ZIP = "zip"
_TABLE_HELP = "write it under [sweep], as a table of its own"


def from_text(text: str) -> Space | None:
    """The space of the `[sweep]` table in a scenario's text; None if it has none.

    Text that is not TOML is left for the engine to complain about.
    """
    try:
        table = tomllib.loads(text).get("sweep")
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise InputError([Problem("expected a table of lists", path="sweep")])
    try:
        return space(table)
    except InputError as error:
        raise InputError(placed(problem, text) for problem in error.problems) from None


def placed(problem: Problem, text: str) -> Problem:
    """The problem with the line of its key, if the key stands in the table under its own name."""
    if problem.line is not None:
        return problem
    wanted = problem.path.removeprefix("sweep.")
    # What is wrong may lie in a value, or between the keys of a zip.
    near = [
        (key, number)
        for number, key in _keys(text)
        if f"{wanted}.".startswith(f"{key}.") or (wanted == _ZIP and key.startswith(f"{_ZIP}."))
    ]
    if not near:
        return problem
    _, line = max(near, key=lambda found: len(found[0]) if wanted != _ZIP else -found[1])
    return replace(problem, line=line)


def _keys(text: str) -> Iterator[tuple[int, str]]:
    """The lines of `[sweep]` tables that have a key or a header, with the key."""
    header: list[str] = []
    for number, (line, of_sweep) in enumerate(_lines(text), 1):
        if not of_sweep:
            continue
        inner: list[str] = []
        if line.lstrip().startswith("[") and "sweep" in (_parsed(line) or {}):
            header = _parts(_parsed(line))[1:]
        else:
            inner = _parts(_parsed(f"{line.partition('=')[0]}= 0"))
            if not inner:
                continue
        if key := ".".join([*header, *inner]):
            yield number, key


def _parts(table: Any) -> list[str]:
    """The parts of the only key of a table of tables."""
    parts = []
    while table and isinstance(table, dict | list):
        (part,) = table
        if isinstance(table, dict):
            parts.append(part)
            part = table[part]
        table = part
    return parts


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Every line, and whether it is of a `[sweep]` table."""
    of_sweep = False
    above = ""  # the lines from the last header on
    for line in text.split("\n"):
        # A value over several lines, which has lines like headers, is no TOML up to one of them.
        if line.lstrip().startswith("[") and (header := _parsed(line)) and _parsed(above) is not None:
            of_sweep, above = "sweep" in header, ""
        above += f"{line}\n"
        yield line, of_sweep


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(f"{text}\n")
    except tomllib.TOMLDecodeError:
        return None


def without_sweep(text: str) -> str:
    """The text with the lines of its `[sweep]` tables left empty: all others keep their numbers."""
    kept = "\n".join("" if of_sweep else line for line, of_sweep in _lines(text))
    try:
        others = {key: value for key, value in tomllib.loads(text).items() if key != "sweep"}
        same = repr(tomllib.loads(kept)) == repr(others)  # NaN is no other NaN's equal
    except tomllib.TOMLDecodeError:
        same = False
    if not same:
        raise InputError(
            [Problem("the table cannot be taken out of the file", path="sweep", help=_TABLE_HELP)]
        )
    return kept
