"""Compares the engine's protocols with those of the reference simulator, packet by packet.

`python test_reference_protocols.py PROTOCOL COUNT [FIRST]` compares more, and shrinks the first that differ.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from reference import Simulation
from reference_case import Case, Message
from reference_codes_cc import random_codes_cc
from reference_dcqcn import Dcqcn
from reference_draws import random_case, windowed_case
from reference_ecn import Ecn
from reference_lhrp import Lhrp
from reference_lhrp_srp import LhrpSrp
from reference_protocols import Protocol
from reference_smsrp import Smsrp
from reference_srp import Srp
from reference_sst_cm import random_sst_cm
from reference_window_draws import WINDOWED, random_window
from test_reference import KINDS, SIMPLER, compare, difference

CAUGHT = {
    "codes-cc": (), "dcqcn": (), "ecn": (18, 162), "lhrp": (580,), "lhrp+srp": (), "smsrp": (65, 242),
    "srp": (143, 184, 237, 242, 293), "sst-cm": (29, 197),
}  # fmt: skip
"""By protocol, cases in which the engine once did something else than the pages say."""
COPYING = ("in-order", "fast-resend")
"""Variants of SRP that send again what is not answered."""
GRADED = ("lhrp", "lhrp+srp", "smsrp", "srp")
"""Protocols that the second simulator knows with messages of several priorities, too."""
THROTTLING = ("codes-cc", "sst-cm")
"""Protocols that the second simulator knows with one send queue for all destinations, too."""


def random_protocol(name: str, draw: random.Random, most: int) -> Protocol:
    """A protocol with parameters that make it act."""
    if name == "codes-cc":
        return random_codes_cc(draw, most)
    if name == "sst-cm":
        return random_sst_cm(draw, most)
    stops, wait = draw.choice(["message", "queue", "growth"]), draw.choice([1, 2, 4, 10, 50]) * 1000
    if name == "ecn":
        return Ecn.random(draw, most)
    if name == "dcqcn":
        return Dcqcn.random(draw, most)
    if name == "smsrp":
        epsilon, overhead = draw.choice([Fraction(0), Fraction(0), Fraction(1, 4)]), draw.choice([0, 1, 1, 3])
        return Smsrp(stops=stops, time_to_wait=wait, epsilon=epsilon, overhead=overhead)
    if name == "srp":
        return Srp(
            time_to_wait=wait,
            n_min=draw.choice([0, 0, 2 * most, 4 * most]), n_max=draw.choice([0, 0, 1, 2, 5]),
            epsilon=draw.choice([Fraction(0), Fraction(1, 20), Fraction(1)]),
            max_outstanding=draw.choice([0, 1, 1, 2]), own_class=draw.random() < 0.5,
            reserves=draw.choice(["at-once", "in-turn", "with-first-packet"]),
        )  # fmt: skip
    threshold, drops = draw.choice([0, 1, most, 2 * most, 5 * most]), draw.random() < 0.5
    after = draw.choice([1, 2, 3, 3])
    if name == "lhrp+srp":
        rules = [draw.choice(["threshold", "timeout"]) for _ in range(2)]
        return LhrpSrp(stops, wait, draw.choice([2, most + 1, 4 * most]), threshold, *rules, after)
    return Lhrp(stops=stops, threshold=threshold, time_to_wait=wait if drops else None, coalesce_after=after)


def protocol_case(name: str, seed: int) -> Case:
    """A small case, half of whose messages go to one endpoint, under a protocol."""
    draw = random.Random(f"{name} {seed}")
    if name in WINDOWED:
        case = windowed_case(draw.choice(KINDS), seed)
        case = replace(case, acknowledge=name != "rccc" or draw.random() < 0.7)
        return replace(case, protocol=random_window(name, f"{name} {seed}", case))
    case = random_case(draw.choice(KINDS), seed)
    protocol = random_protocol(name, draw, case.packet_max)
    acknowledge = case.acknowledge or protocol.needs_acknowledgements
    fifo = case.fifo and name in THROTTLING
    return replace(case, fifo=fifo, acknowledge=acknowledge, protocol=protocol)


def copying_case(variant: str, seed: int) -> Case:
    """A case of SRP where what is not answered in time is sent again."""
    case = protocol_case("srp", seed)
    assert isinstance(case.protocol, Srp)
    return replace(case, protocol=replace(case.protocol, variant=variant))


def graded_case(name: str, seed: int) -> Case:
    """The same with messages of two or three priorities, as many as there are traffic classes for."""
    case, draw = protocol_case(name, seed), random.Random(f"graded {name} {seed}")
    assert case.protocol is not None
    several = len(case.protocol.classes) < 5
    which = draw.choice([(0, 1), (2, 0, 7) if several else (5, 3)])
    messages = tuple(replace(one, priority=draw.choice(which)) for one in case.messages)
    return replace(case, messages=messages)


@pytest.mark.engine
@pytest.mark.parametrize("name", [*CAUGHT, *WINDOWED])
def test_every_packet_goes_when_the_reference_says(name):
    for seed in (*range(6), *CAUGHT.get(name, ())):
        assert difference(protocol_case(name, seed)) == ([], []), f"protocol_case({name!r}, {seed})"


@pytest.mark.engine
@pytest.mark.parametrize("variant", COPYING)
def test_every_second_copy_goes_when_the_reference_says(variant):
    for seed in range(3):
        assert difference(copying_case(variant, seed)) == ([], []), f"copying_case({variant!r}, {seed})"


@pytest.mark.engine
@pytest.mark.parametrize("name", GRADED)
def test_every_packet_of_several_priorities_goes_when_the_reference_says(name):
    for seed in range(3):
        assert difference(graded_case(name, seed)) == ([], []), f"graded_case({name!r}, {seed})"


@pytest.mark.engine
def test_what_comes_in_the_same_tick_at_a_later_port_does_not_wait():
    messages = Message(1, 0, 1, 0, priority=0), Message(2, 0, 1, 0, priority=1)
    case = Case((0, 0, 0), (), messages, host_latency=0, acknowledge=False, protocol=Lhrp(threshold=0))
    assert difference(case) == ([], [])


@pytest.mark.parametrize("name", THROTTLING)
def test_sources_are_ordered_to_throttle(name):
    simulations = [Simulation(protocol_case(name, seed)) for seed in range(15)]
    assert sum(bool(one.run() and one.orders) for one in simulations) > 5


def main(name: str, count: str, first: str = "0") -> None:
    """Compares many, and tells the least difference."""
    seeds = range(int(first), int(first) + int(count))
    if name in WINDOWED:
        SIMPLER.pop("acknowledge")
    compare(name, seeds, partial(protocol_case, name))
    for variant in COPYING if name == "srp" else ():
        compare(f"{variant} srp", seeds, partial(copying_case, variant))
    if name in GRADED:
        compare(f"{name} with priorities", seeds, partial(graded_case, name))


if __name__ == "__main__":
    main(*sys.argv[1:])
