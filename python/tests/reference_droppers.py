"""Switches that drop packets and answer them: at the last hop, or after a time in input buffers."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from functools import partial
from typing import Any

from reference_channel import Channel, Packet
from reference_crossbar import Crossbar
from reference_nodes import Endpoint
from reference_switches import Switch, Unlimited


class Dropper(Switch):
    """A switch that drops packets, and sends the refusals from its virtual input.

    In a tick what has waited too long is taken out, then what comes is taken in: what goes on and
    acknowledgements, and then what else is for endpoints, by ports. Then refusals are made, by port and in
    the order in which packets came.
    """

    def connect(self) -> None:
        super().connect()
        self.protocol: Any = self.case.protocol
        time = self.protocol.time_to_wait
        self.time_to_wait = None if time is None else self.case.rounded(time)
        self.late: list[Packet] = []  # taken out in this tick, and not answered yet

    def take_all(self, heads: list[Packet]) -> None:
        self.late += self.expire()
        for packet in sorted(heads, key=lambda head: (self.is_looked_at(head), head.port)):
            self.take(packet)

    def is_looked_at(self, packet: Packet) -> bool:
        """Whether a packet comes for an endpoint of this switch, and may be dropped or answered there."""
        return packet.what != "ack" and isinstance(self.out[packet.out].to, Endpoint)

    def decide(self) -> None:
        self.late += self.expire()
        while True:
            late, self.late = sorted(self.late, key=lambda one: (one.port, one.came)), []
            for packet in late:
                self.remove(packet, "dropped", "nack")
            super().decide()
            self.late += self.expire()
            if not self.late:
                return

    def remove(self, packet: Packet, event: str, what: str, granted: int = -1) -> None:
        """Takes a packet out of the network, and answers it. Room for later flits is free as they come."""
        now, here = self.sim.now, (self.name, self.name)
        self.sim.record(packet, here, (now, now, now), event)
        for behind in range(packet.flits):
            came = packet.tail - self.case.span(behind, self.into[packet.port].flit)
            self.release(replace(packet, flits=1), max(now, came))
        reply = self.sim.reply(packet, what, granted)
        reply.network, reply.port, reply.came, reply.tail = 0, -1, now - self.pipeline, now
        self.direct(reply)
        self.take(reply)

    def firsts_in(self) -> list[Packet]:
        """The packets at the heads of the queues in the input buffers."""
        raise NotImplementedError

    def discard(self, packet: Packet) -> None:
        """Takes a packet out of its queue."""
        self.bound[packet.out][packet.next_vc] -= packet.flits

    def deadline(self, packet: Packet) -> int:
        """When a packet has waited long enough."""
        assert self.time_to_wait is not None
        return packet.came + self.pipeline + self.time_to_wait - packet.waited

    def is_late(self, packet: Packet) -> bool:
        """Whether a packet is to be dropped where it is at the head of its queue."""
        return self.is_timed(packet) and self.deadline(packet) <= self.sim.now

    def is_timed(self, packet: Packet) -> bool:
        """Whether a packet may be dropped after a time."""
        return self.time_to_wait is not None and self.case.name_of(packet.kind) in self.protocol.timed

    def note_wait(self, packet: Packet) -> None:
        """A packet leaves its input buffer."""
        packet.waited += self.sim.now - packet.came - self.pipeline

    def expire(self) -> list[Packet]:
        """Takes out what has waited too long, and what then is a head and has."""
        if self.time_to_wait is None:
            return []
        dropped: list[Packet] = []
        firsts = self.firsts_in()
        while late := [packet for packet in firsts if self.is_late(packet)]:
            for packet in late:
                self.discard(packet)
            dropped += late
            firsts = self.firsts_in()
        for packet in firsts:
            if self.is_timed(packet):
                self.sim.at(self.deadline(packet), self)
        return dropped


class DropperCrossbar(Dropper, Crossbar):
    """With a crossbar."""

    def firsts_in(self) -> list[Packet]:
        return [packet for lanes in self.lanes[:-1] for lane in lanes for packet in self.heads_of(lane)]

    def heads_of(self, lane: list[Packet]) -> list[Packet]:
        """The packets at the heads of a virtual channel's queues."""
        heads: dict[int, Packet] = {}
        for packet in lane if lane and self.voq(lane[0]) else lane[:1]:
            heads.setdefault(packet.out, packet)
        return [*heads.values()]

    def discard(self, packet: Packet) -> None:
        super().discard(packet)
        Crossbar.leave(self, packet)

    def leave(self, packet: Packet) -> None:
        self.note_wait(packet)
        super().leave(packet)
        lane = self.lanes[packet.port][packet.vc]
        while packet.port >= 0 and (late := [*filter(self.is_late, self.heads_of(lane))]):
            self.late += late  # even if it could go at once
            for one in late:
                self.discard(one)


