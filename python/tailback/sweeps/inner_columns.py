"""Columns for what is inside of swept tables: `congestion_control.kind` beside `congestion_control`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tailback.sweeps.merged import column, swept


def with_inner(table: pa.Table) -> pa.Table:
    """A sweep's table with a column more for each key inside of a swept table, at its end.

    It is null where a point has no such key.
    """
    for key in swept(table):
        found = inside(table[key].to_pylist(), key)
        for name in dict.fromkeys(name for settings in found for name in settings):
            table = table.append_column(name, column([settings.get(name) for settings in found]))
    return table


KINDS = ("congestion_control", "flow_control", "process", "queueing", "routing", "switch", "topology")
"""Last parts of keys at which a text stands for the table of a kind."""


def inside(values: Sequence[Any], key: str, *, of_texts: bool = False) -> list[dict[str, Any]]:
    """What each value of a key says, by dotted key: nothing if it is no table.

    Beside tables of kinds a text is one too, which says no more than its kind; with `of_texts` also where
    there are no tables, at keys that take kinds.
    """
    found, kind = [_settings(value, key) for value in values], f"{key}.kind"
    are_kinds = of_texts and key.rpartition(".")[2] in KINDS
    if not are_kinds and not any(kind in settings for settings in found):
        return found
    return [
        {kind: value} if isinstance(value, str) and not settings else settings
        for value, settings in zip(values, found, strict=True)
    ]


def _settings(value: Any, key: str) -> dict[str, Any]:
    """What a table, which is kept as JSON, says, by dotted key; nothing if the value is no table."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    if not isinstance(value, Mapping):
        return {}
    found: dict[str, Any] = {}
    for name, inner in value.items():
        found |= _settings(inner, f"{key}.{name}") or {f"{key}.{name}": inner}
    return found
