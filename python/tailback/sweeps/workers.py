"""The processes of a sweep. This module is loaded by each of them, so it is small."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from tailback import signals
from tailback.errors import mistake
from tailback.scenario import Scenario
from tailback.sweeps import points

_stop: Any = None  # an event, in the workers of `pool`


def cores() -> int:
    """Cores that this process may use: a job on a shared machine has not all of them."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def work(scenario: Scenario, name: str, folder: str) -> points.Outcome | None:
    """Runs a point in whichever process this is."""
    return points.run(scenario, name, Path(folder), _go_on)


def _go_on() -> bool:
    return _stop is None or not _stop.is_set()


@contextmanager
def pool(workers: int) -> Iterator[Executor]:
    """Processes that end soon after this one, however it ends, and that leave it to it to be stopped.

    Raises `InputError` if they could not load the script that starts them.
    """
    refuse_unreadable_script()
    context = multiprocessing.get_context("spawn")
    resource_tracker.ensure_running()
    stop = context.Event()
    executor = _Pool(workers, context, _start_worker, (stop, os.getpid()))
    try:
        with _environment():
            yield executor
    finally:
        stop.set()
        try:
            executor.shutdown(cancel_futures=True)
        except KeyboardInterrupt:
            # Asked again not to wait: nothing may be left that the end of this process waits for.
            for child in multiprocessing.active_children():
                child.kill()
            raise


def refuse_unreadable_script() -> None:
    """Raises `InputError` if processes could not be started: each reads the script anew.

    One that was started as a module or by `-c` is not read.
    """
    script = sys.modules["__main__"]
    file = getattr(script, "__file__", None)
    if file is not None and getattr(script, "__spec__", None) is None and not Path(file).exists():
        raise mistake(
            f"the script {file} is no file, and the processes that run points have to read it",
            "put the script into a file, or give an executor such as ThreadPoolExecutor()",
        )


class _Pool(ProcessPoolExecutor):
    """Its processes, which it starts when they are needed, are not stopped while they load their modules."""

    def submit(self, *arguments: Any, **keywords: Any) -> Future[Any]:
        with signals.held(*signals.STOPS):
            return super().submit(*arguments, **keywords)


_ENVIRONMENT = {
    # Memory in large pages, if it is glibc's: 2 to 20 % less time.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    # NumPy would start a thread for every core in every process, and nothing here needs them.
    "OPENBLAS_NUM_THREADS": "1",
}


@contextmanager
def _environment() -> Iterator[None]:
    """Processes started inside find these variables, but for those that are set already."""
    fresh = {name: value for name, value in _ENVIRONMENT.items() if name not in os.environ}
    os.environ.update(fresh)
    try:
        yield
    finally:
        for name in fresh:
            os.environ.pop(name, None)  # another thread may have done so


def _start_worker(stop: Any, parent: int) -> None:
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_soon)
    signals.let_in(*signals.STOPS)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_soon(*_: object) -> None:
    """A cluster tells every process: the one that started this one ends it in good order, if it can."""
    end = threading.Timer(_PATIENCE_S, os._exit, (1,))
    end.daemon = True
    end.start()


_PATIENCE_S = 5.0
"""Until a process that was told to end does so by itself."""


def _end_with(parent: int) -> None:
    """A parent that was killed says nothing to its children: they look for it themselves."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)
