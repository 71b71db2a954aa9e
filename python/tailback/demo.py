"""The demo: a hot spot joins uniform traffic on a big dragonfly, under three congestion controls."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from queue import Empty
from typing import Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure
from rich.table import Table

from tailback import console, figures, plot, style
from tailback.errors import mistake
from tailback.result import Result, prepare
from tailback.scenario import Progress, Scenario

SCHEMES = {"none": "none", "ecn": "ECN", "lhrp": "LHRP"}
"""Congestion controls by kind, with their labels."""
_HOT, _VICTIM = "hot", "victim"
_JOIN_US, _SETTLED_US = 20.0, 10.0
_AT_A_TIME = 2


@dataclass(frozen=True)
class Line:
    """What runs in other processes report to and are stopped by."""

    reports: Any  # a queue of (scheme, Progress)
    stop: Any  # an event


def scenario(scheme: str) -> Scenario:
    """The demo's scenario under one congestion control."""
    with resources.as_file(resources.files("tailback") / "scenarios" / "hotspot.toml") as path:
        return Scenario.load(path).replace({"congestion_control.kind": scheme})


def run_demo(folder: Path) -> bool:
    """Runs the demo, prints its table, saves its results and figure; returns whether all runs finished."""
    targets = {scheme: prepare(folder / scheme) for scheme in SCHEMES}
    with _processes() as (executor, line):
        finished = run_schemes(targets, executor, line)
    results = {label: Result.load(targets[scheme]) for scheme, label in SCHEMES.items()}
    files = figures.save(draw(results), folder / "demo")
    out = console.output()
    out.print(table(results))
    out.print(f"figure: {console.printable(str(files[0]))} (and .svg)", soft_wrap=True)
    out.print(f"results: {console.printable(str(folder))}", soft_wrap=True)
    return finished


def run_schemes(targets: Mapping[str, Path], executor: Executor, line: Line) -> bool:
    """Runs every scheme with a progress bar each; Ctrl-C stops them all and keeps what they measured."""
    with console.Bars() as bars:
        numbers = {scheme: bars.add(SCHEMES[scheme]) for scheme in targets}
        with _interrupts_held():
            futures = [executor.submit(_run_one, scheme, target, line) for scheme, target in targets.items()]
        while not all(future.done() for future in futures):
            try:
                _show_reports(bars, numbers, line)
            except KeyboardInterrupt:
                line.stop.set()
    return not any(_outcome(future) for future in futures)


def _show_reports(bars: console.Bars, numbers: Mapping[str, int], line: Line) -> None:
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
    """Runs one scheme and saves its result; returns whether it was stopped. In a process of its own."""

    def watch(progress: Progress) -> bool:
        line.reports.put((scheme, progress))
        return not line.stop.is_set()

    result = scenario(scheme).run(watch)
    result.save(target)
    return result.interrupted


@contextmanager
def _processes() -> Iterator[tuple[Executor, Line]]:
    context = multiprocessing.get_context("spawn")
    with _interrupts_held():
        manager = context.Manager()
    with manager, ProcessPoolExecutor(_AT_A_TIME, context) as executor:
        yield executor, Line(manager.Queue(), manager.Event())


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Processes started inside never see Ctrl-C; one that comes meanwhile reaches this process at the end."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def draw(results: Mapping[str, Result]) -> Figure:
    """Victim latency and hot-spot throughput over time, one above the other."""
    with style.styled():
        figure, (latency, throughput) = style.figure(2, height=2.6)
        plot.draw_series(latency, results, "message_latency_ns", _VICTIM)
        latency.set_yscale("log")
        latency.set_ylabel("mean message latency\nof the victims [ns]")
        latency.set_title("A 60:4 hot spot joins 40 % uniform traffic at 20 us", loc="left")
        plot.draw_series(throughput, results, "accepted_per_destination", _HOT, scale=100.0)
        throughput.set_ylabel("hot-spot throughput\n[% of ejection bandwidth]")
        throughput.set_ylim(bottom=0)
        throughput.set_xlabel("simulated time [us]")
        for axes in (latency, throughput):
            axes.axvline(_JOIN_US, color="#777777", linewidth=0.8)
        style.legend(figure, latency)
    return figure


def table(results: Mapping[str, Result]) -> Table:
    """Victim latency before the hot spot, at its worst and at the end; hot-spot throughput; drops."""
    made = Table(title="Message latency of the victims, and what the hot spot gets", title_justify="left")
    made.add_column("congestion control")
    for name in ("before", "worst", "end", "hot spot per destination", "dropped packets"):
        made.add_column(name, justify="right")
    for label, result in results.items():
        made.add_row(label, *_cells(result))
    return made


def _cells(result: Result) -> list[str]:
    times, latency = _series(result, _VICTIM, "message_latency_ns")
    after = times >= _JOIN_US
    phases = (
        latency[(times >= _JOIN_US / 2) & ~after],
        latency[after],
        latency[times >= times.max() - _SETTLED_US],
    )
    before, worst, end = (phase[~np.isnan(phase)] for phase in phases)
    times, accepted = _series(result, _HOT, "accepted_per_destination")
    settled = accepted[times >= times.max() / 2]
    drops = result.summary["classes"]["all"]["dropped_packets"]
    spans = [
        before.mean() if before.size else None,
        worst.max(initial=0) or None,
        end.mean() if end.size else None,
    ]
    return [*map(console.duration, spans), console.share(float(np.nanmean(settled))), f"{drops:,}"]


def _series(result: Result, traffic: str, column: str) -> tuple[plot.Numbers, plot.Numbers]:
    if "series" not in result.tables:
        raise mistake("the demo's result has no time series")
    rows = result.tables["series"]
    rows = rows.filter(pc.equal(rows["class"], traffic))
    return rows["time_ns"].to_numpy() / 1e3, rows[column].to_numpy()
