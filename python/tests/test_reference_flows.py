"""Compares flows, their routes and explicit rates with those of the reference simulator, packet by packet.

`python test_reference_flows.py WHAT COUNT [FIRST]` compares more, and shrinks the first that differ.
"""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from reference_case import Case, Message
from reference_draws import random_case
from reference_flows import Flows
from reference_max_min import MaxMin
from reference_phases import Flown, Phase, PhaseSimulation
from reference_saa import Saa
from reference_tree import Tree
from test_reference import KINDS, compare, difference, numbered, packets, toml

import tailback

INJECTIONS = ("greedy", "periodic-selection", "shaped-virtual-clock")
RATED = [f"{name} {injection}" for name in ("saa", "max-min") for injection in INJECTIONS]
WHAT = ("nca", "flow-adaptive", *RATED)
PARALLEL = [Tree((2, 3), (2,), parallel=(2,)), Tree((2, 2, 2), (2, 1), parallel=(1, 3))]
"""Trees on which only flows with routes of their own keep to one way."""
TREES = [
    Tree((2, 2), (2,)), Tree((2, 2), (2,), 1), Tree((2, 2, 2), (2, 2), 1), Tree((2, 2, 2), (2, 2), 1),
    Tree((3, 3), (3,), 1), Tree((2, 2, 2), (2, 2), 2), Tree((3, 3), (3,), 2), Tree((4, 2), (4,)),
    Tree((3, 2), (3,)), Tree((2, 3), (5,)), Tree((1, 3), (2,)), Tree((2, 2, 2), (1, 2)), Tree((4,), ()),
    Tree((2, 1, 2), (2, 2)),
]  # fmt: skip


def on_tree(case: Case, tree: Tree, draw: random.Random) -> Case:
    """The messages of a case on a tree."""
    rates = draw.choice([(100,), (100,), (25, 50, 100, 200, 400), (97, 300, 3200, 128)])
    latencies = [latency * 1000 for latency in (0, 1, 2, 3, 5, 10, 20, 50)]
    count = len(tree.up) + 1
    links = tree.links(
        [Fraction(draw.choice(rates)) for _ in range(count)], [draw.choice(latencies) for _ in range(count)]
    )
    hosts, hot = tree.hosts, draw.randrange(len(tree.hosts))
    messages = []
    for one in case.messages[: draw.choice([5, 10, 20])]:
        source, destination = draw.randrange(len(hosts)), draw.choice([hot, draw.randrange(len(hosts))])
        if source != destination:
            messages.append(replace(one, source=source, destination=destination))
    messages = messages or [Message(0, 1, 1, 0)]
    case = replace(case, hosts=hosts, links=links, messages=tuple(messages), tree=tree)
    return replace(case, levels=False, fifo=False)


def flow_case(what: str, seed: int) -> Case:
    """A small case on a tree."""
    draw = random.Random(f"{what} {seed}")
    cache = draw.choice([None, None, 0, 1, 1, 2])
    adaptive = what == "flow-adaptive" or (what != "nca" and draw.random() < 0.5)
    tree = draw.choice(TREES + PARALLEL * adaptive)
    case = on_tree(random_case(draw.choice(KINDS), seed), tree, draw)
    if what == "nca":
        return replace(case, protocol=None)
    if what == "flow-adaptive":
        return replace(case, protocol=Flows(cache=cache))
    name, _, injection = what.partition(" ")
    period, hold = draw.choice([1, 5, 20, 100, 1000]), draw.choice([0, 5, 20, 100, 1000])
    rates: dict[str, Any] = {
        "adaptive": adaptive, "cache": cache, "injection": injection,
        "probe_period": period * 1000, "hold": hold * 1000, "piggyback": draw.random() < 0.3,
    }  # fmt: skip
    queueing = draw.choice(["single", "single", "voqnet", "dbbm", "bbq", "voqsw"])
    case = replace(case, queueing=queueing, queues=draw.choice([1, 2, 3]))
    if name == "saa":
        return replace(case, protocol=Saa(**rates))
    utilization = draw.choice([Fraction(95, 100), Fraction(1), Fraction(1, 2)])
    return replace(case, protocol=MaxMin(utilization=utilization, **rates))


