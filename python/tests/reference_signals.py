"""How orders to throttle travel: out of band with a latency, as fast as a head, or as control packets."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush
from math import ceil
from typing import TYPE_CHECKING, Any

from reference_case import CONTROL, DATA
from reference_channel import Packet
from reference_nodes import Endpoint, Node
from reference_protocol import Protocol
from reference_switches import Switch

if TYPE_CHECKING:
    from reference import Simulation

DIVISOR = 256
"""Shares are told as divisors of the full rate, in parts of this."""


@dataclass(frozen=True)
class Signalling(Protocol):
    """What protocols with orders have in common: the way of their signals, a latency in ps or a word."""

    variant: str = "as published"
    signals: int | str = 0
    classes = ("control", "data")

    @property
    def in_band(self) -> bool:
        """Whether orders are control packets."""
        return self.signals == "in band"

    def way(self) -> str:
        """The value of `signals`."""
        return self.signals if isinstance(self.signals, str) else f"{self.signals} ps"


@dataclass(frozen=True, order=True)
class Order:
    """What a switch tells an endpoint about another, which is congested."""

    to: int
    about: int
    number: int  # among those about the same endpoint
    streams: int = field(compare=False)
    what: str = field(compare=False)
    rate: Any = field(compare=False, default=None)
    pause: int = field(compare=False, default=0)


@dataclass(eq=False)
class Letter(Packet):
    """An order as a packet."""

    order: Order = Order(-1, -1, 0, 0, "")

    def __lt__(self, other: Letter) -> bool:
        return self.order < other.order


def head_start(sim: Simulation, origin: Node, to: Endpoint) -> int:
    """The shortest time that a head could take from a node to an endpoint if it never waited, on any way."""
    ahead, count, done = [(0, 0, origin)], 0, set[Node]()
    while True:
        time, _, at = heappop(ahead)
        if at is to:
            return time
        done.add(at)
        for channel in at.out:
            if channel.to not in done and (channel.to is to or isinstance(channel.to, Switch)):
                count += 1
                due = time + channel.latency + ceil(channel.flit) + channel.to.pipeline
                heappush(ahead, (due, count, channel.to))


def delay(sim: Simulation, origin: Node, to: Endpoint) -> int:
    """The time that a signal takes out of band: at least a tick."""
    way = sim.case.protocol.signals if isinstance(sim.case.protocol, Signalling) else 0
    time = head_start(sim, origin, to) if way == "path" else sim.case.rounded(int(way))
    return max(time, sim.case.tick)


class Ordering(Switch):
    """A switch that watches what comes for its endpoints, and gives orders.

    In a tick it takes in what comes, by ports, then its timers, and then decides what starts.
    """

    def connect(self) -> None:
        super().connect()
        self.protocol: Any = self.case.protocol
        self.outbox: list[Order] = []
        self.said: Counter[int] = Counter()  # orders, by output

    def decide(self) -> None:
        self.look()
        self.post()
        super().decide()
        self.look()
        if self.post():
            super().decide()

    def take(self, packet: Packet) -> None:
        if packet.kind == DATA and isinstance(self.out[packet.out].to, Endpoint):
            self.notice(packet.out, packet)
        super().take(packet)

    def send(self, channel: Any, packet: Packet, vc: int, now: int) -> None:
        super().send(channel, packet, vc, now)
        if packet.kind == DATA and isinstance(channel.to, Endpoint):
            self.leaves(packet.out, packet)

    def notice(self, out: int, packet: Packet) -> None:
        """A data packet comes for an endpoint."""

    def leaves(self, out: int, packet: Packet) -> None:
        """A data packet leaves for its endpoint."""

    def look(self) -> None:
        """Looks for what ends by itself."""

    def endpoint(self, out: int) -> int:
        """The number of the endpoint at an output."""
        return self.sim.endpoints.index(self.out[out].to)  # type: ignore[arg-type]

    def say(self, out: int, to: int, streams: int, *what: Any) -> None:
        """Gives an order about the endpoint at an output."""
        self.said[out] += 1
        self.outbox.append(Order(to, self.endpoint(out), self.said[out], streams, *what))

    def post(self) -> bool:
        """Sends off the orders, and tells whether they are packets of this switch."""
        orders, self.outbox = sorted(self.outbox), []
        for order in orders:
            self.sim.orders.append((self.sim.now, order))
            letter = Letter(CONTROL, -1, -1, self.case.control, order.about, order.to, what="notification")
            letter.order, letter.label = order, (order.number, 0)
            if self.protocol.in_band:
                letter.port, letter.came, letter.tail = -1, self.sim.now - self.pipeline, self.sim.now
                self.direct(letter)
                super().take(letter)
            else:
                to = self.sim.endpoints[order.to]
                when = self.sim.now + delay(self.sim, self, to)
                self.sim.at(when, to, partial(to.letters.append, replace(letter)))
        return bool(orders) and self.protocol.in_band
