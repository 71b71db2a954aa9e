"""What asks a command to stop: Ctrl-C, and SIGTERM, which a cluster sends when the time of a job is up.

This module is loaded before all others, so it is small.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

STOPS = (signal.SIGINT, signal.SIGTERM)


def on_stop(handler: Callable[..., Any]) -> None:
    """Has both call `handler`; one that is ignored, as in a script's background, stays so."""
    for number in STOPS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


@contextmanager
def held(*numbers: signal.Signals) -> Iterator[None]:
    """Signals that come meanwhile reach this process at the end, and processes started inside if `let_in`."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def let_in(*numbers: signal.Signals) -> None:
    """Lets signals reach a process that was started while they were held."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
