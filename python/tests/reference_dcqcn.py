"""DCQCN, after docs/protocols/dcqcn.md, with marks by the engine's hash."""

from __future__ import annotations

import random
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from reference_channel import Packet
from reference_hash import reds, who
from reference_nodes import Endpoint
from reference_paced import Marking, PacedSource
from reference_protocol import Queue

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Dcqcn(Marking):
    """Its parameters: sizes in flits, times in ps, rates in Mb/s."""

    mark_all: int = 8
    mark_from: int | None = None  # with a chance of 0 up to `mark_all`; `None`: the same
    cnp_interval: int = 1
    mark_chance: float = 0.0
    gain: float = 0.5
    alpha_timer: int = 10_000
    timer: int = 10_000
    byte_counter: int = 10
    recovery_stages: int = 1
    increase: int = 1000
    hyper_increase: int = 1000
    rate_min: int = 1000
    is_red = True

    @classmethod
    def random(cls, draw: random.Random, most: int) -> Dcqcn:
        """Parameters under which rates fall, and rise again while there is something to send."""

        def some_time() -> int:
            return draw.choice([1, 1000, 3001, 10_000, 30_000, draw.randint(1, 50_000)])

        def some_rate() -> int:
            return draw.choice([1000, 5000, 20_000, draw.randint(1, 50_000)])

        mark_all = draw.choice([0, 1, most, most + 1, 2 * most, 5 * most])
        return cls(
            mark_all=mark_all,
            mark_from=draw.choice([None, draw.randint(0, mark_all)]),
            mark_chance=draw.choice([0.0, 0.3, 1.0]),
            cnp_interval=some_time(),
            gain=draw.choice([0.5, 1 / 16, 1, 0.0, draw.random()]),
            alpha_timer=some_time(),
            timer=draw.choice([1000, 3001, 10_000, 100_000, draw.randint(1000, 50_000)]),
            byte_counter=draw.choice([1, most, 3 * most, 10 * most, 1000]),
            recovery_stages=draw.choice([0, 1, 1, 2, 5]),
            increase=some_rate(),
            hyper_increase=some_rate(),
            rate_min=draw.choice([1000, 5000, 10_000, 20_000]),
        )

    def keys(self) -> dict[str, object]:
        first = self.mark_all if self.mark_from is None else self.mark_from
        return {
            "kind": "dcqcn", "mark_from": f"{first} flits", "mark_all": f"{self.mark_all} flits",
            "mark_chance": self.mark_chance, "cnp_interval": f"{self.cnp_interval} ps", "gain": self.gain,
            "alpha_timer": f"{self.alpha_timer} ps", "timer": f"{self.timer} ps",
            "byte_counter": f"{self.byte_counter} flits", "recovery_stages": self.recovery_stages,
            "increase": f"{self.increase} Mb/s", "hyper_increase": f"{self.hyper_increase} Mb/s",
            "rate_min": f"{self.rate_min} Mb/s",
        }  # fmt: skip

    def marks(self, waiting: int, packet: Packet, tick: int) -> bool:
        first = self.mark_all if self.mark_from is None else self.mark_from
        name = who(packet.source, packet.label)
        return reds(waiting, (first, self.mark_all), self.mark_chance, name, tick)

    def source(self) -> type[Endpoint]:
        return DcqcnSource


@dataclass
class Rate:
    """The rate of a send queue, as a share of its channel, as it was at a time."""

    rate: float = 1.0
    target: float = 1.0
    alpha: float = 1.0
    alpha_since: int | None = None  # when its timer began
    since: int = 0  # when the timer of increases began
    by_time: int = 0  # increases
    by_data: int = 0
    flits: int = 0  # since the last of the latter


