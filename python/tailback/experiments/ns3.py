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
"""Bytes of a packet on a channel."""
PACKET_US = 0.328
"""How long it takes there."""
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
choose = "flow-hash"
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
"""Up, then down is the shortest way in all three networks, and takes one queue for each output, as there."""


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
    """Flows among 33 endpoints at one switch, eight at each of three, or 16 at each of eight leaves."""

    network: str
    """`star`, `row` or `pod`."""
    flows: Callable[[int, random.Random], Sequence[Flow]]
    """Given a number of packets for each."""
    to: int | None = None
    """Where the flows go whose ends are compared; if not told, all are."""


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
    short = [Flow(2 + at % 16, 0, packets // 10, chance.uniform(20, 1.6 * packets)) for at in range(24)]
    return [Flow(1, 0, 4 * packets, 0), *short]


def _pod(_: int, chance: random.Random) -> Sequence[Flow]:
    """16 flows of 250 packets to one, and flows of 16 packets between all others, at a load of 0.3."""
    hot = chance.sample(range(16, 128), 16)
    others = [endpoint for endpoint in range(1, 128) if endpoint not in hot]
    flows = [Flow(source, 0, 250, 100) for source in hot]
    for source in others:
        start = 0.0
        while (start := start + chance.expovariate(0.3 / (16 * PACKET_US))) < 2000:
            destination = chance.choice([other for other in others if other != source])
            flows.append(Flow(source, destination, 16, start))
    return flows


PATTERNS: Mapping[str, Pattern] = {
    **{f"{sources} to 1": Pattern("star", _to_one(sources)) for sources in (1, 2, 4, 8, 16, 32)},
    "8 to 1, in turn": Pattern("star", _to_one(8, apart=0.1)),
    "row": Pattern("row", _row),
    "long and short": Pattern("star", _mixed),
    "16 to 1 in a pod": Pattern("pod", _pod, to=0),
}


def setup(packets: int, rest: str) -> str:
    """What both experiments say of the flows, and the rest of one."""
    few = packets // 10
    return (
        f"Flows of {packets} packets of 4100 B at 100 Gb/s over links of 1 us, begun within 1 us: 1 to 32 to "
        f"one, eight that begin {few} us after one another, four over both links of three switches in a row "
        f"and four more over each, one of {4 * packets} packets that 24 of {few} meet at times drawn, and 16 "
        "of 250 packets to one in a pod of 128 endpoints beside flows of 16 packets between all others at a "
        "load of 0.3 (only the 16 are compared: ns-3 tells of acknowledgements, which meet data there). "
        f"{DRAWS} draws of the starts and of what else is random. One queue per output, switches that store "
        f"and forward, buffers in which nobody is paused. {rest} How it was run: docs/ns3."
    )


PAPER = (
    "Alibaba, “HPCC simulation” (github.com/alibaba-edu/High-Precision-Congestion-Control at 9f4be2a), "
    "GitHub 2021; what it tells was measured with runs of our own"
)


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
    kind = PATTERNS[name].network
    if kind == "star":
        switches, links = range(33, 34), [(endpoint, 33) for endpoint in range(33)]
    elif kind == "row":
        switches, links = range(24, 27), [(endpoint, 24 + endpoint // 8) for endpoint in range(24)]
        links += [(24, 25), (25, 26)]
    else:
        switches, links = range(128, 144), [(endpoint, 128 + endpoint // 16) for endpoint in range(128)]
        links += [(leaf, spine) for leaf in range(128, 136) for spine in range(136, 144)]
    return "\n".join(_network(switches, links))


def _network(switches: Sequence[int], links: Sequence[tuple[int, int]]) -> Iterator[str]:
    yield f"{switches[-1] + 1} {len(switches)} {len(links)}"
    yield " ".join(map(str, switches))
    yield from (f"{one} {other} 100Gbps 0.001ms 0" for one, other in links)


def links(name: str, source: int, destination: int) -> int:
    """How many there are between two endpoints of a pattern's network."""
    kind = PATTERNS[name].network
    if kind == "row":
        return 2 + abs(source // 8 - destination // 8)
    return 2 if kind == "star" or source // 16 == destination // 16 else 4


def listed(flows: Sequence[Flow], size: int) -> str:
    """The `flow.txt` of flows whose packets count as so many bytes."""
    lines = [
        f"{flow.source} {flow.destination} 3 100 {flow.packets * size} {2 + flow.start * 1e-6:.9f}"
        for flow in flows
    ]
    return "\n".join([str(len(lines)), *lines])


def scenario(name: str, packets: int, draw: int, control: str, size: int = PACKET) -> Scenario:
    """A pattern of packets of so many bytes under these keys of a congestion control."""
    told = listed(flows(name, packets, draw), size)
    return Scenario.loads(_SCENARIO.format(network=network(name), flows=told, control=control, seed=draw))


def panels(
    axes: Sequence[Axes], theirs: Mapping[str, Ends], data: Data, title: str = "", **labels: object
) -> None:
    """How many flows have ended by when, four patterns a panel."""
    for number, (name, told) in enumerate(theirs.items()):
        panel = axes[number // 4]
        draw(panel, number % 4, name, "ns-3", told, data, pattern=name, **labels)
    for panel in axes:
        panel.set_title(title)
        panel.set_ylabel("flows ended [%]")
        panel.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
