"""The tables of results as figures read them: by label, by traffic class, and as numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc
from matplotlib.axes import Axes
from numpy.typing import NDArray

from tailback.errors import mistake
from tailback.figures import style
from tailback.result import Result

Results = Result | Sequence[Result] | Mapping[str, Result]
Numbers = NDArray[np.float64]

Traffic = str | Collection[str] | None
"""A traffic class by name, or several, or all."""

ALL = "all"
"""What is told of all classes together."""
MISSING_MAX = 0.01
"""Share of the messages that may be missing where a latency is known; the engine has the same."""
_TELLING = 100
"""Messages of which a share of 1 % can be told."""
TIMES_MAX = 6
"""Snapshots that a figure shows of many."""
_LARGE_NS = 10_000
"""From here on a time is told in us."""
_RECORDED_BY = {"queues": "occupancy", "rates": "control", "signals": "control"}
"""The keys of tables that have not the name of theirs."""
_EVENTS = ("pauses", "queues", "rates", "trees")
"""Tables of what may not happen, as in the best of runs: without rows they tell of nothing, not nothing."""


def checked(results: Any) -> list[Result]:
    """The results themselves: one, or some."""
    listed = list(results) if isinstance(results, Iterable) else [results]
    if not listed or not all(isinstance(result, Result) for result in listed):
        raise mistake(
            "there is no result to draw", "give a Result, a list of them, or a dict of them by label"
        )
    return listed


def by_label(results: Results) -> dict[str, Result]:
    """Results by label as matplotlib is to draw it."""
    return {style.plain(name): result for name, result in by_name(results).items()}


def by_name(results: Results) -> dict[str, Result]:
    """Results by name; a single one needs none, unnamed ones take their own names, numbered if alike."""
    if isinstance(results, Result):
        return {"": results}
    if isinstance(results, Iterator):
        raise mistake("an iterator of results can be read once only", "give a list of them: list(…)")
    listed = checked(results.values() if isinstance(results, Mapping) else results)
    if isinstance(results, Mapping):
        return dict(zip(map(str, results), listed, strict=True))
    titles = [result.name or f"run {number}" for number, result in enumerate(listed, 1)]
    if len(set(titles)) < len(titles):
        titles = [f"{title} ({number})" for number, title in enumerate(titles, 1)]
    return {"": listed[0]} if len(listed) == 1 else dict(zip(titles, listed, strict=True))


def having(results: Results, name: str) -> list[tuple[int, str, Result]]:
    """The results of which a table tells, or all if it does of none, with their numbers among all and labels.

    Without rows most tables tell nothing, but some that there was nothing of the kind. A result has the look
    of its number in every figure, whatever others have.
    """
    numbered = [(number, *item) for number, item in enumerate(by_label(results).items())]
    tells = [name in one[2].tables if name in _EVENTS else has_rows(one[2], name) for one in numbered]
    return [one for one, does in zip(numbered, tells, strict=True) if does] or numbered


class Line(NamedTuple):
    """The rows of a run and a traffic class, and how their line looks."""

    label: str
    table: Any
    number: int
    run: int
    """The number of its run among all."""
    kind: int | None
    """Where there are several runs and classes, that of the class; the number is that of the run."""


def by_class(results: Results, name: str, traffic: Traffic, **also: str) -> list[Line]:
    """A line for each run and traffic class of a table: of the classes `traffic`, or else of all."""
    found = []
    names: dict[str, int] = {}
    for run, label, result in having(results, name):
        table = recorded(result, name)
        for column, value in also.items():
            table = only(table, column, value)
        # In the order of the summary, whatever comes first in the table: a class looks alike in every figure.
        places = {member: place for place, member in enumerate(result.summary.get("classes", {}))}
        members = sorted(distinct(table, "class"), key=lambda member: places.get(member, len(places)))
        for member in chosen(members, traffic):
            names.setdefault(member, len(names))
            found.append((label, run, member, only(table, "class", member)))
    missing = [member for member in _listed(traffic) or () if member not in names]
    if missing or not found:
        wanted = f"traffic class {missing[0]!r}" if missing else "rows"
        raise mistake(
            f"the table {name!r} holds no {wanted}", "look at result.summary['classes'] for the names"
        )
    single = traffic is not None and len(names) == 1
    mixed = len(names) > 1 and len({run for _, run, _, _ in found}) > 1
    return [
        Line(
            label if single and label else join(label, style.plain(member)),
            rows,
            run if mixed or len(names) == 1 else number,
            run,
            names[member] if mixed else None,
        )
        for number, (label, run, member, rows) in enumerate(found)
    ]


def chosen(classes: Iterable[str], traffic: Traffic) -> list[str]:
    """Those of the classes that are asked for; without a wish all, and their sum if there are several."""
    wanted = _listed(traffic)
    if wanted is not None:
        return [member for member in classes if member in wanted]
    own = [member for member in classes if member != ALL]
    return own if len(own) == 1 else list(classes)


def _listed(traffic: Traffic) -> list[str] | None:
    """The names of classes that are asked for."""
    if traffic is None:
        return None
    return [traffic] if isinstance(traffic, str) or not isinstance(traffic, Collection) else list(traffic)


def name_class(axes: Axes, traffic: Traffic) -> None:
    """Names the only class that is drawn, which legends of several runs leave out."""
    names = _listed(traffic) or []
    if len(names) == 1:
        named = "all classes" if names[0] == ALL else style.folded(names[0])
        axes.set_title(named, loc="left", fontsize="medium")


def has_rows(result: Result, name: str) -> bool:
    """Whether a result has a table, and something in it."""
    return name in result.tables and result.tables[name].num_rows > 0


def recorded(result: Result, name: str) -> Any:
    """A table of a result; a mistake where the scenario did not ask for it."""
    if name not in result.tables:
        remedy = "jobs of phases" if name == "phases" else "jobs" if name == "ranks" else ""
        key = _RECORDED_BY.get(name, name)
        asked = (
            f"only runs with {remedy} have it" if remedy else f"ask for it in the scenario: [record] {key}"
        )
        raise mistake(f"the result has no table {name!r}", asked)
    return result.tables[name]


def series(result: Result, traffic: str, column: str) -> tuple[Numbers, Numbers]:
    """Times in us and values of a column of a traffic class's time series."""
    table = only(recorded(result, "series"), "class", traffic)
    return numbers(table, "time_ns") / 1e3, numbers(table, column)


