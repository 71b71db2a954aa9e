"""Fat trees with horizontal links, after `tailback list k-ary-n-tree`, xgft, nca and flow-adaptive."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, prod
from typing import TYPE_CHECKING, Any

from reference_case import Case, Link
from reference_channel import Packet
from reference_hash import least, of_flow
from reference_routing import Routing, Senses
from reference_switches import Hop, Switch

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Place:
    """A switch: its level, the subtree that it is at the top of, and its place among the tops of that."""

    level: int
    subtree: int
    at: int


@dataclass(frozen=True)
class Tree:
    """Its levels from the leaf switches up: children, and parents; and links to the next in a row."""

    down: tuple[int, ...]
    up: tuple[int, ...]
    horizontal: int = 0
    parallel: tuple[int, ...] = ()  # links to each parent, if there are several

    def links_up(self, level: int) -> int:
        """Parallel links from a switch of a level to each parent."""
        return self.parallel[level] if self.parallel else 1

    @property
    def hosts(self) -> tuple[int, ...]:
        """The switch of each endpoint."""
        return tuple(at // self.down[0] for at in range(prod(self.down)))

    def tables(self, case: Case) -> dict[str, dict[str, object]]:
        """The tables of the network."""
        topology: dict[str, object] = {"kind": "xgft", "down": list(self.down), "up": list(self.up)}
        if self.parallel:
            topology["links"] = list(self.parallel)
        if self.horizontal:
            topology = {"kind": "k-ary-n-tree", "k": self.down[0], "n": len(self.down)}
            topology["horizontal"] = self.horizontal
        classes = {"host": (case.host_rate, case.host_latency)}
        for link in case.links:
            levels = self.place(link.a).level, self.place(link.b).level
            name = "horizontal" if levels[0] == levels[1] else f"level{levels[1]}"
            classes[name] = link.rate, link.latency
        bandwidth = {name: f"{int(rate * 1000)} Mb/s" for name, (rate, _) in classes.items()}
        latency = {name: f"{latency} ps" for name, (_, latency) in classes.items()}
        protocol: Any = case.protocol
        routing = protocol.routing if case.has_flows else {"kind": "nca", "up": case.upwards}
        if case.choose != "by-destination":
            routing = {"kind": "shortest", "choose": case.choose}
        return {"topology": topology, "routing": routing, "link": latency | {"bandwidth": bandwidth}}

    def tops(self, level: int) -> int:
        """Switches at the top of each subtree of a level."""
        return prod(self.up[:level])

    def subtrees(self, level: int) -> int:
        """Subtrees of a level."""
        return prod(self.down[level + 1 :])

    def number(self, place: Place) -> int:
        """The number of a switch."""
        below = sum(self.subtrees(level) * self.tops(level) for level in range(place.level))
        return below + place.subtree * self.tops(place.level) + place.at

    def place(self, number: int) -> Place:
        """Where the switch of a number is."""
        level = 0
        while number >= (count := self.subtrees(level) * self.tops(level)):
            level, number = level + 1, number - count
        return Place(level, number // self.tops(level), number % self.tops(level))

    def links(self, rates: list[Fraction], latencies: list[int]) -> tuple[Link, ...]:
        """All links, in the order of ports: by level, then those of rows, of each class with its numbers."""
        found = []
        for level, ups in enumerate(self.up):
            for subtree in range(self.subtrees(level)):
                for at in range(self.tops(level)):
                    here = self.number(Place(level, subtree, at))
                    for choice in range(ups):
                        parent = Place(level + 1, subtree // self.down[level + 1], at * ups + choice)
                        link = Link(here, self.number(parent), rates[level], latencies[level])
                        found += [link] * self.links_up(level)
        for level in range(len(self.down)):
            for subtree in range(self.subtrees(level)):
                for at in range(self.tops(level) - 1):
                    pair = [self.number(Place(level, subtree, at + step)) for step in (0, 1)]
                    found += [Link(pair[0], pair[1], rates[-1], latencies[-1])] * self.horizontal
        return tuple(found)

    def is_above(self, place: Place, destination: int) -> bool:
        """Whether an endpoint is in the subtree of a switch."""
        return destination // prod(self.down[: place.level + 1]) == place.subtree

    def digit(self, destination: int, level: int) -> int:
        """The number of the child of a switch of a level that leads to an endpoint."""
        return destination // prod(self.down[:level]) % self.down[level]

    def first_up(self, level: int) -> int:
        """The first port up of a switch of a level."""
        return self.down[level] * (self.links_up(level - 1) if level else 1)

    def ports_up(self, level: int) -> int:
        """The ports up of a switch of a level."""
        return self.up[level] * self.links_up(level) if level < len(self.up) else 0

    def default(self, number: int, destination: int) -> int:
        """The default port: down if that leads there, else up by the number of the destination."""
        place = self.place(number)
        if self.is_above(place, destination):
            links = self.links_up(place.level - 1) if place.level else 1
            return self.digit(destination, place.level) * links + destination % links
        turn = destination // self.tops(place.level) % self.ports_up(place.level)
        parents = self.up[place.level]
        up = turn % parents * self.links_up(place.level) + turn // parents
        return self.first_up(place.level) + up

    def candidates(self, number: int, destination: int, before: int | None) -> list[int]:
        """The ports that a set-up packet may take; it came from an endpoint, or from the switch `before`."""
        place = self.place(number)
        level, first = place.level, self.first_up(place.level)
        ups = self.ports_up(level)
        if not self.is_above(place, destination):
            return list(range(first, first + ups))
        links = self.links_up(level - 1) if level else 1
        digit = self.digit(destination, level)
        down = range(digit * links, digit * links + links)
        step = self.direction(place, None if before is None else self.place(before))
        if self.horizontal == 0 or not 0 <= place.at + step < self.tops(level):
            return [*down]
        row = first + ups + (self.horizontal if step > 0 and place.at > 0 else 0)
        return [*down, *range(row, row + self.horizontal)]

    def direction(self, place: Place, before: Place | None) -> int:
        """Which way along the row: on, or towards the farther end."""
        if before is not None and before.level == place.level:
            return place.at - before.at
        return 1 if 2 * place.at < self.tops(place.level) - 1 else -1


class Ancestor(Routing):
    """`nca`: up to a nearest common ancestor, and down; how ports up are chosen is a parameter."""

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        tree, number = self.case.tree, senses.here.number
        assert tree is not None
        place = tree.place(number)
        chance = senses.chance
        if self.case.upwards == "flow-hash":
            chance = of_flow(number, packet.source, packet.destination, packet.pair)
        if tree.is_above(place, packet.destination):
            links = tree.links_up(place.level - 1) if place.level else 1
            first = tree.digit(packet.destination, place.level) * links
            return Hop(first + (chance.below(links) if links > 1 else 0))
        if self.case.upwards == "deterministic":
            return Hop(tree.default(number, packet.destination))
        ups = range(tree.first_up(place.level), tree.first_up(place.level) + tree.ports_up(place.level))
        if self.case.upwards == "least-loaded":
            loads = {senses.occupancy(port) for port in ups}
            self.taken["up: by load" if len(loads) > 1 else "up: drawn"] += 1
            return Hop(least(ups, senses.occupancy, chance))
        return Hop(ups[chance.below(len(ups))])


class Around(Ancestor):
    """The same where links have failed: the shortest of the ways up and down that are left."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        self.known: dict[tuple[int, int, bool], float] = {}

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        here, tree = senses.here, self.case.tree
        last, before = self.arrives(here, packet), here.came_from(packet)
        assert tree is not None
        if last is not None:
            return Hop(last)
        down = isinstance(before, Switch) and tree.place(before.number).level > tree.place(here.number).level
        target = self.case.hosts[packet.destination]
        left = self.far(here.number, target, down=down)
        ways = [
            port
            for port, channel in enumerate(here.out)
            if isinstance(channel.to, Switch)
            and self.far_by(here.number, channel.to.number, target, down=down) == left
        ]
        up = tree.place(here.out[ways[0]].to.number).level > tree.place(here.number).level
        if len(ways) == 1:
            return Hop(ways[0])
        if self.case.upwards == "flow-hash":
            chance = of_flow(here.number, packet.source, packet.destination, packet.pair)
            return Hop(ways[chance.below(len(ways))])
        if up and self.case.upwards == "least-loaded":
            return Hop(least(ways, senses.occupancy, senses.chance))
        if up and self.case.upwards == "deterministic":
            port = tree.default(here.number, packet.destination)
            ups = tree.ports_up(tree.place(here.number).level)
            return Hop(port if port in ways else ways[packet.destination // ups % len(ways)])
        return Hop(ways[senses.chance.below(len(ways))])

    def far_by(self, here: int, there: int, target: int, *, down: bool) -> float:
        """Links to a switch by way of a neighbour, for a packet that may still go up or not."""
        tree = self.case.tree
        assert tree is not None
        up = tree.place(there).level > tree.place(here).level
        if self.has_failed(here, there) or (down and up):
            return inf
        return 1 + self.far(there, target, down=not up)

    def far(self, here: int, target: int, *, down: bool) -> float:
        """Links to a switch."""
        known = self.known.get((here, target, down))
        if known is None:
            beyond = [channel.to for channel in self.sim.switches[here].out]
            ways = [
                self.far_by(here, to.number, target, down=down) for to in beyond if isinstance(to, Switch)
            ]
            known = self.known[here, target, down] = 0 if here == target else min(ways, default=inf)
        return known
