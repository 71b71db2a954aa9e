"""Which switch the pauses of a run come from, and how far they reach."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class PauseTree:
    """Pauses that come from one switch, directly or by way of the switches that it paused."""

    root: str
    pauses: int
    paused_ns: float
    """Of all its pauses together; one that lasts at the end of the run counts until then."""
    endpoints: int
    """That were paused at some time."""
    switches: int
    depth: int
    """Most pauses from the root to a sender, 1 if it paused all of them itself."""
    first_ns: float


@dataclass(frozen=True)
class _Pause:
    sender: str
    start: float
    end: float
    root: str
    depth: int


def pause_trees(table: pa.Table, end_ns: float) -> list[PauseTree]:
    """The trees of the table `pauses` of a run that ended at `end_ns`, that of the longest pauses first.

    A pause is caused by the earliest of those, of the same traffic class, that its pausing switch is under
    itself when it begins. A switch that is under none is the root of it: its own output is what cannot take
    more, or its buffer is still full from before. What a packet in the buffer waits for is not recorded, so
    where a switch is paused on several ports the cause may be another of them.
    """
    columns = ("from", "to", "traffic_class", "start_ns", "end_ns")
    rows = zip(*(table[column].to_pylist() for column in columns), strict=True)
    under: defaultdict[tuple[str, str], list[_Pause]] = defaultdict(list)
    members: defaultdict[str, list[_Pause]] = defaultdict(list)
    for sender, pauser, kind, start, stop in sorted(rows, key=lambda row: row[3]):
        causes = under[pauser, kind]
        causes[:] = [cause for cause in causes if cause.end > start]
        root, depth = (causes[0].root, causes[0].depth + 1) if causes else (pauser, 1)
        pause = _Pause(sender, start, end_ns if math.isnan(stop) else stop, root, depth)
        under[sender, kind].append(pause)
        members[root].append(pause)
    return sorted((_tree(own) for own in members.values()), key=lambda tree: -tree.paused_ns)


def _tree(pauses: Sequence[_Pause]) -> PauseTree:
    senders = {pause.sender for pause in pauses}
    endpoints = sum(sender.startswith("endpoint") for sender in senders)
    return PauseTree(
        root=pauses[0].root,
        pauses=len(pauses),
        paused_ns=sum(pause.end - pause.start for pause in pauses),
        endpoints=endpoints,
        switches=len(senders) - endpoints,
        depth=max(pause.depth for pause in pauses),
        first_ns=pauses[0].start,
    )
