"""What switches share, and those without a crossbar."""

from __future__ import annotations

from collections import deque
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from reference_channel import Channel, Packet
from reference_nodes import Endpoint, Node

if TYPE_CHECKING:
    from reference import Simulation


class Switch(Node):
    """What all kinds have: output queues, by output and virtual channel, and their channels."""

    def __init__(self, sim: Simulation, name: str, number: int) -> None:
        super().__init__(sim, name)
        self.number, self.pipeline = number, self.case.pipeline
        self.has_queues = self.case.kind in ("cioq", "output-queued")

    def connect(self) -> None:
        """All channels are there."""
        self.ports = range(len(self.out))
        self.inputs = [*self.ports, -1]  # the last is the virtual input, of what the switch makes
        self.queues: list[list[deque[Packet]]] = [[deque() for _ in range(self.sim.vcs)] for _ in self.ports]
        self.bound = [[0] * self.sim.vcs for _ in self.ports]
        self.room = [[self.case.output_buffer] * self.sim.vcs for _ in self.ports]

    def arrive(self, packet: Packet) -> None:
        self.direct(packet)
        self.bound[packet.out][packet.next_vc] += packet.flits
        self.enter(packet)

    def direct(self, packet: Packet) -> None:
        """Tells where a packet goes: its output, its virtual channel there, and whether it needs a bubble."""
        packet.out = self.sim.route(self.number, packet)
        to, before = self.out[packet.out].to, self.into[packet.port].origin if packet.port >= 0 else None
        packet.level, packet.bubble = packet.level + (self.case.levels and isinstance(before, Switch)), False
        if isinstance(to, Endpoint) or self.case.ring is not None:
            packet.level = 0
        if isinstance(to, Switch) and self.case.ring is not None:
            self.enter_ring(packet, before, to)
        packet.next_vc = self.sim.vc(packet, to)

    def turn_ports(self) -> None:
        """In a torus the ports of a dimension lead onwards, then back."""
        dims, here = self.case.dims, self.case.places(self.number)
        assert dims is not None

        def rank(channel: Channel) -> tuple[int, int]:
            if not isinstance(channel.to, Switch):
                return -1, 0
            there = self.case.places(channel.to.number)
            dim = int(there[0] == here[0])
            return dim, int((there[dim] - here[dim]) % dims[dim] != 1)

        order = sorted(range(len(self.out)), key=lambda at: rank(self.out[at]))
        self.out, self.into = [self.out[at] for at in order], [self.into[at] for at in order]
        for at, channel in enumerate(self.into):
            channel.port = at

    def enter_ring(self, packet: Packet, before: Node | None, to: Switch) -> None:
        """Gives a packet its level in a long ring, or tells whether it needs a bubble to enter one."""
        case, target = self.case, self.case.hosts[packet.destination]
        dim = next(dim for dim in (0, 1) if case.joins(self.number, to.number, dim))
        if case.ring == "bubble":
            packet.bubble = not (isinstance(before, Switch) and case.joins(before.number, self.number, dim))
        elif case.is_long(dim):
            assert case.dims is not None
            here, there = case.places(self.number)[dim], case.places(target)[dim]
            onwards = case.places(to.number)[dim] == (here + 1) % case.dims[dim]
            packet.level = int(there > here if onwards else there < here)

    def needs(self, packet: Packet) -> int:
        """Room that a packet needs in the first buffer behind the crossbar."""
        return packet.flits + packet.bubble * self.case.packet_max

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        self.bound[packet.out][vc] -= packet.flits
        super().send(channel, packet, vc, now)

    def committed(self, packet: Packet) -> int:
        self.direct(packet)
        channel, vc = self.out[packet.out], packet.next_vc
        ahead = 0 if isinstance(channel.to, Endpoint) else channel.memory.used[vc]
        return self.bound[packet.out][vc] + ahead

    def enter(self, packet: Packet) -> None:
        """A packet begins to wait."""

    def queue(self, packet: Packet) -> None:
        """Puts a packet into its output queue."""
        self.room[packet.out][packet.next_vc] -= packet.flits
        self.queues[packet.out][packet.next_vc].append(packet)

    def start(self, output: int) -> None:
        """Starts the channel of an output, if it is free and a queue has credit."""
        channel, queues = self.out[output], self.queues[output]
        if channel.free_at > self.sim.now:
            return
        vc = channel.choose(queues, by_age=self.case.by_age, by_input=not self.case.has_crossbar)
        if vc is None:
            return
        packet = queues[vc].popleft()
        if not self.has_queues:
            self.release(packet, max(self.sim.now + ceil(packet.flits * channel.pace), packet.tail))
        self.send(channel, packet, vc, self.sim.now)
        self.sim.at(channel.free_at, self, partial(self.clear, output, vc, packet.flits))

    def clear(self, output: int, vc: int, flits: int) -> None:
        """What a packet had in its output queue is free when the channel is."""
        if self.out[output].free_at > self.sim.now:
            self.sim.at(self.out[output].free_at, self, partial(self.clear, output, vc, flits))
        else:
            self.room[output][vc] += flits


class Unlimited(Switch):
    """`output-queued`, and `shared-buffer`, whose output queues are lists of packets in the input buffers."""

    def connect(self) -> None:
        super().connect()
        self.fresh: list[Packet] = []
        self.waiting: list[list[deque[Packet]]] = [[deque() for _ in range(self.sim.vcs)] for _ in self.ports]

    def enter(self, packet: Packet) -> None:
        self.fresh.append(packet)

    def fits(self, packet: Packet) -> bool:
        """Whether a packet may move to its output queue."""
        return not self.has_queues or packet.flits <= self.room[packet.out][packet.next_vc]

    def settle(self) -> None:
        for packet in sorted(self.fresh, key=lambda packet: packet.port):
            self.waiting[packet.out][packet.next_vc].append(packet)
        self.fresh = []
        for output in self.ports:
            for waiting in self.waiting[output]:
                while waiting and self.fits(waiting[0]):
                    packet = waiting.popleft()
                    self.queue(packet)
                    if self.has_queues:
                        self.release(packet, max(self.sim.now, packet.tail))
            self.start(output)
