"""`tailback sweep`: from a file with a `[sweep]` table to a folder of results and one table."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tailback import console
from tailback.alone import demand_jobs
from tailback.errors import InputError, Problem, mistake, unwritable
from tailback.files import refuse_other, replace_text, replacing
from tailback.result import POINTS
from tailback.scenario import Scenario
from tailback.sweeps import points, store, sweep
from tailback.sweeps.merged import described
from tailback.sweeps.model import Point, Sweep, Tally, prepare
from tailback.sweeps.space import SEED, Space
from tailback.sweeps.text import from_text
from tailback.sweeps.workers import cores, pool
from tailback.words import are, counted, were

SCRIPT, COPY, OTHERS = "sweep.sh", "scenario.toml", "other-points.txt"


def begin(
    scenario: Scenario, folder: Path, *, resume: bool, yes: bool, part: str | None, alone: bool
) -> tuple[Scenario, Space, range, bool]:
    """Checks all that can be checked before the first run; tells what to run, and whether jobs run alone."""
    if from_text(scenario.text) is None:
        none = Problem(
            "there is no [sweep] table", help='such as "traffic.hot.load" = [0.1, 0.5] under [sweep]'
        )
        raise InputError(scenario.check() or [none])
    text = scenario.text
    scenario, space = sweep.split(scenario)
    if len(space) > sweep.POINTS_MAX and not yes:
        raise mistake(
            f"the sweep has {counted(len(space), 'point')}",
            f"--yes runs more than {sweep.POINTS_MAX:,}; --slurm K spreads them over a cluster",
        )
    wanted = _part(part, len(space))
    sweep.check(scenario, space, text)
    if alone:
        demand_jobs(scenario.replace(next(space.points())))
    sweep.refuse(folder)
    if folder.name == POINTS and (folder.parent / store.MANIFEST).exists():
        raise mistake(f"{folder} holds the points of another sweep", "choose another folder with -o")
    if not resume and any((folder / name).exists() for name in (POINTS, store.MANIFEST)):
        raise mistake(
            f"{folder} holds an earlier sweep, or one that is under way",
            "--resume goes on with it; or choose another folder with -o",
        )
    # What goes on is what was begun.
    return scenario, space, wanted, alone or (resume and store.has_jobs_alone(folder))


def _part(part: str | None, points_all: int) -> range:
    if part is None:
        return range(points_all)
    first, colon, last = part.partition(":")
    if not colon or not first.isdecimal() or not last.isdecimal() or int(first) >= int(last):
        raise mistake(f"--part {part}: a part has the form FROM:TO", "as in --part 0:100, without the last")
    if int(first) >= points_all:
        raise mistake(
            f"--part {part}: the sweep has {counted(points_all, 'point')}", "they are counted from 0"
        )
    return range(min(int(first), points_all), min(int(last), points_all))


def run(
    scenario: Scenario, space: Space, wanted: range, folder: Path, *, workers: int | None, alone: bool
) -> Sweep:
    """Runs the points, with a bar on a terminal, and writes the merged table if all of them were run."""

    def prepared_of(numbers: range) -> Iterator[Point]:
        return prepare(scenario, space.points(numbers.start, numbers.stop), folder, alone=alone)

    whole = len(wanted) == len(space)
    finished = not whole and store.is_finished(folder, prepared_of(range(len(space))))
    prepared = list(prepared_of(range(len(space)) if finished else wanted))
    store.write_manifest(folder, scenario, space, alone=alone, keep_table=finished)
    if whole:
        points.clean(folder / POINTS)
    with PointsBar() as bar, pool(max(1, workers or cores())) as executor:
        try:
            done = sweep.run_points(prepared, executor, folder, progress=bar.show)
        except KeyboardInterrupt:
            runs = [run for point in prepared for run in point.runs]
            complete = sum(points.is_complete(run.directory) for run in runs)
            shown = f", tailback show {folder} prints them" if complete else ""
            told = f"{complete:,} of {len(runs):,} points are complete; --resume goes on{shown}"
            console.errors().print(told, soft_wrap=True)
            raise
    if whole or finished:
        store.write_table(done)
        _tell_others(done)
    return done


def _tell_others(done: Sweep) -> None:
    """Tells of results of points that are not of the sweep, and how to remove them; lists them in a file."""
    ours = {run.name for point in done.points for run in point.runs}
    there = (path.name for path in (done.directory / POINTS).iterdir())
    found = sorted(name for name in there if points.is_name(name) and name not in ours)
    listed = done.directory / OTHERS
    if not found:
        listed.unlink(missing_ok=True)
        return
    replace_text(listed, "\n".join(found) + "\n")
    folder = shlex.quote(str(done.directory / POINTS))
    told = (
        f"{counted(len(found), 'folder')} in {folder} {are(len(found))} of other points, as of a search or "
    )
    told += (
        f"of the file as it was, and not in the table; to remove: cd {folder} && xargs rm -r < ../{OTHERS}"
    )
    console.errors().print(console.printable(told))


def remarks(done: Sweep) -> list[str]:
    """What is printed at the end."""
    tally = done.tally
    ran = tally.points - tally.reused
    jobs_alone = ", with the jobs alone" if any(point.alone for point in done.points) else ""
    lines = [
        f"{counted(tally.points, 'point')}{jobs_alone}: {ran:,} run in {tally.cpu_seconds:,.0f} CPU seconds"
    ]
    if tally.reused:
        lines[0] += f", {tally.reused:,} {were(tally.reused)} complete"
    if tally.failed:
        lines[0] += f", {tally.failed:,} gave no result"
    lines += _alike(done.points)
    lines += _warnings(done)
    if tally.damaged:
        lines.append(f"{counted(tally.damaged, 'damaged result')} {were(tally.damaged)} run again")
    table = done.directory / store.TABLE
    if not table.exists():
        lines.append(
            "a part of the sweep: when all are complete, --resume without --part writes the merged table; "
            f"tailback show {done.directory} prints what there is"
        )
    else:
        lines.append(f"table: {table}")
        if tally.failed < tally.points and any(key != SEED for point in done.points for key in point.changes):
            lines.append(f"tailback show {done.directory} prints it, tailback plot {done.directory} draws it")
    return lines


def _warnings(done: Sweep) -> list[str]:
    """What runs warned of, each thing once, in the words of the first, with the number of points."""
    ran = [point for point in done.points if point.name not in done.failed]
    told: dict[str, list[str]] = {}
    for point in ran:
        summary = points.load(point.directory, ()).summary
        alike = {re.sub(r"\d+", "", warning): warning for warning in summary.get("warnings") or ()}
        for what, warning in alike.items():
            told.setdefault(what, []).append(warning)
    return [f"warning ({len(all_)} of {counted(len(ran), 'point')}): {all_[0]}" for all_ in told.values()]


def _alike(wanted: Sequence[Point]) -> list[str]:
    """Tells of points that are one scenario, though what they change is written otherwise."""
    first: dict[str, Point] = {}
    pairs = [(first.setdefault(point.name, point), point) for point in wanted]
    again = [(one, other) for one, other in pairs if one is not other]
    if not again:
        return []
    one, other = (described(point.changes) for point in again[0])
    return [f"not counted: {len(again):,} with the scenario of another, such as ({other}), which is ({one})"]


_EVERY_S = 30.0
"""From one line of progress to the next, in a file."""


class PointsBar:
    """How far the points are, on standard error: a bar, or where that is a file a line now and then."""

    def __init__(self) -> None:
        self._told = time.monotonic()
        self._progress = Progress(
            TextColumn("points"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console.errors(),
            disable=not sys.stderr.isatty(),
            transient=True,
        )
        self._bar = self._progress.add_task("points", total=None, left="")

    def __enter__(self) -> PointsBar:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def show(self, tally: Tally) -> None:
        """Moves the bar, or writes a line if it is time."""
        elapsed = self._progress.tasks[0].elapsed or 0.0
        told = [f"{console.minutes(elapsed * tally.to_run / tally.ran)} left"] if tally.ran else []
        if tally.failed:
            told.append(f"{tally.failed:,} failed")
        self._progress.update(self._bar, total=tally.points, completed=tally.done, left=", ".join(told))
        if self._progress.disable and time.monotonic() - self._told >= _EVERY_S:
            self._told = time.monotonic()
            of_points = f"{tally.done:,} of {counted(tally.points, 'point')}"
            console.errors().print(", ".join([of_points, *told]))


def write_slurm(scenario: Scenario, space: Space, folder: Path, per_task: int, *, alone: bool) -> Path:
    """Writes a job-array script that runs `per_task` points in every task; returns its path."""
    if per_task < 1:
        raise mistake(f"--slurm {per_task}: a task runs at least one point", "as in --slurm 20")
    if scenario.overrides:
        raise mistake("--set is not kept in a job array", "write it into the file")
    folder = Path(os.path.realpath(folder))
    named = _named(scenario, space)
    tasks = -(-len(space) // per_task)
    file = folder / COPY
    text = _SLURM.format(
        points=counted(len(space), "point"),
        last=tasks - 1,
        per_task=per_task,
        alone="--alone " if alone else "",
        file=shlex.quote(str(file)),
        folder=shlex.quote(str(folder)),
        python=shlex.quote(sys.executable),
    )
    script = folder / SCRIPT
    try:
        taken_along = {folder / path: (Path(scenario.source).parent / path).read_bytes() for path in named}
        if os.path.realpath(scenario.source) != str(file):
            taken_along[file] = scenario.text.encode()
        _refuse_replacing(script, taken_along)
        for target, content in taken_along.items():
            _keep(target, content)
        replace_text(script, text, folders=True)
        script.chmod(0o755)
    except OSError as error:
        raise unwritable(folder, error) from None
    return script


def _refuse_replacing(script: Path, taken_along: Mapping[Path, bytes]) -> None:
    """Raises `InputError` for a file that would be lost in a folder that is not that of a job array yet."""
    refuse_other(script, _BEGINNING, "script of a job array")
    if script.exists():
        return
    for target, content in taken_along.items():
        if target.exists() and target.read_bytes() != content:
            raise mistake(
                f"{target} exists, and is not the file of that name which the job array takes along",
                "choose another folder with -o: only what a job array has there is replaced",
            )


def _named(scenario: Scenario, space: Space) -> list[Path]:
    """The files that the points name by paths from the scenario's folder; none may lie outside of it."""
    plain, _ = sweep.split(scenario)
    of_points = (path for changes in space.points() for _, path in plain.replace(changes).files())
    paths = [path for path in map(Path, dict.fromkeys(of_points)) if not path.is_absolute()]
    outside = next((path for path in paths if ".." in path.parts), None)
    if outside is not None:
        raise mistake(
            f"{outside} is outside of the scenario's folder, of which a job array takes a copy",
            "write its whole path, from the root, into the file",
        )
    taken = next((path for path in paths if path.parts[0] in _TAKEN), None)
    if taken is not None:
        raise mistake(
            f"{taken} has the name of what the sweep itself writes into the folder of a job array",
            "give the file another name",
        )
    return paths


