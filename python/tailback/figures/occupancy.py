"""Figures of what waits in switches: how full each is, and for which port."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

from tailback.figures import style
from tailback.figures.network_map import NetworkMap
from tailback.figures.tables import (
    TIMES_MAX,
    Numbers,
    Results,
    distinct,
    having,
    join,
    numbers,
    only,
    recorded,
    shown_times,
)
from tailback.result import Result
from tailback.words import counted, in_runs


def switch_occupancy(results: Results) -> Figure:
    """Flits held by every switch, fullest first, at the recorded times. Table `occupancy`.

    Of many times, at six, with that of the most flits among them. Of several runs a panel for each, in which
    a time has the same look.
    """
    runs = having(results, "occupancy")
    shown = _shown([result for _, _, result in runs], TIMES_MAX)
    looks = {time: number for number, time in enumerate(sorted({time for times in shown for time in times}))}
    with style.styled():
        figure, panels = style.figure(len(runs), height=3.6 if len(runs) == 1 else 2.4)
        for axes, (_, label, result), times in zip(panels, runs, shown, strict=True):
            table = recorded(result, "occupancy")
            for time in times:
                flits = np.sort(numbers(only(table, "time_ns", time), "flits"))[::-1]
                look = style.marked_line(looks[time], len(flits))
                axes.plot(flits, label=f"{time / 1e3:g} us", **look)
            axes.set_title("\n".join(wrap(label, _TITLE_WIDTH)), loc="left", fontsize="medium")
            axes.set_ylabel("queued flits")
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))
            axes.yaxis.set_major_formatter("{x:,.0f}")
        for axes in panels:  # of one height, so that they can be compared
            axes.set_ylim(0, 1.05 * max(1, *(one.dataLim.ymax for one in panels)))
        panels[-1].set_xlabel("switch, fullest first")
        panels[-1].xaxis.set_major_locator(MaxNLocator(integer=True))
        style.legend(figure, panels)
    return figure


_TITLE_WIDTH = 70
"""Letters of a line over a panel."""


def _shown(runs: Sequence[Result], most: int) -> list[list[float]]:
    """The times of snapshots that are shown of each run: all, or of many some that all runs have.

    Of those that of the most flits takes the place of the one next to it.
    """
    held = [_held(run) for run in runs]
    if all(len(one) <= most for one in held):
        return [sorted(one) for one in held]
    common = set.intersection(*(set(one) for one in held))
    if not common and len(runs) > 1:
        return [times for run in runs for times in _shown([run], most)]
    flits = {time: sum(one[time] for one in held) for time in sorted(common)}
    shown = shown_times(list(flits), most)
    fullest = max(flits, key=flits.__getitem__, default=None)
    if fullest is not None and flits[fullest] > max(flits[time] for time in shown):
        nearest = min(shown, key=lambda time: abs(time - fullest))
        shown = sorted({*shown, fullest} - {nearest})
    return [shown] * len(runs)


def occupancy_over_time(results: Results) -> Figure:
    """Flits that wait over simulated time: in the fullest switch, on average, and for the fullest port.

    The fullest are those at each time. A line per run. Tables `occupancy`, and `queues` for the ports.
    """
    runs = having(results, "occupancy")
    wanted = [("occupancy", "max", "fullest switch"), ("occupancy", "sum", "mean of switches")]
    if any("queues" in result.tables for _, _, result in runs):
        wanted.append(("queues", "max", "fullest port"))
    with style.styled():
        figure, panels = style.figure(len(wanted), height=1.9)
        for axes, (table, what, name) in zip(panels, wanted, strict=True):
            for number, label, result in runs:
                if table in result.tables:
                    times, flits = _over_time(result, table, what)
                    flits /= len(distinct(result.tables[table], "switch")) if what == "sum" else 1
                    axes.plot(times, flits, label=label, **style.marked_line(number, len(times)))
            style.from_zero(axes)
            axes.set_ylabel(f"{name}\n[flits]")
            axes.yaxis.set_major_formatter("{x:,.10g}")
        panels[-1].set_xlabel("simulated time [us]")
        style.legend(figure, panels)
    return figure


def _over_time(run: Result, table: str, what: str) -> tuple[Numbers, Numbers]:
    """The recorded times in us, and the largest or the sum of what a table has then: 0 if it has no row."""
    grouped = recorded(run, table).group_by("time_ns", use_threads=False).aggregate([("flits", what)])
    flits = dict(zip(grouped["time_ns"].to_pylist(), numbers(grouped, f"flits_{what}"), strict=True))
    times = sorted(distinct(recorded(run, "occupancy"), "time_ns"))
    return np.array(times, dtype=float) / 1e3, np.array([flits.get(time, 0.0) for time in times])


def _held(run: Result) -> dict[float, float]:
    """The flits in all switches at each snapshot."""
    table = recorded(run, "occupancy")
    sums = table.group_by("time_ns", use_threads=False).aggregate([("flits", "sum")])
    return dict(zip(sums["time_ns"].to_pylist(), numbers(sums, "flits_sum").tolist(), strict=True))


def occupancy_map(results: Results) -> Figure:
    """What waits for every port of every switch at the recorded times: blocks of switches, cells are ports.

    The blocks are those of the network, such as the groups of a dragonfly, each under its number. Within one
    a row is a switch, in the order of their numbers, and a column a port. Tables `occupancy`, for the times,
    and `queues`. Of many times six, evenly spaced but for that of the most flits, or three of several runs,
    which have a column each (`tailback view` shows all).
    """
    labelled = [(label, result) for _, label, result in having(results, "queues")]
    known = [NetworkMap.of(result) for _, result in labelled]
    every = [distinct(recorded(result, "occupancy"), "time_ns") for _, result in labelled]
    most_times = TIMES_MAX if len(labelled) == 1 else _TIMES_OF_SEVERAL
    shown = _shown([result for _, result in labelled], most_times)
    columns = [
        [_Shot(join(label, f"{time / 1e3:g} us"), network, result, time) for time in times]
        for (label, result), network, times in zip(labelled, known, shown, strict=True)
    ]
    if len(columns) == 1:
        columns = [columns[0][turn::2] for turn in range(min(2, len(columns[0])))]
    most = max([2.0] + [float(pc.max(recorded(r, "queues")["flits"]).as_py() or 0) for _, r in labelled])
    norm = LogNorm(1, most)
    with style.styled():
        figure, panels, size = _grid(columns)
        for axes, shot in panels:
            _draw_map(axes, shot, norm, size)
        left_out = max(map(len, every)) - max(map(len, shown))
        names = _named(known[0], size)[1]
        told = [
            _explained(known[0], names),
            f"not shown: {counted(left_out, 'further snapshot')}; that of the most flits is shown",
        ]
        style.notes(figure, told if left_out else told[:1])
        bar = figure.colorbar(
            ScalarMappable(norm, _COLOURS),
            ax=[axes for axes, _ in panels],
            label="queued flits",
            shrink=min(1, 4 / figure.get_figheight()),
            aspect=25,
            format=style.LogNumbers(),
        )
        bar.ax.yaxis.set_minor_formatter(style.LogNumbers())
    return figure


_TIMES_OF_SEVERAL = 3
_COLOURS = colormaps["viridis_r"].with_extremes(under="#dddddd")
_WIDTH, _LEAST = 10.5, 2.6
"""Of all panels of a row, and of a panel at the least, in inches."""
_LETTERS = 6.5
"""Size of the names of blocks, in points."""
_TITLE_LETTER = 0.085
"""Inches that a letter of a title takes, as a rule."""
_LETTER, _LINE = 0.52 * _LETTERS / 72, 1.5 * _LETTERS / 72
"""How much room a letter of one and a line take, in inches."""


class _Shot(NamedTuple):
    """A picture at a time, with what stands over it."""

    title: str
    network: NetworkMap
    result: Result
    time: float


def _grid(columns: Sequence[Sequence[_Shot]]) -> tuple[Figure, list[tuple[Axes, _Shot]], tuple[float, float]]:
    """A figure with a panel for each picture of each column, and the size of a panel in inches."""
    across, rows = max(1, len(columns)), max([1, *map(len, columns)])
    width = max(_LEAST, min(5.2, _WIDTH / across))
    size = (width, 0.77 * width)
    apart = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1, wspace=0.02, hspace=0.02)
    figure = Figure(figsize=(across * width + 1.0, rows * (size[1] + 0.3) + 0.6), layout=apart)
    grid = figure.subplots(rows, across, squeeze=False)
    panels = [(grid[row, at], shot) for at, column in enumerate(columns) for row, shot in enumerate(column)]
    for axes in set(grid.ravel()) - {axes for axes, _ in panels}:
        axes.set_axis_off()
    return figure, panels, size


def _draw_map(axes: Axes, shot: _Shot, norm: LogNorm, size: tuple[float, float]) -> None:
    """A picture in its frame, with the names of blocks as far as there is room."""
    network, names = _named(shot.network, size)
    cells = network.cells(only(recorded(shot.result, "queues"), "time_ns", shot.time))
    axes.imshow(np.ma.masked_invalid(cells), norm=norm, cmap=_COLOURS, aspect="auto")
    for block, name in enumerate(names):
        row, column = network.corner(block)
        axes.text(column - 0.5, row - 0.6, name, fontsize=_LETTERS, va="bottom", ha="left", color="#444444")
    rows, columns = cells.shape
    beside, under = 0.02 * columns, 0.02 * rows
    axes.set_xlim(-0.5 - beside, columns - 0.5 + beside)
    axes.set_ylim(rows - 0.5 + under, -0.5 - network.gap)
    axes.set_title(style.titled(shot.title, int(size[0] / _TITLE_LETTER)), fontsize="medium")
    axes.grid(visible=False)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color("#999999")
    axes.set_xticks([])
    axes.set_yticks([])


def _named(network: NetworkMap, size: tuple[float, float]) -> tuple[NetworkMap, list[str]]:
    """The picture with room over its blocks for their names, and these; none if there is no room."""
    members = [in_runs(np.flatnonzero(network.block == at).tolist()) for at in range(network.block.max() + 1)]
    down = -(-len(members) // network.across)
    free = size[1] - down * _LINE
    if free < size[1] / 3:
        return network, []
    gap = math.ceil(_LINE * down * network.height / free)
    width = size[0] * network.width / (network.across * (network.width + 1) + 1)
    kinds = [
        [f"{network.name} {at}: switches {who}" for at, who in enumerate(members)],
        [f"{network.name} {at}: {who}" for at, who in enumerate(members)],
        [f"{at}: {who}" for at, who in enumerate(members)],
        [f"{at}" for at in range(len(members))],
    ]
    fit = (names for names in kinds if max(map(len, names)) * _LETTER <= width)
    return replace(network, gap=gap), next(fit, [])


def _explained(network: NetworkMap, names: Sequence[str]) -> str:
    """What a block is, what stands over it, and what a row and a column are."""
    blocks = "a block per group" if network.name == "group" else "blocks of switches"
    told = "each under its number" if names else "in the order of their numbers, row by row"
    told += " and its switches" * any(":" in name for name in names)
    return f"{blocks}, {told}; in it a row per switch, a column per port, the first is 0; grey: empty"
