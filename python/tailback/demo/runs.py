"""The runs of the demo, two at a time in processes of their own; each loads this module, so it is small."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from multiprocessing import resource_tracker
from pathlib import Path
from queue import Empty
from threading import Event
from typing import Any

from tailback import console, signals
from tailback.scenario import Progress, Scenario

SCHEMES = {"none": "none", "ecn": "ECN", "lhrp": "LHRP"}
"""Congestion controls by kind, with their labels."""
_AT_A_TIME = 2


@dataclass(frozen=True)
class Line:
    """What runs in other processes report to and are stopped by."""

    reports: Any  # a queue of (scheme, Progress)
    stop: Any  # an event


def scenario(scheme: str) -> Scenario:
    """The demo's scenario under one congestion control."""
    with resources.as_file(resources.files("tailback.demo") / "hotspot.toml") as path:
        return Scenario.load(path).replace({"congestion_control.kind": scheme})


def run_schemes(targets: Mapping[str, Path], executor: Executor, line: Line, interrupted: Event) -> bool:
    """Runs every scheme with a progress bar each; returns whether all finished.

    An interrupt stops them all and keeps what they measured.
    """
    with console.Bars() as bars:
        numbers = {scheme: bars.add(SCHEMES[scheme]) for scheme in targets}
        with signals.held(signal.SIGINT):
            futures = [executor.submit(_run_one, scheme, target, line) for scheme, target in targets.items()]
        while not all(future.done() for future in futures):
            _show_report(bars, numbers, line)
            if interrupted.is_set():
                line.stop.set()
    return not any(_outcome(future) for future in futures)


def _show_report(bars: console.Bars, numbers: Mapping[str, int], line: Line) -> None:
    try:
        scheme, progress = line.reports.get(timeout=0.2)
    except Empty:
        return
    bars.show(numbers[scheme], progress)


def _outcome(future: Future[bool]) -> bool:
    error = future.exception()
    if error is not None:
        raise error
    return future.result()


def _run_one(scheme: str, target: Path, line: Line) -> bool:
    """Runs one scheme and saves its result; returns whether it was stopped."""

    def watch(progress: Progress) -> bool:
        line.reports.put((scheme, progress))
        return not line.stop.is_set()

    result = scenario(scheme).run(watch)
    result.save(target)
    return result.interrupted


@contextmanager
def processes() -> Iterator[tuple[Executor, Line]]:
    """Processes for the runs, and the line to them."""
    context = multiprocessing.get_context("spawn")
    resource_tracker.ensure_running()  # first, since starting it lets interrupts through again
    with signals.held(signal.SIGINT):
        manager = context.Manager()
    with manager, ProcessPoolExecutor(_AT_A_TIME, context) as executor:
        yield executor, Line(manager.Queue(), manager.Event())


@contextmanager
def interrupts_noted() -> Iterator[Event]:
    """Ctrl-C sets the event and breaks nothing off: a broken-off call would leave the line out of step."""
    noted = Event()
    earlier = [signal.signal(number, lambda *_: noted.set()) for number in signals.STOPS]
    try:
        yield noted
    finally:
        for number, handler in zip(signals.STOPS, earlier, strict=True):
            signal.signal(number, handler)
