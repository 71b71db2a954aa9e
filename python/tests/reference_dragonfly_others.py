"""Routings of dragonflies as other simulators have them, after `tailback list codes-par` and sst-ugal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from reference_channel import Packet
from reference_dragonfly import Global
from reference_dragonfly_ways import Direct, Way
from reference_hash import Chance, Least
from reference_routing import Senses
from reference_switches import Hop


class Borrowed(Direct):
    """What both have: the links to a group, and a link decides where a packet leaves its group."""

    globals_most = 2

    def links(self, bundle: int) -> list[Global]:
        """The links from a group to one other."""
        return [(bundle, number) for number in range(self.net.parallel)]

    def begins(self, at: int, link: Global) -> bool:
        """Whether a link begins in a switch of its group."""
        return self.net.gateway(link)[0] == at

    def other_bundle(self, group: int, there: int, chance: Chance) -> int | None:
        """One of the groups but the destination's."""
        if self.net.groups < 3:
            return None
        drawn, direct = chance.below(self.net.groups - 2), self.net.towards(group, there)
        return drawn + (drawn >= direct)

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        last = self.arrives(senses.here, packet)
        if last is not None:
            return Hop(last)
        way = packet.way or Way()
        packet.way = way
        group, at = divmod(senses.here.number, self.net.a)
        there, seat = divmod(self.case.hosts[packet.destination], self.net.a)
        if group == there:
            to, level = self.inside(senses, way, at, seat)
            way.hops += 1
            return Hop(self.port(at, to), level)
        link, level = self.leave(senses, way, (group, at), there)
        port = self.first_port(at, link)
        if self.begins(at, link):
            packet.way = Way(None, way.is_diverted, way.crossed + 1)
        else:
            way.hops += 1
        return Hop(port, level)

    def inside(self, senses: Senses, way: Way, at: int, seat: int) -> tuple[int, int]:
        """The next switch in the destination's group, and the level of the hop."""
        raise NotImplementedError

    def leave(self, senses: Senses, way: Way, place: tuple[int, int], there: int) -> tuple[Global, int]:
        """The link to head for in another group, and the level of the hop."""
        raise NotImplementedError


class CodesPar(Borrowed):
    """`codes-par`; of the plan only the group counts."""

    def _levels(self) -> tuple[int, int]:
        return 4, 3

    def inside(self, senses: Senses, way: Way, at: int, seat: int) -> tuple[int, int]:
        return seat, 3 if way.crossed else way.hops

    def leave(self, senses: Senses, way: Way, place: tuple[int, int], there: int) -> tuple[Global, int]:
        group, at = place
        direct = self.net.towards(group, there)
        if way.crossed:
            return self.best(senses, at, direct)[1], 2
        link = self.choose(senses, way, place, there)
        return link, 1 if way.is_diverted else way.hops

    def best(self, senses: Senses, at: int, bundle: int) -> tuple[int, Global]:
        """The best of the links to a group that a switch looks at, with its load."""
        links = self.links(bundle)
        own = [link for link in links if self.begins(at, link)]
        if len(own) > 2:
            first = senses.chance.below(len(own))
            second = (first + 1 + senses.chance.below(len(own) - 1)) % len(own)
            own = [own[first], own[second]]
        least = Least[Global](senses.chance)
        for link in own or links:
            least.offer(senses.load(self.first_port(at, link)), link)
        return least.best

    def choose(self, senses: Senses, way: Way, place: tuple[int, int], there: int) -> Global:
        """The link to head for in the source's group."""
        group, at = place
        if way.is_diverted:
            assert way.link is not None
            return self.best(senses, at, way.link[0])[1]
        load, link = self.best(senses, at, self.net.towards(group, there))
        if load <= self.net.threshold:
            self.taken["link: direct, at once"] += 1
            return link
        bundle = self.intermediate(senses.chance, way, place, there)
        if bundle is None:
            return link
        other_load, other = self.best(senses, at, bundle)
        if load <= 2 * other_load:
            self.taken["link: direct, compared"] += 1
            return link
        self.taken["link: other"] += 1
        way.is_diverted = True
        return other

    def intermediate(self, chance: Chance, way: Way, place: tuple[int, int], there: int) -> int | None:
        """The group that the first switch drew, or one that a later one has links to; kept as the plan."""
        group, at = place
        planned = way.link[0] if way.link else self.other_bundle(group, there, chance)
        if planned is None:
            return None
        bundles = [b for b in range(self.net.others) if any(map(partial(self.begins, at), self.links(b)))]
        if way.hops and planned not in bundles:
            others = [bundle for bundle in bundles if bundle != self.net.towards(group, there)]
            planned = others[chance.below(len(others))] if others else None
        way.link = None if planned is None else (planned, 0)
        return planned


