"""A drawing of a network: trees by levels, lattices by dimensions, others with their groups on a circle.

from tailback import Scenario, drawing

drawing.network(Scenario.load("net.toml")).savefig("net.svg")
"""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from tailback.errors import mistake
from tailback.figures import style
from tailback.scenario import Scenario, demand_scenario
from tailback.words import counted

__all__ = ["network"]


def __dir__() -> list[str]:
    """What it is for."""
    return __all__


LINKS_MAX = 30_000
"""Links between switches above which nothing could be seen."""
_PIECES = np.linspace(0, 1, 13)[:, None]
"""Where the straight pieces of a bent link meet."""
_AXES = np.array([(1, 0), (0, 1), (0.37, 0.29)])
"""Directions of the first three dimensions of a lattice; those of further ones follow from its size."""

Points = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class _Layout:
    """Places of switches and endpoints; the points of each link between switches, and of each host link."""

    switches: Points
    endpoints: Points
    lines: Points
    hosts: Points
    equal: bool = True


def network(scenario: Scenario) -> Figure:
    """Every switch, endpoint and link, by link class; parallel links are one thicker line.

    Raises `InputError` if the scenario has mistakes, or the network too many links.
    """
    demand_scenario(scenario)
    told = scenario.channels()
    topology = tomllib.loads(scenario.complete())["topology"]
    channels: Numbers = np.array([(start, end, kind) for start, end, _, kind in told["channels"]])
    hosts = channels[:, 0] >= told["switches"]
    home = channels[hosts][np.argsort(channels[hosts, 0]), 1]
    inner = channels[(channels[:, 0] < channels[:, 1]) & (channels[:, 1] < told["switches"])]
    failed: Numbers = np.array(told["failed"], dtype=int).reshape(-1, 3)
    # A network is drawn as it was built, those of its links that have failed too.
    links, place, parallel = np.unique(
        np.vstack([inner, failed]), axis=0, return_inverse=True, return_counts=True
    )
    broken = np.bincount(place.ravel()[len(inner) :], minlength=len(links))
    if len(links) > LINKS_MAX:
        raise mistake(
            f"the network joins {len(links):,} pairs of switches, and at most {LINKS_MAX:,} are drawn",
            "a smaller network of the same kind",
        )
    layout = _layout(topology, links[:, :2], home, told["blocks"])
    with style.styled():
        return _drawn(
            layout, links[:, 2], (parallel - broken, broken), told["link_classes"], topology["kind"]
        )


def _drawn(
    layout: _Layout, kinds: Numbers, counts: tuple[Numbers, Numbers], names: Sequence[str], title: str
) -> Figure:
    """Of each pair of switches the links that are there, and those that have failed."""
    parallel, broken = counts
    figure = Figure(figsize=(9.0, 6.2), layout="constrained")
    axes = figure.subplots()
    axes.set_axis_off()
    legend = []
    for kind, name in enumerate(names):
        of_kind = (kinds == kind) & (parallel > 0)
        if not of_kind.any():
            continue
        colour = style.COLOURS[(kind - 1) % len(style.COLOURS)]
        widths = np.minimum(0.4 + 0.4 * parallel[of_kind], 3) * min(1, 25 / math.sqrt(len(kinds)))
        axes.add_collection(LineCollection([*layout.lines[of_kind]], linewidths=widths, colors=colour))
        legend.append(Line2D([], [], color=colour, label=style.plain(f"{name}: {parallel[of_kind].sum():,}")))
    if (gone := broken > 0).any():
        lines = LineCollection([*layout.lines[gone]], linewidths=0.8, colors="black", linestyles="dotted")
        axes.add_collection(lines)
        legend.append(Line2D([], [], color="black", linestyle="dotted", label=f"failed: {broken.sum():,}"))
    axes.add_collection(LineCollection([*layout.hosts], linewidths=0.3, colors="#bbbbbb", zorder=0))
    dots = float(np.clip(4000 / len(layout.switches), 2, 60))
    small = float(np.clip(4000 / len(layout.endpoints), 0.4, dots / 3))
    axes.scatter(
        layout.endpoints[:, 0], layout.endpoints[:, 1], s=small, color="#888888", linewidths=0, zorder=2
    )
    axes.scatter(layout.switches[:, 0], layout.switches[:, 1], s=dots, color="black", linewidths=0, zorder=3)
    axes.autoscale_view()
    if layout.equal:
        # The limits grow, and not the axes shrink: a network in one line would leave axes of no width.
        axes.set_aspect("equal", adjustable="datalim")
    switches, endpoints = counted(len(layout.switches), "switch"), counted(len(layout.endpoints), "endpoint")
    axes.set_title(f"{title}: {switches} (black), {endpoints} (grey)", loc="left")
    if legend:
        figure.legend(handles=legend, loc="outside right upper", title="links")
    return figure


def _layout(topology: Mapping[str, Any], links: Numbers, home: Numbers, blocks: Sequence[int]) -> _Layout:
    """Endpoints stand around their switch; `home` is the switch of each."""
    depth = _depth(len(blocks), links, home)
    if depth.max() > 0:
        return _levels(depth, links, home)
    if "dims" in topology:
        return _lattice(topology["dims"], links, home)
    return _circle(np.array(blocks), links, home)


