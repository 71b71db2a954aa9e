"""Nodes, and endpoints."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from math import ceil
from typing import TYPE_CHECKING, Any

from reference_case import DATA, Message
from reference_channel import Channel, Packet
from reference_hash import Label

if TYPE_CHECKING:
    from reference import Simulation


Key = tuple[int, int]
"""Of a send queue: its grade, the most urgent being 0, and its destination."""


def _add(room: list[int], at: int, flits: int) -> None:
    room[at] += flits


class Node:
    """An endpoint or a switch: its channels out and in, by port."""

    pipeline, takes_whole = 0, False

    def __init__(self, sim: Simulation, name: str) -> None:
        self.sim, self.case, self.name = sim, sim.case, name
        self.out: list[Channel] = []
        self.into: list[Channel] = []

    def arrive(self, packet: Packet) -> None:
        """The head of a packet comes, or all of it if the node takes whole packets only."""

    def settle(self) -> None:
        """Decides what starts now."""

    def committed(self, packet: Packet) -> int:
        """Flits for the virtual channel that a packet would use, here and in the buffer ahead."""
        return 0

    def cut_in(self, channel: Channel, packet: Packet, vc: int) -> None:
        """Starts a control packet behind the flit under way, which holds the channel that much longer."""
        now, until = self.sim.now, channel.free_at
        start = min(max(channel.cut_until, now + ceil(channel.pace)), max(until, now))
        self.send(channel, packet, vc, start)
        if until > now:
            channel.free_at += until - start
            self.sim.at(channel.free_at, self)

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        """Starts a packet on a channel."""
        channel.free_at = max(channel.end(now, packet.flits), packet.tail)
        if packet.kind < self.case.controls:
            channel.cut_until = channel.free_at
        channel.memory.used[vc] += packet.flits
        if channel.guard is not None:
            self.sim.at(
                channel.head(now, packet.flits),
                channel.to,
                partial(self.sim.hold, channel, vc, packet.flits),
            )
        channel.turns[packet.kind] = vc + 1
        head, tail = channel.head(now, packet.flits), channel.free_at + channel.latency
        packet.vc, packet.port = vc, channel.port
        packet.came = tail if channel.to.takes_whole else head
        packet.tail = tail + channel.to.pipeline
        self.sim.record(packet, (self.name, channel.to.name), (now, head, tail))
        self.sim.at(channel.free_at, self)
        due = packet.came + channel.to.pipeline
        self.sim.at(due, channel.to, partial(channel.to.arrive, packet))

    def release(self, packet: Packet, when: int) -> None:
        """The packet's tail leaves the input buffer at a time; the sender hears of it later."""
        if packet.port < 0:
            return
        channel = self.into[packet.port]
        back = partial(_add, channel.memory.used, packet.vc, -packet.flits)
        self.sim.at(when + channel.latency + ceil(channel.flit), channel.origin, back)
        if channel.guard is not None:
            self.sim.at(when, self, partial(self.sim.hold, channel, packet.vc, -packet.flits))


