"""The demo: a hot spot joins uniform traffic on a big dragonfly, under three congestion controls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray
from rich.table import Table

from tailback import console, plot
from tailback.demo.runs import SCHEMES, interrupts_noted, processes, run_schemes
from tailback.experiments.draw import look
from tailback.figures import arrivals, gallery, style
from tailback.figures.arrivals import UNRIPE_US, Arrivals
from tailback.figures.tables import Numbers, series
from tailback.result import Result, prepare

_HOT, _VICTIM = "hot", "victim"
_JOIN_US = 20.0
_END_US = 15.0
"""What counts as the end, but for the last moment: what is created then may not have arrived for no fault."""


def run_demo(folder: Path) -> bool:
    """Runs the demo, prints its table, saves its results and figure; returns whether all runs finished."""
    targets = {scheme: prepare(folder / scheme) for scheme in SCHEMES}
    with interrupts_noted() as interrupted, processes() as (executor, line):
        finished = run_schemes(targets, executor, line, interrupted)
    results = {label: Result.load(targets[scheme]) for scheme, label in SCHEMES.items()}
    out = console.output()
    out.print(table(results))
    if finished:
        files = gallery.save(draw(results), folder / "demo")
        out.print(f"figure: {console.printable(str(files[0]))} (and .svg, .pdf)", soft_wrap=True)
    out.print(f"results: {console.printable(str(folder))}", soft_wrap=True)
    return finished


def draw(results: Mapping[str, Result]) -> Figure:
    """Victim latency and hot-spot throughput over time, one above the other."""
    with style.styled():
        figure, (latency, throughput) = style.figure(2, height=2.7)
        latency.set_title("60 of 1056 endpoints begin to send to the same 4", loc="left")
        looks = [look(scheme) for scheme in SCHEMES]  # as in the figures of experiments
        for number, (label, result) in zip(looks, results.items(), strict=False):
            arrivals.draw(latency, label, number, _victims(result))
        latency.set_yscale("log")
        latency.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        latency.yaxis.set_major_formatter("{x:g}")
        latency.yaxis.set_minor_formatter(NullFormatter())
        latency.set_ylabel("victims' mean\nmessage latency [us]")
        plot.draw_series(throughput, results, "accepted_per_destination", _HOT, scale=100.0, looks=looks)
        throughput.set_ylabel("hot spot's throughput\n[% of ejection bandwidth]")
        throughput.set_ylim(0, 108)
        throughput.set_xlabel("simulated time [us]")
        arrivals.explain(latency)
        latency.margins(y=0.12)
        for axes in (latency, throughput):
            axes.axvline(_JOIN_US, color="#777777", linewidth=0.8)
            axes.margins(x=0.01)
        throughput.annotate(
            "hot spot begins",
            (_JOIN_US, 50),
            xytext=(14, 0),
            textcoords="offset points",
            va="center",
            color="#555555",
            fontsize=9,
        )
        style.legend(figure, latency)
    return figure


def _victims(result: Result) -> Arrivals:
    return arrivals.arrivals([result], _VICTIM)


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
    victims = _victims(result)
    times, last = victims.times, victims.times.max(initial=0)
    after = times >= _JOIN_US
    before = (times >= _JOIN_US / 2) & ~after
    ripe = after & (times <= last - UNRIPE_US)
    end = ripe & (times > last - _END_US)
    at_worst = ripe & (victims.latency >= victims.latency[ripe].max(initial=0))
    spans = [_latency(victims, span) for span in (before, at_worst, end)]
    times, accepted = series(result, _HOT, "accepted_per_destination")
    settled = _mean(accepted[times >= times.max(initial=0) / 2])
    drops = result.summary["classes"]["all"]["dropped_packets"]
    return [*spans, console.share(settled), f"{drops:,}"]


def _latency(victims: Arrivals, span: NDArray[np.bool_]) -> str:
    """Mean latency in a span of time, or what it is at least."""
    mean = console.duration(_mean(victims.latency[span]))
    return mean if victims.complete[span].all() else f"over {mean}"


def _mean(values: Numbers) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None
