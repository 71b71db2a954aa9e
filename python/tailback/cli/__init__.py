"""The command `tailback`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence

from tailback import console
from tailback.cli import asking, running, showing
from tailback.cli.app import BROKEN_OFF, FAILED, app

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
    app.command(_name)(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status. No error shows a traceback unless TAILBACK_DEBUG is set."""
    debug = bool(os.environ.get("TAILBACK_DEBUG"))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        app(args=None if arguments is None else list(arguments), prog_name="tailback")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        status = BROKEN_OFF
    except Exception as error:
        if debug:
            raise
        text = console.printable(f"{type(error).__name__}: {error}")
        console.errors().print(
            f"Tailback itself failed: {text}\nTAILBACK_DEBUG=1 shows where; please report it"
        )
        return FAILED
    else:
        status = 0
    if status == BROKEN_OFF:
        console.errors().print("interrupted")
        status = FAILED
    return status
