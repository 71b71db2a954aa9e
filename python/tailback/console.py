"""What the commands print: mistakes like a compiler, results as tables, progress as a bar."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Table
from rich.text import Text

from tailback.errors import Problem, TailbackError
from tailback.scenario import Progress as RunProgress
from tailback.scenario import Scenario
from tailback.sweeps.places import is_within
from tailback.words import counted

_FILE_WIDTH = 200
_LARGEST_WIDTH = 10_000


def output() -> Console:
    """The console of results; wide enough for any table when it is a file, unless COLUMNS asks for less."""
    is_told = sys.stdout.isatty() or os.environ.get("COLUMNS", "").lstrip("0").isdecimal()
    width = None if is_told else _FILE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def errors() -> Console:
    """The console of mistakes and progress."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def printable(text: str) -> str:
    """The text without characters that would move the cursor or change the colours."""
    return "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def printable_lines(text: str) -> str:
    """Text of several lines as a terminal can show it."""
    return "\n".join(map(printable, text.split("\n")))


def print_whole(parts: Iterable[Any]) -> None:
    """Prints tables and texts, and a line as it is; no name or number is cut.

    A table none of whose columns may wrap is wider than the terminal if need be.
    """
    for part in parts:
        out = output()
        if isinstance(part, Table) and all(column.no_wrap for column in part.columns):
            wide = out.options.update(width=_LARGEST_WIDTH)
            out.width = max(out.width, Measurement.get(out, wide, part).maximum)
        out.print(part, soft_wrap=isinstance(part, str), crop=False)


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines as they are, however long."""
    out = output()
    for line in lines:
        out.print(printable(line), soft_wrap=True)


def print_json(value: object) -> None:
    """Prints one JSON object."""
    print(json.dumps(value, indent=2))


PROBLEMS_MAX = 100
"""Mistakes that are printed: one in a range of a sweep is one in each of its values."""


def print_problems(problems: Iterable[Problem], scenario: Scenario | None = None) -> None:
    """Every mistake with its place, its line, a mark under it and the remedy; of very many the first."""
    console = errors()
    left = iter(problems)
    for problem in islice(left, PROBLEMS_MAX):
        for line in _problem_lines(problem, scenario):
            console.print(line)
    if more := sum(1 for _ in left):
        console.print(f"and {counted(more, 'more mistake')}; tailback check --json prints all")


def _problem_lines(problem: Problem, scenario: Scenario | None) -> list[Text]:
    place, path = _place(problem, scenario)
    heading = Text(place, style="bold")
    heading.append("error: ", style="bold red")
    heading.append(printable(f"{path}: {problem.message}" if path else problem.message))
    lines = [heading]
    source = scenario.text.split("\n") if scenario else []
    if problem.line and problem.line <= len(source):
        lines += _excerpt(source[problem.line - 1], problem.line, problem.column)
    if problem.help:
        lines.append(Text("  help: ", style="green").append(printable(problem.help), style="default"))
    return lines


def _place(problem: Problem, scenario: Scenario | None) -> tuple[str, str]:
    """Where a problem is, and the key that it is about: as a change has it, if one made it."""
    if scenario is None:
        return "", problem.path
    if problem.line:
        column = f":{problem.column}" if problem.column else ""
        return printable(f"{scenario.source}:{problem.line}{column}: "), problem.path
    keys = [key for key, _ in scenario.overrides]
    about = _parts(scenario, problem.path)
    places = [
        _parts(replace(scenario, overrides=scenario.overrides[:at]), key) for at, key in enumerate(keys)
    ]
    for key, place in reversed(list(zip(keys, places, strict=True))):
        if problem.path and is_within(about, place):
            return printable(f"--set {key}: "), ".".join([key, *about[len(place) :]])
    # What a change brings in may be wrong as a whole, as a table that nothing knows.
    made = [key for key, place in zip(keys, places, strict=True) if problem.path and is_within(place, about)]
    return printable(f"--set {made[-1]}: " if made else f"{scenario.source}: "), problem.path


def _parts(scenario: Scenario, key: str) -> tuple[str, ...]:
    """Where a key is, or what it looks like in a text that cannot be read."""
    try:
        return scenario.places([key])[0]
    except TailbackError:
        return tuple(key.split("."))


_EXCERPT_MAX = 200
"""Characters of a line that are shown."""


def _excerpt(source: str, number: int, column: int | None) -> list[Text]:
    gutter = f"{number:5} | "
    # A line of a result may hold a whole trace.
    shown = source if len(source) <= _EXCERPT_MAX else source[:_EXCERPT_MAX] + " …"
    lines = [Text(gutter, style="dim").append(_spaced(shown), style="default")]
    if column and column <= _EXCERPT_MAX:
        before = len(_spaced(source[: column - 1]))
        lines.append(Text(f"{'| ':>{len(gutter)}}{'':{before}}", style="dim").append("^", style="bold red"))
    return lines


def _spaced(source: str) -> str:
    return printable(source.rstrip("\r")).replace("\t", "    ")


def duration(value: Any, digits: str = ".4g", half: Any = None) -> str:
    """A time in nanoseconds as people read it, ± half of its interval; other values as they are."""
    if not isinstance(value, int | float):
        return "-" if value is None else str(value)
    units = {"s": 1e9, "ms": 1e6, "us": 1e3}
    unit = next((unit for unit, size in units.items() if abs(value) >= size), "ns")
    size = units.get(unit, 1.0)
    return f"{_measured(value / size, digits, half and half / size)} {unit}"


def minutes(seconds: float) -> str:
    """A time of a person's day: minutes and seconds, with hours if there are any."""
    whole = int(seconds)
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:0{2 if hours else 1}}:{whole % 60:02}"


