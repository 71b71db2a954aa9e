"""Pictures of a network under congestion: port activity, queues, throttled endpoints, and the times of jobs.

As in `tailback.plot`, every function takes a result, or several by label, and returns a figure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from textwrap import wrap
from typing import Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from tailback.errors import mistake
from tailback.figures import style
from tailback.figures.latencies import latency_distribution
from tailback.figures.occupancy import occupancy_map
from tailback.figures.tables import (
    Numbers,
    Results,
    by_label,
    distinct,
    having,
    join,
    numbers,
    only,
    recorded,
)

__all__ = [
    "allowed_rate",
    "job_communication",
    "job_times",
    "latency_distribution",
    "occupancy_map",
    "phase_times",
    "port_ternary",
]


def __dir__() -> list[str]:
    """What it is for."""
    return __all__


_Facts = Mapping[str, Any]

_ROOT3 = math.sqrt(3)
_MARKS = (5.5, 2.5)
"""Sizes of the markers of the first class of links, and of the last, in points."""
_RATES_MAX = 6
_JOB_WIDTH = 20
"""Characters of a line of the name of a job."""
_TRIANGLES, _TITLE_WIDTH = 3, 44
"""Side by side, and letters over one."""
_PHASE_HALF = 0.4
"""Half of the width of a line at a phase, in phases."""


def port_ternary(results: Results) -> Figure:
    """Every port between switches as a point in the triangle of idle, active and stalled time. Table `ports`.

    The corners are ports that are always idle (left), always active (right), always stalled (top). Those to
    endpoints are left out. Points are hollow, those of later classes smaller, so that none hides another.
    """
    labelled = {label: result for _, label, result in having(results, "ports")}
    with style.styled():
        across = min(_TRIANGLES, len(labelled))
        rows = -(-len(labelled) // across)
        figure = Figure(figsize=(4.0 * across + 0.6, 3.8 * rows), layout="constrained")
        panels = figure.subplots(rows, across, squeeze=False).ravel()
        for axes in panels[len(labelled) :]:
            axes.set_axis_off()
        for axes, (label, result) in zip(panels, labelled.items(), strict=False):
            _triangle(axes, label)
            table = recorded(result, "ports")
            inner = [name for name in distinct(table, "link_class") if name != "host"]
            for number, name in enumerate(inner):
                _ternary_points(axes, only(table, "link_class", name), name, number)
        style.notes(figure, ["ports between switches; those to endpoints are not shown"])
        style.legend(figure, panels[0])
    return figure


def _triangle(axes: Axes, label: str) -> None:
    axes.plot([0, 1, 0.5, 0], [0, 0, _ROOT3 / 2, 0], color="black", linewidth=0.8)
    for share in (0.2, 0.4, 0.6, 0.8):
        height = share * _ROOT3 / 2
        axes.plot([share / 2, 1 - share / 2], [height, height], color="#cccccc", linewidth=0.6)
        axes.text(share / 2 - 0.02, height, f"{100 * share:.0f} %", ha="right", va="center", fontsize=7)
    for x, y, text, side in (
        (0, 0, "idle", "right"),
        (1, 0, "active", "left"),
        (0.5, 0.88, "stalled", "center"),
    ):
        axes.text(x, y - 0.02, f" {text} ", ha=side, va="top" if y == 0 else "bottom", fontsize=9)
    axes.set_title(style.titled(label, _TITLE_WIDTH), fontsize=10, pad=14)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _ternary_points(axes: Axes, table: Any, name: str, number: int) -> None:
    times = np.vstack([numbers(table, f"{state}_ns") for state in ("idle", "active", "stalled")])
    shares = times / np.maximum(times.sum(axis=0), 1e-9)
    x, y = shares[1] + shares[2] / 2, shares[2] * _ROOT3 / 2
    colour = style.line(number)["color"]
    axes.plot(
        x,
        y,
        linestyle="none",
        marker=style.marker(number),
        markersize=max(_MARKS[1], _MARKS[0] - 1.5 * number),
        markerfacecolor="none",
        markeredgewidth=0.7,
        color=colour,
        label=name,
    )


def allowed_rate(results: Results, *, endpoints: list[int] | None = None) -> Figure:
    """The rate that endpoints are allowed over time, and how many are throttled. Table `rates`.

    Without `endpoints`, those that are throttled longest, or a line at 1 where none is. Of several runs each
    has a colour.
    """
    with style.styled():
        figure, (above, below) = style.figure(2, height=2.4)
        cut: list[str] = []
        runs = having(results, "rates")
        for number, label, result in runs:
            table = recorded(result, "rates")
            end = float(result.summary.get("simulated_ns") or pc.max(table["time_ns"]).as_py()) / 1e3
            chosen = endpoints or _longest(table, end)
            throttled = len(distinct(table, "endpoint"))
            if endpoints is None and len(chosen) < throttled:
                cut.append(join(label, f"{len(chosen)} of {throttled}"))
            for turn, endpoint in enumerate(chosen):
                times, rates = rate_steps(table, endpoint, end)
                name = join(label, f"endpoint {endpoint}")
                look = style.line(number, turn) if len(runs) > 1 else style.line(turn)
                above.plot(times, rates, drawstyle="steps-post", label=name, **look)
            if not chosen:
                above.plot([0.0, end], [1.0, 1.0], label=join(label, "always 1"), **style.line(number))
            times, counts = _throttled(table, end)
            colour = style.line(number)["color"] if len(runs) > 1 else "black"
            below.plot(times, counts, drawstyle="steps-post", color=colour)
        style.logarithmic(above, "y")
        above.set_ylabel(
            f"{_whose([recorded(result, 'rates') for _, _, result in runs])}\n[part of the channel]"
        )
        below.set_ylabel("throttled endpoints")
        below.yaxis.set_major_locator(MaxNLocator(integer=True))
        below.set_ylim(bottom=0)
        below.set_xlabel("simulated time [us]")
        longest = [f"throttled longest: {'; '.join(cut)}"] if cut else []
        style.notes(figure, [*longest, "no rate in a pause"])
        style.legend(figure, above)
    return figure


def _whose(tables: list[Any]) -> str:
    """What has the rates that are drawn."""
    if not any(to >= 0 for table in tables for to in distinct(table, "destination")):
        return "allowed rate"
    named = [table for table in tables if "queue_pair" in table.column_names]
    several = any(pair > 0 for table in named for pair in distinct(table, "queue_pair"))
    return f"least rate allowed\n{'of a queue pair' if several else 'towards a destination'}"


def rate_steps(table: Any, endpoint: int, end: float) -> tuple[Numbers, Numbers]:
    """Times in us and the rate from each on: of the endpoint, or the least of any queue pair."""
    own = only(table, "endpoint", endpoint).sort_by("time_ns")
    times, rates, current = [0.0], [1.0], {}
    for row in own.to_pylist():
        current[row["destination"], row.get("queue_pair")] = row["rate"]
        times.append(row["time_ns"] / 1e3)
        rates.append(min(current.values()))
    return np.array([*times, end]), np.array([*rates, rates[-1]])


def _longest(table: Any, end: float) -> list[int]:
    spans = {}
    for endpoint in distinct(table, "endpoint"):
        times, rates = rate_steps(table, endpoint, end)
        spans[endpoint] = float((np.diff(times) * (rates[:-1] < 1)).sum())
    ordered = sorted(spans, key=lambda endpoint: (-spans[endpoint], endpoint))
    return sorted(ordered[:_RATES_MAX])


def _throttled(table: Any, end: float) -> tuple[Numbers, Numbers]:
    """How many endpoints are throttled, over time in us."""
    current: dict[tuple[int, int, int | None], float] = {}
    held: dict[int, int] = {}
    times, counts = [0.0], [0]
    for row in table.sort_by("time_ns").to_pylist():
        key = (row["endpoint"], row["destination"], row.get("queue_pair"))
        before, after = current.get(key, 1.0) < 1, row["rate"] < 1
        current[key] = row["rate"]
        held[key[0]] = held.get(key[0], 0) + after - before
        if not held[key[0]]:
            del held[key[0]]
        times.append(row["time_ns"] / 1e3)
        counts.append(len(held))
    return np.array([*times, end]), np.array([*counts, counts[-1]])


def job_times(results: Results, *, mark: str = "alone") -> Figure:
    """Time of every job, from its start to the end of its last rank: a bar per run, a line for the job alone.

    From the summaries; the line where a result has it (`tailback run --alone`); `mark` says what it is. Pale
    bars are of jobs that did not end: what had passed when the run ended.
    """
    return _job_bars(results, "time of the job [us]", _time, "alone_ns", mark)


def job_communication(results: Results, *, mark: str = "alone") -> Figure:
    """Largest communication time of a rank of every job, drawn as in `job_times`."""
    name = "largest communication time of a rank [us]"
    return _job_bars(results, name, _communication, "alone_communication_ns", mark)


def _job_bars(
    results: Results, name: str, time: Callable[[_Facts, _Facts], Any], alone_key: str, mark: str
) -> Figure:
    """A bar for every job and run: its time, of the summaries of job and run, and that under a key alone."""
    numbered = list(enumerate(by_label(results).items()))
    jobs_of = {label: result.summary.get("jobs", {}) for _, (label, result) in numbered}
    labelled = {label: (number, result) for number, (label, result) in numbered if jobs_of[label]}
    names = list(dict.fromkeys(job for jobs in jobs_of.values() for job in jobs))
    if not names:
        raise mistake("there are no jobs to draw", "the times of jobs are in results of [[job]] tables")
    with style.styled():
        folded = ["\n".join(wrap(style.plain(job), _JOB_WIDTH)) for job in names]
        lines = max((job.count("\n") + 1 for job in folded), default=1)
        bars = max(1, len(names) * len(labelled))
        inches = min(max(0.22, 0.2 * lines / max(1, len(labelled))), 10 / bars)
        figure, (axes,) = style.figure(height=max(2.0, 0.8 + inches * bars))
        width = 0.8 / max(1, len(labelled))
        marks: list[Any] = []
        unfinished: list[Rectangle] = []
        for at, (label, (number, result)) in enumerate(labelled.items()):
            for turn, facts in enumerate(jobs_of[label].get(job) for job in names):
                place = turn + at * width
                took = _us(time(facts, result.summary)) if facts else math.nan
                (drawn,) = axes.barh(
                    place, took, height=width, label="" if turn else label, **style.bar(number)
                )
                if facts and facts.get("time_ns", 0.0) is None:
                    unfinished.append(drawn)
                if facts and facts.get(alone_key):
                    ends = [place - width / 2, place + width / 2]
                    marks = axes.plot([_us(facts[alone_key])] * 2, ends, color="black")
        axes.set_yticks(np.arange(len(names)) + 0.4 - width / 2, folded)
        axes.set_ylim(len(names), -width)
        axes.set_xlim(left=0)
        axes.grid(visible=False, axis="y")
        notes = [f"black: {mark}"] if marks else []
        notes += ["not done: a job that did not end, until the end of the run"] if unfinished else []
        axes.set_xlabel("\n".join([name, *notes]))
        style.legend(figure, axes)
        for bar in unfinished:  # after the legend, which looks like the first bar of each run
            _mark_unfinished(axes, bar, inches)
    return figure


def _us(time: Any) -> float:
    return math.nan if time is None else float(time) / 1e3


def _time(job: _Facts, run: _Facts) -> Any:
    """How long a job took; one that did not end, until the end of the run."""
    end = run.get("simulated_ns")
    if job.get("time_ns") is not None or end is None:
        return job.get("time_ns")
    return max(0.0, end - job.get("start_ns", 0.0))


def _communication(job: _Facts, _: _Facts) -> Any:
    return (job.get("communication_ns") or {}).get("max")


def _mark_unfinished(axes: Axes, bar: Rectangle, inches: float) -> None:
    """Shows that a bar, `inches` high, is of a job that did not end."""
    bar.set_alpha(0.4)
    if math.isfinite(bar.get_width()):
        end = (bar.get_width(), bar.get_y() + bar.get_height() / 2)
        axes.annotate(
            "not done",
            end,
            xytext=(3, 0),
            textcoords="offset points",
            verticalalignment="center_baseline",
            fontsize=min(8.0, 72 * 0.8 * inches),
        )


def phase_times(results: Results) -> Figure:
    """How long every phase of a job took, the bound for the routes taken, and the least over any routes.

    Table `phases`; the last, of the first run that has it, after `tailback run --optimum`.
    """
    with style.styled():
        figure, (axes,) = style.figure()
        best: dict[str, tuple[Numbers, Numbers]] = {}
        lines, count = 0, 1
        for _, label, result in having(results, "phases"):
            table = recorded(result, "phases")
            for job in distinct(table, "job"):
                rows = only(table, "job", job)
                phases, times = numbers(rows, "phase"), numbers(rows, "time_ns")
                name, look = join(label, style.plain(job)), style.line(lines)
                marker = {"marker": style.marker(lines), "linestyle": ""}
                axes.plot(phases, times / 1e3, label=name, **look | marker)
                _draw_levels(axes, phases, numbers(rows, "bound_ns") / 1e3, **look)
                if "optimum_ns" in rows.column_names:
                    best.setdefault(job, (phases, numbers(rows, "optimum_ns") / 1e3))
                lines, count = lines + 1, max(count, int(phases.max()) + 1)
        for phases, least in best.values():
            _draw_levels(axes, phases, least, color="black", linestyle=":")
        dotted = "; dotted: the least over any routes" if best else ""
        axes.set_xlabel(f"phase\nlines: the bound for the routes taken{dotted}")
        axes.set_ylabel("time [us]")
        axes.set_xlim(-0.5, count - 0.5)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        style.from_zero(axes)
        style.legend(figure, axes)
    return figure


def _draw_levels(axes: Axes, phases: Numbers, values: Numbers, **look: Any) -> None:
    """A level line at each phase, which a job of one phase has too."""
    ends = np.stack([phases - _PHASE_HALF, phases + _PHASE_HALF, np.full(len(phases), np.nan)], axis=1)
    axes.plot(ends.ravel(), np.repeat(values, 3), **look)
