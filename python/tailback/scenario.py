"""A scenario: the text of a file and the changes made to it. The engine gives them their meaning."""

from __future__ import annotations

import base64
import gzip
import json
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import Any

from tailback import _engine, removal
from tailback.errors import (
    InputError,
    Interrupted,
    Problem,
    RunFailed,
    engine_errors,
    mistake,
    problems_from_json,
)
from tailback.result import Result
from tailback.usage import Meter
from tailback.words import counted, named

_TEXT = "<scenario>"
"""The source of a scenario that is no file."""
_DICT = "<dict>"
"""The source of one whose text nobody has seen."""
_BYTES_MAX = 16 << 20
_ONE_THREAD = "\nthreads = 1\n"
"""How a completed scenario tells that it runs in the thread that starts it."""
_TRACE_MAX = 1 << 30
_GZIP = b"\x1f\x8b"
_GOAL = (4223).to_bytes(8, "little")
"""How a GOAL trace in binary form begins (LogGOPSim)."""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    simulated_ns: float
    end_ns: float
    packet_hops: int


Watch = Callable[[Progress], bool | None]
"""Called a few times a second; returning False stops the run (None goes on)."""


@dataclass(frozen=True)
class Scenario:
    """Everything a run is a function of. Immutable: `replace` gives a changed copy.

    The text need not be right: `check` lists all its mistakes, `run` raises them as an `InputError`.
    """

    text: str
    overrides: tuple[tuple[str, str], ...] = ()
    source: str = _TEXT

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Reads a scenario file (TOML)."""
        if not isinstance(path, str | os.PathLike):
            raise mistake(f"a scenario is read from a path, not from {named(path)}", "name its file")
        # That of a result holds the traces that its jobs read.
        kept = (Path(path).parent / "summary.json").exists()
        return cls(_read_text(Path(path), most=_TRACE_MAX if kept else _BYTES_MAX), source=str(path))

    @classmethod
    def loads(cls, text: str) -> Scenario:
        """A scenario from TOML text."""
        if not isinstance(text, str):
            raise mistake(f"a scenario is text, not {named(text)}", "Scenario.load reads a file")
        return cls(text)

    @classmethod
    def from_dict(cls, tables: Mapping[str, Any]) -> Scenario:
        """A scenario from what would stand in its file; `traffic` and `job` are lists of tables."""
        if not isinstance(tables, Mapping):
            raise mistake(
                f"a scenario is a dict of its tables, not {named(tables)}", "Scenario.loads takes text"
            )
        text = "".join(f"{inline(str(key))} = {inline(value)}\n" for key, value in tables.items())
        return cls(text, source=_DICT)

    def __repr__(self) -> str:
        """What it is, on one line."""
        parts = [repr(self._title)] if self._title else []
        parts.append({_TEXT: "from text", _DICT: "from a dict"}.get(self.source, self.source))
        if self.overrides:
            parts.append(f"{len(self.overrides)} change{'s' if len(self.overrides) > 1 else ''}")
        return f"<Scenario {', '.join(parts)}>"

    @property
    def _title(self) -> str:
        """The title, as far as it can be read; the text need not be right."""
        changed = dict(self.overrides).get("title")
        if changed is not None:
            return changed
        try:
            return str(tomllib.loads(self.text).get("title", ""))
        except (tomllib.TOMLDecodeError, RecursionError):
            return ""

    def replace(self, changes: Mapping[str, Any]) -> Scenario:
        """The scenario with other values, by dotted key: `{"traffic.hot.load": 0.7, "run.seed": 2}`.

        None takes a key out, such as one that another kind does not know: `InputError` if it is not there.
        """
        if not isinstance(changes, Mapping) or not all(isinstance(key, str) for key in changes):
            raise mistake("changes are not by dotted key", 'such as {"run.seed": 2}')
        changed = self
        for key, value in changes.items():
            if value is None:
                changed = changed._without(key)
            else:
                changed = replace(changed, overrides=(*changed.overrides, (key, _as_toml(value))))
        return changed

    def _without(self, key: str) -> Scenario:
        """The scenario without a key of its file and without changes of it."""
        if not removal.is_toml(self.text):
            raise InputError(self.check() or mistake(f"{key} cannot be taken out of the text").problems)
        keys = [changed for changed, _ in self.overrides]
        place, *places = self.places([key, *keys])
        kept = tuple(
            change for change, own in zip(self.overrides, places, strict=True) if own[: len(place)] != place
        )
        if not removal.has(self.text, place):
            if len(kept) == len(self.overrides):
                raise InputError([Problem("the scenario does not set it", path=key, help=_REMOVED_HELP)])
            return replace(self, overrides=kept)
        text = removal.blanked(self.text, place)
        if text is not None:
            return replace(self, text=text, overrides=kept)
        if len(place) == 1:
            raise mistake(f"{key} does not stand in one piece in the file", "take out what is in it")
        table = (".".join(place[:-1]), inline(removal.rest(self.text, place)))
        return replace(self, overrides=(table, *kept))

    def check(self) -> list[Problem]:
        """Every mistake, each with its place; empty if the scenario can run."""
        try:
            text, overrides = self._input()
        except InputError as error:
            return list(error.problems)
        with self._errors():
            return self._problems(_engine.check(text, overrides, []))

    def describe(self) -> dict[str, Any]:
        """What the scenario builds: endpoints, switches, links, diameter, zero-load latency, VCs, memory."""
        with self._errors():
            described: dict[str, Any] = json.loads(_engine.describe(*self._input()))
        return described

    def remarks(self) -> list[str]:
        """What a user has to know of it, such as a threshold out of reach, or a start after the end."""
        with self._errors():
            told: list[str] = json.loads(_engine.remarks(*self._input()))
        return told

    def linear_load(self) -> dict[str, Any]:
        """What each channel carries under the traffic, by the routing alone, and the bound that follows."""
        with self._errors():
            loads: dict[str, Any] = json.loads(_engine.load(*self._input()))
        return loads

    def channels(self) -> dict[str, Any]:
        """The channels of the network with their capacities, and the flows of jobs in phases."""
        with self._errors():
            found: dict[str, Any] = json.loads(_engine.channels(*self._input()))
        return found

    def complete(self) -> str:
        """The scenario as TOML with every default filled in."""
        with self._errors():
            return _engine.complete(*self._input())

    def run(self, progress: Watch | None = None, *, alone: bool = False) -> Result:
        """Simulates the scenario. `progress` is called a few times a second; returning False stops the run.

        With `alone`, each job is run by itself too, on the same endpoints; `summary["jobs"]` tells how much
        slower it is beside the others (`slowdown`, `communication_slowdown`, and the times alone in ns); of a
        job whose run alone gives no result there is a warning, and no numbers. Raises `InputError` with every
        mistake of the scenario, `RunFailed` if the run failed, and `Interrupted` on Ctrl-C; both carry what
        was measured by then.
        """
        if not alone:
            return self._run(progress)
        from tailback import alone as runs  # late: it is about scenarios itself

        if problems := self.check():
            raise InputError(problems)
        runs.demand_jobs(self)
        return runs.all_compared(self, self._run(progress), progress)

    def _run(self, progress: Watch | None) -> Result:
        stopped = False

        def watch(simulated_ps: int, end_ps: int, packet_hops: int) -> bool:
            nonlocal stopped
            if progress is not None:
                stopped = progress(Progress(simulated_ps / 1e3, end_ps / 1e3, packet_hops)) is False
            return not stopped

        text, overrides = self._input()
        with self._errors():
            complete = _engine.complete(text, overrides)
            meter = Meter(alone=_ONE_THREAD in complete)
            summary, tables, interrupted, failure = _engine.run(text, overrides, watch)
            facts = {**json.loads(summary), **meter.read()}
        facts["warnings"] = [*facts.get("warnings", []), *self._left_out()]
        result = Result.from_engine(complete, facts, tables, interrupted=interrupted)
        if failure is not None:
            raise RunFailed(failure, result)
        if interrupted and not stopped:
            raise Interrupted(result)
        return result

    def files(self) -> list[tuple[str, str]]:
        """The files that it names: the key that holds each one's contents, and its path as it is written."""
        with self._errors():
            return _engine.files(*self._texts())

    def _left_out(self) -> list[str]:
        """A warning for each trace with a file for one more rank than its job has."""
        last = {key.rpartition(".")[0]: (key, path) for key, path in self.files()}
        told = []
        for job, (key, path) in last.items():
            number = key.rpartition(".")[2]
            before, found, behind = path.rpartition(f".{number}.")
            if number.isdigit() and found:
                another = f"{before}.{int(number) + 1}.{behind}"
                if (Path(self.source).parent / another).is_file():
                    ranks = job.replace(".data", ".ranks")
                    ran = counted(int(number) + 1, "file")
                    told.append(f"{ranks}: {ran} of the trace ran, but {another} is there too")
        return told

    def places(self, keys: Iterable[str]) -> list[tuple[str, ...]]:
        """Where changes of these keys go: the parts of each, members of lists by number, not by name."""
        wanted = list(keys)
        for key in wanted:
            _refuse_undecoded(key, "")
        with self._errors():
            return [tuple(parts) for parts in _engine.places(*self._texts(), wanted)]

    def _held(self, key: str) -> str:
        """What the file of a key holds, for messages."""
        if not key.startswith("job."):
            return "size distribution" if key.startswith("traffic.") else "network"
        for part in ("placement", "groups"):
            if f".{part}." in key:
                return {"groups": "process group"}.get(part, part)
        try:
            workload = tomllib.loads(self.text)["job"][int(key.split(".")[1])]["workload"]
        except (tomllib.TOMLDecodeError, LookupError, TypeError):
            return "trace"  # changes may say what the file leaves out
        return "flow list" if workload == "phases" else "trace"

    def _errors(self) -> AbstractContextManager[None]:
        return engine_errors(placed=self.source != _DICT)

    def _problems(self, told: str) -> list[Problem]:
        return problems_from_json(told, placed=self.source != _DICT)

    def _texts(self) -> tuple[str, list[tuple[str, str]]]:
        for key, value in self.overrides:
            _refuse_undecoded(key, value)
        if not _encodable(self.text):
            raise mistake("the scenario is not valid text", "write it in UTF-8")
        return self.text, list(self.overrides)

    def _input(self) -> tuple[str, list[tuple[str, str]]]:
        text, overrides = self._texts()
        # The engine reads no files: what the scenario names is handed in.
        unread: list[tuple[str, str, str]] = []
        for key, path in self.files():
            # A trace has a file for each rank: the first that is missing tells enough.
            if any(other.split(".data.")[0] == key.split(".data.")[0] for other, *_ in unread):
                continue
            try:
                contents = _contents(key, Path(self.source).parent / path, self._held(key))
                overrides.append((key, _as_text(contents)))
            except InputError as error:
                unread += [(key, problem.message, problem.help) for problem in error.problems]
        if unread:
            raise InputError(self._problems(_engine.check(text, overrides, unread)))
        return text, overrides


