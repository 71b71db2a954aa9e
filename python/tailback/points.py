"""One point of a sweep: a scenario, and the directory that holds its result, complete or not at all.

The directory is named after the content: the completed scenario and the engine that ran it. `checksums.json`
in it lists the SHA-256 of every file, so that a file that was cut off or changed is found, and the point run
again.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tailback import _engine
from tailback.errors import TailbackError
from tailback.result import Result
from tailback.scenario import Progress, Scenario

CHECKSUMS = "checksums.json"
UNDER_WAY = ".under-way"
"""Folder of the results that are being written; what is left in it was cut off."""


@cache
def engine() -> str:
    """The engine's version and a digest of its build: what a result depends on besides the scenario."""
    version = _engine.version()
    file = getattr(_engine, "__file__", None)
    if file is None:
        return version
    return f"{version}+{hashlib.sha256(Path(file).read_bytes()).hexdigest()[:12]}"


def identity(scenario: Scenario) -> str:
    """The name of a scenario's result: equal for equal completed scenarios under the same engine."""
    return _identity(scenario.complete())


def _identity(complete: str) -> str:
    text = f"{engine()}\n{complete}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Outcome:
    """What became of a point."""

    name: str
    cpu_seconds: float
    error: str = ""


def is_complete(directory: Path) -> bool:
    """Whether a point's directory holds all its files, each unchanged."""
    try:
        sums = json.loads((directory / CHECKSUMS).read_text("utf-8"))
        return bool(sums) and all(_digest(directory / name) == digest for name, digest in sums.items())
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def load(directory: Path, tables: Collection[str] | None = None) -> Result:
    """The result of a complete point; with `tables`, with no other tables."""
    return Result.load(directory, tables)


def run(
    scenario: Scenario, name: str, folder: Path, go_on: Callable[[], bool] = lambda: True
) -> Outcome | None:
    """Runs a point and puts its result into `folder/name`; tells errors; None if it was stopped.

    A result that is not of the scenario that `name` stands for, as a file changed meanwhile, is not kept.
    """
    started = time.process_time()

    def watch(_: Progress) -> bool:
        return go_on()

    try:
        result = scenario.run(watch)
    except TailbackError as error:
        return Outcome(name, time.process_time() - started, str(error))
    if result.interrupted:
        return None
    spent = time.process_time() - started
    if _identity(result.scenario) != name:
        return Outcome(name, spent, "a file that the scenario names changed after the sweep began")
    result.summary.setdefault("cpu_seconds", spent)
    result.summary["engine"] = engine()
    _put(result, folder / name)
    return Outcome(name, spent)


def clean(folder: Path) -> None:
    """Removes what was cut off."""
    shutil.rmtree(folder / UNDER_WAY, ignore_errors=True)


def _put(result: Result, target: Path) -> None:
    waiting = target.parent / UNDER_WAY
    waiting.mkdir(parents=True, exist_ok=True)
    holder = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=waiting))
    try:
        fresh = result.save(holder / target.name)
        sums = {file.name: _digest(file) for file in sorted(fresh.iterdir())}
        _write_synced(fresh / CHECKSUMS, json.dumps(sums, indent=1))
        if target.exists():
            if is_complete(target):  # another process was faster
                return
            target.rename(holder / "damaged")
        with suppress(FileExistsError):
            fresh.rename(target)
    finally:
        shutil.rmtree(holder, ignore_errors=True)


def _write_synced(file: Path, text: str) -> None:
    with file.open("w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())


def _digest(file: Path) -> str:
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def class_rows(result: Result) -> list[Mapping[str, Any]]:
    """The table `classes` of a result as rows, and what the summary adds; jobs without packets have rows."""
    classes, jobs = (result.summary.get(key, {}) for key in ("classes", "jobs"))
    rows: list[dict[str, Any]] = [
        {**row, "stable": classes.get(row["class"], {}).get("stable")}
        for row in result.tables["classes"].to_pylist()
    ]
    rows += [{"class": name} for name in jobs if name not in classes]
    return [row | _times(jobs[row["class"]]) if row["class"] in jobs else row for row in rows]


def _times(job: Mapping[str, Any]) -> dict[str, Any]:
    """The times of a job, and of its phases if it has some, in the mean over ranks and over phases.

    A job that did not end has no times of its own, not even of its communication, which would be that until
    the end of the run; those of its phases are of the phases that ended.
    """
    communication, phases = job["communication_ns"], job.get("phases", {})
    if job["time_ns"] is None:
        communication = dict.fromkeys(communication)
    times = {"time_ns": job["time_ns"]}
    times |= {f"communication_{which}_ns": communication[which] for which in ("mean", "max")}
    for name, key in (
        ("phase_time_mean_ns", "phase_time_ns"),
        ("bound_mean_ns", "bound_ns"),
        ("time_over_bound_mean", "time_over_bound"),
    ):
        times |= {name: phases[key]["mean"]} if key in phases else {}
    return times