class NotifiedSource(PacedSource):
    """Told of a mark, it cuts the rate of a send queue, which rises again later."""

    of_rates: type[Any]
    """What the state of a send queue's rate is."""
    cnp_interval: int
    timer: int

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.rates: dict[int, Any] = {}
        self.told: dict[tuple[int, int], int] = {}  # when a source was told the last time

    def share(self, rate: int) -> float:
        """A rate as a share of the channel."""
        return float(Fraction(rate, 1000) / self.case.host_rate)

    def rate(self, queue: Queue, time: int) -> Any:
        """The rate of a send queue, brought up to a time."""
        state = self.rates.setdefault(queue.destination, self.of_rates())
        self.advance(state, time)
        return state

    def advance(self, state: Any, time: int) -> None:
        """Brings a rate up to a time."""
        raise NotImplementedError

    def count(self, state: Any, flits: int) -> None:
        """What so much data change of a rate below that of the channel."""

    def is_unlimited(self, state: Any) -> bool:
        """Whether a rate is that of the channel, and stays it."""
        return bool(state.rate == 1)

    def following(self, queue: Queue, packet: Packet) -> int:
        now, tick = self.sim.now, self.case.tick
        state = self.rate(queue, now)
        if state.rate == 1:
            return now
        self.count(state, packet.flits)
        took = ceil(packet.flits * self.out[0].flit / tick)
        return now + floor(took / state.rate + 0.5) * tick

    def is_new(self, queue: Queue) -> bool:
        """Whether a send queue has all of its channel again."""
        state = copy(self.rates.get(queue.destination, self.of_rates()))
        self.advance(state, self.sim.now)
        return self.is_unlimited(state) and self.next.get(queue.destination, 0) <= self.sim.now

    def wakes_at(self, queue: Queue) -> int | None:
        if self.is_new(queue):
            return None
        return max(self.next.get(queue.destination, 0), self.sim.now + self.timer)

    def receive(self, packet: Packet) -> None:
        super().receive(packet)
        about = packet.source, packet.pair
        last, now = self.told.get(about), self.sim.now
        if packet.is_marked and (last is None or now - last >= self.cnp_interval):
            self.told[about] = now
            self.answer(packet, "notification")

    def hears(self, packet: Packet) -> bool:
        return packet.what == "notification"

    def forget(self, queue: Queue) -> None:
        if not queue.fresh and self.is_new(queue):
            self.rates.pop(queue.destination, None)


class DcqcnSource(NotifiedSource):
    """It raises the rate with time and with data."""

    of_rates = Rate

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        assert isinstance(sim.case.protocol, Dcqcn)
        self.dcqcn, case = sim.case.protocol, sim.case
        self.alpha_timer, self.timer = case.rounded(self.dcqcn.alpha_timer), case.rounded(self.dcqcn.timer)
        self.cnp_interval = case.rounded(self.dcqcn.cnp_interval)

    def advance(self, state: Rate, time: int) -> None:
        if state.alpha_since is not None:
            falls = (time - state.alpha_since) // self.alpha_timer
            state.alpha *= (1 - self.dcqcn.gain) ** falls
            state.alpha_since += falls * self.alpha_timer
        while state.rate < 1 and state.since + self.timer <= time:
            state.since += self.timer
            state.by_time += 1
            self.increase(state)

    def increase(self, state: Rate) -> None:
        """Raises a rate that time or data has raised once more."""
        stages = self.dcqcn.recovery_stages
        if min(state.by_time, state.by_data) > stages:
            more = min(state.by_time, state.by_data) - stages
            state.target += more * self.share(self.dcqcn.hyper_increase)
        elif max(state.by_time, state.by_data) > stages:
            state.target += self.share(self.dcqcn.increase)
        state.target = min(1.0, state.target)
        state.rate = (state.rate + state.target) / 2
        if state.rate >= 0.999:
            state.rate = state.target = 1.0

    def count(self, state: Rate, flits: int) -> None:
        state.flits += flits
        while state.flits >= self.dcqcn.byte_counter:
            state.flits -= self.dcqcn.byte_counter
            state.by_data += 1
            self.increase(state)

    def hear(self, queue: Queue, packet: Packet) -> None:
        state, now, gain = self.rate(queue, self.sim.now), self.sim.now, self.dcqcn.gain
        state.target = state.rate
        state.rate = max(self.share(self.dcqcn.rate_min), state.rate * (1 - state.alpha / 2))
        state.alpha += gain * (1 - state.alpha)
        state.alpha_since = state.since = now
        state.by_time = state.by_data = state.flits = 0