@dataclass
class Weighed:
    """What a routing by queues looks at: those of a packet's virtual channel at one level."""

    routing: SstUgal
    senses: Senses
    at: int
    level: int

    def __call__(self, link: Global) -> int:
        """The queue at the port that leads to a link."""
        return self.senses.queued(self.routing.first_port(self.at, link), self.level)


class SstUgal(Borrowed):
    """`sst-ugal`; the plan in the source's group is the link of the same number to the intermediate one."""

    def _levels(self) -> tuple[int, int]:
        most = min(2, self.net.others)
        return max(most + 1, 1 if self.net.a < 3 else 3), max(most, 1)

    def inside(self, senses: Senses, way: Way, at: int, seat: int) -> tuple[int, int]:
        if way.crossed or self.net.a < 3:
            return seat, way.crossed
        if way.hops:
            return seat, 2
        queue, bias = senses.queued(self.port(at, seat), 0), self.net.threshold
        if queue <= bias:
            self.taken["hop: direct, at once"] += 1
            return seat, 0
        third = senses.chance.below(self.net.a - 1)
        third += third >= at
        wins = queue > 2 * senses.queued(self.port(at, third), 0) + bias
        self.taken["hop: other" if wins else "hop: direct, compared"] += 1
        return third if wins else seat, 0

    def leave(self, senses: Senses, way: Way, place: tuple[int, int], there: int) -> tuple[Global, int]:
        group, at = place
        queue, direct = Weighed(self, senses, at, way.crossed), self.net.towards(group, there)
        if way.crossed:
            link = way.link or self.onwards(queue, direct)
            way.link = link
        elif way.link is None:
            link = self.first(queue, way, place, there)
        else:
            link = self.second(queue, (direct, way.link[1]), way.link)
        return link, way.crossed

    def first(self, queue: Weighed, way: Way, place: tuple[int, int], there: int) -> Global:
        """The link to head for from the first switch."""
        chance, bias = queue.senses.chance, self.net.threshold
        direct = self.net.towards(place[0], there)
        least, bundle = Least[Global](chance), None
        for link in self.links(direct):
            least.offer(queue(link), link)
        if least.best[0] >= bias:
            bundle = self.other_bundle(place[0], there, chance)
        for link in [] if bundle is None else self.links(bundle):
            least.offer(2 * queue(link) + bias, link)
        link = least.best[1]
        self.taken["link: other" if link[0] != direct else "link: direct, compared"] += 1
        way.link = (direct if bundle is None else bundle), link[1]
        return link

    def second(self, queue: Weighed, direct: Global, other: Global) -> Global:
        """The link to leave the source's group by from the second switch."""
        ours = [self.begins(queue.at, link) for link in (direct, other)]
        if not all(ours):
            return direct if ours[0] else other
        return direct if queue(direct) <= 2 * queue(other) + self.net.threshold else other

    def onwards(self, queue: Weighed, direct: int) -> Global:
        """The link to head for from where the intermediate group is entered."""
        least = Least[Global](queue.senses.chance)
        for link in self.links(direct):
            least.offer((2 - self.begins(queue.at, link)) * queue(link), link)
        return least.best[1]


OTHERS: dict[str, type[Direct]] = {"codes-par": CodesPar, "sst-ugal": SstUgal}