def phased_case(seed: int) -> tuple[Case, int, int]:
    """A case whose messages are flows, and how often they are sent, with what time between."""
    draw = random.Random(f"phased {seed}")
    case = flow_case(draw.choice(WHAT), seed)
    flows = {(one.source, one.destination): replace(one, start=0) for one in case.messages}
    case = replace(case, messages=tuple(flows.values()), flit_bits=draw.choice([64, 100, 128, 512, 8]))
    return case, draw.choice([1, 2, 3]), draw.choice([1, 7, 100, 1000]) * 1000


def phased(case: Case, phases: int, barrier: int) -> str:
    """The scenario file of such a case."""
    flows = "\n".join(f"{one.source} {one.destination} {one.flits} flits" for one in case.messages)
    ranks = len(case.hosts)
    return toml(replace(case, messages=())) + (
        f'[[job]]\nname = "a"\nworkload = "phases"\nflows = "list"\nranks = {ranks}\nphases = {phases}\n'
        f'barrier = "{barrier} ps"\ntext = """{flows}"""\n'
    )


def phases_differ(case: Case, phases: int, barrier: int) -> list[tuple[object, object]]:
    """What both say of a case in phases, where it differs: packets until its end, flows, phases."""
    result = tailback.Scenario.loads(phased(case, phases, barrier)).run()
    tables = result.tables
    simulation = PhaseSimulation(case, phases, barrier)
    rows = packets(tables["packets"].to_pylist())
    theirs = numbered(simulation.run())

    def ps(row: dict[str, Any], *names: str) -> list[int]:
        return [round(1000 * row[name]) for name in names if row.get(name) is not None]

    flown = [
        Flown(
            row["phase"], row["source"], row["destination"], *ps(row, "time_ns", "link_load_ns", "settled_ns")
        )
        for row in tables["flows"].to_pylist()
    ]
    told = [Phase(*ps(row, "start_ns", "time_ns", "bound_ns")) for row in tables["phases"].to_pylist()]
    pairs: list[tuple[Any, Any]] = [(told, simulation.told), (sorted(flown), sorted(simulation.flown))]
    if case.protocol is not None:
        routes = simulation.routes()
        pairs.append(({name: result.summary["flow_routes"][name] for name in routes}, routes))
    ours, theirs = ([row for row in them if row.start < simulation.end] for them in (rows, theirs))
    return [(one, other) for one, other in [*pairs, (ours, theirs)] if one != other]


CAUGHT: dict[str, tuple[int, ...]] = {
    "max-min periodic-selection": (1023,),
    "saa periodic-selection": (1003,),
}
"""Rare cases in which the engine once did something else than the pages say."""


@pytest.mark.engine
@pytest.mark.parametrize("what", WHAT)
def test_every_packet_goes_when_the_reference_says(what):
    for seed in (*range(4), *CAUGHT.get(what, ())):
        assert difference(flow_case(what, seed)) == ([], []), f"flow_case({what!r}, {seed})"


@pytest.mark.engine
def test_phases_take_as_long_as_the_reference_says():
    for seed in range(4):
        assert phases_differ(*phased_case(seed)) == [], f"phased_case({seed})"


def main(what: str, count: str, first: str = "0") -> None:
    """Compares many, and tells the least difference."""
    seeds = range(int(first), int(first) + int(count))
    if what == "phases":
        failed = [seed for seed in seeds if phases_differ(*phased_case(seed))]
        print(f"{what}: {len(seeds) - len(failed)} agree, {len(failed)} do not: {failed}")
        return
    compare(what, seeds, partial(flow_case, what))


if __name__ == "__main__":
    main(*sys.argv[1:])
