"""From which channels the congestion trees of a run grow, how far they reach, and whom they stop."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
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


def held(table: pa.Table) -> Iterator[Held]:
    """The rows of the table `trees` that hang on something, with the roots that last.

    A channel that is held again and again goes as fast as it can in between, and is a root then. If it is
    held at half as many snapshots as it is one, or more, what hangs on it counts with what it hangs on
    itself: what it hangs on most often.
    """
    columns = (table[name].to_pylist() for name in _COLUMNS)
    rows = [row for row in map(Held._make, zip(*columns, strict=True)) if row.root != NOTHING]
    lasting = _lasting(rows)
    for row in rows:
        yield row._replace(root=lasting.get(row.root, row.root))


def _lasting(rows: Iterable[Held]) -> dict[str, str]:
    """For roots that are held themselves for much of the time, the roots that last."""
    hangs: defaultdict[str, set[tuple[float, str]]] = defaultdict(set)
    grown: defaultdict[str, set[float]] = defaultdict(set)
    for row in rows:
        hangs[f"{row.sender} port {row.sender_port}"].add((row.time_ns, row.root))
        grown[row.root].add(row.time_ns)
    ahead = {}
    for root, times in grown.items():
        own = hangs.get(root.partition(" (")[0], set())
        if 2 * len({time for time, _ in own}) >= len(times):
            counts = Counter(other for _, other in own if other != root)
            ahead[root] = max(sorted(counts), key=counts.__getitem__, default=root)
    return {root: _last(root, ahead) for root in ahead}


def _last(root: str, ahead: dict[str, str]) -> str:
    seen = {root}
    while root in ahead and ahead[root] not in seen:
        root = ahead[root]
        seen.add(root)
    return root


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


def congestion_trees(table: pa.Table) -> list[CongestionTree]:
    """The trees of the table `trees`, by their times, the one of the most channels first.

    A channel counts once, however many of its virtual channels are held. What hangs on nothing, as it only
    waits for credit that is on its way, is in no tree.
    """
    members: defaultdict[tuple[float, str], list[Held]] = defaultdict(list)
    for row in held(table):
        members[row.time_ns, row.root].append(row)
    trees = (_tree(time, root, rows) for (time, root), rows in members.items())
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


def by_root(trees: Iterable[CongestionTree]) -> list[TreeSummary]:
    """What grew from each root; first what held the most channels, all snapshots together."""
    grown: defaultdict[str, list[CongestionTree]] = defaultdict(list)
    for tree in trees:
        grown[tree.root].append(tree)
    sizes = {root: sum(tree.endpoints + tree.channels for tree in own) for root, own in grown.items()}
    return [_summary(root, grown[root]) for root in sorted(grown, key=lambda root: (-sizes[root], root))]


def _summary(root: str, trees: list[CongestionTree]) -> TreeSummary:
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
    )