_REMOVED_HELP = "only what the file sets, or a change before, can be taken out"


def _refuse_undecoded(key: str, value: str) -> None:
    if not _encodable(key + value):
        raise mistake(f"the change of {key!a} is not valid text", "write it in UTF-8")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _contents(key: str, path: Path, what: str) -> str:
    """A file as the value of a key: `data`, or a key of it, takes its bytes in base64, any other its text."""
    most = _TRACE_MAX if key.startswith("job.") else _BYTES_MAX
    *_, table, last = key.split(".")
    if "data" in (table, last):
        data = _read(path, what, most)
        if table == "data" and not data.startswith(_GZIP):
            # A result keeps them, as each point of a sweep does.
            data = gzip.compress(data, compresslevel=6, mtime=0)
        return base64.b64encode(data).decode()
    return _read_text(path, what, most)


def _read(path: Path, what: str, most: int) -> bytes:
    try:
        if path.is_dir():
            raise mistake(f"{path} is a directory, not a {what} file", f"name the file of a {what}")
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise mistake(f"{path} cannot be read: {reason}", f"name a {what} file") from None
    if len(data) > most:
        raise mistake(f"{path} is too large for a {what} (over {most >> 20} MiB)")
    return data


def _read_text(path: Path, what: str = "scenario", most: int = _BYTES_MAX) -> str:
    data = _read(path, what, most)
    if b"\0" in data:
        if what == "trace" and data.startswith(_GOAL):
            remedy = 'workload = "goal" with format = "binary"'
            raise mistake(f"{path} is a GOAL trace in binary form, and is read as text", remedy)
        raise mistake(f"{path} is a binary file, not a {what}", f"a {what} is a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise mistake(f"{path} is not text in UTF-8 (line {line})", "save it as UTF-8") from None


def _as_toml(value: object) -> str:
    """A value as `--set` takes it: a text stands without quotes unless it is inside a list or a table."""
    return value if isinstance(value, str) else inline(value)


def _as_text(text: str) -> str:
    """A text as `--set` takes it whatever it holds."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: object) -> str:
    """A value as TOML has it on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{inline(str(key))} = {inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    if hasattr(value, "tolist"):  # a number or an array of NumPy
        return inline(value.tolist())
    if isinstance(value, str | PurePath):
        return _as_text(str(value))
    if isinstance(value, bool | int):
        return json.dumps(value)
    if isinstance(value, float):
        return repr(value)  # as TOML has it, inf and nan too
    raise mistake(f"a scenario cannot hold {named(value)}", "give text, number, list or table")


def demand_scenario(value: object) -> None:
    """Raises `InputError` if a value, such as the path of a file, is given as a scenario and is none."""
    if not isinstance(value, Scenario):
        raise mistake(f"a scenario is expected, not {named(value)}", 'such as Scenario.load("hotspot.toml")')
