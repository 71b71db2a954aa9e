"""What switches share, and those without a crossbar."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from reference_channel import Channel, Packet
from reference_nodes import Endpoint, Node

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Hop:
    """An output, the level of a packet on its channel, and whether it needs a bubble there."""

    port: int
    level: int = 0
    bubble: bool = False


class Switch(Node):
    """What all kinds have: output queues, by output and virtual channel, and their channels.

    All heads of a tick are routed, on the state as of its beginning, before the first is taken in.
    """

    def __init__(self, sim: Simulation, name: str, number: int) -> None:
        super().__init__(sim, name)
        self.number, self.pipeline, self.takes_whole = number, self.case.pipeline, self.case.stores
        self.has_queues = self.case.kind in ("cioq", "output-queued")
        self.heads: list[Packet] = []

    def connect(self) -> None:
        """All channels are there."""
        self.ports = range(len(self.out))
        self.all_ports = len(self.out) + self.case.open_ports  # with those that lead nowhere
        if self.case.dragonfly is not None:
            self.all_ports = self.case.dragonfly.ports
        self.inputs = [*self.ports, -1]  # the last is the virtual input, of what the switch makes
        self.queues: list[list[deque[Packet]]] = [[deque() for _ in range(self.sim.vcs)] for _ in self.ports]
        self.bound = [[0] * self.sim.vcs for _ in self.ports]
        self.room = [[self.case.output_buffer] * self.sim.vcs for _ in self.ports]

    def arrive(self, packet: Packet) -> None:
        self.heads.append(packet)

    def settle(self) -> None:
        heads, self.heads = sorted(self.heads, key=lambda head: head.port), []
        for packet in heads:
            self.direct(packet)
        self.take_all(heads)
        self.decide()

    def take_all(self, heads: list[Packet]) -> None:
        """Takes in what came, in the order of the ports."""
        for packet in heads:
            self.take(packet)

    def take(self, packet: Packet) -> None:
        """Takes a packet in."""
        self.bound[packet.out][packet.next_vc] += packet.flits
        self.enter(packet)

    def decide(self) -> None:
        """Decides what starts now."""

    def direct(self, packet: Packet) -> None:
        """Tells where a packet goes: its output, its virtual channel there, and whether it needs a bubble."""
        hop = self.sim.hop(self, packet)
        packet.out, packet.level, packet.bubble = hop.port, hop.level, hop.bubble
        packet.next_vc = self.sim.vc(packet, self.out[packet.out].to)
        if packet.port < 0:
            packet.vc = packet.next_vc

    def came_from(self, packet: Packet) -> Node | None:
        """The node before this one on the packet's way; none if the packet was made here."""
        return self.into[packet.port].origin if packet.port >= 0 else None

    def port_to(self, node: Node) -> int:
        """The first port that leads to a node."""
        return next(port for port, channel in enumerate(self.out) if channel.to is node)

    def sort_ports(self, order: list[int]) -> None:
        """Numbers the ports anew: gives for each number what it was before."""
        self.out, self.into = [self.out[at] for at in order], [self.into[at] for at in order]
        for at, channel in enumerate(self.into):
            channel.port = at

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

        self.sort_ports(sorted(range(len(self.out)), key=lambda at: rank(self.out[at])))

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
        if channel.free_at > self.sim.now or not any(queues):
            return
        vc = channel.choose(queues, by_age=self.case.by_age, by_input=not self.case.has_crossbar)
        if vc is None:
            return
        packet = queues[vc].popleft()
        if not self.has_queues:
            self.release(packet, max(channel.end(self.sim.now, packet.flits), packet.tail))
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

    def decide(self) -> None:
        for packet in sorted(self.fresh, key=lambda packet: packet.port):
            self.waiting[packet.out][packet.next_vc].append(packet)
        self.fresh = []
        for output in self.ports:
            for waiting in self.waiting[output]:
                self.move(waiting)
            self.start(output)

    def move(self, waiting: deque[Packet]) -> None:
        """Moves packets to their output queue as long as there is room."""
        while waiting and self.fits(waiting[0]):
            packet = waiting.popleft()
            self.queue(packet)
            if self.has_queues:
                self.release(packet, max(self.sim.now, packet.tail))
