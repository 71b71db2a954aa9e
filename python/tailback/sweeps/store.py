"""What a sweep keeps in its folder beside its points: what it is of, and their merged table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tailback.errors import mistake, unwritable
from tailback.files import replacing
from tailback.result import POINTS, write_parquet
from tailback.scenario import Scenario
from tailback.sweeps import merged, points
from tailback.sweeps.model import Point, Sweep, Tally, prepare
from tailback.sweeps.space import Axis, Space

MANIFEST = "sweep.json"
TABLE = "sweep.parquet"
LOST = "failed.json"
"""Why points gave no result, by their names; there if any gave none."""


def write_manifest(
    directory: Path, scenario: Scenario, whole: Space, *, alone: bool = False, keep_table: bool = False
) -> None:
    """Notes what the sweep is of, and which engine makes its results.

    A folder of another engine's is refused.
    The merged table is of the points there were: it is removed, unless no more are to come.
    """
    file = directory / MANIFEST
    facts = {
        "engine": points.engine(),
        "scenario": scenario.text,
        "source": str(Path(scenario.source).absolute()),
        "set": scenario.overrides,
        "axes": [(axis.keys, axis.steps) for axis in whole.axes],
        "alone": alone,
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if file.exists():
            _read_manifest(file, "choose another folder with -o: results of two engines are not mixed")
            if not keep_table:
                (directory / TABLE).unlink(missing_ok=True)
                (directory / LOST).unlink(missing_ok=True)
        with replacing(file) as fresh:
            fresh.write_text(json.dumps(facts, default=str) + "\n", "utf-8")
    except OSError as error:
        raise unwritable(directory, error) from None


def _read_manifest(file: Path, remedy: str) -> dict[str, Any]:
    """What it says; raises `InputError` with the remedy if the results are from another engine."""
    try:
        facts: dict[str, Any] = json.loads(file.read_text("utf-8"))
        made_by = facts["engine"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise mistake(f"{file} is damaged", "delete it; complete points are kept") from None
    if made_by != points.engine():
        raise mistake(
            f"the results in {file.parent} are from engine {made_by}, this is {points.engine()}", remedy
        )
    return facts


def has_jobs_alone(directory: Path) -> bool:
    """Whether the sweep of a folder, if there is one, runs the jobs of its points alone too."""
    file = directory / MANIFEST
    return file.exists() and bool(_read_manifest(file, "choose another folder with -o").get("alone"))


def load(directory: Path) -> Sweep:
    """The sweep of a folder with those of its points that are complete."""
    if not (directory / MANIFEST).exists():
        raise mistake(f"{directory} holds no sweep: {MANIFEST} is missing", "name the folder of a sweep")
    facts = _read_manifest(directory / MANIFEST, "that engine shows what there is of it")
    try:
        changes = tuple((key, value) for key, value in facts["set"])
        scenario = Scenario(facts["scenario"], changes, facts["source"])
        whole = Space(tuple(Axis(tuple(keys), tuple(map(tuple, steps))) for keys, steps in facts["axes"]))
    except (KeyError, TypeError, ValueError):
        raise mistake(
            f"{directory / MANIFEST} does not tell what the sweep is of", "tailback sweep … --resume does"
        ) from None
    wanted = list(prepare(scenario, whole.points(), directory, alone=bool(facts.get("alone"))))
    failed = {
        name: why
        for name, why in _read_lost(directory).items()
        if not points.is_complete(directory / POINTS / name)
    }
    known = {point.name for point in wanted if point.name in failed or points.is_complete(point.directory)}
    there = [_with_known(point, failed) for point in wanted if point.name in known]
    whole_count = len({point.name for point in wanted})
    tally = Tally(whole_count, done=len(known), reused=len(known - failed.keys()), failed=len(failed))
    return Sweep(there, tally, directory, failed)


def _read_lost(directory: Path) -> dict[str, str]:
    file = directory / LOST
    try:
        return dict(json.loads(file.read_text("utf-8"))) if file.exists() else {}
    except (OSError, ValueError, TypeError):
        raise mistake(f"{file} is damaged", "tailback sweep --resume writes it again") from None


def write_table(done: Sweep) -> None:
    """Writes the merged table, all or nothing: tasks of a job array may do so at the same time."""
    try:
        if done.failed:
            with replacing(done.directory / LOST) as fresh:
                fresh.write_text(json.dumps(dict(done.failed), sort_keys=True) + "\n", "utf-8")
        with replacing(done.directory / TABLE) as fresh:
            write_parquet(done.table, fresh)
    except OSError as error:
        raise unwritable(done.directory, error) from None


def is_finished(directory: Path, wanted: Iterator[Point]) -> bool:
    """Whether there is a merged table in the folder, and all these points are complete."""
    return (directory / TABLE).exists() and all(
        points.is_complete(run.directory) for point in wanted for run in point.runs
    )


def _with_known(point: Point, failed: Mapping[str, str]) -> Point:
    """A point with those of its jobs alone that are complete, or gave no result."""
    alone = {
        job: only
        for job, only in point.alone.items()
        if only.name in failed or points.is_complete(only.directory)
    }
    return replace(point, alone=alone)


@dataclass(frozen=True)
class Stored:
    """The merged table of what there is of a sweep: how many points that has, and how many are missing."""

    table: pa.Table
    points: int
    missing: int = 0


def sweep_of(directories: Sequence[str]) -> Path | None:
    """The folder of a sweep; None if the folders are no sweeps.

    Raises `InputError` if there are others beside it.
    """
    sweeps = [directory for directory in map(Path, directories) if (directory / MANIFEST).exists()]
    if sweeps and len(directories) > 1:
        raise mistake(
            f"{sweeps[0]} is a sweep, and is shown or drawn by itself", "name one sweep, or results only"
        )
    return sweeps[0] if sweeps else None


def read(directory: Path) -> Stored:
    """The merged table of a sweep, or one of the points that are complete so far.

    Raises `InputError` if none is, or if the table is damaged.
    """
    file = directory / TABLE
    if not file.exists():
        done = load(directory)
        if not done.points:
            raise mistake(
                f"no point of the sweep in {directory} is complete",
                "tailback sweep … --resume goes on with it",
            )
        return Stored(done.table, done.tally.points, done.missing)
    try:
        table = pq.read_table(file)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise mistake(f"{file} cannot be read: {reason}", "tailback sweep --resume writes it again") from None
    return Stored(table, merged.count(table))


def zipped(directory: Path) -> list[list[str]]:
    """The keys of a sweep that change together."""
    try:
        axes = json.loads((directory / MANIFEST).read_text("utf-8"))["axes"]
        return [list(keys) for keys, _ in axes if len(keys) > 1]
    except (OSError, ValueError, LookupError, TypeError):
        raise mistake(f"{directory / MANIFEST} is damaged", "delete it; complete points are kept") from None
