"""Explicit congestion notification after InfiniBand, after docs/protocols/ecn.md."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from reference_channel import Packet
from reference_hash import SEED, below, mixed, who
from reference_nodes import Endpoint
from reference_paced import Marking, PacedSource
from reference_protocol import Queue

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Ecn(Marking):
    """Its parameters, times in ps; those that are `None` have their default."""

    threshold: int = 8
    notify: str = "acknowledgement"
    increment: int | None = None
    decrement: int | None = None
    timer: int | None = None
    increase_period: int = 0
    table: tuple[int, ...] = ()
    index_increase: int = 1
    marking_rate: int = 0
    counts: str = "all"

    @classmethod
    def random(cls, draw: random.Random, most: int) -> Ecn:
        """Parameters under which delays come, and go again while there is something to send."""

        def some_time(least: int = 1) -> int:
            return draw.choice([least, 1000, 2000, 3001, 5000, 10_000, draw.randint(1, 20_000)])

        table = tuple(sorted(some_time(0) for _ in range(draw.choice([0, 0, 2, 3, 6]))))
        return cls(
            threshold=draw.choice([0, 1, most, most + 1, 2 * most, 5 * most]),
            notify=draw.choice(["acknowledgement", "notification"]),
            increment=None if table else draw.choice([None, some_time(0)]),
            decrement=None if table else draw.choice([None, some_time(0)]),
            timer=draw.choice([None, some_time(), 10 * some_time()]),
            increase_period=draw.choice([0, 0, some_time(), 10 * some_time()]),
            table=table,
            index_increase=draw.choice([1, 1, 2, 3]),
            counts=random.Random(draw.getstate()[1][:8].__repr__()).choice(["all", "inputs"]),
        )

    @property
    def needs_acknowledgements(self) -> bool:
        return self.notify == "acknowledgement"

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {
            "kind": "ecn", "threshold": f"{self.threshold} flits", "notify": self.notify,
            "counts": self.counts, "marking_rate": self.marking_rate,
            "increase_period": f"{self.increase_period} ps",
        }  # fmt: skip
        for name in ("increment", "decrement", "timer"):
            if getattr(self, name) is not None:
                keys[name] = f"{getattr(self, name)} ps"
        if self.table:
            keys |= {"table": [f"{delay} ps" for delay in self.table], "index_increase": self.index_increase}
        return keys

    def marks(self, waiting: int, packet: Packet, tick: int) -> bool:
        drawn = below(mixed(SEED, who(packet.source, packet.label)), self.marking_rate + 1)
        return waiting > self.threshold and drawn == 0

    @property
    def sees(self) -> str:
        return self.counts

    def source(self) -> type[Endpoint]:
        return EcnSource


@dataclass
class Delay:
    """The delay of a send queue, or its index in the table, as it was at a time."""

    value: int = 0
    since: int = 0  # when the timer began
    increased: int | None = None


class EcnSource(PacedSource):
    """Marks come back to it, and each adds to the delay of its send queue."""

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        protocol, case, cycle = sim.case.protocol, sim.case, sim.case.flit_bits * 1000 / sim.case.host_rate
        assert isinstance(protocol, Ecn)
        self.table = [case.rounded(delay) for delay in protocol.table]
        packet = case.span(case.packet_max, cycle)
        cycles = ceil(Fraction(case.packet_max, 24))
        increment, decrement, timer = protocol.increment, protocol.decrement, protocol.timer
        self.increment = packet if increment is None else case.rounded(increment)
        self.decrement = ceil(cycles * cycle) if decrement is None else case.rounded(decrement)
        self.timer = ceil(96 * cycles * cycle) if timer is None else case.rounded(timer)
        if self.table:
            self.increment, self.decrement = protocol.index_increase, 1
        self.increase_period = case.rounded(protocol.increase_period)
        self.delays: dict[int, Delay] = {}

    def delay(self, queue: Queue, time: int) -> Delay:
        """The delay of a send queue, brought up to a time."""
        delay = self.delays.setdefault(queue.destination, Delay())
        steps = (time - delay.since) // self.timer
        return Delay(
            max(0, delay.value - steps * self.decrement), delay.since + steps * self.timer, delay.increased
        )

    def following(self, queue: Queue, packet: Packet) -> int:
        end = self.out[0].free_at
        value = self.delay(queue, end).value
        return end + (self.table[value] if self.table else value)

    def receive(self, packet: Packet) -> None:
        super().receive(packet)
        if packet.is_marked and self.protocol.notify == "notification":
            self.answer(packet, "notification")

    def wakes_at(self, queue: Queue) -> int | None:
        delay, next_at = self.delays.get(queue.destination, Delay()), self.next.get(queue.destination, 0)
        if delay.value and not self.decrement:
            return None
        deaf_until = 0 if delay.increased is None else delay.increased + self.increase_period
        steps = -(-delay.value // self.decrement) if delay.value else 0
        time = max(next_at, deaf_until, delay.since + steps * self.timer)
        return time if time > self.sim.now else None

    def hears(self, packet: Packet) -> bool:
        return packet.what == ("ack" if self.protocol.notify == "acknowledgement" else "notification")

    def hear(self, queue: Queue, packet: Packet) -> None:
        if packet.what == "ack" and not packet.is_marked:
            return
        now = self.sim.now
        delay = self.delay(queue, now)
        if not self.table:
            delay.since = now
        if delay.increased is None or now - delay.increased >= self.increase_period:
            delay.increased = now
            delay.value += self.increment
            if self.table:
                delay.value = min(delay.value, len(self.table) - 1)
        self.delays[queue.destination] = delay
