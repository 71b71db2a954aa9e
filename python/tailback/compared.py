"""In what the scenarios of several results differ."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tailback.scenario import inline

_KEYS_MAX = 6
"""Keys that are told."""

_OF_NO_RESULT = ("title", "sweep")
"""Keys that change nothing of what is measured."""


def differences(scenarios: Mapping[str, str]) -> list[str]:
    """What must be said of results that are compared, by their scenarios with every default filled in."""
    flat = [dict(_flat(table)) for text in scenarios.values() if (table := _read(text)) is not None]
    keys = dict.fromkeys(key for one in flat for key in one)
    kinds = [key.removesuffix("kind") for key in keys if key.endswith(".kind") and _differ(flat, key)]
    told = []
    for key in keys:
        # What else the table of a kind has goes with the kind.
        of_kind = any(key.startswith(table) and key != f"{table}kind" for table in kinds)
        if not of_kind and key.split(".")[0] not in _OF_NO_RESULT and _differ(flat, key):
            told.append(f"{key} ({', '.join(dict.fromkeys(_value(one.get(key)) for one in flat))})")
    more = [f"and {len(told) - _KEYS_MAX} more"] if len(told) > _KEYS_MAX else []
    lines = [f"the scenarios differ in {', '.join([*told[:_KEYS_MAX], *more])}"] if told else []
    if _differ(flat, "run.seed"):
        lines.append("their seeds differ, so that chance is part of what they differ by")
    return lines


def _value(value: Any) -> str:
    return "none" if value is None else value if isinstance(value, str) else inline(value)


def _differ(flat: Sequence[Mapping[str, Any]], key: str) -> bool:
    return any(one.get(key) != flat[0].get(key) for one in flat)


def _read(text: str) -> Mapping[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return None


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a scenario by their keys; elements of lists of tables by their names or numbers."""
    if isinstance(value, Mapping):
        for key, of in value.items():
            yield from _flat(of, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        for number, one in enumerate(value):
            yield from _flat(one, f"{path}.{one.get('name', number)}")
    else:
        yield path, value
