"""Routings of dragonflies, after `tailback list minimal`, valiant, ugal and par."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from reference_channel import Packet
from reference_dragonfly import Dragonfly, Global
from reference_hash import Chance
from reference_routing import Routing, Senses
from reference_switches import Hop, Switch

if TYPE_CHECKING:
    from reference import Simulation


@dataclass
class Way:
    """What a routing remembers of a packet."""

    link: Global | None = None  # for which it heads in this group
    is_diverted: bool = False  # to another group than that of its destination
    crossed: int = 0  # global links
    hops: int = 0  # local ones, in this group


class Direct(Routing):
    """`minimal`: the shortest way, over one of the parallel links that the first switch of a group draws."""

    globals_most: ClassVar[int] = 1
    locals_most: ClassVar[int] = 1  # levels for local hops in each group

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        assert sim.case.dragonfly is not None
        self.net: Dragonfly = sim.case.dragonfly
        self.levels = max(self._levels())

    def _levels(self) -> tuple[int, int]:
        """Levels of local channels and of global ones: none for more hops than there are groups to cross."""
        most = min(self.globals_most, self.net.others)
        return self.locals_most * (most + 1), max(most, 1)

    def levels_to(self, origin: Switch, to: Switch) -> int:
        is_local = origin.number // self.net.a == to.number // self.net.a
        return self._levels()[not is_local]

    def begin(self, packet: Packet) -> None:
        packet.way = Way()

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        here = senses.here
        last = self.arrives(here, packet)
        if last is not None:
            return Hop(last)
        way: Way = packet.way or Way()
        packet.way = way
        group, at = divmod(here.number, self.net.a)
        there, seat = divmod(self.case.hosts[packet.destination], self.net.a)
        if group == there:
            return self.go_local(senses, way, at, seat)
        if way.link is None:
            way.link = self.draw(group, there, senses.chance)
        self.reconsider(senses, way, group, there)
        gateway, port = self.net.gateway(way.link)
        if gateway != at:
            return self.go_local(senses, way, at, gateway)
        level = way.crossed
        packet.way = Way(None, way.is_diverted, way.crossed + 1)
        return Hop(port, level)

    def draw(self, group: int, there: int, chance: Chance) -> Global:
        """One of the links to a group."""
        links = [link for link in self.left(group) if link[0] == self.net.towards(group, there)]
        return links[chance.below(len(links)) if len(links) > 1 else 0]

    def other(self, group: int, there: int, chance: Chance) -> Global | None:
        """One of the links that do not lead to a group."""
        if self.net.groups < 3:
            return None
        links = [link for link in self.left(group) if link[0] != self.net.towards(group, there)]
        return links[chance.below(len(links))]

    def left(self, group: int) -> list[Global]:
        """The links of a group, but for those that have failed."""
        net, found = self.net, []
        for number in range(net.parallel):
            for there in (there for there in range(net.groups) if there != group):
                link = net.towards(group, there), number
                near = group * net.a + net.gateway(link)[0]
                far = there * net.a + net.gateway((net.towards(there, group), number))[0]
                if not self.has_failed(near, far):
                    found.append(link)
        return sorted(found)

    def reconsider(self, senses: Senses, way: Way, group: int, there: int) -> None:
        """May take another link than the one that the packet heads for."""

    def port(self, at: int, other: int) -> int:
        """The port of a switch to another of its group."""
        return self.net.p + other - (other > at)

    def first_port(self, at: int, link: Global) -> int:
        """The port of a switch of a group that begins the way to a link."""
        gateway, port = self.net.gateway(link)
        return port if gateway == at else self.port(at, gateway)

    def go_local(self, senses: Senses, way: Way, at: int, to: int) -> Hop:
        """The hop from a switch to another of its group."""
        level = self.local_level(way)
        way.hops += 1
        return Hop(self.port(at, to), level)

    def local_level(self, way: Way) -> int:
        """The level of the next local hop."""
        return way.crossed


class Valiant(Direct):
    """`valiant`: over a link to another group that its source draws."""

    globals_most = 2

    def begin(self, packet: Packet) -> None:
        packet.way = Way()
        group, there = (self.case.hosts[end] // self.net.a for end in (packet.source, packet.destination))
        if group != there:
            packet.way.link = self.other(group, there, self.sim.chance_at_source(packet))


class Ugal(Direct):
    """`ugal`: the first switch compares a direct link with another."""

    globals_most = 2

    def is_open(self, way: Way) -> bool:
        """Whether a packet may still be diverted."""
        return way.crossed == way.hops == 0

    def reconsider(self, senses: Senses, way: Way, group: int, there: int) -> None:
        assert way.link is not None
        at = senses.here.number % self.net.a
        if not self.is_open(way):
            return
        other = self.other(group, there, senses.chance)
        if other is None:
            return
        ports = [self.first_port(at, link) for link in (way.link, other)]
        if self.prefers(senses, "link", *ports):
            way.link, way.is_diverted = other, True

    def prefers(self, senses: Senses, what: str, direct: int, other: int) -> bool:
        """Whether the other of two ports looks better than the one on the direct way."""
        threshold = self.net.threshold
        queues = senses.occupancy(direct), senses.occupancy(other)
        wins = queues[0] > 2 * queues[1] + threshold
        looks = "compared" if queues[0] > threshold else "at once"
        self.taken[f"{what}: " + ("other" if wins else f"direct, {looks}")] += 1
        return wins


class Par(Ugal):
    """`par`: every switch of the first group does, and local hops of the others may be replaced by two."""

    locals_most = 2

    def is_open(self, way: Way) -> bool:
        return way.crossed == 0 and not way.is_diverted

    def local_level(self, way: Way) -> int:
        return 2 * way.crossed + way.hops

    def go_local(self, senses: Senses, way: Way, at: int, to: int) -> Hop:
        there_is_a_third = self.net.a > 2
        may_turn = (
            way.crossed > 0 or way.link is None
        )  # beyond the first group, or in that of the destination
        if there_is_a_third and may_turn and way.hops == 0:
            third = senses.chance.below(self.net.a - 2)
            for known in sorted((at, to)):
                third += third >= known
            if self.prefers(senses, "hop", self.port(at, to), self.port(at, third)):
                to = third
        return super().go_local(senses, way, at, to)


KINDS: dict[str, type[Direct]] = {"minimal": Direct, "valiant": Valiant, "ugal": Ugal, "par": Par}
