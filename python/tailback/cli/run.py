"""`tailback run`: from a scenario to a result, its tables and its folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tailback import alone as alone_runs
from tailback import console, result_tables
from tailback.compared import differences
from tailback.errors import InputError, Interrupted, RunFailed, TailbackError
from tailback.result import SUMMARY, Result, prepare, unused
from tailback.scenario import Scenario

_Extra = tuple[str, Callable[[Result], Result]]
"""What is asked for beside a run: its name, and what puts it into the result."""


@dataclass(frozen=True)
class Done:
    """A result, and what was asked for beside it that is not in it: what, and why."""

    result: Result
    missing: Sequence[str] = ()
    folder: Path | None = None
    """Where it is kept, if it is."""
    unkept: str = ""
    """Why it is not kept, though it was to be."""


class Place:
    """Where a result is to be kept; if `new`, beside all that is there."""

    def __init__(self, folder: Path, *, new: bool = False) -> None:
        self._folder, self._new = folder, new

    def check(self) -> None:
        """Raises `InputError` if nothing can be kept there."""
        prepare(next(unused(self._folder)) if self._new else self._folder)

    def replaced(self, scenario: Scenario) -> str:
        """What is to be said of a whole result there that is of another scenario; empty if there is none."""
        if self._new or not (self._folder / SUMMARY).exists():
            return ""
        try:
            earlier = Result.load(self._folder, ())
        except InputError:
            return ""
        if earlier.interrupted or earlier.scenario == scenario.complete():
            return ""
        title = f", {earlier.title!r}" if earlier.title else ""
        told = differences({"earlier": earlier.scenario, "now": scenario.complete()})
        how = f" ({told[0]})" if told else ""
        return f"{self._folder} holds the result of another scenario{title}: this one takes its place{how}"

    def keep(self, result: Result) -> Path:
        """Keeps a result, in place of one that it has kept before; returns the folder.

        One that was interrupted takes the place of no other.
        """
        if result.interrupted and (self._folder / SUMMARY).exists():
            self._new = True
        if self._new:
            self._folder, self._new = result.save_unused(self._folder), False
        else:
            result.save(self._folder)
        return self._folder


def run(scenario: Scenario, name: str, place: Place | None, *, alone: bool, with_optimum: bool) -> Done:
    """Runs a scenario, with all that is asked for beside it, and keeps the result in the place.

    Raises InputError with all mistakes of the scenario and of the place at once, before the run. What goes
    wrong after it, or is interrupted, costs no more than what it would have added.
    """
    _check(scenario, place)
    if alone:
        alone_runs.demand_jobs(scenario)
    if place is not None and (told := place.replaced(scenario)):
        console.errors().print(console.printable(told), soft_wrap=True)
    extras: list[_Extra] = []
    if with_optimum:
        from tailback import optimum  # late: it loads SciPy

        asked = optimum.phases(scenario)
        extras.append(("the optimum", lambda result: optimum.beside(result, optimum.solved(asked))))
    try:
        result = _simulated(scenario, name)
    except RunFailed as failure:
        raise _with_place(failure, place) from None
    kept = _kept(Done(result), place)
    if alone:
        extras += _runs_alone(scenario, result)
    done = _with_extras(kept, extras)
    return done if done.result is result and not done.unkept else _kept(done, place)


def _with_place(failure: RunFailed, place: Place | None) -> RunFailed:
    """The failure, with where what was measured until then is kept."""
    if failure.result is None:
        return failure
    if place is None:
        return RunFailed(f"{failure}\nwhat was measured until then is kept with -o")
    try:
        folder = place.keep(failure.result)
    except TailbackError as error:
        return RunFailed(f"{failure}\nwhat was measured until then is not kept: {error}")
    return RunFailed(f"{failure}\nwhat was measured until then is in {folder}")


def _kept(done: Done, place: Place | None) -> Done:
    """What was done, with where it is kept, or why it is not."""
    if place is None:
        return done
    try:
        return replace(done, folder=place.keep(done.result), unkept="")
    except TailbackError as error:
        return replace(done, unkept=str(error))


def show(done: Done) -> None:
    """Prints the tables of a result, and where it is kept."""
    console.print_whole(result_tables.shown({str(done.folder): done.result}))
    if done.folder is not None:
        console.print_lines([f"result in {done.folder}"])


def _check(scenario: Scenario, place: Place | None) -> None:
    problems = scenario.check()
    try:
        if place is not None:
            place.check()
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(problems)


def _simulated(scenario: Scenario, name: str) -> Result:
    with console.Bars() as bars:
        bar = bars.add(name)
        try:
            return scenario.run(lambda progress: bars.show(bar, progress))
        except Interrupted as stop:
            return stop.result


def _with_extras(done: Done, extras: Sequence[_Extra]) -> Done:
    """The result with all that can be added to it; an interrupt ends the adding."""
    result = done.result
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
    if left:
        missing.append(f"{', '.join(left)}: interrupted")
    return replace(done, result=result, missing=missing)


def _runs_alone(scenario: Scenario, result: Result) -> Iterator[_Extra]:
    for name in result.summary.get("jobs", {}):
        yield f"the run of {name} alone", partial(_compared, scenario, name)


def _compared(scenario: Scenario, name: str, result: Result) -> Result:
    with console.Bars() as bars:
        bar = bars.add(f"{name} alone")
        return alone_runs.compared(scenario, result, name, lambda progress: bars.show(bar, progress))
