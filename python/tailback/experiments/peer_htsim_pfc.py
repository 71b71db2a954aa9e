"""peer-htsim-pfc: when messages end where switches pause each other, beside htsim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments import htsim
from tailback.experiments.ends import Ends, draw, near
from tailback.experiments.model import Case, Claim, Data, Experiment
from tailback.figures import style

PACKETS = 489
"""Of a message: htsim cuts 2 MB into packets of 4096 B, and adds a header of 64 B to each."""
PACKET_PS = 332_800
"""How long a packet takes."""
SEEDS = 24


def _drawn(sources: Sequence[int], destinations: Sequence[int], seed: int) -> list[tuple[int, int]]:
    """Each source with any of the destinations but itself."""
    chance = np.random.default_rng(seed)
    return [
        (source, int(chance.choice([other for other in destinations if other != source])))
        for source in sources
    ]


def _permuted(seed: int) -> list[tuple[int, int]]:
    """The first half to the second, one to one."""
    order = np.random.default_rng(seed).permutation(np.arange(16, 32))
    return [(source, int(destination)) for source, destination in enumerate(order)]


PAIRS: Mapping[str, Sequence[tuple[int, int]]] = {
    "five": [(8, 0), (16, 0), (24, 0), (9, 1), (25, 9)],
    "12 to 2": [(source, source // 2 % 2) for source in range(8, 32, 2)],
    "32 to any": _drawn(range(32), range(32), 1),
    "32 to any, again": _drawn(range(32), range(32), 2),
    "16 to any of 16": _drawn(range(16), range(16, 32), 3),
    "16 to 16": _permuted(4),
}
THEIRS: Mapping[str, Ends] = {
    "five": Ends(563.9, 655.1, (445.0, 457.7, 459.5, 524.7, 527.8, 532.2, 535.3, 651.3, 653.5, 655.3, 656.0)),
    "12 to 2": Ends(
        1918.4,
        1956.1,
        (1736.0, 1833.7, 1890.9, 1918.7, 1935.6, 1943.4, 1946.2, 1950.5, 1952.8, 1955.3, 1957.6),
    ),
    "32 to any": Ends(
        896.0, 1538.6, (165.1, 167.5, 182.6, 236.7, 1035.0, 1070.2, 1117.5, 1326.9, 1398.0, 1518.3, 1561.7)
    ),
    "32 to any, again": Ends(
        1094.8, 1508.2, (165.2, 166.9, 191.6, 1196.6, 1228.6, 1293.5, 1377.5, 1420.2, 1450.2, 1488.1, 1544.2)
    ),
    "16 to any of 16": Ends(
        1693.0,
        1813.5,
        (1462.0, 1555.0, 1589.5, 1625.2, 1656.2, 1706.4, 1747.6, 1784.0, 1795.2, 1808.6, 1837.1),
    ),
    "16 to 16": Ends(
        1419.8,
        1463.6,
        (1275.9, 1348.6, 1368.5, 1377.9, 1388.5, 1406.1, 1423.3, 1445.5, 1470.0, 1510.8, 1693.5),
    ),
}
"""By traffic."""

_LEAVES = """
title = "htsim's network"

[topology]
kind = "xgft"
down = [8, 4]
up = [1]

[link]
bandwidth = "100 Gb/s"
latency = "1 us"
flow_control = { kind = "pfc", xoff = "15 packets", xon = "11 packets" }

[packet]
flit = "64 B"
max = "65 flits"

[switch]
kind = "shared-buffer"
arbitration = "age"
forwarding = "store-and-forward"
input_buffer = "100 packets"

[routing]
kind = "nca"
up = "deterministic"
"""
"""A packet counts from its head here and whole in htsim: its 15th pauses when the 16th begins to come."""


def starts(traffic: str, seed: int) -> list[int]:
    """When the messages begin, in ps: within ten packets' times."""
    chance = np.random.default_rng([seed, list(PAIRS).index(traffic)])
    return [int(start) for start in chance.integers(0, 10 * PACKET_PS, len(PAIRS[traffic]))]


def _cases(full: bool) -> list[Case]:
    made = []
    for traffic, pairs in PAIRS.items():
        for seed in range(1, SEEDS + 1 if full else 9):
            matrix = htsim.matrix(32, pairs, PACKETS * 65 * 64, starts(traffic, seed))
            scenario = htsim.scenario(_LEAVES, matrix)
            made.append(Case({"traffic": traffic, "seed": seed}, scenario, cost=0.1))
    return made


def _draw(data: Data) -> Figure:
    with style.styled():
        figure, panels = style.figure(2, height=2.2)
        for number, traffic in enumerate(PAIRS):
            draw(panels[number % 2], number // 2, traffic, "htsim", THEIRS[traffic], data, traffic=traffic)
        for axes in panels:
            axes.set_ylabel("messages ended [%]")
            axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        panels[-1].set_xlabel("time [of htsim's last end]")
    return figure


def _claims(data: Data) -> list[Claim]:
    return [
        claim for traffic, theirs in THEIRS.items() for claim in near(traffic, theirs, data, traffic=traffic)
    ]


EXPERIMENT = Experiment(
    id="peer-htsim-pfc",
    paper=(
        "Broadcom Inc., “htsim” (github.com/Broadcom/csg-htsim at 841d9e7b), GitHub 2026; "
        "what it tells was measured with runs of our own"
    ),
    title="Pauses beside those of htsim",
    setup=(
        "Messages of 2 MB in packets of 4160 B on four leaves of eight endpoints with one uplink each, "
        "100 Gb/s, 1 us per link, from endpoints without a congestion control, in order: five messages "
        "of which three meet at one destination; 12 to two; 32, each to any, and once more; 16 of two "
        "leaves to any of the others; and the same one to one. Inputs pause their senders with 15 packets "
        "whole, and let them go on with 11. Each message begins within ten packets' times, drawn by the "
        "seed, since otherwise all is a matter of what happens at one time in which order. htsim: "
        "`htsim_roce -nodes 32 -topo leaves.topo -tm FILE -queue_type lossless_input -pfc_thresholds 12 15 "
        "-strat ecmp_host -paths 1 -mtu 4096 -q 100000 -end 20000`, with the file and the changes in "
        "docs/htsim: messages begin when the matrix says, their arrival is told, and pauses take as long "
        "as the link does; without the last they reach their senders at once where the network comes "
        "from a file, and cost less: 16 to 16 has a mean end of 1312 us then, not 1420."
    ),
    cases=_cases,
    draw=_draw,
    claims=_claims,
)
