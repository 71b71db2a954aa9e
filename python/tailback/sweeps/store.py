"""What a sweep keeps in its folder beside its points: which engine made them, and their merged table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tailback.errors import mistake, unwritable
from tailback.files import replacing
from tailback.result import write_parquet
from tailback.sweeps import points
from tailback.sweeps.model import Point, Sweep

MANIFEST = "sweep.json"
TABLE = "sweep.parquet"


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
