"""What `tailback show` prints of a sweep: a table for each class or job, with a row per point."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import pyarrow as pa
from rich.table import Table

from tailback.console import printable
from tailback.result_tables import BOUND_TOLD, BOUNDS_TOLD
from tailback.stats import mean_interval
from tailback.sweeps.merged import CLASS, swept
from tailback.sweeps.paired import OF_BASE
from tailback.sweeps.space import SEED, told
from tailback.words import all_stable, counted, tells_stable

_ALL, _STABLE, _PAUSED, _LATENCY = "all", "stable", "injection_paused", "message_latency_mean_ns"
_MISSING = "message_latency_missing"
_STATES = {True: "yes", False: "no", None: "?"}
_COLUMNS: Sequence[tuple[str, str, float]] = (
    ("accepted", "accepted [%]", 100.0),
    (_LATENCY, "mean message latency [ns]", 1.0),
    ("message_latency_p99_ns", "p99 [ns]", 1.0),
    ("message_slowdown_p99", "p99 slowdown", 1.0),
    ("fairness", "fairness", 1.0),
    (_PAUSED, "endpoints paused [%]", 100.0),
    ("endpoints_held", "endpoints held [%]", 100.0),
    ("channels_held", "channels held [%]", 100.0),
    ("deepest_tree", "deepest tree", 1.0),
    ("strangers", "strangers [%]", 100.0),
    ("time_ns", "time [us]", 1e-3),
    ("alone_ns", "alone [us]", 1e-3),
    ("slowdown", "slowdown", 1.0),
)
"""Of what was measured what matters most: a column of the sweep's table, its heading, and a factor."""

_Row = Mapping[str, Any]


def shown(table: pa.Table, *, whole: bool = True, compared: bool = False) -> Iterator[Table | str]:
    """The tables of a sweep's table, and what must be said beside them.

    It is a file if it is `whole` and holds what was measured, not how points `compared` with others differ.
    """
    keys = [key for key in swept(table) if key != SEED]
    rows = [row for row in table.to_pylist() if row[CLASS] is not None]
    names = list(dict.fromkeys(row[CLASS] for row in rows))
    lacking = doubtful = unfinished = False
    for name in [name for name in names if name != _ALL] or names:
        own = [row for row in rows if row[CLASS] == name]
        measured = [column for column, _, _ in _known(own) if column != _PAUSED]  # credits have no pauses
        unknown = [(row, column) for row in own for column in measured if _value(row, column) is None]
        lacking |= any(_least(row, column) is None for row, column in unknown)
        unfinished |= any(_least(row, column) is not None for row, column in unknown)
        doubtful |= tells_stable(_states(own)) and None in _states(own)
        yield _of_class(name, own, keys)
    seeds = Counter(tuple(row[key] for key in [*keys, CLASS]) for row in rows).values()
    if max(seeds, default=1) > 1:
        least = f"{min(seeds)} to " if min(seeds) < max(seeds) else ""
        yield (
            f"means over {least}{counted(max(seeds), 'seed')}, ± a 95 % confidence interval; of percentiles, "
            "those of each run"
        )
    signs = [_signs(of_point) for of_point in _by_point(rows, [*keys, CLASS]).values()]
    if doubtful:
        yield "?: not to be told, of so few messages or after so short a warm-up"
    if any(len(own) == 1 for own in signs):
        yield BOUNDS_TOLD if compared else BOUND_TOLD
    if unfinished:
        yield ">: of a job that did not end in all runs, and takes longer than that"
    if lacking or any(len(own) > 1 for own in signs):
        like = "the point compared with has no result, messages of both had not arrived, " if compared else ""
        yield (
            f"not known: {like}the network was saturated, over 1 % of the messages had not arrived, there "
            "were none, a job did not end, or (strangers) no tree grew from an endpoint"
        )
    if rows and whole and not compared:
        yield "sweep.parquet has more; its column directory names the folder of a point's result"


def facts(table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a sweep's table for JSON, which knows no NaN."""
    return [
        {key: None if _is_unknown(value) else value for key, value in row.items()}
        for row in table.to_pylist()
    ]


def _is_unknown(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _of_class(name: str, rows: Sequence[_Row], keys: Sequence[str]) -> Table:
    known = _known(rows)
    unstable = tells_stable(_states(rows))
    made = Table(title=printable(name), title_justify="left")
    for key in keys:
        made.add_column(printable(key), no_wrap=True)
    for _, heading, _ in known:
        made.add_column(heading, justify="right", no_wrap=True)
    if unstable:
        made.add_column(_STABLE, no_wrap=True)
    for values, of_point in _by_point(rows, keys).items():
        cells = [printable(told(value)) for value in values]
        cells += [_mean(of_point, column, factor) for column, _, factor in known]
        if unstable:
            cells.append(_STATES[all_stable(_states(of_point))])
        made.add_row(*cells)
    return made


def _states(rows: Sequence[_Row]) -> Set[bool | None]:
    return {row.get(_STABLE) for row in rows}


def _known(rows: Sequence[_Row]) -> list[tuple[str, str, float]]:
    """The columns of which something is known, or would be if it were not for what had not arrived."""

    def is_known(row: _Row, column: str) -> bool:
        lost = column == _LATENCY and row.get(_MISSING) and row.get(f"{_MISSING}{OF_BASE}")
        return bool(lost) or _least(row, column) is not None

    return [column for column in _COLUMNS if any(is_known(row, column[0]) for row in rows)]


def _by_point(rows: Sequence[_Row], keys: Sequence[str]) -> dict[tuple[Any, ...], list[_Row]]:
    found: dict[tuple[Any, ...], list[_Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


_OVER = {"time_ns": "time_over_ns", "slowdown": "slowdown_over"}
"""Columns of jobs, and those of what they are over where a job did not end."""


def _least(row: _Row, column: str) -> float | None:
    value = _value(row, column)
    return _value(row, _OVER.get(column, "")) if value is None else value


def _mean(rows: Sequence[_Row], column: str, factor: float) -> str:
    values = [_value(row, column) for row in rows]
    if column == _PAUSED and set(values) == {None}:
        return "-"
    least = [value for row in rows if (value := _least(row, column)) is not None]
    if None in values and len(least) == len(rows):
        return f"> {factor * sum(least) / len(least):.4g}"
    mean = mean_interval([math.nan if value is None else value for value in values]).scaled(factor)
    signs = _signs(rows) if column == _LATENCY else ()
    return "not known" if len(signs) > 1 else " ".join([*signs, str(mean)])


def _signs(rows: Sequence[_Row]) -> Sequence[str]:
    """How the mean latency of a point, or what it has more than another, bounds what it is if all arrive."""
    if any(_value(row, _LATENCY) is None for row in rows):
        return ()
    signs = {"≥": _MISSING, "≤": f"{_MISSING}{OF_BASE}"}
    return [sign for sign, column in signs.items() if any(row.get(column) for row in rows)]


def _value(row: _Row, column: str) -> float | None:
    value = row.get(column)
    return float(value) if isinstance(value, int | float) and not _is_unknown(value) else None