class DropperUnlimited(Dropper, Unlimited):
    """Without one."""

    def firsts_in(self) -> list[Packet]:
        queues = self.waiting if self.has_queues else self.queues
        return [queue[0] for output in self.ports for queue in queues[output] if queue]

    def fits(self, packet: Packet) -> bool:
        return super().fits(packet) and not (self.has_queues and self.is_late(packet))

    def move(self, waiting: deque[Packet]) -> None:
        super().move(waiting)
        while self.has_queues and waiting and self.is_late(waiting[0]):
            self.late.append(waiting[0])
            self.discard(waiting[0])
            super().move(waiting)

    def discard(self, packet: Packet) -> None:
        super().discard(packet)
        queues = self.waiting if self.has_queues else self.queues
        queues[packet.out][packet.next_vc].remove(packet)

    def queue(self, packet: Packet) -> None:
        if self.has_queues:
            self.note_wait(packet)
        super().queue(packet)

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        if not self.has_queues:
            self.note_wait(packet)
        super().send(channel, packet, vc, now)


class LastHop(Dropper):
    """A switch that counts for each output the flits of packets that have not left with their tails."""

    def connect(self) -> None:
        super().connect()
        self.level = [[0 for _ in self.case.priorities] for _ in self.ports]
        self.ends: dict[tuple[int, Packet], int] = {}  # of what is under way, by output and packet

    def ahead(self, out: int, packet: Packet) -> int:
        """Flits that wait for an output and are as urgent as a packet, or more, and those under way."""
        return sum(self.level[out][: self.case.grade_of(packet.kind) + 1])

    def take(self, packet: Packet) -> None:
        self.level[packet.out][self.case.grade_of(packet.kind)] += packet.flits
        super().take(packet)

    def discard(self, packet: Packet) -> None:
        self.left(packet.out, self.case.grade_of(packet.kind), packet.flits)
        super().discard(packet)

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        super().send(channel, packet, vc, now)
        self.left(packet.out, self.case.grade_of(packet.kind), packet.flits)
        self.level[packet.out][0] += packet.flits
        out = self.out.index(channel)
        self.ends[out, packet] = channel.free_at
        self.sim.at(channel.free_at, self, partial(self.has_left, out, packet))

    def cut_in(self, channel: Channel, packet: Packet, vc: int) -> None:
        until, before = channel.free_at, dict(self.ends)
        super().cut_in(channel, packet, vc)
        out, took = self.out.index(channel), channel.free_at - max(until, self.sim.now)
        start = self.ends[out, packet] - took
        for key, end in before.items():
            if key[0] == out and end > start:
                self.ends[key] = end + took

    def has_left(self, out: int, packet: Packet) -> None:
        """The tail of a packet leaves, unless control packets have held it up."""
        end = self.ends[out, packet]
        if end > self.sim.now:
            self.sim.at(end, self, partial(self.has_left, out, packet))
        else:
            del self.ends[out, packet]
            self.left(out, 0, packet.flits)

    def left(self, out: int, grade: int, flits: int) -> None:
        """Flits have left."""
        self.level[out][grade] -= flits
