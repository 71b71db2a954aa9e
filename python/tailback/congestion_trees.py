"""From which channels the congestion trees of a run grow, how far they reach, and whom they stop."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan, nan
from typing import NamedTuple

import pyarrow as pa

NOTHING = "nothing"
"""The root of what only waits for credit that is on its way."""


class Held(NamedTuple):
    """A virtual channel that is held at a time, and what it hangs on."""

    time_ns: float
    sender: str
    sender_port: int
    """-1 of an endpoint."""
    switch: int
    port: int
    root: str
    depth: int
    flits: int
    strangers: float

    @property
    def is_of_endpoint(self) -> bool:
        """Whether an endpoint cannot send."""
        return self.sender_port < 0


_COLUMNS = ("time_ns", "from", "from_port", "to_switch", "to_port", "root", "depth", "flits", "strangers")


def held(table: pa.Table) -> list[Held]:
    """The rows of the table `trees` that hang on something."""
    columns = (table[name].to_pylist() for name in _COLUMNS)
    return [row for row in map(Held._make, zip(*columns, strict=True)) if row.root != NOTHING]


@dataclass(frozen=True)
class CongestionTree:
    """The channels that wait for one root at a time."""

    root: str
    """Such as "endpoint 5", for the channel to it; "circle" if they wait for one another."""
    time_ns: float
    endpoints: int
    """That cannot send."""
    channels: int
    """Between switches, that cannot send."""
    depth: int
    """Most channels from one of them to the root, without that."""
    flits: int
    """That wait in the buffers at their ends, where the root is an endpoint."""
    strangers: int
    """Those of them that are for others than the root."""


def congestion_trees(rows: Iterable[Held]) -> list[CongestionTree]:
    """The trees of what is held, by their times, the one of the most channels first.

    A channel counts once in a tree, however many of its virtual channels are held, and may be in several.
    """
    members: defaultdict[tuple[float, str], list[Held]] = defaultdict(list)
    for row in rows:
        members[row.time_ns, row.root].append(row)
    trees = (_tree(time, root, own) for (time, root), own in members.items())
    return sorted(trees, key=lambda tree: (tree.time_ns, -tree.endpoints - tree.channels, tree.root))


def _tree(time: float, root: str, rows: list[Held]) -> CongestionTree:
    ends = {(row.switch, row.port): row.is_of_endpoint for row in rows}
    endpoints = sum(ends.values())
    told = [row for row in rows if not isnan(row.strangers)]
    flits, strangers = sum(row.flits for row in told), round(sum(row.strangers for row in told))
    depth = max(row.depth for row in rows)
    return CongestionTree(root, time, endpoints, len(ends) - endpoints, depth, flits, strangers)


@dataclass(frozen=True)
class TreeSummary:
    """What grew from one root, over the snapshots at which something did."""

    root: str
    snapshots: int
    first_ns: float
    last_ns: float
    endpoints: int
    """The most at one time; so are channels and depth."""
    channels: int
    depth: int
    strangers: float
    """Of the flits that waited, those for others than the root, as a fraction; NaN if that is not known."""
    held_itself: int
    """At how many snapshots the root is held."""


def by_root(rows: Iterable[Held]) -> list[TreeSummary]:
    """What grew from each root; first what held the most channels, all snapshots together."""
    grown: defaultdict[str, list[CongestionTree]] = defaultdict(list)
    times: defaultdict[str, set[float]] = defaultdict(set)
    rows = list(rows)
    for row in rows:
        times[f"{row.sender} port {row.sender_port}"].add(row.time_ns)
    for tree in congestion_trees(rows):
        grown[tree.root].append(tree)
    sizes = {root: sum(tree.endpoints + tree.channels for tree in own) for root, own in grown.items()}
    return [
        _summary(root, grown[root], len(times[root.partition(" (")[0]]))
        for root in sorted(grown, key=lambda root: (-sizes[root], root))
    ]


def _summary(root: str, trees: list[CongestionTree], held_itself: int) -> TreeSummary:
    times = [tree.time_ns for tree in trees]
    flits = sum(tree.flits for tree in trees)
    return TreeSummary(
        root=root,
        snapshots=len(trees),
        first_ns=min(times),
        last_ns=max(times),
        endpoints=max(tree.endpoints for tree in trees),
        channels=max(tree.channels for tree in trees),
        depth=max(tree.depth for tree in trees),
        strangers=sum(tree.strangers for tree in trees) / flits if flits else nan,
        held_itself=held_itself,
    )
