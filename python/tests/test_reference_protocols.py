"""Compares the engine's protocols with those of the reference simulator, packet by packet.

`python test_reference_protocols.py PROTOCOL COUNT [FIRST]` compares more, and shrinks the first that differ.
"""

from __future__ import annotations

import sys
from functools import partial

import pytest
from reference import Simulation
from reference_case import Case, Message
from reference_lhrp import Lhrp
from reference_protocol_draws import (
    COPYING,
    GRADED,
    THROTTLING,
    copying_case,
    graded_case,
    lines_case,
    network_case,
    paired_case,
    paused_case,
    protocol_case,
    slow_case,
    stored_case,
)  # fmt: skip
from reference_window_draws import WINDOWED
from test_reference import SIMPLER, compare, difference

CAUGHT = {
    "codes-cc": (), "dcqcn": (), "dcqcn-connectx": (), "ecn": (18, 162), "lhrp": (580,), "lhrp+srp": (),
    "smsrp": (65, 242), "srp": (143, 184, 237, 242, 293), "sst-cm": (29, 197),
}  # fmt: skip
"""By protocol, cases in which the engine once did something else than the pages say."""
CAUGHT_IN_NETWORKS = {
    "hpcc": (13,),
    "lhrp": (5, 15, 29),
    "lhrp+srp": (50071, 61169, 62376),
    "smsrp": (20, 29, 70013),
    "srp": (2005, 2026, 90256),
}
"""The same with queues, lattices and interleaved flits."""
CAUGHT_PAUSED = {"srp": (1179,)}
"""The same where senders are paused."""


@pytest.mark.engine
@pytest.mark.parametrize("name", [*CAUGHT, *WINDOWED])
def test_every_packet_goes_when_the_reference_says(name):
    for seed in (*range(3), *CAUGHT.get(name, ())):
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
@pytest.mark.parametrize("name", [*CAUGHT, *WINDOWED])
def test_every_packet_of_several_queue_pairs_goes_when_the_reference_says(name):
    for seed in range(3):
        assert difference(paired_case(name, seed)) == ([], []), f"paired_case({name!r}, {seed})"


@pytest.mark.engine
@pytest.mark.parametrize("name", [*CAUGHT, *WINDOWED])
def test_every_packet_goes_when_the_reference_says_where_senders_are_paused(name):
    for seed in (*range(3), *CAUGHT_PAUSED.get(name, ())):
        assert difference(paused_case(name, seed)) == ([], []), f"paused_case({name!r}, {seed})"


@pytest.mark.engine
@pytest.mark.parametrize("name", [*CAUGHT, *WINDOWED])
def test_every_packet_goes_when_the_reference_says_where_endpoints_and_links_are_slow(name):
    for seed in range(3):
        assert difference(slow_case(name, seed)) == ([], []), f"slow_case({name!r}, {seed})"


@pytest.mark.engine
@pytest.mark.parametrize("name", [*CAUGHT, *WINDOWED])
def test_every_packet_goes_when_the_reference_says_where_switches_store_and_forward(name):
    for seed in range(3):
        assert difference(stored_case(name, seed)) == ([], []), f"stored_case({name!r}, {seed})"


@pytest.mark.engine
def test_what_comes_in_the_same_tick_at_a_later_port_does_not_wait():
    messages = Message(1, 0, 1, 0, priority=0), Message(2, 0, 1, 0, priority=1)
    case = Case((0, 0, 0), (), messages, host_latency=0, acknowledge=False, protocol=Lhrp(threshold=0))
    assert difference(case) == ([], [])


@pytest.mark.engine
@pytest.mark.parametrize("name", [*CAUGHT, *WINDOWED])
def test_queues_lattices_and_interleaved_flits_change_nothing_else(name):
    for seed in (1, *CAUGHT_IN_NETWORKS.get(name, ())):
        assert difference(network_case(name, seed)) == ([], []), f"network_case({name!r}, {seed})"


@pytest.mark.engine
@pytest.mark.parametrize("name", [*CAUGHT, *WINDOWED])
def test_lines_of_switches_change_nothing_else(name):
    assert difference(lines_case(name, 1)) == ([], []), f"lines_case({name!r}, 1)"


@pytest.mark.parametrize("name", THROTTLING)
def test_sources_are_ordered_to_throttle(name):
    simulations = [Simulation(protocol_case(name, seed)) for seed in range(15)]
    assert sum(bool(one.run() and one.orders) for one in simulations) > 5


def main(name: str, count: str, first: str = "0") -> None:
    """Compares many, and tells the least difference.

    `network NAME` has queues and lattices, `lines NAME` KNS networks, `pairs NAME` several queue pairs,
    `pauses NAME` pauses in place of credits, `slow NAME` endpoints and links that are slow at times, and
    `stored NAME` switches that store packets and forward them.
    """
    where, _, name = name.rpartition(" ")
    makers = {
        "network": network_case, "lines": lines_case, "pairs": paired_case, "pauses": paused_case,
        "slow": slow_case, "stored": stored_case,
    }  # fmt: skip
    make = makers.get(where, protocol_case)
    seeds = range(int(first), int(first) + int(count))
    if name in WINDOWED:
        SIMPLER.pop("acknowledge")
    compare(name, seeds, partial(make, name))
    if where:
        return
    for variant in COPYING if name == "srp" else ():
        compare(f"{variant} srp", seeds, partial(copying_case, variant))
    if name in GRADED:
        compare(f"{name} with priorities", seeds, partial(graded_case, name))


if __name__ == "__main__":
    main(*sys.argv[1:])