_TAKEN = (SCRIPT, COPY, OTHERS, POINTS, store.MANIFEST, store.TABLE)


def _keep(target: Path, content: bytes) -> None:
    """Writes a file, unless that is what is there, as where the folder is the scenario's own."""
    if target.exists() and target.read_bytes() == content:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as fresh:
        fresh.write_bytes(content)


_BEGINNING = """#!/bin/sh
# A job array of tailback sweep: """
"""How every script begins: by this one is known."""
_SLURM = (
    _BEGINNING
    + """{points}, {per_task} per task. Submit with: sbatch sweep.sh
# A task that was cut off can be submitted again: nothing complete is repeated. When all have ended, the last
# command below, without --part, writes the merged table.
#SBATCH --job-name=tailback
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task=1
# What many clusters ask for; `tailback describe` tells the memory of a run. Take one # away to use a line.
##SBATCH --time=01:00:00
##SBATCH --mem=4G
: "${{SLURM_ARRAY_TASK_ID:?is set by sbatch: submit this script with it}}"
first=$((SLURM_ARRAY_TASK_ID * {per_task}))
exec {python} -m tailback sweep {file} -o {folder} --resume --yes {alone}\\
    --workers "${{SLURM_CPUS_PER_TASK:-1}}" --part "$first:$((first + {per_task}))"
"""
)
