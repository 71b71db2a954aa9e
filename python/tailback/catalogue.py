"""Tables for `list` and `describe`, made from what the engine says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

Kinds = Mapping[str, Sequence[Mapping[str, Any]]]
"""By seam: kinds with `kind`, `doc` and `parameters` (`name`, `type`, `default`, `doc`)."""


def _bare(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, show_header=bool(columns))
    for column in columns:
        table.add_column(column)
    return table


def _first_line(text: object) -> str:
    lines = str(text or "").strip().splitlines()
    return lines[0] if lines else ""


def overview(kinds: Kinds) -> Table:
    """Every kind on one line, by seam."""
    table = _bare("list", "kind", "what it is")
    for seam, members in kinds.items():
        for number, member in enumerate(members):
            table.add_row(
                "" if number else seam, Text(str(member["kind"])), Text(_first_line(member.get("doc")))
            )
    return table


def details(members: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Each kind of a seam with its documentation and parameters."""
    for member in members:
        yield Text(str(member["kind"]), style="bold")
        yield Text(str(member.get("doc") or "").strip())
        parameters = member.get("parameters") or ()
        if parameters:
            yield _parameters(parameters)
        yield Text()


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> Table:
    table = _bare("  parameter", "type", "default", "")
    for parameter in parameters:
        default = parameter.get("default")
        table.add_row(
            Text(f"  {parameter['name']}"),
            Text(str(parameter.get("type") or "")),
            Text("required" if default is None else str(default)),
            Text(" ".join(str(parameter.get("doc") or "").split())),
        )
    return table


def description(facts: Mapping[str, Any]) -> Iterator[RenderableType]:
    """What a scenario builds: facts first, then one table for every list of rows."""
    plain = _bare()
    nested: list[tuple[str, Any]] = []
    for key, value in facts.items():
        if _is_rows(value) or (
            isinstance(value, Mapping) and any(isinstance(v, Mapping) for v in value.values())
        ):
            nested.append((key, value))
        else:
            plain.add_row(Text(_words(key), style="bold"), Text(_value(value)))
    yield plain
    for key, value in nested:
        yield Text(f"\n{_words(key)}", style="bold")
        yield _rows_table(value)


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _rows_table(value: Any) -> Table:
    rows = value if isinstance(value, list) else [_named(name, row) for name, row in value.items()]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    table = Table()
    for column in columns:
        table.add_column(_words(column))
    for row in rows:
        table.add_row(*(Text(_value(row.get(column))) for column in columns))
    return table


def _named(name: str, row: Any) -> dict[str, Any]:
    return {"name": name, **row} if isinstance(row, Mapping) else {"name": name, "value": row}


def _words(key: str) -> str:
    return key.replace("_", " ")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(str(key))} {_value(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_value(item) for item in value)
    return "-" if value is None else str(value)