class Endpoint(Node):
    """Sends its messages, and answers packets. It never lacks room."""

    takes_whole = True

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.messages, self.turn = 0, 0
        self.numbers: dict[int, int] = {}  # of messages in the order in which they began
        self.acks: deque[Packet] = deque()
        self.letters: list[Any] = []  # orders out of band that came in this tick
        self.answers: list[Packet] = []  # of this tick
        self.queues: dict[Key, deque[Packet]] = {}
        self.ready = [deque[Key]() for _ in self.case.priorities]  # the queues in turn, the most urgent first
        self.lines: dict[int, deque[Key]] = {}  # those that lack credit, by virtual channel

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        packet.injected = now
        super().send(channel, packet, vc, now)

    def create(self, message: Message) -> None:
        """Cuts a message into packets."""
        grade, most = self.case.priorities.index(message.priority), self.case.packet_max
        key = grade, -1 if self.case.fifo else self.case.place(message.destination, message.pair)
        queue = self.queues.setdefault(key, deque())
        if not queue:
            self.ready[grade].append(key)
        for at in range(0, message.flits, most):
            ends = message.source, message.destination
            queue.append(
                Packet(
                    DATA + grade,
                    self.messages,
                    at // most,
                    min(most, message.flits - at),
                    *ends,
                    pair=message.pair,
                )
            )
        self.messages += 1

    def arrive(self, packet: Packet) -> None:
        if packet.what == "data" and self.case.acknowledge:
            self.acks.append(self.reply_to(packet, "ack"))

    def reply_to(self, packet: Packet, what: str, granted: int = -1) -> Packet:
        """An answer to a packet."""
        self.answers.append(self.sim.reply(packet, what, granted))
        return self.answers[-1]

    def open_letters(self) -> None:
        """Obeys the orders of a tick: by whom they are about, then in the order in which they were given."""
        for letter in sorted(self.letters):
            self.arrive(letter)
        self.letters.clear()

    def place_answers(self) -> None:
        """Gives answers their virtual networks, when switches have chosen what goes in this tick."""
        for answer in self.answers:
            self.sim.in_network(answer)
        self.answers = []

    def settle(self) -> None:
        while self.case.interleave or self.is_free:
            ack = next(filter(self.fits, self.acks), None)
            if ack is None:
                break
            self.acks.remove(ack)
            self.begin(ack)
        for ready in self.ready:
            key = self.next_key(ready) if self.is_free else None
            if key is not None:
                packet = self.queues[key].popleft()
                packet.label = self.label(packet)
                packet.message = self.numbers.setdefault(packet.message, len(self.numbers))
                self.begin(packet)
                if self.queues[key]:
                    ready.append(key)

    def next_key(self, ready: deque[Key]) -> Key | None:
        """The send queue whose turn it is, taken out of the round robin."""
        if self.sim.keeps_queues and self.case.protocol is None:
            return self.next_of_lines(ready)
        lacked = set[int]()
        for at, key in enumerate(ready):
            if len(lacked) == self.case.networks * self.sim.queues:
                break
            vc = self.consider(key)
            if vc not in lacked and self.fits(self.queues[key][0]):
                del ready[at]
                return key
            lacked.add(vc)
        return None

    def next_of_lines(self, ready: deque[Key]) -> Key | None:
        """The same where those that lack credit stand in a line for their virtual channel.

        The first of a line joins the round robin again when there is credit, and stays ahead of the others in
        the line until it has sent.
        """
        for line in self.lines.values():
            called = line and self.ready[line[0][0]] is ready and line[0] not in ready
            if called and self.fits(self.queues[line[0]][0]):
                ready.append(line[0])
        for _ in range(len(ready)):
            key = ready.popleft()
            vc = self.consider(key)
            line = self.lines.get(vc, deque())
            is_behind = bool(line) and line[0] != key
            if not is_behind and self.fits(self.queues[key][0]):
                if line:
                    line.popleft()
                return key
            if is_behind or not line:
                self.lines.setdefault(vc, deque()).append(key)
        return None

    def consider(self, key: Key) -> int:
        """Gives the first packet of a send queue a virtual network; returns its virtual channel."""
        packet = self.queues[key][0]
        if packet.turn is None:
            packet.turn = self.turn
            self.turn += 1
        self.take_network(packet)
        return self.vc(packet)

    def take_network(self, packet: Packet) -> None:
        """Gives a data packet a virtual network by its turn, or by what is there of each."""
        assert packet.turn is not None
        packet.network = self.lightest(packet, packet.turn)

    def lightest(self, packet: Packet, turn: int) -> int:
        """The virtual network whose turn it is, or the one with the least there of those from that on."""
        networks, channel = self.case.networks, self.out[0]
        if not self.case.weighs:
            return turn % networks
        choices = [
            replace(packet, network=(turn + step) % networks, port=channel.port) for step in range(networks)
        ]
        return min(choices, key=channel.to.committed).network

    def vc(self, packet: Packet) -> int:
        """The virtual channel of a packet that goes now: its routing decides first."""
        self.sim.routing.begin(packet)
        return self.sim.vc(packet, self.out[0].to)

    def fits(self, packet: Packet) -> bool:
        """Whether the switch has room for a packet."""
        return packet.flits <= self.out[0].memory.room(self.vc(packet))

    def label(self, packet: Packet) -> Label:
        """By what chance knows a packet: a message that has not begun would get the next number."""
        return packet.label or (self.numbers.get(packet.message, len(self.numbers)), packet.sequence)

    def begin(self, packet: Packet) -> None:
        """Starts a packet."""
        packet.tail = self.sim.now
        if packet.what == "data":
            packet.label = self.label(packet)
        channel, vc = self.out[0], self.vc(packet)
        if packet.kind < self.case.controls and self.case.interleave:
            self.cut_in(channel, packet, vc)
        else:
            self.send(channel, packet, vc, self.sim.now)

    @property
    def is_free(self) -> bool:
        """Whether its channel is free."""
        return self.out[0].free_at <= self.sim.now
