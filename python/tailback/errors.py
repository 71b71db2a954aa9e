"""What can go wrong: a user's mistakes, a run that failed, a run that was stopped."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tailback import _engine

if TYPE_CHECKING:
    from tailback.result import Result
    from tailback.sweeps.model import Sweep

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
"""What a disk can do to anybody."""


@dataclass(frozen=True)
class Problem:
    """One mistake in the input: where it is, what is wrong, and what would be right."""

    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    help: str = ""

    def __str__(self) -> str:
        """The mistake on one line."""
        where = f"{self.path}: " if self.path else ""
        hint = f" ({self.help})" if self.help else ""
        return f"{where}{self.message}{hint}"


class TailbackError(Exception):
    """Any error of Tailback's own."""


class InputError(TailbackError):
    """The input is wrong; `problems` holds every mistake that was found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        """One mistake per line."""
        lines = (f"line {p.line}: {p}" if p.line else str(p) for p in self.problems)
        return "\n".join(lines)


class RunFailed(TailbackError):  # noqa: N818 (the name says what happened)
    """The run failed: a deadlock, memory over the limit, a broken law.

    `result` holds what was measured by then, if that is known; `summary["failure"]` of it tells why, too.
    """

    def __init__(self, told: str, result: Result | None = None) -> None:
        super().__init__(told)
        self.result = result

    def __reduce__(self) -> tuple[type[RunFailed], tuple[str]]:
        """Comes from another process without the result, which may be large."""
        return RunFailed, (str(self),)


class PointsFailed(RunFailed):
    """Points of a sweep gave no result; `sweep` holds the others, and why of those that failed."""

    def __init__(self, told: str, sweep: Sweep) -> None:
        super().__init__(told)
        self.sweep = sweep

    def __reduce__(self) -> tuple[type[PointsFailed], tuple[str, Sweep]]:  # type: ignore[override]
        """Comes whole from another process: a pool that cannot read an answer breaks."""
        return PointsFailed, (str(self), self.sweep)


class NotKept(TailbackError):  # noqa: N818 (the name says what happened)
    """What was made could not be written, for no mistake of the user's: the disk is full, or fails."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run; `result` holds what was measured by then."""

    def __init__(self, result: Result) -> None:
        super().__init__("the run was interrupted")
        self.result = result


def mistake(message: str, remedy: str = "") -> InputError:
    """A mistake that lies in no place of a scenario."""
    return InputError([Problem(message, help=remedy)])


def unwritable(folder: Path, error: Exception) -> TailbackError:
    """A folder for results that the system refuses."""
    return unwritten(f"the output folder {folder}", error, "choose another folder with -o")


def unwritten(what: str, error: Exception, remedy: str) -> TailbackError:
    """What the system refuses to write: a mistake of whoever named the place, or else a disk that is full."""
    told = f"{what} cannot be written: {reason(error)}"
    return NotKept(told) if getattr(error, "errno", None) in FULL else mistake(told, remedy)


def reason(error: Exception) -> str:
    """Why the system refuses something, without its place."""
    return getattr(error, "strerror", None) or str(error)


def is_deadlock(why: str) -> bool:
    """Whether the reason of a run that failed is that packets wait for one another in a circle."""
    return why.startswith("deadlock: ")


def problems_from_json(text: str, *, placed: bool = True) -> list[Problem]:
    """The problems of the engine's answer; if not `placed`, without lines of a text that nobody has seen."""
    found = [
        Problem(item["message"], item["path"], item["line"], item["column"], item["help"])
        for item in json.loads(text)
    ]
    return found if placed else [replace(problem, line=None, column=None) for problem in found]


@contextmanager
def engine_errors(*, placed: bool = True) -> Iterator[None]:
    """Turns the engine's error into an `InputError` or a `RunFailed`; `placed` as in `problems_from_json`."""
    try:
        yield
    except _engine.EngineError as error:
        kind, payload = error.args
        if kind == "input":
            raise InputError(problems_from_json(payload, placed=placed)) from None
        raise RunFailed(json.loads(payload)) from None
