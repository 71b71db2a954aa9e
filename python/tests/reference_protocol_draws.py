"""Random cases under the congestion controls, drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from reference import Simulation
from reference_case import Case
from reference_codes_cc import random_codes_cc
from reference_connectx import Connectx
from reference_dcqcn import Dcqcn
from reference_draws import (
    MOST_VCS,
    aside,
    crowded_case,
    in_whole_packets,
    kns_case,
    lattice_case,
    random_case,
    windowed,
    windowed_case,
    with_pauses,
    with_queues,
    with_slow,
    with_slow_links,
)
from reference_ecn import Ecn
from reference_lhrp import Lhrp
from reference_lhrp_srp import LhrpSrp
from reference_protocol import Protocol
from reference_smsrp import Smsrp
from reference_srp import Srp
from reference_sst_cm import random_sst_cm
from reference_window_draws import WINDOWED, random_window

KINDS = ("cioq", "input-queued", "output-queued", "shared-buffer")
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
    if name == "dcqcn-connectx":
        return Connectx.random(draw, most)
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
    return _controlled(case, name, draw)


def _controlled(case: Case, name: str, draw: random.Random) -> Case:
    """The case under a protocol."""
    protocol = random_protocol(name, draw, case.packet_max)
    keys = protocol.keys()
    if "lead" in keys:
        protocol = replace(protocol, lead=aside(draw).choice(["none", "way"]))
    acknowledge = case.acknowledge or protocol.needs_acknowledgements
    return replace(case, fifo=case.fifo and name in THROTTLING, acknowledge=acknowledge, protocol=protocol)


def network_case(name: str, seed: int) -> Case:
    """A case under a protocol with several queues per port, on a lattice, or with flits that take turns."""
    draw = random.Random(f"network {name} {seed}")
    makers = [random_case, random_case, crowded_case, lattice_case, lattice_case, lattice_case]
    return _in_network(name, seed, draw, draw.choice(makers))


def lines_case(name: str, seed: int) -> Case:
    """The same on a KNS network."""
    return _in_network(name, seed, random.Random(f"lines {name} {seed}"), kns_case)


def _in_network(name: str, seed: int, draw: random.Random, make: Callable[[str, int], Case]) -> Case:
    case = replace(make(draw.choice(KINDS), seed), per="vc", queueing="single")
    # Signals out of band have the reference look at the orders again, which the engine does for packets only.
    case = replace(case, messages=case.messages[:30], weighs=case.weighs and name not in THROTTLING)
    if name in WINDOWED:
        case = windowed(case, draw)
        case = replace(case, acknowledge=name != "rccc" or draw.random() < 0.7)
        case = replace(case, protocol=random_window(name, f"{name} {seed}", case))
    else:
        case = _controlled(case, name, draw)
        if isinstance(case.protocol, Ecn):
            case = replace(case, protocol=replace(case.protocol, marking_rate=draw.choice([0, 0, 1, 3])))
    case = with_queues(in_whole_packets(case) if case.ring == "bubble" else case, draw)
    if Simulation(case).vcs > MOST_VCS:
        case = replace(case, queueing="single", per="vc")
    return replace(case, interleave=case.has_crossbar and draw.random() < 0.3)


def paired_case(name: str, seed: int) -> Case:
    """A case whose messages take several queue pairs in turn."""
    draw = random.Random(f"paired {name} {seed}")
    makers = [protocol_case, protocol_case, network_case]
    case = draw.choice([*makers, graded_case] if name in GRADED else makers)(name, seed)
    if isinstance(case.protocol, Srp):
        case = replace(case, protocol=replace(case.protocol, variant=draw.choice(["default", *COPYING])))
    return replace(case, queue_pairs=draw.choice([2, 3, 5]))


def paused_case(name: str, seed: int) -> Case:
    """A case whose senders are paused, and do not count what fits."""
    draw = random.Random(f"paused {name} {seed}")
    makers = [protocol_case, network_case, lines_case, paired_case]
    return with_pauses(draw.choice(makers)(name, seed), draw)


def slow_case(name: str, seed: int) -> Case:
    """A case some of whose endpoints are slow at times, and some of whose links."""
    draw = random.Random(f"slow {name} {seed}")
    makers = [protocol_case, network_case, lines_case, paired_case, paused_case]
    case = with_slow(draw.choice(makers)(name, seed), draw)
    return with_slow_links(replace(case, slow=draw.choice([(), case.slow])), draw)


def stored_case(name: str, seed: int) -> Case:
    """A case whose switches store packets and forward them."""
    draw = random.Random(f"stored {name} {seed}")
    makers = [protocol_case, network_case, lines_case, paired_case, paused_case, slow_case]
    case = replace(draw.choice(makers)(name, seed), stores=True, interleave=False)
    if name in WINDOWED:  # whose parameters go by the round trip when nothing is slow
        usual = replace(case, slow=(), slow_links=())
        return replace(case, protocol=random_window(name, f"stored {name} {seed}", usual))
    return case


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
