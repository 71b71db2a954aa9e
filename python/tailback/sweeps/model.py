"""A sweep: its points, each with the directory of its result, and what became of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from tailback import alone as alone_runs
from tailback.errors import InputError, PointsFailed, Problem, mistake
from tailback.files import folder
from tailback.result import POINTS, Result
from tailback.scenario import Scenario
from tailback.sweeps import points
from tailback.sweeps.inner_columns import with_inner
from tailback.sweeps.merged import described, merged, told_lost
from tailback.sweeps.space import Changes
from tailback.words import counted


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
    """A sweep: its points in order, what it took, and why points failed, by their names."""

    points: Sequence[Point]
    tally: Tally
    directory: Path
    failed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, directory: str | Path) -> Sweep:
        """The sweep of a folder with the points that are complete, also of one that runs or was stopped.

        `missing` tells how many more it has, and `failed` why points gave no result.
        """
        from tailback.sweeps import store  # late: it makes sweeps

        return store.load(folder(directory))

    def __repr__(self) -> str:
        """How many points, and where: a notebook shows it."""
        missing = f", {self.missing:,} missing" if self.missing else ""
        return f"Sweep({counted(len(self.points), 'point')}{missing} in {self.directory})"

    @property
    def missing(self) -> int:
        """How many points have no result, of a sweep that was read from its folder."""
        return self.tally.points - self.tally.done

    @property
    def table(self) -> pa.Table:
        """A row per point and class or job: the changed keys, what was measured, the result's directory.

        Of keys whose values are tables, which it has as JSON, there is a column of each key inside too.
        A point that gave no result has one row, and the column `failed` tells why. Points that are one run,
        as under 0.1 and "10 %", have the rows of the first.
        """
        if not self.points:
            raise mistake("no point of the sweep is complete", "`tailback sweep --resume` goes on with it")
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
            raise InputError(of_point(problem, change) for problem in error.problems) from None


def _alone(point: Point) -> dict[str, Point]:
    """Its jobs, each as a point of its own."""
    found = {}
    for job in alone_runs.jobs(point.scenario):
        only = alone_runs.only(point.scenario, job)
        changes = point.changes | {alone_runs.ONLY: [job]}
        found[job] = Point(changes, only, point.directory.with_name(points.identity(only)))
    return found


def of_point(problem: Problem, changes: Changes) -> Problem:
    """A problem with the point, or the values of it, that make it."""
    return replace(problem, message=f"{problem.message}, in the sweep's {described(changes)}")