def _depth(switches: int, links: Numbers, home: Numbers) -> Numbers:
    """Links between each switch and the nearest one that has endpoints."""
    neighbours: dict[int, list[int]] = defaultdict(list)
    for one, other in links.tolist():
        neighbours[one].append(other)
        neighbours[other].append(one)
    depth = np.full(switches, -1)
    front = set(home.tolist())
    level = 0
    while front:
        depth[list(front)] = level
        front = {far for near in front for far in neighbours[near] if depth[far] < 0}
        level += 1
    return depth


def _levels(depth: Numbers, links: Numbers, home: Numbers) -> _Layout:
    places = np.zeros((len(depth), 2))
    for level in range(depth.max() + 1):
        row = np.flatnonzero(depth == level)
        places[row] = np.column_stack([(np.arange(len(row)) + 0.5) / len(row), np.full(len(row), level)])
    width = 0.8 / max(1, (depth == 0).sum())
    side, _ = _sides(home)
    endpoints = places[home] + np.column_stack([(side - 0.5) * width, np.full(len(home), -0.3)])
    ends = places[links]
    towards = ends.mean(axis=1)
    # Links in a row that pass others by would be hidden by those.
    level_width = 1.01 / np.bincount(depth)[depth[links[:, 0]]]
    far = (depth[links[:, 0]] == depth[links[:, 1]]) & (abs(ends[:, 1, 0] - ends[:, 0, 0]) > level_width)
    towards[far, 1] += 0.5
    return _Layout(places, endpoints, _curves(ends, towards), _lines(endpoints, places[home]), equal=False)


def _lattice(dims: Sequence[int], links: Numbers, home: Numbers) -> _Layout:
    axes = [*_AXES[: len(dims)]]
    for place in range(len(axes), len(dims)):
        # Copies of what the dimensions before make, side by side and one above the other in turn.
        extent = sum(abs(axis) * size for axis, size in zip(axes, dims, strict=False))
        axes.append(np.array([extent[0] + 1, 0]) if place % 2 else np.array([0, extent[1] + 1]))
    at = np.column_stack(np.unravel_index(np.arange(math.prod(dims)), tuple(dims), order="F"))
    places = at @ np.array(axes, dtype=float)
    ends = places[links]
    along = ends[:, 1] - ends[:, 0]
    steps = abs(at[links[:, 1]] - at[links[:, 0]])
    # Straight, these would hide links of the same row or column, or be hidden by them.
    bent = (steps.max(axis=1) > 1) | (steps.argmax(axis=1) >= len(_AXES))
    across = np.column_stack([-along[:, 1], along[:, 0]]) * 0.2 * bent[:, None]
    side, number = _sides(home)
    spread = np.where(number > 1, (side - 0.5) * 0.3, 0)
    endpoints = places[home] + np.column_stack([spread - 0.12, spread + 0.12])
    lines = _curves(ends, ends.mean(axis=1) + across)
    return _Layout(places, endpoints, lines, _lines(endpoints, places[home]))


def _circle(blocks: Numbers, links: Numbers, home: Numbers) -> _Layout:
    groups = blocks.max() + 1
    place, size = _sides(blocks)
    round_group = 2 * np.pi * (blocks + 0.5) / groups if groups > 1 else np.zeros(len(blocks))
    radius = min(1.0, 0.8 * np.pi / groups) if groups > 1 else 1.0
    within = round_group + 2 * np.pi * place
    lone = size == 1
    out = np.where(lone, round_group, within)
    centre = _around(round_group) * 2.2 if groups > 1 else np.zeros((len(blocks), 2))
    places = centre + _around(within) * np.where(lone, 0, radius)[:, None]
    side, _ = _sides(home)
    fan = 2 * np.pi if len(blocks) == 1 else np.pi / 3
    angle = out[home] + (side - 0.5) * fan
    reach = 0.5 if len(blocks) == 1 else 0.4 * radius
    ends = places[links]
    inside = (blocks[links[:, 0]] == blocks[links[:, 1]])[:, None]
    middle = ends.mean(axis=1)
    endpoints = places[home] + _around(angle) * reach
    lines = _curves(ends, np.where(inside, middle, middle * 0.4))
    return _Layout(places, endpoints, lines, _lines(endpoints, places[home]))


def _sides(of: Numbers) -> tuple[Points, Numbers]:
    """The place of each among those of its number, from 0 to 1, and how many these are."""
    count = np.bincount(of)[of]
    order = np.argsort(of, kind="stable")
    place = np.empty(len(of))
    place[order] = np.arange(len(of)) - np.searchsorted(of[order], of[order])
    return (place + 0.5) / count, count


def _around(angle: Points) -> Points:
    return np.column_stack([np.cos(angle), np.sin(angle)])


def _lines(first: Points, last: Points) -> Points:
    return np.stack([first, last], axis=1)


def _curves(ends: Points, towards: Points) -> Points:
    """Each link as a curve from one end to the other that bends towards a point."""
    first, last, bend = (points[:, None] for points in (ends[:, 0], ends[:, 1], towards))
    return (1 - _PIECES) ** 2 * first + 2 * (1 - _PIECES) * _PIECES * bend + _PIECES**2 * last
