"""One point of a sweep: a scenario, and the directory that holds its result, complete or not at all.

The directory is named after the content: the completed scenario and the engine that ran it. `checksums.json`
in it lists the SHA-256 of every file, so that a file that was cut off or changed is found, and the point run
again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tailback import _engine
from tailback.errors import NotKept, TailbackError, reason
from tailback.result import Result
from tailback.scenario import Progress, Scenario

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

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


def is_name(name: str) -> bool:
    """Whether a name is one of a point's directory."""
    return re.fullmatch("[0-9a-f]{24}", name) is not None


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
    except Exception as error:  # such as MemoryError: it costs this point, and no other
        return Outcome(name, time.process_time() - started, f"{type(error).__name__}: {error}".rstrip(": "))
    if result.interrupted:
        return None
    spent = float(result.summary.get("cpu_seconds", time.process_time() - started))
    if _identity(result.scenario) != name:
        return Outcome(name, spent, "a file that the scenario names changed after the sweep began")
    result.summary["engine"] = engine()
    _put(result, folder / name)
    return Outcome(name, spent)


def clean(folder: Path) -> None:
    """Removes what was cut off, unless another process is writing results there now."""
    waiting = folder / UNDER_WAY
    with suppress(OSError), _locked(waiting, alone=True):
        for left in waiting.iterdir():
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _locked(directory: Path, *, alone: bool) -> Iterator[None]:
    """Holds a directory together with others, or `alone`, which raises `OSError` where somebody has it.

    A process that ends, however it does, leaves go. Where locks are not known, nobody is alone.
    """
    if fcntl is None:
        if alone:
            raise OSError(errno.ENOLCK, "there are no locks")
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        if alone:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def _put(result: Result, target: Path) -> None:
    """Keeps a result, complete or not at all; raises `NotKept` if it cannot be written."""
    waiting = target.parent / UNDER_WAY
    try:
        waiting.mkdir(parents=True, exist_ok=True)
        with _locked(waiting, alone=False):
            holder = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=waiting))
            try:
                _move(_written(result, holder / target.name), target)
            finally:
                shutil.rmtree(holder, ignore_errors=True)
    except OSError as error:
        raise NotKept(
            f"a result cannot be kept in {target.parent}: {reason(error)}; "
            "complete points are kept, and it can go on from there"
        ) from None


def _written(result: Result, fresh: Path) -> Path:
    fresh.mkdir()
    result.write_files(fresh)
    sums = {file.name: _digest(file) for file in sorted(fresh.iterdir())}
    _write_synced(fresh / CHECKSUMS, json.dumps(sums, indent=1))
    return fresh


def _move(fresh: Path, target: Path) -> None:
    """Puts a result in its place; one that another process has put there stays, and a damaged one leaves.

    Only what is there when it cannot be put there is looked at: what was not there before may be now.
    """
    with suppress(OSError):
        fresh.rename(target)
        return
    if is_complete(target):
        return
    with suppress(FileNotFoundError):
        target.rename(fresh.parent / "damaged")
    try:
        fresh.rename(target)
    except OSError:
        if not is_complete(target):
            raise


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
    pauses = result.summary.get("pauses", {})
    of_all = {f"{name}_paused": facts["time_share"] for name, facts in pauses.items()}
    if trees := result.summary.get("trees"):
        of_all |= {key: trees[key]["mean"] for key in ("endpoints_held", "channels_held")}
        of_all |= {"deepest_tree": trees["deepest"], "strangers": trees["strangers"]}
    rows: list[dict[str, Any]] = [
        {**row, "stable": classes.get(row["class"], {}).get("stable"), **of_all}
        for row in result.tables["classes"].to_pylist()
    ]
    rows += [{"class": name} for name in jobs if name not in classes]
    end_ns = result.summary.get("simulated_ns", 0.0)
    return [row | _times(jobs[row["class"]], end_ns) if row["class"] in jobs else row for row in rows]


def _times(job: Mapping[str, Any], end_ns: float) -> dict[str, Any]:
    """The times of a job, and of its phases if it has some, in the mean over ranks and over phases.

    A job that did not end has no times of its own, not even of its communication, which would be that until
    the end of the run, but what its time and slowdown are over; those of its phases are of the phases that
    ended.
    """
    communication, phases = job["communication_ns"], job.get("phases", {})
    times = {"time_ns": job["time_ns"]}
    if job["time_ns"] is None:
        communication = dict.fromkeys(communication)
        times["time_over_ns"] = end_ns - job["start_ns"]
        if job.get("alone_ns"):
            times["slowdown_over"] = times["time_over_ns"] / job["alone_ns"]
    times |= {f"communication_{which}_ns": communication[which] for which in ("mean", "max")}
    for name, key in (
        ("phase_time_mean_ns", "phase_time_ns"),
        ("bound_mean_ns", "bound_ns"),
        ("time_over_bound_mean", "time_over_bound"),
    ):
        times |= {name: phases[key]["mean"]} if key in phases else {}
    return times | {key: job[key] for key in ("alone_ns", "slowdown", "communication_slowdown") if key in job}
