"""The demo: a hot spot joins uniform traffic on a big dragonfly, under three congestion controls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import NDArray
from rich.table import Table

from tailback import console, figures, plot, style
from tailback.demo_runs import SCHEMES, interrupts_noted, processes, run_schemes
from tailback.errors import mistake
from tailback.result import Result, prepare

_HOT, _VICTIM = "hot", "victim"
_JOIN_US = 20.0
_END_US = (15.0, 5.0)
"""What counts as the end, before the last moment: what is created later may not have arrived for no fault."""
_AT_LEAST: Any = (0, (1, 1.5))
_COMPLETE = 0.99
"""Share of the messages that must have arrived for their mean latency to be known."""
_MOST = 0.5
"""Share that must have arrived for the lower bound to tell more than how long the run lasted."""


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
        figure, (latency, throughput) = style.figure(2, height=2.7)
        latency.set_title("60 of 1056 endpoints begin to send to the same 4", loc="left")
        for number, (label, result) in enumerate(results.items()):
            _draw_latency(latency, label, result, number)
        latency.set_yscale("log")
        latency.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        latency.yaxis.set_major_formatter("{x:g}")
        latency.yaxis.set_minor_formatter(NullFormatter())
        latency.set_ylabel("victims' mean\nmessage latency [µs]")
        plot.draw_series(throughput, results, "accepted_per_destination", _HOT, scale=100.0)
        throughput.set_ylabel("hot spot's throughput\n[% of ejection bandwidth]")
        throughput.set_ylim(0, 108)
        throughput.set_xlabel("simulated time [µs]")
        latency.plot([], [], color="#555555", linestyle=_AT_LEAST, label="at least\n(some have\nnot arrived)")
        latency.margins(y=0.12)
        for axes in (latency, throughput):
            axes.axvline(_JOIN_US, color="#777777", linewidth=0.8)
            axes.margins(x=0.01)
        throughput.annotate(
            " hot spot begins", (_JOIN_US, 50), ha="left", va="center", color="#555555", fontsize=9
        )
        style.legend(figure, latency)
    return figure


def _draw_latency(axes: Axes, label: str, result: Result, number: int) -> None:
    """A line where all messages have arrived, dots where their latency is at least so long."""
    spans = _victims(result)
    shown = {**style.marked_line(number, len(spans.times)), "label": label}
    axes.plot(spans.times, np.where(spans.complete, spans.latency, np.nan) / 1e3, **shown)
    late = ~spans.complete & (spans.times <= spans.times.max(initial=0) - _END_US[1])
    least = late & (spans.arrived >= _MOST)
    if least.any():
        joined = least | np.append(least[1:], False)  # from the last point of the line on
        faint = {**style.line(number), "linestyle": _AT_LEAST}
        axes.plot(spans.times, np.where(joined, spans.latency, np.nan) / 1e3, **faint)
    if (late & ~least).any():
        last = np.flatnonzero(spans.complete | least)[-1]
        right = spans.times[last] > 0.7 * spans.times.max(initial=0)
        axes.annotate(
            f"{label}: later ones\nmostly do not arrive",
            (spans.times[last], spans.latency[last] / 1e3),
            xytext=(0, 7) if right else (7, 0),
            va="bottom" if right else "center",
            textcoords="offset points",
            ha="right" if right else "left",
            color=style.line(number)["color"],
            fontsize=9,
            in_layout=False,
        )


@dataclass(frozen=True)
class _Spans:
    """What became of the victims' messages, by the time of their creation."""

    times: plot.Numbers  # in microseconds
    latency: plot.Numbers  # in ns; a lower bound where not all have arrived
    arrived: plot.Numbers  # share of the messages
    complete: NDArray[np.bool_]


def _victims(result: Result) -> _Spans:
    """Mean latency of the victims; a message that has not arrived counts with its age at the end."""
    times, latency = _series(result, _VICTIM, "message_latency_ns")
    _, offered = _series(result, _VICTIM, "offered")
    _, messages = _series(result, _VICTIM, "messages")
    end, step = times.max(initial=0), np.diff(times).mean() if len(times) > 1 else 1.0
    age = (end + step / 2 - times) * 1e3
    # All messages have the same size: so many stand for all that is offered in the window.
    counted = offered[times >= _JOIN_US].sum()
    created = offered * (result.summary["classes"][_VICTIM]["messages"] / counted if counted else np.nan)
    arrived = np.minimum(messages / np.where(created > 0, created, np.nan), 1)
    bound = arrived * np.nan_to_num(latency) + (1 - arrived) * age
    complete = arrived >= _COMPLETE
    return _Spans(times, np.where(complete, latency, bound), np.nan_to_num(arrived), complete)


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
    end = after & (times > last - _END_US[0]) & (times <= last - _END_US[1])
    at_worst = after & (victims.latency >= victims.latency[after].max(initial=0))
    spans = [_latency(victims, span) for span in (before, at_worst, end)]
    times, accepted = _series(result, _HOT, "accepted_per_destination")
    settled = _mean(accepted[times >= times.max(initial=0) / 2])
    drops = result.summary["classes"]["all"]["dropped_packets"]
    return [*spans, console.share(settled), f"{drops:,}"]


def _latency(victims: _Spans, span: NDArray[np.bool_]) -> str:
    """Mean latency in a span of time, or what it is at least."""
    mean = console.duration(_mean(victims.latency[span]))
    return mean if victims.complete[span].all() else f"over {mean}"


def _mean(values: plot.Numbers) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None


def _series(result: Result, traffic: str, column: str) -> tuple[plot.Numbers, plot.Numbers]:
    if "series" not in result.tables:
        raise mistake("the demo's result has no time series")
    rows = result.tables["series"]
    rows = rows.filter(pc.equal(rows["class"], traffic))
    return rows["time_ns"].to_numpy() / 1e3, rows[column].to_numpy()
