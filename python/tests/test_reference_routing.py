"""Compares routings that draw or look at queues with those of the reference simulator, packet by packet.

`python test_reference_routing.py ROUTING COUNT [FIRST]` compares more, and shrinks the first that differ; the
routing may be followed by a congestion control: `"par, lhrp"`.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from reference import Simulation
from reference_case import Case
from reference_protocol_draws import random_protocol
from reference_routing_draws import UPWARDS, damaged_case, damaged_dragonfly_case, dragonfly_case, tree_case
from test_reference import KINDS, SIMPLER, compare, difference

ON_DRAGONFLIES = ("minimal", "valiant", "ugal", "par", "codes-par", "sst-ugal")
GOING_ROUND = ON_DRAGONFLIES[:4]
SHORTEST = ("shortest random", "shortest flow-hash", "shortest least-loaded")
ROUTINGS = (
    *ON_DRAGONFLIES,
    *(f"nca {up}" for up in UPWARDS),
    *(f"damaged {how}" for how in (*UPWARDS, *SHORTEST, *GOING_ROUND)),
)
CONTROLLED = (
    "valiant, srp",
    "ugal, ecn",
    "ugal, srp",
    "par, lhrp",
    "nca least-loaded, lhrp",
    "nca random, ecn",
    "codes-par, codes-cc",
    "sst-ugal, sst-cm",
)
"""Routings under congestion controls."""
CAUGHT = {"nca flow-hash": (1, 31), "par": (308,), "ugal": (208,)}
"""By routing, cases in which the engine once did something else than the pages say."""


def routed_case(what: str, seed: int) -> Case:
    """A small case under a routing, and a congestion control; the seed says with which kind of switches."""
    routing, _, protocol = what.partition(", ")
    name, _, up = routing.partition(" ")
    damaged = damaged_dragonfly_case if up in GOING_ROUND else damaged_case
    makers: dict[str, Callable[[str, int], Case]] = {
        "nca": partial(tree_case, up), "damaged": partial(damaged, up),
    }  # fmt: skip
    make = makers.get(name, partial(dragonfly_case, routing))
    case = make(KINDS[seed % len(KINDS)], seed)
    return controlled(case, protocol, seed) if protocol else case


def controlled(case: Case, name: str, seed: int) -> Case:
    """A case under a congestion control, with one queue for each port."""
    draw = random.Random(f"controlled {name} {seed}")
    protocol = random_protocol(name, draw, case.packet_max)
    acknowledge = case.acknowledge or protocol.needs_acknowledgements
    per = {"queueing": "single", "per": "vc", "input_buffer": draw.choice([None, 2 * case.packet_max])}
    speedup = case.speedup or 1
    return replace(case, **per, speedup=speedup, fifo=False, acknowledge=acknowledge, protocol=protocol)


@pytest.mark.engine
@pytest.mark.parametrize("routing", [*ROUTINGS, *CONTROLLED])
def test_every_packet_goes_when_the_reference_says(routing):
    number = [*ROUTINGS, *CONTROLLED].index(routing)  # so that kinds of switches take turns
    for seed in (number, number + 20, *CAUGHT.get(routing, ())):
        assert difference(routed_case(routing, seed)) == ([], []), f"routed_case({routing!r}, {seed})"


@pytest.mark.engine
def test_every_packet_of_several_queue_pairs_goes_when_the_reference_says():
    for seed in range(4):
        case = replace(routed_case("nca flow-hash", seed), queue_pairs=3)
        assert difference(case) == ([], []), seed


@pytest.mark.parametrize("routing", ["par", "nca least-loaded"])
def test_queues_decide_either_way(routing):
    taken = Counter[str]()
    for seed in (8, 11) if routing == "par" else range(3):
        simulation = Simulation(routed_case(routing, seed))
        simulation.run()
        taken += simulation.routing.taken
    assert len(taken) == (6 if routing == "par" else 2)
    assert min(taken.values()) > 1, taken


def main(routing: str, count: str, first: str = "0") -> None:
    """Compares many, and tells the least difference."""
    if "," in routing:
        SIMPLER.pop("acknowledge")
    compare(routing, range(int(first), int(first) + int(count)), partial(routed_case, routing))


if __name__ == "__main__":
    main(*sys.argv[1:])
