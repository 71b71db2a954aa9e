"""The command `tailback`, also `python -m tailback`: first of all, how it ends when it is asked to stop."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tailback.signals import on_stop


def main() -> int:
    """Runs the command; returns its exit status. To be stopped is to be interrupted, without a traceback."""
    _open_what_is_closed()
    on_stop(_end_at_once)
    # NumPy would start a thread for every core, which takes time, and nothing here needs them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from tailback.cli import main as command  # late: it loads NumPy

    try:
        on_stop(signal.default_int_handler)
        return command()
    except KeyboardInterrupt:  # while an earlier one is told
        return 1
    finally:
        on_stop(_end_at_once)


def _open_what_is_closed() -> None:
    """Has a closed stream lead nowhere, and not into the next file, which would get its number."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
        pass
    os.close(spare)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 (until the end)


_STANDARD_ERROR = 2


def _end_at_once(*_: object) -> None:
    """For the time before and after the command, when there is nothing to keep."""
    os.write(2, b"interrupted\n")
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