def share(value: Any, half: Any = None) -> str:
    """A fraction as a percentage, ± half of its interval."""
    if not isinstance(value, int | float):
        return "-"
    # What is little is not nothing.
    digits = ".1g" if 0 < abs(value) < 0.0005 else ".1f"
    return f"{_measured(100 * value, digits, half and 100 * half)} %"


def _measured(value: float, digits: str, half: float | None) -> str:
    """A number ± half of its interval, both to two digits of that; alone if there is none."""
    if not half:
        return f"{value:{digits}}"
    places = min(6, max(0, 1 - math.floor(math.log10(half))))
    return f"{value:.{places}f} ± {half:.{places}f}"


def number(value: Any, digits: str = ",.0f") -> str:
    """A number, or a dash for none."""
    return f"{value:{digits}}" if isinstance(value, int | float) else "-"


class _Speed(ProgressColumn):
    """Packet-hops per second over the last seconds."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[int, deque[tuple[float, int]]] = {}

    def render(self, task: Task) -> Text:
        """The speed of one run."""
        seen = self._seen.setdefault(task.id, deque(maxlen=20))
        hops = int(task.fields.get("hops", 0))
        if not seen or seen[-1][1] != hops:
            seen.append((time.monotonic(), hops))
        (start, first), (end, last) = seen[0], seen[-1]
        if end <= start:
            return Text("")
        return Text(f"{(last - first) / (end - start) / 1e6:.1f} M packet-hops/s")


class _TimeLeft(ProgressColumn):
    """Time until the end of the run at its mean pace."""

    def render(self, task: Task) -> Text:
        """Minutes and seconds."""
        if not task.total or not task.completed or task.elapsed is None:
            return Text("")
        left = task.elapsed * (task.total - task.completed) / task.completed
        return Text(f"{minutes(left)} left")


class Bars:
    """One progress bar per run, on standard error, and only where that is a terminal."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[simulated]}"),
            _Speed(),
            _TimeLeft(),
            console=errors(),
            disable=not sys.stderr.isatty(),
            transient=True,
        )

    def __enter__(self) -> Bars:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def add(self, name: str) -> int:
        """A new bar; returns its number."""
        return self._progress.add_task(printable(name), start=False, total=None, simulated="", hops=0)

    def show(self, bar: int, progress: RunProgress) -> None:
        """Moves a bar to where its run is."""
        if not self._progress.tasks[bar].started:
            self._progress.start_task(self._progress.tasks[bar].id)
        self._progress.update(
            self._progress.tasks[bar].id,
            total=progress.end_ns,
            completed=progress.simulated_ns,
            simulated=f"{duration(progress.simulated_ns)} of {duration(progress.end_ns)}",
            hops=progress.packet_hops,
        )
