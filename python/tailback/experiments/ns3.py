"""The networks and flows of the experiments beside the ns-3 simulator of HPCC's authors."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from tailback.experiments.ends import Ends, draw
from tailback.experiments.model import Data
from tailback.scenario import Scenario

PACKET = 41 * 100
"""Bytes of a packet on a channel, where it takes 328 ns."""
DRAWS = 20
"""Of the moments at which flows start, and of what is random in the simulators."""

_SCENARIO = '''
title = "the network of HPCC's authors"

[topology]
kind = "file"
format = "hpcc"
text = """{network}"""

[packet]
flit = "100 B"
max = "41 flits"

[switch]
kind = "output-queued"
forwarding = "store-and-forward"
input_buffer = "10000 packets"
output_buffer = "100000 packets"

[routing]
kind = "shortest"
deadlock = "up-down"

[congestion_control]
{control}

[[job]]
name = "flows"
workload = "flow-list"
queue_pairs = 4096
text = """{flows}"""

[run]
duration = "1 s"
seed = {seed}

[record]
messages = true
'''
"""Up, then down is the shortest way in both networks, and takes one queue for each output, as there."""


@dataclass(frozen=True)
class Flow:
    """Packets from an endpoint to another."""

    source: int
    destination: int
    packets: int
    start: float
    """In us."""


@dataclass(frozen=True)
class Pattern:
    """Flows on a network: `star`, 33 endpoints at one switch, or `row`, eight at each of three."""

    network: str
    flows: Callable[[int, random.Random], Sequence[Flow]]
    """Given a number of packets for each."""


def _to_one(sources: int, apart: float = 0) -> Callable[[int, random.Random], Sequence[Flow]]:
    """So many to one, each so much later than the one before: in us for each packet."""
    return lambda packets, _: [Flow(at + 1, 0, packets, at * apart * packets) for at in range(sources)]


def _row(packets: int, _: random.Random) -> Sequence[Flow]:
    """Four flows over both links between switches, and four more over each."""
    pairs = [(0, 16), (4, 8), (12, 20)]
    return [
        Flow(source + at, destination + at, packets, 0) for source, destination in pairs for at in range(4)
    ]


def _mixed(packets: int, chance: random.Random) -> Sequence[Flow]:
    """A flow four times as long, and 24 of a tenth that meet it at some time."""
    short = [Flow(2 + at % 16, 0, packets // 10, chance.uniform(20, 4 * packets)) for at in range(24)]
    return [Flow(1, 0, 4 * packets, 0), *short]


PATTERNS: Mapping[str, Pattern] = {
    **{f"{sources} to 1": Pattern("star", _to_one(sources)) for sources in (1, 2, 4, 8, 16, 32)},
    "8 to 1, in turn": Pattern("star", _to_one(8, apart=0.1)),
    "row": Pattern("row", _row),
    "long and short": Pattern("star", _mixed),
}


def flows(name: str, packets: int, draw: int) -> list[Flow]:
    """Those of a pattern, in the order of their starts, which are up to 1 us later, in whole ns."""
    chance = random.Random(f"{name} {draw}")
    drawn = [
        Flow(flow.source, flow.destination, flow.packets, round(flow.start + chance.random(), 3))
        for flow in PATTERNS[name].flows(packets, chance)
    ]
    return sorted(drawn, key=lambda flow: flow.start)


def network(name: str) -> str:
    """The `topology.txt` of a pattern's network: 100 Gb/s and 1 us each link."""
    if PATTERNS[name].network == "star":
        switches, links = [33], [(endpoint, 33) for endpoint in range(33)]
    else:
        switches = [24, 25, 26]
        links = [(endpoint, switches[endpoint // 8]) for endpoint in range(24)]
        links += [(24, 25), (25, 26)]
    return "\n".join(_network(switches, links))


def _network(switches: Sequence[int], links: Sequence[tuple[int, int]]) -> Iterator[str]:
    yield f"{switches[-1] + 1} {len(switches)} {len(links)}"
    yield " ".join(map(str, switches))
    yield from (f"{one} {other} 100Gbps 0.001ms 0" for one, other in links)


def links(name: str, source: int, destination: int) -> int:
    """How many there are between two endpoints of a pattern's network."""
    if PATTERNS[name].network == "star":
        return 2
    return 2 + abs(source // 8 - destination // 8)


def listed(flows: Sequence[Flow], size: int) -> str:
    """The `flow.txt` of flows whose packets count as so many bytes."""
    lines = [
        f"{flow.source} {flow.destination} 3 100 {flow.packets * size} {2 + flow.start * 1e-6:.9f}"
        for flow in flows
    ]
    return "\n".join([str(len(lines)), *lines])


def scenario(name: str, packets: int, draw: int, control: str) -> Scenario:
    """A pattern under these keys of a congestion control."""
    told = listed(flows(name, packets, draw), PACKET)
    return Scenario.loads(_SCENARIO.format(network=network(name), flows=told, control=control, seed=draw))


def panels(
    axes: Sequence[Axes], theirs: Mapping[str, Ends], data: Data, title: str = "", **labels: object
) -> None:
    """How many flows have ended by when, three patterns a panel."""
    for number, (name, told) in enumerate(theirs.items()):
        panel = axes[number // 3]
        draw(panel, number % 3, name, "ns-3", told, data, pattern=name, **labels)
    for panel in axes:
        panel.set_title(title)
        panel.set_ylabel("flows ended [%]")
        panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
