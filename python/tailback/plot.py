"""Figures of results: every function takes a result, several, or several by label, and returns a figure.

tailback.plot.latency_over_time({"none": a, "LHRP": b}, traffic="victim").savefig("latency.png")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tailback.errors import mistake
from tailback.figures import style
from tailback.figures.spans import window as measured_window
from tailback.figures.tables import (
    ALL,
    Line,
    Numbers,
    Results,
    Traffic,
    by_class,
    by_label,
    checked,
    chosen,
    distinct,
    having,
    join,
    middles,
    numbers,
    only,
    recorded,
    shown_times,
    unknown,
)
from tailback.result import Result

__all__ = [
    "channel_shares",
    "latency_histogram",
    "latency_over_load",
    "latency_over_time",
    "port_activity",
    "source_throughput",
    "switch_occupancy",
    "throughput_over_time",
]


def __dir__() -> list[str]:
    """What it is for."""
    return __all__


_LATENCIES = ("message", "packet", "network")

_BINS_PER_DECADE = 20
_IDLE = "idle"
_PORT_STATES = ("active", "stalled", _IDLE)
_NAME_WIDTH = 28


def latency_over_time(results: Results, *, traffic: Traffic = None, latency: str = "message") -> Figure:
    """Mean latency over simulated time, a line per run and traffic class (or only of the classes `traffic`).

    `latency` is "message", "packet" or "network". Table `series`.
    """
    check_latency(latency)
    with style.styled():
        figure, (axes,) = style.figure()
        cut = False
        for line in by_class(results, "series", traffic):
            late, times = unknown(line.table), middles(numbers(line.table, "time_ns")) / 1e3
            values = np.where(late, np.nan, numbers(line.table, f"{latency}_latency_ns"))
            _draw_line(axes, line, times, values)
            axes.update_datalim([(times.max(), np.nan)], updatey=False)  # gaps at the end show as such
            cut = cut or bool(late.any())
        style.logarithmic(axes, "y")
        axes.set_ylabel(f"mean {latency} latency [ns]")
        if axes.dataLim.height > 0 or np.isfinite(axes.dataLim.ymax):
            style.not_too_close(axes)
        cut_off = "not drawn: when messages were created of which over 1 % had not arrived at the end"
        _finish_time(figure, axes, results, traffic, [cut_off] if cut else [])
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


def latency_over_load(
    results: Mapping[str, Iterable[Result]] | Iterable[Result],
    *,
    traffic: str = "all",
    latency: str = "packet",
) -> Figure:
    """Mean latency over offered load: a point per run, a line per label. From the summaries.

    Latencies of runs that are not stable, which grow with the window, are hollow.
    """
    check_latency(latency)
    if not isinstance(traffic, str):
        raise mistake(f"{traffic!r} is no traffic class", "the name of one")
    given = results if isinstance(results, Mapping) else {"": results}
    lines = {label: checked(runs) for label, runs in given.items()} or {"": checked(())}
    with style.styled():
        figure, (axes,) = style.figure()
        stable = True
        for number, (label, runs) in enumerate(lines.items()):
            points = sorted(_load_point(run, traffic, latency) for run in runs)
            offered, means, is_stable = np.array(points, dtype=float).reshape(-1, 3).T
            axes.plot(
                100 * offered,
                means,
                label=style.plain(label)
                + ("" if np.isfinite(means).any() else " (saturated)" if label else ""),
                marker=style.marker(number),
                **style.line(number),
            )
            grows = (is_stable == 0) & np.isfinite(means)
            style.hollow(axes, number, 100 * offered[grows], means[grows])
            stable = stable and not grows.any()
        axes.set_xlabel(
            "\n".join(["offered load [% of injection bandwidth]", *([] if stable else [style.UNSTABLE])])
        )
        axes.set_ylabel(f"mean {latency} latency [ns]")
        style.from_zero(axes)
        style.legend(figure, axes)
    return figure


def latency_histogram(results: Results, *, traffic: Traffic = None, latency: str = "message") -> Figure:
    """How latencies are distributed, in bins of equal width on a logarithmic axis. Table `histograms`."""
    check_latency(latency)
    with style.styled():
        figure, (axes,) = style.figure()
        for line in by_class(results, "histograms", traffic, latency=latency):
            edges, counts = log_bins(line.table)
            shares = 100 * counts / max(counts.sum(), 1)
            axes.stairs(shares, edges, label=line.label, **style.outline(line.number, line.kind))
        style.logarithmic(axes, "x")
        finish_latency(figure, axes, results, traffic, latency)
        name_class(axes, traffic)
        axes.set_ylabel(f"share of {'messages' if latency == 'message' else 'packets'} [%]")
        style.legend(figure, axes)
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


def switch_occupancy(results: Results) -> Figure:
    """Flits held by every switch, fullest first, at the recorded times, of many at six. Table `occupancy`.

    Of several runs each has a colour, and each time its dashes.
    """
    with style.styled():
        figure, (axes,) = style.figure()
        runs = having(results, "occupancy")
        for number, label, result in runs:
            table = recorded(result, "occupancy")
            for turn, time in enumerate(shown_times(distinct(table, "time_ns"))):
                flits = np.sort(numbers(only(table, "time_ns", time), "flits"))[::-1]
                look = (number, len(flits), turn) if len(runs) > 1 else (turn, len(flits))
                axes.plot(flits, label=join(label, f"{time / 1e3:g} us"), **style.marked_line(*look))
        axes.set_xlabel("switch, fullest first")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("queued flits")
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


def name_class(axes: Axes, traffic: Traffic) -> None:
    """Names the only class that is drawn, which legends of several runs leave out."""
    chosen = [traffic] if isinstance(traffic, str) else list(traffic or ())
    if len(chosen) == 1:
        axes.set_title(
            "all classes" if chosen[0] == ALL else style.folded(chosen[0]), loc="left", fontsize="medium"
        )


def finish_latency(figure: Figure, axes: Axes, results: Results, traffic: Traffic, latency: str) -> None:
    """Names the axis of latencies, and below the drawn classes of which too much has not arrived."""
    saturated = [
        join(label, style.plain(name))
        for label, result in by_label(results).items()
        for name in chosen(result.summary.get("classes", {}), traffic)
        if (result.summary["classes"][name].get(f"{latency}_latency_ns") or {}).get("saturated")
    ]
    axes.set_xlabel(f"{latency} latency [ns]")
    if saturated:
        parts = "messages" if latency == "message" else "packets"
        note = f"saturated ({'; '.join(saturated)}): {parts} that did not arrive are missing"
        style.notes(figure, [note])


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


def check_latency(latency: str) -> None:
    if latency not in _LATENCIES:
        raise mistake(f"there is no latency {latency!r}", f"one of: {', '.join(_LATENCIES)}")


def _load_point(result: Result, traffic: str, latency: str) -> tuple[float, float, bool]:
    """What is offered, the mean latency, and whether it is stable."""
    classes = result.summary["classes"]
    if traffic not in classes:
        raise mistake(f"there is no traffic class {traffic!r}", f"one of: {', '.join(classes)}")
    facts = classes[traffic]
    values = facts.get(f"{latency}_latency_ns")
    mean = values.get("mean") if isinstance(values, Mapping) else None
    known = float("nan") if mean is None else float(mean)
    return float(facts["offered"]), known, facts.get("stable") is not False


def log_bins(table: pa.Table) -> tuple[Numbers, Numbers]:
    """Rows of the table `histograms` in even bins of the logarithm: edges in ns, and how many are between.

    A row counts where its middle is, one below 1 ps at 1 ps.
    """
    if not table.num_rows:
        return np.array([1.0, 10.0]), np.zeros(1)
    middles = np.maximum((numbers(table, "low_ns") + numbers(table, "high_ns")) / 2, 1e-3)
    bins = np.floor(np.log10(middles) * _BINS_PER_DECADE).astype(int)
    counts = np.bincount(bins - bins.min(), weights=numbers(table, "count")).astype(float)
    return 10 ** (np.arange(bins.min(), bins.max() + 2) / _BINS_PER_DECADE), counts
