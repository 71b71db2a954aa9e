"""Where a packet goes: routings of the second simulator, and those that neither draw nor look at queues.

A head is routed on the state as of the beginning of the tick in which it comes to a switch.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reference_channel import Packet
from reference_hash import Chance, ahead_of, least, of_flow
from reference_nodes import Endpoint, Node
from reference_switches import Hop, Switch

if TYPE_CHECKING:
    from reference import Simulation


@dataclass
class Senses:
    """What a routing knows of the switch where a packet is: chance, and what waits there."""

    here: Switch
    chance: Chance
    vc: int = 0  # on which the packet came

    def occupancy(self, port: int) -> int:
        """What waits for a port."""
        return sum(self.here.bound[port])

    def load(self, port: int) -> int:
        """What waits for a port, and what has no credit back."""
        return self.occupancy(port) + sum(self.here.out[port].memory.used)

    def queued(self, port: int, level: int) -> int:
        """What is in the output queue of the packet's virtual channel at a level; without queues, all.

        Where the port ahead decides which of several queues that is, all of them count.
        """
        sim = self.here.sim
        if not self.here.has_queues:
            return self.occupancy(port)
        own = self.vc // sim.levels
        lanes = range(own, own + 1)
        if sim.case.queueing in ("voqsw", "damq"):
            lanes = range(own // sim.queues * sim.queues, own // sim.queues * sim.queues + sim.queues)
        waiting = [self.here.queues[port][lane * sim.levels + level] for lane in lanes]
        return sum(packet.flits for queue in waiting for packet in queue)


class Foreseen(Senses):
    """What is foreseen of a switch to which a packet has not come: it is empty."""

    def occupancy(self, port: int) -> int:
        return 0

    def load(self, port: int) -> int:
        return 0

    def queued(self, port: int, level: int) -> int:
        return 0


class Routing:
    """A routing of a simulation. What it remembers of a packet is in `Packet.way`."""

    levels = 1

    def __init__(self, sim: Simulation) -> None:
        self.sim, self.case = sim, sim.case
        self.taken = Counter[str]()  # how often which decision by queues was taken

    def levels_to(self, origin: Switch, to: Switch) -> int:
        """Levels in use on a channel between switches."""
        return self.levels

    def begin(self, packet: Packet) -> None:
        """What is decided of a packet at its source."""

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        """The output of a switch for a packet, and its level there."""
        raise NotImplementedError

    def ahead(self, switch: Switch, packet: Packet) -> int:
        """The output that is foreseen for a packet of a switch to which it has not come."""
        guess = replace(packet, way=copy(packet.way), port=-1)
        return self.hop(Foreseen(switch, ahead_of(switch.number, packet.destination)), guess).port

    def has_failed(self, one: int, other: int) -> bool:
        """Whether the links between two switches have."""
        return (min(one, other), max(one, other)) in self.case.failed

    def arrives(self, here: Switch, packet: Packet) -> int | None:
        """The port to the packet's endpoint, if it is one of the switch."""
        if self.case.hosts[packet.destination] != here.number:
            return None
        return here.port_to(self.sim.endpoints[packet.destination])


