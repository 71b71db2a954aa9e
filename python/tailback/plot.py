"""Figures of results: every function takes a result, several, or several by label, and returns a figure.

tailback.plot.latency_over_time({"none": a, "LHRP": b}, traffic="victim").savefig("latency.png")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tailback.figures import arrivals, style
from tailback.figures.latencies import check_latency, latency_histogram, latency_over_load
from tailback.figures.occupancy import occupancy_over_time, switch_occupancy
from tailback.figures.pairs import pair_throughput
from tailback.figures.pauses import pauses_over_time
from tailback.figures.slowdowns import slowdown_by_size
from tailback.figures.spans import end_ns
from tailback.figures.spans import window as measured_window
from tailback.figures.tables import (
    Line,
    Numbers,
    Results,
    Traffic,
    by_class,
    by_label,
    distinct,
    having,
    join,
    middles,
    name_class,
    numbers,
    only,
    recorded,
    time_unit,
)
from tailback.figures.trees import trees_over_time

__all__ = [
    "channel_shares",
    "latency_histogram",
    "latency_over_load",
    "latency_over_time",
    "occupancy_over_time",
    "pair_throughput",
    "pauses_over_time",
    "port_activity",
    "slowdown_by_size",
    "source_throughput",
    "switch_occupancy",
    "throughput_over_time",
    "trees_over_time",
]


def __dir__() -> list[str]:
    """What it is for."""
    return __all__


_IDLE = "idle"
_PORT_STATES = ("active", "stalled", _IDLE)
_NAME_WIDTH = 28


def latency_over_time(results: Results, *, traffic: Traffic = None, latency: str = "message") -> Figure:
    """Mean latency over simulated time, a line per run and traffic class (or only of the classes `traffic`).

    `latency` is "message", "packet" or "network". Where some of the messages created then had not arrived at
    the end, it is at least what is dotted: these count with the age that they had then. A last bin of which
    the end of the run leaves less than half is left out. Table `series`.
    """
    check_latency(latency)
    with style.styled():
        figure, (axes,) = style.figure()
        dotted = cut = False
        ends = [end_ns(result) for result in by_label(results).values()]
        lines = []
        for line in by_class(results, "series", traffic):
            column = f"{latency}_latency_ns"
            late = arrivals.late(line.table, column)
            times = middles(numbers(line.table, "time_ns"))
            past = times > ends[line.run]
            values = np.where(late | past, np.nan, numbers(line.table, column))
            least = arrivals.least(line.table, column)
            lines.append((line, times / 1e3, values, np.where(past, np.nan, least)))
            dotted = dotted or bool(np.isfinite(least).any())
            cut = cut or bool((late & np.isnan(least)).any())
        unit, size = time_unit(np.concatenate([part for _, _, *parts in lines for part in parts]))
        for line, times, values, least in lines:
            _draw_line(axes, line, times, values / size)
            if np.isfinite(least).any():
                look = style.line(line.number, line.kind) | {"linestyle": arrivals.AT_LEAST}
                axes.plot(times, least / size, drawstyle="steps-mid", **look)
            last = min(times.max(), ends[line.run] / 1e3)
            axes.update_datalim([(last, 1.0)], updatey=False)  # gaps at the end show as such
        style.logarithmic(axes, "y")
        axes.set_ylabel(f"mean {latency} latency [{unit}]")
        if axes.dataLim.height > 0 or np.isfinite(axes.dataLim.ymax):
            style.not_too_close(axes)
        notes = ["dotted: at least; some of what was created then had not arrived at the end"] * dotted
        notes += ["not drawn: when messages were created of which too few had arrived at the end"] * cut
        _finish_time(figure, axes, results, traffic, notes)
    return figure


def throughput_over_time(
    results: Results, *, traffic: Traffic = None, per_destination: bool = False
) -> Figure:
    """Accepted throughput over simulated time, as a share of the sources' or of the destinations' channels.

    Table `series`.
    """
    with style.styled():
        figure, (axes,) = style.figure()
        column = "accepted_per_destination" if per_destination else "accepted"
        draw_series(axes, results, column, traffic, scale=100.0)
        style.from_zero(axes)
        channel = "ejection" if per_destination else "injection"
        axes.set_ylabel(f"accepted throughput\n[% of {channel} bandwidth]")
        _finish_time(figure, axes, results, traffic, [])
    return figure


def channel_shares(results: Results) -> Figure:
    """What the channels of each link class carry: data, acknowledgements, … Table `shares`."""
    bars: dict[str, dict[str, float]] = {}
    for _, label, result in having(results, "shares"):
        for row in recorded(result, "shares").to_pylist():
            name = join(label, row["link_class"])
            bars.setdefault(name, {})[row["kind"]] = 100 * row["share"]
    return _stacked_bars(bars, "share of the channel's bandwidth [%]")


def port_activity(results: Results) -> Figure:
    """Mean share of time that the ports of each link class are active, stalled and idle. Table `ports`."""
    bars: dict[str, dict[str, float]] = {}
    for _, label, result in having(results, "ports"):
        table = recorded(result, "ports")
        for name in distinct(table, "link_class"):
            part = only(table, "link_class", name)
            spans = {state: numbers(part, f"{state}_ns").sum() for state in _PORT_STATES}
            total = max(sum(spans.values()), 1)
            bars[join(label, name)] = {state: 100 * span / total for state, span in spans.items()}
    return _stacked_bars(bars, "mean share of the window [%]")


def source_throughput(results: Results, *, traffic: Traffic = None) -> Figure:
    """Accepted throughput of every source, sorted: an uneven curve is unfairness. Table `sources`."""
    with style.styled():
        figure, (axes,) = style.figure()
        for line in by_class(results, "sources", traffic):
            accepted = np.sort(100 * numbers(line.table, "accepted"))
            looks = style.marked_line(line.number, len(accepted), line.kind)
            axes.plot(accepted, label=line.label, **looks)
        axes.set_xlabel("source, sorted by throughput")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("accepted throughput\n[% of injection bandwidth]")
        name_class(axes, traffic)
        style.from_zero(axes)
        style.legend(figure, axes)
    return figure


def draw_series(
    axes: Axes,
    results: Results,
    column: str,
    traffic: Traffic = None,
    *,
    scale: float = 1.0,
    looks: Sequence[int] = (),
) -> None:
    """Draws a column of the time series into given axes, a line per run and traffic class.

    `looks` are the numbers of the runs' looks, if not in order.

    Every bin is a step. A last one that the end of the run cuts short is left out, unless there is no other.
    """
    ends = [result.summary.get("simulated_ns") for result in by_label(results).values()]
    lines = by_class(results, "series", traffic)
    for line in [line._replace(number=looks[line.run]) for line in lines] if looks else lines:
        starts, values = numbers(line.table, "time_ns"), scale * numbers(line.table, column)
        times, end = middles(starts), ends[line.run]
        if len(starts) > 1 and end is not None and end < 2 * times[-1] - starts[-1]:
            times, values = times[:-1], values[:-1]
        _draw_line(axes, line, times / 1e3, values)


def _draw_line(axes: Axes, line: Line, times: Numbers, values: Numbers) -> None:
    """A line with gaps where nothing is known; a marker where a point has a gap on both sides."""
    known = np.concatenate(([False], ~np.isnan(values), [False]))
    alone = known[1:-1] & ~known[:-2] & ~known[2:]
    looks = style.marked_line(line.number, int(known.sum()), line.kind)
    axes.plot(times, values, label=line.label, drawstyle="steps-mid", **looks)
    if alone.any():
        axes.plot(times[alone], values[alone], **(looks | {"linestyle": "", "markevery": None}))


def _finish_time(
    figure: Figure, axes: Axes, results: Results, traffic: Traffic, notes: Sequence[str]
) -> None:
    """Names the axis of time, shades what was measured if more is shown, and adds notes."""
    name_class(axes, traffic)
    windows = {measured_window(result) for result in by_label(results).values()}
    low, high = axes.dataLim.intervalx
    window = windows.pop()
    if not windows and window and (low < window[0] or window[1] < high):
        axes.axvspan(*window, color="#f2f2f2", linewidth=0, zorder=0)
        notes = ["shaded: the measured window", *notes]
    if not np.isfinite(axes.dataLim.ymax):
        notes = [*notes, "no messages"]
    axes.set_xlabel("simulated time [us]")
    style.notes(figure, notes)
    style.legend(figure, axes)


def _stacked_bars(bars: Mapping[str, Mapping[str, float]], axis: str) -> Figure:
    # A kind has the same look in every figure, also where others do not occur.
    looks = {
        kind: number for number, kind in enumerate(dict.fromkeys(k for parts in bars.values() for k in parts))
    }
    kinds = [kind for kind in looks if any(parts.get(kind, 0.0) > 0 for parts in bars.values())]
    names = list(bars)
    folded = ["\n".join(wrap(name, _NAME_WIDTH)) for name in names]
    lines = sum(1 + name.count("\n") / 2 for name in folded)
    with style.styled():
        figure, (axes,) = style.figure(height=max(1.8, 0.9 + 0.35 * lines, 0.3 + 0.25 * len(kinds)))
        starts = np.zeros(len(names))
        for kind in kinds:
            widths = np.array([bars[name].get(kind, 0.0) for name in names])
            look = style.PALE_BAR if kind == _IDLE else style.bar(looks[kind])
            axes.barh(range(len(names)), widths, left=starts, label=kind, **look)
            starts += widths
        axes.set_yticks(range(len(names)), folded)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(0, None if kinds else 100)
        axes.set_xlabel(axis if len(kinds) != 1 else f"{kinds[0]}: {axis}")
        axes.grid(visible=False, axis="y")
        style.legend(figure, axes)
    return figure
