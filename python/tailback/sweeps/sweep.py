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

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tailback import alone as alone_runs
from tailback.errors import InputError, PointsFailed, Problem, RunFailed, mistake, unwritable
from tailback.files import replacing
from tailback.result import POINTS, Result, refuse_result, write_parquet
from tailback.scenario import Scenario, demand_scenario
from tailback.sweeps import places, points
from tailback.sweeps.inner_columns import with_inner
from tailback.sweeps.merged import described, merged, told_lost
from tailback.sweeps.space import Changes, Space, from_text, placed, space, without_sweep
from tailback.sweeps.workers import cores, pool, refuse_unreadable_script, work
from tailback.words import counted, named

MANIFEST = "sweep.json"
TABLE = "sweep.parquet"
POINTS_MAX = 10_000
"""Points that are run without being asked for by `--yes`."""


@dataclass(frozen=True)
class Point:
    """A point: what it changes, the scenario, and the directory of its result."""

    changes: Changes
    scenario: Scenario
    directory: Path
    alone: Mapping[str, Point] = field(default_factory=dict)
    """By job: the point of the job alone, if it is asked for."""

    @property
    def name(self) -> str:
        """The name of its directory: what it holds, as a digest."""
        return self.directory.name

    @property
    def runs(self) -> list[Point]:
        """The point, and those of its jobs alone."""
        return [self, *self.alone.values()]

    def result(self, failed: Collection[str] = (), tables: Collection[str] | None = None) -> Result:
        """Its result, with how much slower its jobs are than alone, where those alone gave a result."""
        result = points.load(self.directory, tables)
        for job, only in self.alone.items():
            if only.name not in failed:
                result = alone_runs.beside(result, points.load(only.directory, ()), job)
        return result


@dataclass(frozen=True)
class Tally:
    """How far a sweep is."""

    points: int
    done: int = 0
    reused: int = 0
    damaged: int = 0
    failed: int = 0
    cpu_seconds: float = 0.0
    ran: float = 0.0
    """What ran, by what each run is expected to take: a point counts 1 where nothing is known of it."""
    to_run: float = 0.0
    """What has to run yet, alike."""


@dataclass(frozen=True, repr=False)
class Sweep:
    """A finished sweep: its points in order, what it took, and why points failed, by their names."""

    points: Sequence[Point]
    tally: Tally
    directory: Path
    failed: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """How many points, and where: a notebook shows it."""
        return f"Sweep({counted(len(self.points), 'point')} in {self.directory})"

    @property
    def table(self) -> pa.Table:
        """A row per point and class or job: the changed keys, what was measured, the result's directory.

        Of keys whose values are tables, which it has as JSON, there is a column of each key inside too.
        A point that gave no result has one row, and the column `failed` tells why. Points that are one run,
        as under 0.1 and "10 %", have the rows of the first.
        """
        return with_inner(merged(self.points, self.failed))

    def results(self) -> Iterator[Result]:
        """The results of the points, in order, without those that gave none."""
        return (point.result(self.failed) for point in self.points if point.name not in self.failed)

    def demand_all(self) -> Sweep:
        """The sweep itself; raises `PointsFailed` if points gave no result."""
        runs = [run for point in self.points for run in point.runs]
        lost = [(run.changes, self.failed[run.name]) for run in runs if run.name in self.failed]
        if lost:
            raise PointsFailed(told_lost(lost, len(runs)), self)
        return self


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
    _demand_executor(executor)
    scenario, whole = split(scenario, over, seeds)
    check(scenario, whole)
    refuse(Path(directory))
    if alone:
        alone_runs.demand_jobs(scenario.replace(next(whole.points())))
    prepared = list(prepare(scenario, whole.points(), Path(directory), alone=alone))
    write_manifest(Path(directory))
    if executor is not None:
        done = run_points(prepared, executor, Path(directory), progress=progress)
    else:
        with pool(cores()) as own:  # it starts no more processes than there are points to run
            done = run_points(prepared, own, Path(directory), progress=progress)
    write_table(done)
    return done.demand_all()


def _demand_executor(executor: object) -> None:
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
    problems = [placed(problem, text) for problem in places.shadowed(scenario, whole)]
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
        return [placed(problem, text) for problem in _made_together(scenario, whole)]
    return [placed(_blaming(problem, samples, makers), text) for problem, makers in found.items()]


