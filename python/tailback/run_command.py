"""`tailback run`: from a scenario to a result, its tables and its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tailback import alone as alone_runs
from tailback import console, result_tables
from tailback.errors import InputError, Interrupted, TailbackError
from tailback.result import Result, prepare
from tailback.scenario import Scenario

_Extra = tuple[str, Callable[[Result], Result]]
"""What is asked for beside a run: its name, and what puts it into the result."""


@dataclass(frozen=True)
class Done:
    """A result, and what was asked for beside it that is not in it: what, and why."""

    result: Result
    missing: Sequence[str] = ()


def run(scenario: Scenario, name: str, folder: str | None, *, alone: bool, with_optimum: bool) -> Done:
    """Runs a scenario, with all that is asked for beside it, and keeps the result in the folder.

    Raises InputError with all mistakes of the scenario and of the folder at once, before the run. What goes
    wrong after it, or is interrupted, costs no more than what it would have added.
    """
    target = _checked(scenario, folder)
    if alone:
        alone_runs.demand_jobs(scenario)
    extras: list[_Extra] = []
    if with_optimum:
        from tailback import optimum  # late: it loads SciPy

        asked = optimum.phases(scenario)
        extras.append(("the optimum", lambda result: optimum.beside(result, optimum.solved(asked))))
    result = _simulated(scenario, name)
    if target is not None:
        result.save(target)
    if alone:
        extras += _runs_alone(scenario, result)
    done = _with_extras(result, extras)
    if target is not None and done.result is not result:
        done.result.save(target)
    return done


def unused(parent: Path, name: str) -> Path:
    """A folder that does not exist yet, so that nothing is replaced unasked."""
    candidates = (parent / (f"{name}-{number}" if number else name) for number in (0, *range(2, 1_000_000)))
    return next(path for path in candidates if not path.exists())


def show(result: Result, folder: str | None) -> None:
    """Prints the tables of a result, and where it is kept."""
    console.print_whole(result_tables.shown({str(folder): result.summary}))
    console.print_lines([f"result in {folder}"])


def _checked(scenario: Scenario, folder: str | None) -> Path | None:
    problems = scenario.check()
    target = None
    try:
        target = prepare(folder) if folder is not None else None
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(problems)
    return target


def _simulated(scenario: Scenario, name: str) -> Result:
    with console.Bars() as bars:
        bar = bars.add(name)
        try:
            return scenario.run(lambda progress: bars.show(bar, progress))
        except Interrupted as stop:
            return stop.result


def _with_extras(result: Result, extras: Sequence[_Extra]) -> Done:
    """The result with all that can be added to it; an interrupt ends the adding."""
    missing: list[str] = []
    left = [name for name, _ in extras]
    if not result.interrupted:
        with suppress(KeyboardInterrupt):
            for name, add in extras:
                try:
                    result = add(result)
                except TailbackError as error:
                    missing.append(f"{name}: {error}")
                left.remove(name)
    return Done(result, [*missing, f"{', '.join(left)}: interrupted"] if left else missing)


def _runs_alone(scenario: Scenario, result: Result) -> Iterator[_Extra]:
    for name in result.summary.get("jobs", {}):
        yield f"the run of {name} alone", partial(_compared, scenario, name)


def _compared(scenario: Scenario, name: str, result: Result) -> Result:
    with console.Bars() as bars:
        bar = bars.add(f"{name} alone")
        return alone_runs.compared(scenario, result, name, lambda progress: bars.show(bar, progress))
