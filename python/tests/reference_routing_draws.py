"""Random cases on dragonflies and fat trees, loaded until queues decide about ways."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import inf

from reference import Simulation
from reference_case import Case, Message
from reference_dragonfly import Dragonfly
from reference_draws import MOST_VCS, random_case, with_queues
from reference_tree import Around, Tree

TREES = [
    Tree((2, 2), (2,)), Tree((2, 2, 2), (2, 2)), Tree((3, 3), (3,)), Tree((4, 2), (4,)), Tree((2, 3), (5,)),
    Tree((2, 2, 2), (1, 2)), Tree((3, 3), (2,), parallel=(2,)), Tree((2, 2, 2), (2, 2), parallel=(2, 1)),
    Tree((2, 2, 2), (2, 1), parallel=(1, 3)), Tree((3, 2, 2), (3, 3)), Tree((4,), ()),
]  # fmt: skip
UPWARDS = ("random", "deterministic", "flow-hash", "least-loaded")


def _drawn_net(draw: random.Random, kind: str, most: int) -> Dragonfly:
    p, a, h = draw.choice([1, 1, 2, 2, 3]), draw.choice([2, 3, 3, 4]), draw.choice([1, 1, 2])
    groups = draw.choice([1, 2, *[draw.randint(3, 5)] * 6])
    groups = min(groups, a * h + 1)
    parallel = draw.randint(1, a * h // (groups - 1)) if groups > 1 else 1
    threshold = draw.choice([0, 0, 0, 1, most, 2 * most, 24])
    arrangement = draw.choice(["absolute", "palm-tree"])
    return Dragonfly(p, a, h, groups, arrangement, parallel, kind, threshold)


def _loaded(case: Case, hosts: tuple[int, ...], near: int, draw: random.Random) -> Case:
    """The messages of a case, and more, to one endpoint, to those of the next group, or to any."""
    pattern = draw.choice(["hot", "next", "any", "mixed", "mixed"])
    count, hot = len(hosts), draw.randrange(len(hosts))
    span = draw.choice([0, 5, 20, 60, 200])
    longest = draw.choice([2, 5, 12])

    def destination(source: int) -> int:
        how = draw.choice(["hot", "next", "any"]) if pattern == "mixed" else pattern
        beyond = (source // near + 1) * near + draw.randrange(near)
        return {"hot": hot, "next": beyond % count, "any": draw.randrange(count)}[how]

    messages = []
    for _ in range(draw.randint(5, 80)):
        source = draw.randrange(count)
        to, flits = destination(source), draw.randint(1, longest * case.packet_max)
        if source != to:
            messages.append(Message(source, to, flits, draw.randint(0, span) * 1000))
    messages = messages or [Message(0, 1, 1, 0)]
    return replace(case, hosts=hosts, messages=tuple(messages), levels=False)


def _with_some_queues(case: Case, draw: random.Random) -> Case:
    """Half of the cases with several queues, if a port may have so many."""
    if draw.random() < 0.5:
        return case
    queued = with_queues(case, draw)
    return queued if Simulation(queued).vcs <= MOST_VCS else case


def _classes(draw: random.Random, count: int) -> tuple[list[Fraction], list[int]]:
    """Rates and latencies of classes of links."""
    rates = draw.choice([(100,), (100,), (25, 50, 100, 200, 400), (97, 300, 3200, 128)])
    latencies = [latency * 1000 for latency in (0, 1, 2, 3, 5, 10, 20, 50)]
    return [Fraction(draw.choice(rates)) for _ in range(count)], [
        draw.choice(latencies) for _ in range(count)
    ]


def dragonfly_case(routing: str, kind: str, seed: int) -> Case:
    """A small dragonfly with switches of a kind, under a routing."""
    draw = random.Random(f"dragonfly {routing} {kind} {seed}")
    case = random_case(kind, seed)
    net = _drawn_net(draw, routing, case.packet_max)
    if len(net.hosts) < 2:
        net = replace(net, a=net.a + 1)
    (local, far), (near, away) = _classes(draw, 2)
    case = _loaded(case, net.hosts, net.p * net.a, draw)
    case = replace(case, links=net.links((local, near), (far, away)), dragonfly=net)
    return _with_some_queues(case, draw)


def tree_case(upwards: str, kind: str, seed: int) -> Case:
    """A small fat tree with switches of a kind, and a choice of ways up."""
    draw = random.Random(f"tree {upwards} {kind} {seed}")
    case, tree = random_case(kind, seed), draw.choice(TREES)
    rates, latencies = _classes(draw, len(tree.down))
    case = _loaded(case, tree.hosts, tree.down[0], draw)
    case = replace(case, links=tree.links(rates, latencies), tree=tree, upwards=upwards)
    return _with_some_queues(case, draw)


def damaged_case(upwards: str, kind: str, seed: int) -> Case:
    """A fat tree some of whose links have failed: `nca` with a choice of ways up, or "shortest …"."""
    other = upwards.partition(" ")[2]
    draw = random.Random(f"damaged {upwards} {kind} {seed}")
    case = tree_case("random" if other else upwards, kind, seed)
    if other:
        case = replace(
            case, choose=other, levels=True, queueing="single", queues=1, per="vc", input_buffer=None
        )
    pairs = sorted({(min(link.a, link.b), max(link.a, link.b)) for link in case.links})
    for pair in draw.sample(pairs, min(len(pairs), draw.randint(1, 3))):
        worse = replace(case, failed=tuple(sorted({*case.failed, pair})))
        around = Around(Simulation(replace(worse, choose="by-destination")))
        leaves = {*case.hosts}
        if all(around.far(one, to, down=False) < inf for one in leaves for to in leaves):
            case = worse
    return case


def damaged_dragonfly_case(routing: str, kind: str, seed: int) -> Case:
    """A dragonfly some of whose global links have failed, but none that alone joined two groups."""
    draw = random.Random(f"damaged dragonfly {routing} {kind} {seed}")
    case = dragonfly_case(routing, kind, seed)
    net = case.dragonfly
    assert net is not None

    def groups(link: tuple[int, int]) -> tuple[int, int]:
        return link[0] // net.a, link[1] // net.a

    pairs = sorted(
        {
            (link.a, link.b)
            for link in case.links
            if groups((link.a, link.b))[0] != groups((link.a, link.b))[1]
        }
    )
    for pair in draw.sample(pairs, min(len(pairs), draw.randint(1, 4))):
        left = [other for other in pairs if other not in {*case.failed, pair}]
        if any(groups(other) == groups(pair) for other in left):
            case = replace(case, failed=tuple(sorted({*case.failed, pair})))
    return case
