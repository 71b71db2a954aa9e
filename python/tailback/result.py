"""A result: one directory with the whole scenario, the summary and the tables."""

from __future__ import annotations

import itertools
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tailback import _engine
from tailback.errors import mistake, unwritable
from tailback.files import folder
from tailback.signals import deferred

_SCENARIO = "scenario.toml"
_STATES = {True: "stable", False: "not stable"}
SUMMARY = "summary.json"
PLOTS = "plots"
"""Folder of the figures inside a result."""
POINTS = "points"
"""Folder of the results inside that of a sweep or a search."""
VIEW = "view.html"
"""The page of `tailback view` among them."""
TABLES: Mapping[str, tuple[str, ...]] = {
    "classes": ("class",),
    "flows": (),
    "histograms": ("class", "latency", "low_ns", "high_ns", "count"),
    "iterations": (),
    "links": (),
    "messages": ("class", "flits", "created_ns", "latency_ns"),
    "occupancy": ("time_ns", "switch", "flits"),
    "operations": (),
    "packets": (),
    "pairs": ("class", "source", "destination", "time_ns", "flits"),
    "pauses": ("from", "start_ns", "end_ns"),
    "phases": (),
    "ports": ("link_class", "active_ns", "stalled_ns", "idle_ns"),
    "queues": ("time_ns", "switch", "port", "flits"),
    "ranks": (),
    "rates": ("time_ns", "endpoint", "destination", "rate"),
    "series": (
        "class",
        "time_ns",
        "accepted",
        "accepted_per_destination",
        "messages",
        "message_latency_ns",
    ),
    "shares": ("link_class", "kind", "share"),
    "signals": (),
    "slowdowns": ("class", "flits_from", "flits_to", "messages", "mean", "p50", "p99", "p999", "max"),
    "sources": ("class", "accepted"),
    "trees": (
        "time_ns",
        "from",
        "from_port",
        "to_switch",
        "to_port",
        "root",
        "depth",
        "flits",
        "strangers",
    ),
}
"""Every table that a result can have, with the columns that `tailback plot` reads."""

_WORDS = {"class", "from", "kind", "latency", "link_class", "root"}
"""Those of them that hold words; the others hold numbers."""
_ARROW_TYPES = {"int64": pa.int64(), "float64": pa.float64()}


