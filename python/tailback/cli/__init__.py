"""The command `tailback`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TextIO, TypeGuard

from typer.main import get_command

from tailback import console
from tailback.cli import asking, running, showing
from tailback.cli.app import BROKEN_OFF, FAILED, WRONG, Command, app
from tailback.errors import FULL, Problem

COMMANDS: dict[str, Callable[..., None]] = {
    "run": running.run,
    "sweep": running.sweep,
    "saturation": running.saturation,
    "reproduce": running.reproduce,
    "check": asking.check,
    "describe": asking.describe,
    "optimum": asking.optimum,
    "list": asking.list_kinds,
    "show": showing.show,
    "plot": showing.plot,
    "view": showing.view,
    "trace": showing.trace,
    "demo": running.demo,
    "ptrans": asking.ptrans,
    "schema": asking.schema,
}
"""Every command, in the order in which --help lists them."""

for _name, _command in COMMANDS.items():
    app.command(_name, cls=Command)(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status. No error shows a traceback unless TAILBACK_DEBUG is set."""
    debug = bool(os.environ.get("TAILBACK_DEBUG"))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        status = _status(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = BROKEN_OFF
    except Exception as error:
        if debug:
            raise
        status = WRONG if _is_of_a_place(error) else FAILED
        with suppress(OSError):  # there may be no room for it either
            _tell(error)
    if status == BROKEN_OFF:
        with suppress(OSError):
            console.errors().print("interrupted")
        status = FAILED
    _let_go(sys.stdout)
    _let_go(sys.stderr)
    return status


def _status(arguments: Sequence[str] | None) -> int:
    try:
        _whole()(args=None if arguments is None else list(arguments), prog_name="tailback")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


@cache
def _whole() -> Any:
    """The command with all of its own, made once: to read their options from the signatures takes 20 ms."""
    return get_command(app)


_PLACES = (
    errno.EACCES,
    errno.EEXIST,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOTDIR,
    errno.EPERM,
    errno.EROFS,
)
"""What is wrong with a place that somebody has named."""


def _is_of_a_place(error: Exception) -> TypeGuard[OSError]:
    return isinstance(error, OSError) and error.filename is not None and error.errno in _PLACES


def _tell(error: Exception) -> None:
    if isinstance(error, BrokenPipeError):
        return  # whoever reads has read enough
    if _is_of_a_place(error):
        console.print_problems([Problem(f"{error.filename}: {error.strerror}", help="name another place")])
        return
    if isinstance(error, OSError) and error.errno in FULL:
        where = error.filename or "the output cannot be written"
        told = console.printable(f"error: {where}: {error.strerror}")
    else:
        told = console.printable(f"Tailback itself failed: {type(error).__name__}: {error}")
        told += "\nTAILBACK_DEBUG=1 shows where; please report it"
    console.errors().print(told)


def _let_go(stream: TextIO) -> None:
    """What could not be written goes nowhere, lest Python try again at the end, and complain."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
