"""Figures of what waits in switches: how full each is, and for which port."""

from __future__ import annotations

from collections.abc import Sequence

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
from tailback.figures.network_map import Cells, NetworkMap
from tailback.figures.tables import Results, distinct, having, join, numbers, only, recorded, shown_times
from tailback.words import counted


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


def occupancy_map(results: Results) -> Figure:
    """What waits for every port of every switch at the recorded times: blocks of switches, cells are ports.

    Within a block a row is a switch, a column a port. Tables `occupancy`, for the times, and `queues`, and of
    a dragonfly `[topology] a`: its groups are the blocks. Of many times, six evenly spaced ones (`tailback
    view` shows all). Of several runs, a column for each.
    """
    labelled = [(label, result) for _, label, result in having(results, "queues")]
    known = [NetworkMap.of(result) for _, result in labelled]
    every = [distinct(recorded(result, "occupancy"), "time_ns") for _, result in labelled]
    most = max([2.0] + [float(pc.max(recorded(r, "queues")["flits"]).as_py() or 0) for _, r in labelled])
    shots = [
        [
            (
                join(label, f"{time / 1e3:g} us"),
                network.cells(only(recorded(result, "queues"), "time_ns", time)),
            )
            for time in shown_times(times)
        ]
        for (label, result), network, times in zip(labelled, known, every, strict=True)
    ]
    left_out = max(len(times) for times in every) - max(map(len, shots))
    with style.styled():
        figure, panels = _grid(shots)
        colours = colormaps["viridis_r"].with_extremes(under="#dddddd")
        norm = LogNorm(1, most)
        for axes, (title, cells) in panels:
            axes.imshow(np.ma.masked_invalid(cells), norm=norm, cmap=colours, aspect="auto")
            axes.set_title(title, fontsize=9)
            axes.grid(visible=False)
            axes.spines[:].set_visible(False)
            axes.set_xticks([])
            axes.set_yticks([])
        told = f"{_blocks(known)}; in it a row per switch, a column per port; grey: empty"
        told += f"\nnot shown: {counted(left_out, 'snapshot')} between these" if left_out else ""
        figure.supxlabel(told, fontsize=9)
        bar = figure.colorbar(
            ScalarMappable(norm, colours),
            ax=[axes for axes, _ in panels],
            label="queued flits",
            shrink=0.8,
            format=style.LogNumbers(),
        )
        bar.ax.yaxis.set_minor_formatter(style.LogNumbers())
    return figure


_Shot = tuple[str, Cells]


def _grid(shots: Sequence[Sequence[_Shot]]) -> tuple[Figure, list[tuple[Axes, _Shot]]]:
    """Panels for the pictures of one run in two columns, or in a column for each of several."""
    if len(shots) == 1:
        shots = [shots[0][turn::2] for turn in range(min(2, len(shots[0])))]
    columns, rows = max(1, len(shots)), max([1, *map(len, shots)])
    apart = ConstrainedLayoutEngine(wspace=0.04, hspace=0.04)
    figure = Figure(figsize=(5.2 * columns, 4.0 * rows + 0.4), layout=apart)
    grid = figure.subplots(rows, columns, squeeze=False)
    panels = [(grid[row, at], shot) for at, column in enumerate(shots) for row, shot in enumerate(column)]
    for axes in set(grid.ravel()) - {axes for axes, _ in panels}:
        axes.set_axis_off()
    return figure, panels


def _blocks(networks: Sequence[NetworkMap]) -> str:
    """What a block is."""
    if all(network.has_groups for network in networks):
        return "a block per group"
    return f"blocks of switches in the order of their numbers, {networks[0].block} each"
