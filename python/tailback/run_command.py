"""`tailback run`: from a scenario to a result, its tables and its folder."""

from __future__ import annotations

from pathlib import Path

from tailback import console
from tailback.alone import compared
from tailback.errors import InputError, Interrupted
from tailback.result import Result, prepare
from tailback.scenario import Scenario, Watch


def run(scenario: Scenario, name: str, folder: str | None, *, alone: bool, with_optimum: bool) -> Result:
    """Runs a scenario, with all that is asked for beside it, and keeps the result in the folder.

    Raises InputError with all mistakes of the scenario and of the folder at once, before the run.
    """
    target = _checked(scenario, folder)
    best = {}
    if with_optimum:
        from tailback import optimum  # late: it loads SciPy

        best = optimum.optima(scenario)
    result = _simulated(scenario, name)
    if alone and not result.interrupted:
        result = _compared(scenario, result)
    if best:
        result = optimum.beside(result, best)
    if target is not None:
        result.save(target)
    return result


def unused(parent: Path, name: str) -> Path:
    """A folder that does not exist yet, so that nothing is replaced unasked."""
    candidates = (parent / (f"{name}-{number}" if number else name) for number in (0, *range(2, 1_000_000)))
    return next(path for path in candidates if not path.exists())


def show(result: Result, folder: str | None) -> None:
    """Prints the tables of a result, and where it is kept."""
    out = console.output()
    for table in console.results_tables(result.summary):
        out.print(table)
    for remark in console.run_remarks(result.summary):
        out.print(console.printable(remark), soft_wrap=True)
    out.print(f"result in {console.printable(str(folder))}", soft_wrap=True)


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


def _compared(scenario: Scenario, result: Result) -> Result:
    with console.Bars() as bars:

        def watch(name: str) -> Watch:
            bar = bars.add(f"{name} alone")
            return lambda progress: bars.show(bar, progress)

        return compared(scenario, result, watch)