class Shortest(Routing):
    """Of several shortest ways one by the destination's place, or by `choose`; with levels, one for each hop.

    Where the destination decides all switches have endpoints here: none divides by the ways below it.
    """

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        count = 1 + max([*self.case.hosts, *(max(link.a, link.b) for link in self.case.links)])
        self.far = self._distances(count)
        self.levels = max(1, *map(max, self.far)) if self.case.levels else 1
        hosts = self.case.hosts
        order = sorted(range(len(hosts)), key=hosts.__getitem__)
        self.places = {endpoint: place for place, endpoint in enumerate(order)}

    def _distances(self, count: int) -> list[list[int]]:
        far = [[count * (one != other) for other in range(count)] for one in range(count)]
        for link in self.case.links:
            if not self.has_failed(link.a, link.b):
                far[link.a][link.b] = far[link.b][link.a] = 1
        for via in range(count):
            far = [[min(row[to], row[via] + far[via][to]) for to in range(count)] for row in far]
        return far

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        here, target = senses.here, self.case.hosts[packet.destination]
        last = self.arrives(here, packet)
        if last is not None:
            return Hop(last)
        nearer = [row[target] < self.far[here.number][target] for row in self.far]
        ways = [
            port
            for port, channel in enumerate(here.out)
            if isinstance(channel.to, Switch)
            and nearer[channel.to.number]
            and not self.has_failed(here.number, channel.to.number)
        ]
        level = packet.level + (self.case.levels and isinstance(here.came_from(packet), Switch))
        return Hop(self.one_of(ways, senses, packet), level)

    def one_of(self, ways: list[int], senses: Senses, packet: Packet) -> int:
        """One of the ports on shortest ways."""
        choose, here = self.case.choose, senses.here.number
        if len(ways) == 1:
            return ways[0]
        if choose == "least-loaded":
            return least(ways, senses.occupancy, senses.chance)
        if choose == "random":
            return ways[senses.chance.below(len(ways))]
        if choose == "flow-hash":
            return ways[of_flow(here, packet.source, packet.destination, packet.pair).below(len(ways))]
        return ways[self.places[packet.destination] % len(ways)]


class InOrder(Routing):
    """Over one dimension of a lattice after the other; rings have date lines or bubbles."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        self.levels = 2 if self.case.ring == "date-line" else 1

    def levels_to(self, origin: Switch, to: Switch) -> int:
        if self.case.ring != "date-line":
            return 1
        dims = [dim for dim in (0, 1) if self.case.joins(origin.number, to.number, dim)]
        return 1 + any(map(self.case.is_long, dims))

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        here = senses.here
        last = self.arrives(here, packet)
        if last is not None:
            return Hop(last)
        beyond = self.sim.switches[self._next(here.number, packet)]
        port = here.port_to(beyond)
        return Hop(port) if self.case.ring is None else self._in_ring(here, beyond, packet, port)

    def _next(self, switch: int, packet: Packet) -> int:
        """The next switch: over the first dimension of the packet's order that differs."""
        case = self.case
        assert case.dims is not None
        here, there = list(case.places(switch)), case.places(case.hosts[packet.destination])
        order = case.orders[packet.network] if case.orders else "xy"
        at = next("xy".index(dim) for dim in order if here["xy".index(dim)] != there["xy".index(dim)])
        length = case.dims[at]
        onwards = (there[at] - here[at]) % length
        step = onwards if case.ring is None else 1 if 2 * onwards < length else -1
        here[at] = (here[at] + step) % length
        return here[0] + here[1] * case.dims[0]

    def _in_ring(self, here: Switch, to: Switch, packet: Packet, port: int) -> Hop:
        """With the packet's level in a long ring, or whether it needs a bubble to enter one."""
        case, before = self.case, here.came_from(packet)
        dim = next(dim for dim in (0, 1) if case.joins(here.number, to.number, dim))
        if case.ring == "bubble":
            is_in = isinstance(before, Switch) and case.joins(before.number, here.number, dim)
            return Hop(port, bubble=not is_in)
        if not case.is_long(dim):
            return Hop(port)
        assert case.dims is not None
        at, there = case.places(here.number)[dim], case.places(case.hosts[packet.destination])[dim]
        onwards = case.places(to.number)[dim] == (at + 1) % case.dims[dim]
        return Hop(port, int(there > at if onwards else there < at))


class FlowDefault(Routing):
    """The default way of flows in a tree: all packets of one go it, unless the flow has set up another."""

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        assert self.case.tree is not None
        return Hop(self.case.tree.default(senses.here.number, packet.destination))


def levels_between(routing: Routing, origin: Node, to: Switch) -> int:
    """Levels in use on a channel to a switch."""
    return 1 if isinstance(origin, Endpoint) else routing.levels_to(origin, to)  # type: ignore[arg-type]
