"""What asks a command to stop: Ctrl-C, and SIGTERM, which a cluster sends when the time of a job is up.

This module is loaded before all others, so it is small.
"""

from __future__ import annotations

import signal
import threading
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


@contextmanager
def deferred() -> Iterator[None]:
    """Signals that ask to stop act at the end, whichever thread of the process they come to.

    Where they are only held, another thread takes them, and Python breaks off the main one all the same. In
    threads other than that one nothing is broken off anyway.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {number: signal.getsignal(number) for number in STOPS}
    earlier = {number: was for number, was in handlers.items() if was not in (None, signal.SIG_IGN)}
    for number in earlier:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, was in earlier.items():
            signal.signal(number, was)
        for first in came[:1]:
            signal.raise_signal(first)


def let_in(*numbers: signal.Signals) -> None:
    """Lets signals reach a process that was started while they were held."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