def _blaming(problem: Problem, samples: Sequence[Changes], makers: Sequence[int]) -> Problem:
    """The mistake with the values under which it is made, of the keys that tell those samples from others."""
    if len(makers) == len(samples):
        return problem
    first = samples[0]
    others = [changes for at, changes in enumerate(samples) if (at in makers) != (0 in makers)]
    keys = dict.fromkeys(key for changes in others for key in first if changes[key] != first[key])
    return _of_point(problem, {key: samples[makers[0]][key] for key in keys})


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
            found.setdefault(problem, _of_point(problem, {key: changes[key] for key in varied}))
        if len(found) >= _TOGETHER_MAX:
            break
    return list(found.values())


_TOGETHER_SECONDS = 10.0
"""How long combinations are looked at: each is looked at again when its turn comes."""

_TOGETHER_MAX = 10
"""Mistakes of combinations after which no more are looked for: the same mistake may differ in its numbers."""


def _of_point(problem: Problem, changes: Changes) -> Problem:
    return replace(problem, message=f"{problem.message}, in the sweep's {described(changes)}")


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


def prepare(
    scenario: Scenario, changes: Iterator[Changes], directory: Path, *, alone: bool = False
) -> Iterator[Point]:
    """The points with the directories of their results; raises `InputError` at one that has mistakes."""
    folder = directory / POINTS
    for change in changes:
        changed = scenario.replace(change)
        try:
            point = Point(change, changed, folder / points.identity(changed))
            yield replace(point, alone=_alone(point)) if alone else point
        except InputError as error:
            raise InputError(_of_point(problem, change) for problem in error.problems) from None


def _alone(point: Point) -> dict[str, Point]:
    """Its jobs, each as a point of its own."""
    found = {}
    for job in alone_runs.jobs(point.scenario):
        only = alone_runs.only(point.scenario, job)
        changes = point.changes | {alone_runs.ONLY: [job]}
        found[job] = Point(changes, only, point.directory.with_name(points.identity(only)))
    return found


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


def write_table(done: Sweep) -> None:
    """Writes the merged table, all or nothing: tasks of a job array may do so at the same time."""
    try:
        with replacing(done.directory / TABLE) as fresh:
            write_parquet(done.table, fresh)
    except OSError as error:
        raise unwritable(done.directory, error) from None


def is_finished(directory: Path, wanted: Iterator[Point]) -> bool:
    """Whether there is a merged table in the folder, and all these points are complete."""
    return (directory / TABLE).exists() and all(
        points.is_complete(run.directory) for point in wanted for run in point.runs
    )


def table_of(directories: Sequence[str]) -> pa.Table | None:
    """The merged table of a sweep's folder; None if the folders are no sweeps.

    Raises `InputError` if there are others beside it, or if the sweep is not complete or its table damaged.
    """
    sweeps = [directory for directory in map(Path, directories) if (directory / MANIFEST).exists()]
    if not sweeps:
        return None
    if len(directories) > 1:
        raise mistake(
            f"{sweeps[0]} is a sweep, and is shown or drawn by itself", "name one sweep, or results only"
        )
    file = sweeps[0] / TABLE
    if not file.exists():
        raise mistake(
            f"the sweep in {sweeps[0]} is not complete", "tailback sweep … --resume goes on with it"
        )
    try:
        return pq.read_table(file)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise mistake(f"{file} cannot be read: {reason}", "tailback sweep --resume writes it again") from None


def write_manifest(directory: Path, *, keep_table: bool = False) -> None:
    """Notes which engine made the results; a folder of another engine's is refused.

    The merged table is of the points there were: it is removed, unless no more are to come.
    """
    file = directory / MANIFEST
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if file.exists():
            _refuse_other_engine(file)
            if not keep_table:
                (directory / TABLE).unlink(missing_ok=True)
            return
        with replacing(file) as fresh:
            fresh.write_text(json.dumps({"engine": points.engine()}) + "\n", "utf-8")
    except OSError as error:
        raise unwritable(directory, error) from None


def _refuse_other_engine(file: Path) -> None:
    try:
        made_by = json.loads(file.read_text("utf-8"))["engine"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise mistake(f"{file} is damaged", "delete it; complete points are kept") from None
    if made_by != points.engine():
        raise mistake(
            f"the results in {file.parent} are from engine {made_by}, this is {points.engine()}",
            "choose another folder with -o: results of two engines are not mixed",
        )
