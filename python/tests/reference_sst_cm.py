"""SST_CM, after docs/protocols/sst-cm.md."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_nodes import Endpoint
from reference_protocol import Queue
from reference_protocols import Source
from reference_signals import DIVISOR, Letter, Order, Signalling
from reference_sst_streams import SstCrossbar, SstUnlimited
from reference_switches import Switch

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class SstCm(Signalling):
    """Its parameters; sizes in flits."""

    streams: int = 8
    outstanding: int = 32
    pause: Fraction = Fraction(4)
    expiry: Fraction = Fraction(3, 2)
    mtu: int | None = None
    smallest: int = 1
    margin: Fraction = Fraction(9, 10)
    knows_pairs = False

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {
            "kind": "sst-cm", "variant": self.variant, "signals": self.way(), "streams": self.streams,
            "outstanding": f"{self.outstanding} flits", "pause": float(self.pause),
            "expiry": float(self.expiry), "smallest": f"{self.smallest} flits",
        }  # fmt: skip
        if self.mtu is not None:
            keys["mtu"] = f"{self.mtu} flits"
        if self.variant == "drain margin":
            keys["margin"] = float(self.margin)
        return keys

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return SstSource, SstCrossbar if kind is Crossbar else SstUnlimited


class SstSource(Source):
    """Pauses, and then sends at its share of the rate to the endpoint that an order is about."""

    first_class = "data"

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.divisors: dict[int, int] = {}  # by the endpoint that is throttled
        self.latest: defaultdict[int, int] = defaultdict(int)  # numbers of orders, by the same
        self.next_data: defaultdict[int, int] = defaultdict(int)

    def queue(self, destination: int, grade: int = 0) -> Queue:
        return super().queue(-1 if self.case.fifo else destination, grade)

    def pull(self, queue: Queue) -> Packet | int | None:
        if not queue.fresh:
            return None
        time = self.next_data[queue.fresh[0].destination]
        return time if time > self.sim.now else queue.fresh[0]

    def arrive(self, packet: Packet) -> None:
        if packet.what == "notification":
            assert isinstance(packet, Letter)
            self.obey(packet.order)
            self.line_up(self.queue(packet.order.about))
        elif packet.what == "data" and self.case.acknowledge:
            self.answer(packet, "ack")

    def obey(self, order: Order) -> None:
        """An order came."""
        if order.number < self.latest[order.about]:
            return  # a later one has overtaken it
        self.latest[order.about] = order.number
        if order.rate <= DIVISOR:
            self.divisors.pop(order.about, None)
            self.next_data.pop(order.about, None)
        else:
            self.divisors[order.about] = order.rate
            until = self.sim.now + order.pause
            self.next_data[order.about] = max(self.next_data[order.about], until)

    def go(self, queue: Queue, packet: Packet) -> None:
        queue.fresh.popleft()
        self.begin(packet)
        if packet.what == "data" and packet.destination in self.divisors:
            tick = self.case.tick
            time = ceil(packet.flits * self.out[0].flit / tick) * self.divisors[packet.destination] // DIVISOR
            self.next_data[packet.destination] = self.sim.now + time * tick


def random_sst_cm(draw: random.Random, most: int) -> SstCm:
    """Few streams with little data."""
    return SstCm(
        variant=draw.choice(["as published", "as coded", "drain margin"]),
        signals=draw.choice(["path", "in band", draw.choice([0, 1, 5, 20, 100]) * 1000]),
        streams=draw.choice([1, 2, 2, 3]), outstanding=draw.choice([1, most, 2 * most, 5 * most]),
        pause=draw.choice([Fraction(0), Fraction(1, 2), Fraction(1), Fraction(4)]),
        expiry=draw.choice([Fraction(1, 2), Fraction(3, 2), Fraction(5)]),
        mtu=draw.choice([None, 1, most, 3 * most]), smallest=draw.choice([1, 1, 2, most]),
        margin=draw.choice([Fraction(9, 10), Fraction(1, 2), Fraction(1)]),
    )  # fmt: skip
