"""The demo: a hot spot joins uniform traffic on a big dragonfly, under three congestion controls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure
from rich.table import Table

from tailback import console, figures, plot, style
from tailback.demo_runs import SCHEMES, interrupts_noted, processes, run_schemes
from tailback.errors import mistake
from tailback.result import Result, prepare

_HOT, _VICTIM = "hot", "victim"
_JOIN_US, _SETTLED_US = 20.0, 10.0


def run_demo(folder: Path) -> bool:
    """Runs the demo, prints its table, saves its results and figure; returns whether all runs finished."""
    targets = {scheme: prepare(folder / scheme) for scheme in SCHEMES}
    with interrupts_noted() as interrupted, processes() as (executor, line):
        finished = run_schemes(targets, executor, line, interrupted)
    results = {label: Result.load(targets[scheme]) for scheme, label in SCHEMES.items()}
    out = console.output()
    out.print(table(results))
    if finished:
        files = figures.save(draw(results), folder / "demo")
        out.print(f"figure: {console.printable(str(files[0]))} (and .svg)", soft_wrap=True)
    out.print(f"results: {console.printable(str(folder))}", soft_wrap=True)
    return finished


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
    before, end = (times >= _JOIN_US / 2) & ~after, times >= times.max(initial=0) - _SETTLED_US
    worst = np.fmax.reduce(latency[after], initial=0) or None
    spans = [_mean(latency[before]), worst, _mean(latency[end & after])]
    times, accepted = _series(result, _HOT, "accepted_per_destination")
    settled = _mean(accepted[times >= times.max(initial=0) / 2])
    drops = result.summary["classes"]["all"]["dropped_packets"]
    return [*map(console.duration, spans), console.share(settled), f"{drops:,}"]


def _mean(values: plot.Numbers) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _series(result: Result, traffic: str, column: str) -> tuple[plot.Numbers, plot.Numbers]:
    if "series" not in result.tables:
        raise mistake("the demo's result has no time series")
    rows = result.tables["series"]
    rows = rows.filter(pc.equal(rows["class"], traffic))
    return rows["time_ns"].to_numpy() / 1e3, rows[column].to_numpy()
