"""Routes that the definition of a network fixes, worked out without the engine (for saa-optimal)."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

Flow = tuple[int, int, int]
"""Source, destination, packets."""
Way = list[tuple[object, ...]]
"""The links of a flow, each by a name of its own."""

K, SIDE = 4, 7
P, A, H = 2, 4, 2


def flows(endpoints: int, seed: int) -> list[Flow]:
    """Three flows an endpoint in the mean, between pairs and of sizes (1 to 256 packets) drawn at random."""
    draw = random.Random(seed)
    pairs = draw.sample([(a, b) for a in range(endpoints) for b in range(endpoints) if a != b], 3 * endpoints)
    return [(*pair, draw.randint(1, 256)) for pair in pairs]


def _tree(source: int, destination: int) -> Way:
    """A k-ary 3-tree: up by digits 0 and 1 of the destination, no farther than needed, and down."""
    first, second = destination % K, destination // K % K
    up, down = source // K, destination // K
    if up == down:
        return []
    if up // K == down // K:
        return [("up", up, first), ("down", down, first)]
    root = (first, second)
    return [
        ("up", up, first),
        ("up to root", up // K, *root),
        ("down from root", down // K, *root),
        ("down", down, first),
    ]


def _torus(source: int, destination: int) -> Way:
    """A torus of odd sides: x first, the shorter way round."""
    at: list[int] = [source % SIDE, source // SIDE]
    way: Way = []
    for dimension, goal in enumerate((destination % SIDE, destination // SIDE)):
        step = 1 if (goal - at[dimension]) % SIDE <= SIDE // 2 else -1
        while at[dimension] != goal:
            way.append((*at, dimension, step))
            at[dimension] = (at[dimension] + step) % SIDE
    return way


def _gateway(group: int, other: int) -> int:
    """The switch with the link of a group to the other: port i leads to i, or to i + 1 from the own on."""
    return group * A + (other if other < group else other - 1) // H


def _dragonfly(source: int, destination: int) -> Way:
    """A dragonfly with one link between two groups: to the switch that has it, over it, to the last."""
    one, two = source // P, destination // P
    here, there = one // A, two // A
    stops = [one, two]
    if here != there:
        stops = [one, _gateway(here, there), _gateway(there, here), two]
    return [(a, b) for a, b in pairwise(stops) if a != b]


FIXED: Mapping[str, tuple[dict[str, Any], dict[str, Any], int, Callable[[int, int], Way]]] = {
    "k-ary n-tree, static": (
        {"kind": "k-ary-n-tree", "k": K, "n": 3},
        {"kind": "nca", "up": "deterministic"},
        K**3,
        _tree,
    ),
    "torus of odd sides": ({"kind": "torus", "dims": [SIDE, SIDE]}, {"kind": "dor"}, SIDE**2, _torus),
    "dragonfly, minimal": (
        {"kind": "dragonfly", "p": P, "a": A, "h": H, "groups": A * H + 1},
        {"kind": "minimal"},
        P * A * (A * H + 1),
        _dragonfly,
    ),
}
"""Topology, routing, endpoints, and the links between switches of the only route of a pair."""


def times(network: str, sent: list[Flow], packet_ns: float) -> tuple[list[float], float]:
    """The time of every flow at its rate w / W, in ns, and the largest share of a link that they take."""
    way_of = FIXED[network][3]
    ways = [[("in", a), *way_of(a, b), ("out", b)] for a, b, _ in sent]
    weights: dict[tuple[object, ...], int] = defaultdict(int)
    for way, (_, _, packets) in zip(ways, sent, strict=True):
        for link in way:
            weights[link] += packets
    most = [max(weights[link] for link in way) for way in ways]
    used: dict[tuple[object, ...], float] = defaultdict(float)
    for way, (_, _, packets), load in zip(ways, sent, most, strict=True):
        for link in way:
            used[link] += packets / load
    return [load * packet_ns for load in most], max(used.values())