def only(table: Any, column: str, value: object) -> Any:
    """The rows that hold this value."""
    return table.filter(pc.equal(table[column], value))


def distinct(table: Any, column: str) -> list[Any]:
    """The values of a column, each once, in the order of the rows."""
    return list(table[column].unique().to_pylist())


def numbers(table: Any, column: str) -> Numbers:
    """A column as floats. Raises `InputError` if it holds none: a file of the result was changed."""
    try:
        return np.asarray(table[column].to_numpy(), dtype=float)
    except (TypeError, ValueError):
        raise mistake(
            f"a table of the result is damaged: its column {column!r} holds no numbers", "run it again"
        ) from None


def middles(starts: Numbers) -> Numbers:
    """The middles of bins of equal width that begin there; of a single one its beginning."""
    return starts + (starts[1] - starts[0]) / 2 if len(starts) > 1 else starts


def time_unit(values: Iterable[float]) -> tuple[str, float]:
    """In what to draw times in ns, and how many ns that is: in us if one of them is large."""
    return (
        ("us", 1e3) if max((v for v in values if math.isfinite(v)), default=0.0) >= _LARGE_NS else ("ns", 1.0)
    )


def join(label: str, name: str) -> str:
    """The label of a line of one run among several, or of the only run."""
    return f"{label}, {name}" if label else name


def shown_times(times: Sequence[float], most: int = TIMES_MAX) -> list[float]:
    """The times of snapshots that are shown: of more than `most`, evenly spaced ones to the last."""
    turns = range(1, most + 1) if len(times) > most else range(1, len(times) + 1)
    return [times[len(times) * turn // len(turns) - 1] for turn in turns]


def unknown(table: Any) -> NDArray[np.bool_]:
    """The bins of whose messages over 1 % had not arrived, as where a summary calls a latency saturated.

    What has not arrived is what is slow: without it the mean falls where that of all rises. 1 % of few
    messages says nothing, so a bin is judged together with as many neighbours as have 100 messages.
    """
    if "created" not in table.column_names:  # a result of an older engine
        return np.zeros(table.num_rows, dtype=bool)
    created = numbers(table, "created")
    due, arrived = (np.append(0, np.cumsum(part)) for part in (created, numbers(table, "messages")))
    first, end = np.arange(len(created)), np.arange(len(created)) + 1
    while True:
        few = (due[end] - due[first] < _TELLING) & (end - first < len(created))
        if not few.any():
            break
        first, end = np.maximum(first - few, 0), np.minimum(end + few, len(created))
    part = due[end] - due[first]
    late: NDArray[np.bool_] = (created > 0) & (part - (arrived[end] - arrived[first]) > MISSING_MAX * part)
    return late
