"""When messages end here and in htsim: what the experiments beside that simulator have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from tailback.experiments.model import Claim, Data, value
from tailback.figures import style
from tailback.result import Result
from tailback.scenario import Scenario

WITHIN = 0.05
"""Of htsim's mean and last end; chosen after the first runs had been seen."""

_FAT_TREE = """
title = "htsim's network"

[topology]
kind = "fat-tree"
levels = 3
arity = 8

[link]
bandwidth = "100 Gb/s"
latency = "1 us"

[packet]
flit = "64 B"
max = "64 flits"

[switch]
kind = "output-queued"
forwarding = "store-and-forward"
input_buffer = "100 packets"
output_buffer = "10000 packets"

[routing]
kind = "nca"
up = "{up}"

[congestion_control]
{control}
"""
_MESSAGES = '''
[[job]]
name = "messages"
workload = "connection-matrix"
text = """{matrix}"""

[run]
duration = "20 ms"
seed = {seed}

[record]
messages = true
'''


@dataclass(frozen=True)
class Ends:
    """How long after their starts messages arrive in htsim, in us."""

    mean: float
    last: float
    """The mean over the seeds."""
    tenths: Sequence[float]
    """Of the messages under all seeds: the first, those behind each tenth, and the last."""


def matrix(
    endpoints: int, pairs: Sequence[tuple[int, int]], size: int, starts: Sequence[int] | None = None
) -> str:
    """A connection matrix, as htsim reads it, of these (source, destination); starts in ps, size in bytes."""
    begun = starts or [0] * len(pairs)
    lines = [
        f"{source}->{destination} start {start} size {size}"
        for (source, destination), start in zip(pairs, begun, strict=True)
    ]
    return "\n".join([f"Nodes {endpoints}", f"Connections {len(pairs)}", *lines])


def scenario(network: str, connections: str, seed: int = 1) -> Scenario:
    """Messages on a network, told by the tables of a scenario for it, as a connection matrix has them."""
    return Scenario.loads(network + _MESSAGES.format(matrix=connections, seed=seed))


def fat_tree(up: str, control: str, pairs: Sequence[tuple[int, int]], size: int, seed: int) -> Scenario:
    """128 endpoints under `up` and these keys of a congestion control, with messages of `size` bytes."""
    return scenario(_FAT_TREE.format(up=up, control=control), matrix(128, pairs, size), seed)


def ends(result: Result) -> NDArray[Any]:
    """Of all messages, in us after their starts."""
    return np.array(result.tables["messages"]["latency_ns"].to_pylist(), dtype=float) / 1000


def near(text: str, theirs: Ends, data: Data, **labels: object) -> list[Claim]:
    """That the mean and the last end are near theirs, over the seeds of the cases with these labels."""

    def claim(which: str, published: float, of: Any) -> Claim:
        bounds = (round(published * (1 - WITHIN), 1), round(published * (1 + WITHIN), 1))
        ours = data.mean(lambda run: float(of(ends(run))), **labels)
        return value(f"{text}: {which} end", f"{published:g} us", ours, bounds, "us")

    return [claim("mean", theirs.mean, np.mean), claim("last", theirs.last, np.max)]


def draw(axes: Axes, number: int, name: str, theirs: Ends, data: Data, **labels: object) -> None:
    """How many messages have ended by when, in parts of htsim's last end: ours as a line, htsim's as dots."""
    ours = np.sort(np.concatenate([ends(run) for run in data.results(**labels)]))
    looks = style.line(number, 0)
    parts = 100 * np.arange(1, len(ours) + 1) / len(ours)
    axes.step(ours / theirs.last, parts, where="post", label=f"{name}, Tailback", **looks)
    places = np.array(theirs.tenths) / theirs.last
    dots = style.marker(number)
    axes.plot(places, range(0, 101, 10), dots, color=looks["color"], label=f"{name}, htsim")