@dataclass(frozen=True)
class Result:
    """What a run measured.

    `scenario` is TOML with every default filled in, `summary` what `run --json` prints, `tables` holds Arrow
    tables by name (`classes`, `series`, `ports`, …); those that were not recorded are missing. `directory` is
    where it was read from, if it was.
    """

    scenario: str
    summary: dict[str, Any]
    tables: Mapping[str, pa.Table]
    directory: Path | None = field(default=None, compare=False)

    @classmethod
    def from_engine(
        cls,
        scenario: str,
        summary: Mapping[str, Any],
        tables: Mapping[str, Sequence[tuple[str, str, bytes]]],
        *,
        interrupted: bool,
    ) -> Result:
        """The engine's answer as a result; numbers stay where the engine put them."""
        facts = {"version": _engine.version(), **summary}
        facts |= {"interrupted": interrupted, "host": platform.node()}
        return cls(scenario, facts, {name: _table(columns) for name, columns in tables.items()})

    @classmethod
    def load(cls, directory: str | Path, tables: Collection[str] | None = None) -> Result:
        """Reads a result that `save` or `tailback run -o` has written; with `tables`, of its tables those."""
        directory = folder(directory)
        if isinstance(tables, str):
            raise mistake("tables are named in a list, not by a text", f"such as [{tables!r}]")
        if not directory.is_dir():
            raise mistake(f"{directory} is not a directory", "name the directory of a result")
        try:
            scenario = (directory / _SCENARIO).read_text("utf-8")
            summary = json.loads((directory / SUMMARY).read_text("utf-8"))
            files = sorted(directory.glob("*.parquet"))
            read = {f.stem: pq.read_table(f) for f in files if tables is None or f.stem in tables}
        except FileNotFoundError as error:
            name = Path(error.filename or "").name
            has_points = (directory / POINTS).is_dir()
            help_text = _name_a_point(directory) if has_points else "run a scenario with -o first"
            raise mistake(f"{directory} holds no result: {name} is missing", help_text) from None
        except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
            remedy = "" if isinstance(error, OSError) else _RUN_AGAIN
            raise mistake(f"{directory} cannot be read as a result: {error}", remedy) from None
        if not _is_summary(summary):
            raise mistake(f"{directory / SUMMARY} is no summary", _RUN_AGAIN)
        for name, table in read.items():
            if told := _lacking(table, TABLES.get(name, ())):
                raise mistake(f"{directory / name}.parquet {told}", _RUN_AGAIN)
        return cls(scenario, summary, read, directory)

    def __repr__(self) -> str:
        """What it is, on one line."""
        state = []
        if self.interrupted:
            state = ["interrupted"]
        elif "stable" in self.summary:
            state = [_STATES.get(self.summary["stable"], "perhaps not stable")]
        tables = f"tables {', '.join(self.tables)}" if self.tables else "no tables"
        name = [repr(self.name)] if self.name else []
        return f"<Result {', '.join([*name, *state, tables])}>"

    @property
    def title(self) -> str:
        """The scenario's title."""
        return str(self.summary.get("title", ""))

    @property
    def name(self) -> str:
        """The title, or else the name of the folder that it was read from."""
        return self.title or (Path(os.path.realpath(self.directory)).name if self.directory else "")

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end, so that the numbers are partial."""
        return bool(self.summary.get("interrupted", False))

    def save(self, directory: str | Path) -> Path:
        """Writes the result, all or nothing, and returns its path. An earlier result there is replaced."""
        target = prepare(directory)
        with _written_beside(self, target) as fresh:
            _swap(fresh, target)
        return target

    def save_unused(self, directory: str | Path) -> Path:
        """As `save`, but into the first of `unused`, also where others write at the same time."""
        target = prepare(next(unused(Path(directory))))
        with _written_beside(self, target) as fresh:
            return _take(fresh, unused(Path(directory)))

    def write_files(self, directory: Path) -> None:
        """Writes the files of the result into an empty folder."""
        (directory / _SCENARIO).write_text(self.scenario, "utf-8")
        (directory / SUMMARY).write_text(json.dumps(self.summary, indent=2) + "\n", "utf-8")
        for name, table in self.tables.items():
            write_parquet(table, directory / f"{name}.parquet")


def _name_a_point(directory: Path) -> str:
    """What can be asked for instead where there are points: those of a sweep are named by its table."""
    where = directory / POINTS
    told = (
        "; the column directory of sweep.parquet says which is which"
        if (directory / "sweep.parquet").exists()
        else "; tailback saturation tells again what a search found, and repeats none of its runs"
    )
    return f"name one of its points, the folders in {where}{told}"


_RUN_AGAIN = "it is damaged: run the scenario again"


def _is_summary(facts: object) -> bool:
    """Whether it has the shape of a summary: what it tells of classes and of jobs is told by name.

    Of each the latencies and the times that are several numbers are tables too.
    """
    if not isinstance(facts, dict):
        return False
    named = [facts.get(key, {}) for key in ("classes", "jobs")]
    if not all(isinstance(all_of, dict) for all_of in named):
        return False
    members = [one for all_of in named for one in all_of.values()]
    return all(isinstance(one, dict) for one in members) and all(
        value is None or isinstance(value, dict)
        for one in members
        for key, value in one.items()
        if key.endswith("_latency_ns") or key in ("communication_ns", "phases")
    )


def write_parquet(table: pa.Table, path: Path) -> None:
    """Writes a table so that the same values give the same bytes: nothing in them tells time or machine."""
    pq.write_table(
        table,
        path,
        version="2.6",
        compression="zstd",
        compression_level=3,
        row_group_size=1 << 20,
        use_dictionary=True,
        write_statistics=True,
    )


def prepare(directory: str | Path) -> Path:
    """The path where a result can be written; an `InputError` if none can. Leaves nothing behind."""
    target = folder(directory)
    try:
        target = target.resolve()
        _refuse_name(target)
        _refuse_foreign(target)
        ancestor = next(path for path in target.parents if path.exists())
        Path(tempfile.mkdtemp(prefix=".tailback-", dir=ancestor)).rmdir()
    except (OSError, ValueError, RuntimeError) as error:
        raise unwritable(Path(directory), error) from None
    return target


def _refuse_foreign(target: Path) -> None:
    """A folder with anything but a result in it is not replaced."""
    if not target.exists():
        return
    if not target.is_dir():
        raise mistake(f"the output folder {target} is a file", "choose another folder with -o")
    entries = sorted(target.iterdir())
    ours = _files_of_a_result(target)
    files = [file for entry in entries for file in (_inside(entry) if entry.name == PLOTS else [entry])]
    foreign = [file for file in files if file not in ours or file.is_symlink() or not file.is_file()]
    missing = [name for name in (_SCENARIO, SUMMARY) if not (target / name).is_file()]
    if foreign:
        raise mistake(
            f"the output folder {target} holds other things than a result, such as "
            f"{foreign[0].relative_to(target)}",
            _ONLY_RESULTS,
        )
    if entries and missing:
        raise mistake(
            f"the output folder {target} holds {entries[0].name} but no whole result: "
            f"{missing[0]} is missing",
            _ONLY_RESULTS,
        )


def _refuse_name(target: Path) -> None:
    """Parquet files have names that are text."""
    try:
        str(target).encode()
    except UnicodeEncodeError:
        raise mistake(
            f"the name of the output folder {target} is not text in UTF-8", "choose another folder with -o"
        ) from None


def refuse_result(directory: Path) -> None:
    """Raises `InputError` if the folder, which results are to go into, is one, or has no good name."""
    _refuse_name(directory.absolute())
    if (directory / SUMMARY).exists():
        raise mistake(
            f"the output folder {directory} holds the result of a run", "choose another folder with -o"
        )


_ONLY_RESULTS = "choose another folder with -o; only an earlier result is replaced"


def _inside(entry: Path) -> list[Path]:
    """What a folder of figures holds; anything else of that name stands for itself."""
    return sorted(entry.iterdir()) if entry.is_dir() and not entry.is_symlink() else [entry]


def _files_of_a_result(directory: Path) -> set[Path]:
    """Every file that Tailback may have written there."""
    tables = {directory / f"{name}.parquet" for name in TABLES}
    plots: set[Path] = set()
    if (directory / PLOTS).exists():
        from tailback.figures.gallery import FIGURES, KINDS  # late: it loads matplotlib

        plots = {directory / PLOTS / f"{name}{kind}" for name in FIGURES for kind in KINDS}
        plots.add(directory / PLOTS / VIEW)
    return {directory / _SCENARIO, directory / SUMMARY} | tables | plots


@contextmanager
def _written_beside(result: Result, target: Path) -> Iterator[Path]:
    """The result in a new folder beside the target; what is left of that at the end is removed."""
    holder = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        holder = Path(tempfile.mkdtemp(prefix=".tailback-", dir=target.parent))
        fresh = holder / "new"
        fresh.mkdir()
        result.write_files(fresh)
        yield fresh
    except OSError as error:
        raise unwritable(target, error) from None
    finally:
        if holder is not None:
            shutil.rmtree(holder, ignore_errors=True)


def unused(directory: Path) -> Iterator[Path]:
    """The folder, and those with -2, -3, … after its name, as far as they are not there: none is replaced."""
    numbered = (directory.with_name(f"{directory.name}-{number}") for number in itertools.count(2))
    return (path for path in itertools.chain([directory], numbered) if not os.path.lexists(path))


def _take(fresh: Path, places: Iterator[Path]) -> Path:
    """Puts the new folder into the first place that nobody else takes meanwhile."""
    while True:
        target = next(places)
        try:
            fresh.rename(target)
        except OSError:
            if not os.path.lexists(target):
                raise
        else:
            return target


def _swap(fresh: Path, target: Path) -> None:
    """Puts the new folder in the target's place; the earlier one leaves with the holder of the new one."""
    earlier = fresh.parent / "earlier"
    with deferred():  # between the two there is no result
        with suppress(FileNotFoundError):
            target.rename(earlier)
        try:
            fresh.rename(target)
        except BaseException:
            if earlier.exists():
                earlier.rename(target)
            raise
    with suppress(OSError):
        _sync(target.parent)


def _sync(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _lacking(table: pa.Table, columns: Iterable[str]) -> str:
    """What is wrong with a table that should have columns; empty if it has them."""
    for column in columns:
        if column not in table.column_names:
            return f"has no column {column!r}"
        has_words, kind = column in _WORDS, table.schema.field(column).type
        is_text = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
        if has_words != any(test(kind) for test in is_text):
            return f"has a column {column!r} of {kind} in place of {'words' if has_words else 'numbers'}"
    return ""


def _table(columns: Sequence[tuple[str, str, bytes]]) -> pa.Table:
    return pa.table({name: _array(kind, data) for name, kind, data in columns})


def _array(kind: str, data: bytes) -> pa.Array:
    """A column over the engine's own bytes, without a copy (texts are few and are copied)."""
    if kind == "text":
        return pa.array(json.loads(data), pa.string())
    arrow_type = _ARROW_TYPES[kind]
    return pa.Array.from_buffers(arrow_type, len(data) // 8, [None, pa.py_buffer(data)])
