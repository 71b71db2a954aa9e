"""CODES_CC, after docs/protocols/codes-cc.md."""

from __future__ import annotations

import random
from collections import Counter, deque
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import TYPE_CHECKING

from reference_case import DATA, Case
from reference_channel import Packet
from reference_codes_ports import CodesCrossbar, CodesUnlimited, MarginCrossbar, MarginUnlimited
from reference_crossbar import Crossbar
from reference_nodes import Endpoint, Key
from reference_signals import DIVISOR, Letter, Order, Signalling, delay
from reference_switches import Switch

if TYPE_CHECKING:
    from reference import Simulation

PARTS = 1_000_000
"""Rates are whole numbers of millionths."""


@dataclass(frozen=True)
class CodesCc(Signalling):
    """Its parameters."""

    congested: Fraction = Fraction(3, 10)
    decongested: Fraction = Fraction(1, 10)
    buffer: int | None = None
    period: int = 10_000_000
    windows: int = 5
    floor: Fraction = Fraction(1, 100)
    aggressor_share: Fraction = Fraction(1, 10)
    margin: Fraction = Fraction(9, 10)
    hold: Fraction = Fraction(2)

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {
            "kind": "codes-cc", "variant": self.variant, "signals": self.way(),
            "congested": float(self.congested), "decongested": float(self.decongested),
            "period": f"{self.period} ps", "windows": self.windows, "floor": float(self.floor),
        }  # fmt: skip
        if self.buffer is not None:
            keys["buffer"] = f"{self.buffer} flits"
        if self.variant == "as coded":
            keys["aggressor_share"] = float(self.aggressor_share)
        if self.variant == "drain margin":
            keys |= {"margin": float(self.margin), "hold": float(self.hold)}
        return keys

    def settled(self, case: Case) -> Case:
        return replace(case, acknowledge=self.in_band)

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        if self.variant == "drain margin":
            return CodesSource, MarginCrossbar if kind is Crossbar else MarginUnlimited
        return CodesSource, CodesCrossbar if kind is Crossbar else CodesUnlimited


class CodesSource(Endpoint):
    """Measures how fast its packets are ejected, and goes no faster while it is ordered to throttle."""

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        assert isinstance(sim.case.protocol, CodesCc)
        self.protocol = sim.case.protocol
        self.period = max(self.case.rounded(self.protocol.period), 1)
        self.came: Counter[int] = Counter()  # flits acknowledged, by period
        self.orders = 0  # beyond those that have ended
        self.divisors: dict[int, int] = {}  # by what the order is about
        self.latest: Counter[int] = Counter()  # numbers of orders, by what they are about
        self.next_data = 0

    def arrive(self, packet: Packet) -> None:
        if packet.what == "notification":
            assert isinstance(packet, Letter)
            self.obey(packet.order)
        elif packet.what == "ack":
            self.came[self.sim.now // self.period] += packet.asked
        else:
            as_coded = self.protocol.variant == "as coded"
            reply = self.reply_to(packet, "ack")
            reply.asked = self.case.packet_max if as_coded else packet.flits
            if self.protocol.in_band:
                self.acks.append(reply)
                return
            to = self.sim.endpoints[packet.source]
            self.sim.at(self.sim.now + delay(self.sim, self, to), to, partial(to.arrive, reply))

    def obey(self, order: Order) -> None:
        """An order came."""
        ends = order.what == "normal"
        self.orders += -1 if ends else 1
        if order.number < self.latest[order.about]:
            return  # a later one has overtaken it
        self.latest[order.about] = order.number
        if ends:
            self.divisors.pop(order.about, None)
        else:
            self.divisors[order.about] = order.rate
        if not self.is_throttled and self.protocol.variant != "as coded":
            self.next_data = 0

    @property
    def is_throttled(self) -> bool:
        """Whether there are orders: the code counts them only."""
        return self.orders > 0 if self.protocol.variant == "as coded" else bool(self.divisors)

    def rate(self) -> int:
        """The part of its channel that it may use, in millionths."""
        if not self.is_throttled:
            return PARTS
        if self.protocol.variant == "drain margin":
            return max(PARTS * DIVISOR // max(self.divisors.values()), 1)
        now, windows, case = self.sim.now // self.period, self.protocol.windows, self.case
        flits = sum(self.came[at] for at in range(now - windows, now))
        full = max(windows * self.period * case.packet_max // case.span(case.packet_max, self.out[0].flit), 1)
        return min(max(PARTS * flits // full, int(PARTS * self.protocol.floor)), PARTS)

    def next_key(self, ready: deque[Key]) -> Key | None:
        if self.next_data > self.sim.now:
            self.sim.at(self.next_data, self)
            return None
        return super().next_key(ready)

    def begin(self, packet: Packet) -> None:
        super().begin(packet)
        if packet.kind == DATA:
            tick = self.case.tick
            time = Fraction(ceil(packet.flits * self.out[0].flit / tick) * PARTS, self.rate())
            self.next_data = self.sim.now + floor(time) * tick


def random_codes_cc(draw: random.Random, most: int) -> CodesCc:
    """Small buffers and periods, so that ports become congested and rates change."""
    low, high = sorted(
        draw.choices([Fraction(1, 100), Fraction(1, 10), Fraction(3, 10), Fraction(1, 2)], k=2)
    )
    return CodesCc(
        variant=draw.choice(["as published", "as coded", "drain margin"]),
        signals=draw.choice(["path", "in band", draw.choice([0, 1, 5, 20, 100]) * 1000]),
        congested=high, decongested=min(max(low, Fraction(1, 100)), high),
        buffer=draw.choice([None, most, 2 * most, 5 * most, 20 * most]),
        period=draw.choice([5, 20, 60, 200]) * 1000, windows=draw.choice([1, 2, 5]),
        floor=draw.choice([Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(1)]),
        aggressor_share=draw.choice([Fraction(0), Fraction(1, 10), Fraction(1), Fraction(2)]),
        margin=draw.choice([Fraction(9, 10), Fraction(1, 2), Fraction(1)]),
        hold=draw.choice([Fraction(1), Fraction(2), Fraction(5, 2)]),
    )  # fmt: skip
