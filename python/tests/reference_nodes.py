"""Endpoints, channels, and switches without a crossbar."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from reference_case import CONTROL, DATA, Message, Row

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(eq=False)
class Packet:
    """What is known of a packet in the node where it is."""

    kind: int
    message: int
    sequence: int
    flits: int
    source: int
    destination: int
    vc: int = 0  # the virtual channel on which it came
    level: int = 0
    port: int = 0  # where it came in, and where it goes
    out: int = 0
    next_vc: int = 0
    came: int = 0  # when its head was there, and when its tail is behind the pipeline
    tail: int = 0


@dataclass(eq=False)
class Channel:
    """From an output of a node to an input of another."""

    origin: Node
    to: Node
    port: int
    flit: Fraction
    latency: int
    credits: list[int]  # by virtual channel
    pace: Fraction  # time of a flit behind the head: longer than `flit` if the endpoint drains more slowly
    free_at: int = 0
    turns: list[int] = field(default_factory=lambda: [0, 0])  # next virtual channel, by class

    def choose(self, queues: list[deque[Packet]], *, by_age: bool, by_input: bool) -> int | None:
        """The one whose first packet goes next: of the best class with credit, by age, by turns."""
        for kind in (CONTROL, DATA):
            ranks = []
            for vc, queue in enumerate(queues):
                if queue and queue[0].kind == kind and queue[0].flits <= self.credits[vc]:
                    age = (queue[0].came, queue[0].port if by_input else 0) if by_age else (0, 0)
                    ranks.append((age, (vc - self.turns[kind]) % len(queues), vc))
            if ranks:
                return min(ranks)[-1]
        return None


def _add(room: list[int], at: int, flits: int) -> None:
    room[at] += flits


class Node:
    """An endpoint or a switch: its channels out and in, by port."""

    pipeline = 0

    def __init__(self, sim: Simulation, name: str) -> None:
        self.sim, self.case, self.name = sim, sim.case, name
        self.out: list[Channel] = []
        self.into: list[Channel] = []

    def arrive(self, packet: Packet) -> None:
        """The head of a packet comes."""

    def settle(self) -> None:
        """Decides what starts now."""

    def send(self, channel: Channel, packet: Packet, vc: int) -> None:
        """Starts a packet on a free channel."""
        now, came = self.sim.now, packet.tail
        channel.free_at = max(now + ceil(packet.flits * channel.pace), came)
        channel.credits[vc] -= packet.flits
        channel.turns[packet.kind] = vc + 1
        head, tail = now + channel.latency + ceil(channel.flit), channel.free_at + channel.latency
        packet.vc, packet.port, packet.came = vc, channel.port, head
        packet.tail = tail + channel.to.pipeline
        kind, ends = ("ack", "data")[packet.kind], (packet.source, packet.destination)
        who = kind, *ends, packet.message, packet.sequence
        self.sim.rows.append(Row(now, *who, self.name, channel.to.name, head, tail))
        self.sim.at(channel.free_at, self)
        self.sim.at(head + channel.to.pipeline, channel.to, partial(channel.to.arrive, packet))

    def release(self, packet: Packet, when: int) -> None:
        """The packet's tail leaves the input buffer at a time; the sender hears of it later."""
        channel = self.into[packet.port]
        back = partial(_add, channel.credits, packet.vc, packet.flits)
        self.sim.at(when + channel.latency + ceil(channel.flit), channel.origin, back)


class Endpoint(Node):
    """Sends its messages, and answers packets. It never lacks room."""

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.messages = 0
        self.acks: deque[Packet] = deque()
        self.queues: dict[int, deque[Packet]] = {}  # by destination
        self.ready: deque[int] = deque()  # the queues in turn

    def create(self, message: Message) -> None:
        """Cuts a message into packets."""
        key, most = -1 if self.case.fifo else message.destination, self.case.packet_max
        queue = self.queues.setdefault(key, deque())
        if not queue:
            self.ready.append(key)
        for at in range(0, message.flits, most):
            ends = message.source, message.destination
            queue.append(Packet(DATA, self.messages, at // most, min(most, message.flits - at), *ends))
        self.messages += 1

    def arrive(self, packet: Packet) -> None:
        if packet.kind == DATA and self.case.acknowledge:
            ends = packet.destination, packet.source
            ack = Packet(CONTROL, packet.message, packet.sequence, self.case.control, *ends)
            self.sim.at(packet.tail, self, partial(self.acks.append, ack))

    def settle(self) -> None:
        channel = self.out[0]
        if channel.free_at > self.sim.now:
            return
        for queue in (self.acks, self.queues[self.ready[0]] if self.ready else ()):
            if queue and channel.credits[self.sim.vc(queue[0])] >= queue[0].flits:
                packet = queue.popleft()
                packet.tail = self.sim.now
                self.send(channel, packet, self.sim.vc(packet))
                if packet.kind == DATA:
                    key = self.ready.popleft()
                    self.ready.extend([key] if queue else [])
                return


class Switch(Node):
    """What all kinds have: output queues, by output and virtual channel, and their channels."""

    def __init__(self, sim: Simulation, name: str, number: int) -> None:
        super().__init__(sim, name)
        self.number, self.pipeline = number, self.case.pipeline
        self.has_queues = self.case.kind in ("cioq", "output-queued")

    def connect(self) -> None:
        """All channels are there."""
        self.ports = range(len(self.out))
        self.queues: list[list[deque[Packet]]] = [[deque() for _ in range(self.sim.vcs)] for _ in self.ports]
        self.room = [[self.case.output_buffer] * self.sim.vcs for _ in self.ports]

    def arrive(self, packet: Packet) -> None:
        packet.out = self.sim.route(self.number, packet.destination)
        ends = isinstance(self.out[packet.out].to, Endpoint)
        rises = self.case.levels and isinstance(self.into[packet.port].origin, Switch)
        packet.level = 0 if ends else packet.level + rises
        packet.next_vc = self.sim.vc(packet)
        self.enter(packet)

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
        self.send(channel, packet, vc)
        self.sim.at(channel.free_at, self, partial(_add, self.room[output], vc, packet.flits))


class Unlimited(Switch):
    """`output-queued`, and `shared-buffer`, whose output queues are lists of packets in the input buffers."""

    def connect(self) -> None:
        super().connect()
        self.fresh: list[Packet] = []
        self.waiting: list[list[deque[Packet]]] = [[deque() for _ in range(self.sim.vcs)] for _ in self.ports]

    def enter(self, packet: Packet) -> None:
        self.fresh.append(packet)

    def settle(self) -> None:
        for packet in sorted(self.fresh, key=lambda packet: packet.port):
            self.waiting[packet.out][packet.next_vc].append(packet)
        self.fresh = []
        for output in self.ports:
            for vc, waiting in enumerate(self.waiting[output]):
                while waiting and (not self.has_queues or waiting[0].flits <= self.room[output][vc]):
                    packet = waiting.popleft()
                    self.queue(packet)
                    if self.has_queues:
                        self.release(packet, max(self.sim.now, packet.tail))
            self.start(output)
