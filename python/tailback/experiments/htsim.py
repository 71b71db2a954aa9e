"""The networks and messages of the experiments beside htsim."""

from __future__ import annotations

from collections.abc import Sequence

from tailback.scenario import Scenario

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
