"""Sweeps: many runs of one scenario, on any executor, resumable, each result kept under its content.

if __name__ == "__main__":  # it starts processes
    done = tailback.sweep(
        scenario, over={"traffic.hot.load": [0.1, 0.5]}, seeds=3, directory="results/hot"
    )
    done.table  # Arrow: a row per point and traffic class
    done.results()  # the points' results, one after the other

The function is `tailback.sweep`; so no module of that name lies in `tailback` itself, where it would hide it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from tailback import alone as alone_runs
from tailback.errors import InputError, Problem, RunFailed, mistake
from tailback.files import folder
from tailback.result import POINTS, refuse_result
from tailback.scenario import Scenario, demand_scenario
from tailback.sweeps import places, points
from tailback.sweeps.model import Point, Sweep, Tally, of_point, prepare
from tailback.sweeps.space import Changes, Space, space
from tailback.sweeps.store import write_manifest, write_table
from tailback.sweeps.text import from_text, placed, without_sweep
from tailback.sweeps.workers import cores, pool, refuse_unreadable_script, work
from tailback.words import named

POINTS_MAX = 10_000
"""Points that are run without being asked for by `--yes`."""

Report = Callable[[Tally], None]


def sweep(
    scenario: Scenario,
    over: Mapping[str, Any] | None = None,
    executor: Executor | None = None,
    seeds: int | Sequence[int] | None = None,
    *,
    directory: str | Path = "results/sweep",
    alone: bool = False,
    progress: Report | None = None,
) -> Sweep:
    """Runs the product of the values in `over` (else of the scenario's `[sweep]` table) and of the seeds.

    `executor` is any `concurrent.futures.Executor` whose workers see `directory` and the files that the
    scenario names; without one, a process for every core. Points that are complete in `directory` are not
    run again. With `alone`, each job of each point is run alone too, and the table tells how much slower the
    others make it. Raises `InputError` with every wrong key or value before anything runs, `PointsFailed`,
    which carries the sweep of all others, if points gave no result, and `RunFailed` if a process was killed.
    """
    demand_scenario(scenario)
    demand_executor(executor)
    directory = folder(directory)
    scenario, whole = split(scenario, over, seeds)
    check(scenario, whole)
    refuse(directory)
    if alone:
        alone_runs.demand_jobs(scenario.replace(next(whole.points())))
    prepared = list(prepare(scenario, whole.points(), directory, alone=alone))
    write_manifest(directory, scenario, whole, alone=alone)
    if executor is not None:
        done = run_points(prepared, executor, directory, progress=progress)
    else:
        with pool(cores()) as own:  # it starts no more processes than there are points to run
            done = run_points(prepared, own, directory, progress=progress)
    write_table(done)
    return done.demand_all()


def demand_executor(executor: object) -> None:
    """Raises `InputError` if there is none, and no processes can be started in its place."""
    if executor is None:
        refuse_unreadable_script()
    elif isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        raise mistake(
            f"an executor is expected, not {named(executor)}",
            "such as ProcessPoolExecutor(4); without one, a process for every core",
        )


def measured(
    scenario: Scenario,
    over: Mapping[str, Any],
    executor: Executor,
    seeds: int | Sequence[int],
    *,
    directory: str | Path,
) -> Sweep:
    """As `sweep`, but one of many in a folder, as of a search: it leaves points there, and nothing else.

    So the folder may hold points of other engines too, and no table that is of the last few points alone.
    """
    scenario, whole = split(scenario, over, seeds)
    check(scenario, whole)
    refuse(Path(directory))
    prepared = list(prepare(scenario, whole.points(), Path(directory)))
    return run_points(prepared, executor, Path(directory)).demand_all()


def refuse(directory: Path) -> None:
    """Raises `InputError` if a folder cannot hold a sweep, as far as can be told before anything is there."""
    refuse_result(directory)
    if (directory / POINTS).exists() and not (directory / POINTS).is_dir():
        raise mistake(
            f"{directory / POINTS} is a file, and the points of a sweep are kept in a folder of that name",
            "choose another folder with -o",
        )


def split(
    scenario: Scenario, over: Mapping[str, Any] | None = None, seeds: int | Sequence[int] | None = None
) -> tuple[Scenario, Space]:
    """The scenario without its `[sweep]` table, and the points: of `over`, else of the table, and of `seeds`.

    Raises `InputError` if that table replaces what was changed in the scenario, or a key what another one
    sets, which nobody would see.
    """
    text = scenario.text
    table = from_text(text)
    if table is not None:
        scenario = replace(scenario, text=without_sweep(text))
    if over is not None or (seeds is not None and table is None):
        table, text = space(over or {}, seeds), ""
    elif table is not None:
        if seeds is not None:
            table = table.with_seeds(space({}, seeds))
        _refuse_replaced(scenario, table)
    whole = table if table is not None else space({}, 1)
    problems = [*places.shadowed(scenario, whole), *places.dropped(scenario, whole)]
    problems = [placed(problem, text) for problem in problems]
    if problems:
        raise InputError(problems)
    return scenario, whole


def _refuse_replaced(scenario: Scenario, table: Space) -> None:
    told, remedy = "the [sweep] table changes it too", "change the table, or leave this out"
    replaced = places.replaced(scenario, table.keys)
    if replaced:
        raise InputError([Problem(told, path=key, help=remedy) for key in replaced])


def check(scenario: Scenario, whole: Space, text: str = "") -> None:
    """Raises every mistake of the scenario under each value of the sweep, once each.

    If there are none, raises those that values make only together, unless there are too many combinations.
    With `text`, the file with the `[sweep]` table, those of the table have their lines.
    """
    found = _mistakes(scenario, whole, text)
    if found:
        raise InputError(found)


def _mistakes(scenario: Scenario, whole: Space, text: str) -> list[Problem]:
    """Every mistake once; one that only some values of the sweep make tells which."""
    samples = list(whole.samples())
    found: dict[Problem, list[int]] = {}
    for number, changes in enumerate(samples):
        for problem in scenario.replace(changes).check():
            found.setdefault(problem, []).append(number)
    if not found:
        mistakes = _made_together(scenario, whole)
    else:
        mistakes = [_blaming(problem, samples, makers) for problem, makers in found.items()]
    return [placed(_as_swept(problem, scenario, whole), text) for problem in mistakes]


def _as_swept(problem: Problem, scenario: Scenario, whole: Space) -> Problem:
    """The mistake with its key as the sweep has it: of a class, by name or by number."""
    if problem.line is not None:
        return problem
    place, *outer = scenario.places([problem.path, *whole.keys])
    for key, own in zip(whole.keys, outer, strict=True):
        if places.is_within(place, own):
            return replace(problem, path=".".join([key, *place[len(own) :]]))
    return problem


def _blaming(problem: Problem, samples: Sequence[Changes], makers: Sequence[int]) -> Problem:
    """The mistake with the values under which it is made, of the keys that tell those samples from others."""
    if len(makers) == len(samples):
        return problem
    first = samples[0]
    others = [changes for at, changes in enumerate(samples) if (at in makers) != (0 in makers)]
    keys = dict.fromkeys(key for changes in others for key in first if changes[key] != first[key])
    return of_point(problem, {key: samples[makers[0]][key] for key in keys})


def _made_together(scenario: Scenario, whole: Space) -> list[Problem]:
    """The first mistakes of combinations of values, each with the first combination that makes it."""
    combined = whole.with_one_seed()
    varied = [key for axis in combined.axes if len(axis.steps) > 1 for key in axis.keys]
    found: dict[Problem, Problem] = {}
    if len(combined) > POINTS_MAX:
        return []
    begun = time.monotonic()
    for changes in combined.points():
        if time.monotonic() > begun + _TOGETHER_SECONDS:
            break
        for problem in scenario.replace(changes).check():
            found.setdefault(problem, of_point(problem, {key: changes[key] for key in varied}))
        if len(found) >= _TOGETHER_MAX:
            break
    return list(found.values())


_TOGETHER_SECONDS = 10.0
"""How long combinations are looked at: each is looked at again when its turn comes."""

_TOGETHER_MAX = 10
"""Mistakes of combinations after which no more are looked for: the same mistake may differ in its numbers."""


def examine(scenario: Scenario) -> tuple[list[Problem], int | None]:
    """Every mistake of a scenario and of its `[sweep]` table; how many points that has, if there is one."""
    text = scenario.text
    try:
        if from_text(text) is None:
            return scenario.check(), None
        scenario, whole = split(scenario)
    except InputError as error:
        wrong = scenario.check()
        return [
            *wrong,
            *(problem for problem in error.problems if problem.path not in {w.path for w in wrong}),
        ], None
    # As the sweep does: what the file lacks may be what the sweep gives.
    return _mistakes(scenario, whole, text), len(whole)


def run_points(
    wanted: Sequence[Point],
    executor: Executor,
    directory: Path,
    *,
    progress: Report | None = None,
    costs: Mapping[str, float] | None = None,
) -> Sweep:
    """Runs the points whose results are not complete. Points that are alike are run once.

    Those that give no result keep no other from running: the sweep tells them. `costs`, by the points' names
    and in any unit, tell how far it is better than their number does.
    """
    folder = directory / POINTS
    unique = {run.name: run for point in wanted for run in point.runs}
    complete = {name for name, point in unique.items() if points.is_complete(point.directory)}
    missing = [point for name, point in unique.items() if name not in complete]
    damaged = sum(point.directory.exists() for point in missing)
    cost = {point.name: (costs or {}).get(point.name, 1.0) for point in missing}
    state = {"done": len(complete), "reused": len(complete), "failed": 0, "cpu_seconds": 0.0}
    state |= {"ran": 0.0, "to_run": sum(cost.values())}
    errors: dict[str, str] = {}

    def tell() -> Tally:
        tally = Tally(len(unique), damaged=damaged, **state)  # type: ignore[arg-type]
        if progress is not None:
            progress(tally)
        return tally

    tell()
    for outcome in _outcomes(missing, executor, folder, tell):
        state["done"] += 1
        state["cpu_seconds"] += outcome.cpu_seconds
        state["ran"] += cost[outcome.name]
        state["to_run"] -= cost[outcome.name]
        if outcome.error:
            state["failed"] += 1
            errors[outcome.name] = outcome.error
        tell()
    return Sweep(wanted, tell(), directory, errors)


def _outcomes(
    missing: Sequence[Point], executor: Executor, folder: Path, tell: Callable[[], object]
) -> Iterator[points.Outcome]:
    """Keeps a bounded number of points submitted: a sweep of a million needs no memory for futures."""
    waiting = iter(missing)
    limit = 4 * cores() + _SUBMITTED
    running: set[Future[points.Outcome | None]] = set()
    try:
        while True:
            for point in islice(waiting, limit - len(running)):
                running.add(_submitted(point, executor, folder))
            if not running:
                return
            finished, running = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            tell()
            outcomes = (future.result() for future in finished)
            yield from (outcome for outcome in outcomes if outcome is not None)
    except BrokenExecutor:
        raise RunFailed(_BROKEN) from None
    finally:
        for future in running:
            future.cancel()


def _submitted(point: Point, executor: Executor, folder: Path) -> Future[points.Outcome | None]:
    """The point under way; a worker may be in another folder, so that no path may depend on it."""
    source = str(Path(point.scenario.source).absolute())
    return executor.submit(work, replace(point.scenario, source=source), point.name, str(folder.absolute()))


_SUBMITTED = 1000
"""Points that wait in the executor, which may be a cluster with as many workers."""

_BROKEN = (
    "a process that ran points ended without a result: it was killed, perhaps for want of memory (fewer "
    'workers need less), or a script starts runs outside of `if __name__ == "__main__":`. '
    "Complete points are kept, and it can go on from there"
)
