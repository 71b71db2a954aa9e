"""Compares routings that draw or look at queues with those of the reference simulator, packet by packet.

`python test_reference_routing.py ROUTING COUNT [FIRST]` compares more, and shrinks the first that differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial

import pytest
from reference_case import Case
from reference_routing_draws import UPWARDS, dragonfly_case, tree_case
from test_reference import KINDS, compare, difference

ON_DRAGONFLIES = ("minimal", "valiant", "ugal", "par")
ROUTINGS = (*ON_DRAGONFLIES, *(f"nca {up}" for up in UPWARDS))
CAUGHT: dict[str, tuple[int, ...]] = {}
"""By routing, cases in which the engine once did something else than the pages say."""


def routed_case(routing: str, seed: int) -> Case:
    """A small case under a routing; the seed says with which kind of switches."""
    name, _, up = routing.partition(" ")
    make: Callable[[str, int], Case] = (
        partial(tree_case, up) if name == "nca" else partial(dragonfly_case, routing)
    )
    return make(KINDS[seed % len(KINDS)], seed)


@pytest.mark.engine
@pytest.mark.parametrize("routing", ROUTINGS)
def test_every_packet_goes_when_the_reference_says(routing):
    for seed in (*range(4), *CAUGHT.get(routing, ())):
        assert difference(routed_case(routing, seed)) == ([], []), f"routed_case({routing!r}, {seed})"


def main(routing: str, count: str, first: str = "0") -> None:
    """Compares many, and tells the least difference."""
    compare(routing, range(int(first), int(first) + int(count)), partial(routed_case, routing))


if __name__ == "__main__":
    main(*sys.argv[1:])
