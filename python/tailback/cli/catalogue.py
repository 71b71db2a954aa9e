"""Tables for `list` and `describe`, made from what the engine says of itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any, Literal

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from tailback.console import duration

_COLUMNS_MAX = 7
"""Columns of a table that stand side by side in a terminal; one of more, and of fewer rows, is turned."""
_CELL_WIDTH = 40
"""Characters of a cell beyond which it is a list, which is folded."""
_HEADING_WIDTH = 10
"""Characters of a line of the heading of a column, whose numbers are short."""

Kinds = Mapping[str, Sequence[Mapping[str, Any]]]
"""By seam: kinds with `name`, `doc` and `parameters` (`name`, `type`, `required`, `default`, `doc`)."""


def _bare(*columns: str) -> Table:
    """A table without lines, whose last column alone is folded."""
    table = Table(box=None, pad_edge=False, show_header=any(columns))
    for column in columns[:-1]:
        table.add_column(column, no_wrap=True)
    table.add_column(columns[-1], overflow="fold")
    return table


def _first_line(text: object) -> str:
    lines = str(text or "").strip().splitlines()
    return lines[0] if lines else ""


def overview(kinds: Kinds) -> Table:
    """What every kind is, under the seam that it is of."""
    table = _bare("list", "")
    for seam, members in kinds.items():
        table.add_row(Text(seam, style="bold"), "")
        for member in members:
            table.add_row(Text(f"  {member['name']}"), Text(_first_line(member.get("doc"))))
    return table


def details(members: Sequence[Mapping[str, Any]], of: str = "") -> Iterator[RenderableType]:
    """Each kind of a seam, which is named if asked for, with its documentation and parameters."""
    for member in members:
        heading = Text(str(member["name"]), style="bold")
        yield heading.append(f" ({of})", style="not bold") if of else heading
        yield from _paragraphs(str(member.get("doc") or "").strip())
        parameters = member.get("parameters") or ()
        if parameters:
            yield _parameters(parameters)
        yield Text()


def _paragraphs(doc: str) -> Iterator[Text]:
    """Documentation with its headings in italics."""
    first, *rest = doc.split("\n\n")
    yield Text(first)
    for paragraph in rest:
        is_heading = paragraph.startswith("# ")
        yield Text(f"\n{paragraph.removeprefix('# ')}", style="italic") if is_heading else Text(paragraph)


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> Table:
    """A name with what it takes in the first line, and under that what it means."""
    table = _bare("  parameter", "type; default")
    for parameter in parameters:
        default = parameter.get("default")
        if default is None:
            told = "required" if parameter.get("required") else "may be left out"
        else:
            told = f"default {_plain(_filled(default)) or 'empty'}"
        facts = Text(f"{parameter.get('type') or ''}; {told}", style="italic")
        facts.append(f"\n{_on_one_line(parameter.get('doc'))}", style="not italic")
        for value in parameter.get("values") or ():
            facts.append(f"\n  {value['name']}: {_on_one_line(value.get('doc'))}", style="not italic")
        table.add_row(Text(f"  {parameter['name']}"), facts)
    return table


def _filled(default: Any) -> Any:
    """A default without what a table leaves out."""
    if isinstance(default, Mapping):
        return {key: value for key, value in default.items() if value is not None}
    return default


def _on_one_line(doc: object) -> str:
    return " ".join(str(doc or "").split())


def description(facts: Mapping[str, Any]) -> Iterator[RenderableType]:
    """What a scenario builds: facts first, then one table for every list of rows."""
    plain = _bare("", "")
    tables: list[tuple[str, Sequence[Mapping[str, Any]]]] = []
    for key, value in facts.items():
        if isinstance(value, list) and value and all(isinstance(row, Mapping) for row in value):
            tables.append((key, value))
        else:
            for name, item in _flat(key, value):
                if item not in ("", []):
                    plain.add_row(Text(_words(name), style="bold"), Text(_quantity(name, item)))
    if plain.rows:
        yield plain
    for number, (key, rows) in enumerate(tables):
        if plain.rows or number:
            yield Text()
        yield Text(_heading(key), style="bold")
        yield _rows_table(rows)


def _flat(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The entries of nested tables, each with the names of those around it."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _flat(f"{key}_{name}", item)
    else:
        yield key, value


def _rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    flat = [dict(entry for key, value in row.items() for entry in _flat(key, value)) for row in rows]
    columns = list(dict.fromkeys(column for row in flat for column in row))
    headings = [_heading(column) for column in columns]
    cells = [[_plain(row.get(column)) for column in columns] for row in flat]
    if len(columns) > max(_COLUMNS_MAX, len(rows)):
        first, *rest = zip(headings, *cells, strict=True)
        return _lined(first, rest, words={first[0]})
    words = {_heading(name) for name in columns if any(isinstance(row.get(name), str) for row in flat)}
    return _lined(headings, cells, words)


def _lined(headings: Sequence[str], rows: Iterable[Sequence[str]], words: Collection[str]) -> Table:
    """A table with lines; columns of words are on the left."""
    table, cells = Table(), list(rows)
    for at, heading in enumerate(headings):
        folded = "\n".join(wrap(heading, _HEADING_WIDTH, break_long_words=False))
        is_list = any(len(row[at]) > _CELL_WIDTH for row in cells)
        side: Literal["left", "right"] = "left" if heading in words or is_list else "right"
        table.add_column(Text(folded), justify=side, no_wrap=not is_list, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    return table


def _words(key: str) -> str:
    """A key as words, without the unit that its value is shown with."""
    for unit in ("ns", "ps", "bytes"):
        key = key.removesuffix(f"_{unit}")
    return key.replace("_", " ")


def _heading(key: str) -> str:
    """A key as words, with its unit in brackets."""
    for end, unit in {"ns": "ns", "ps": "ps", "mm2": "mm²", "nj_per_packet": "nJ per packet"}.items():
        if key.endswith(f"_{end}"):
            return f"{key.removesuffix(f'_{end}').replace('_', ' ')} [{unit}]"
    return key.replace("gbit_per_s", "rate [Gb/s]").replace("_", " ")


def _quantity(key: str, value: Any) -> str:
    """A value with the unit that ends its key."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if key.endswith("_ns"):
            return duration(value)
        if key.endswith("_ps"):
            return f"{value:,} ps"
        if key.endswith("_bytes"):
            return f"{value / 1e6:,.1f} MB"
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(str(key))} {_plain(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_runs(value) if all(type(item) is int for item in value) else map(_plain, value))
    return "-" if value is None else str(value)


def _runs(numbers: Sequence[int]) -> Iterator[str]:
    """Numbers in their order, those that follow one another as a range."""
    start = 0
    for end in range(1, len(numbers) + 1):
        if end == len(numbers) or numbers[end] != numbers[end - 1] + 1:
            first, last = numbers[start], numbers[end - 1]
            if last - first > 1:
                yield f"{first}-{last}"
            else:
                yield from map(str, numbers[start:end])
            start = end
