"""DCQCN as NICs have it, after docs/protocols/dcqcn-connectx.md, with marks by the engine's hash."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference_channel import Packet
from reference_dcqcn import NotifiedSource
from reference_hash import reds, who
from reference_nodes import Endpoint
from reference_paced import Marking
from reference_protocol import Queue

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Connectx(Marking):
    """Its parameters: sizes in flits, times in ps, rates in Mb/s."""

    mark_from: int = 8
    mark_all: int = 8
    mark_chance: float = 0.0
    cnp_interval: int = 0
    gain: float = 0.5
    alpha_timer: int = 10_000
    cut_timer: int = 10_000
    timer: int = 10_000
    clamp_target: bool = False
    recovery_stages: int = 1
    increase: int | None = 1000
    hyper_increase: int | None = 1000
    rate_min: int = 1000
    is_red = True

    @classmethod
    def random(cls, draw: random.Random, most: int) -> Connectx:
        """Parameters under which rates fall, and rise again while there is something to send."""

        def some_time() -> int:
            return draw.choice([1000, 3001, 10_000, 30_000, draw.randint(1, 50_000)])

        def some_rate() -> int | None:
            return draw.choice([None, 1000, 5000, 20_000, draw.randint(1, 50_000)])

        mark_all = draw.choice([0, 1, most, most + 1, 2 * most, 5 * most])
        return cls(
            mark_all=mark_all,
            mark_from=draw.choice([mark_all, draw.randint(0, mark_all)]),
            mark_chance=draw.choice([0.0, 0.3, 1.0]),
            cnp_interval=draw.choice([0, some_time()]),
            gain=draw.choice([0.5, 1 / 16, 1, 0.0, draw.random()]),
            alpha_timer=some_time(),
            cut_timer=some_time(),
            timer=draw.choice([1000, 3001, 10_000, 100_000, draw.randint(1000, 50_000)]),
            clamp_target=draw.random() < 0.5,
            recovery_stages=draw.choice([0, 1, 1, 2, 5]),
            increase=some_rate(),
            hyper_increase=some_rate(),
            rate_min=draw.choice([1000, 5000, 10_000, 20_000]),
        )

    def keys(self) -> dict[str, object]:
        steps = {"increase": self.increase, "hyper_increase": self.hyper_increase}
        return {
            "kind": "dcqcn-connectx", "mark_from": f"{self.mark_from} flits",
            "mark_all": f"{self.mark_all} flits", "mark_chance": self.mark_chance,
            "cnp_interval": f"{self.cnp_interval} ps", "gain": self.gain,
            "alpha_timer": f"{self.alpha_timer} ps", "cut_timer": f"{self.cut_timer} ps",
            "timer": f"{self.timer} ps", "clamp_target": self.clamp_target,
            "recovery_stages": self.recovery_stages, "rate_min": f"{self.rate_min} Mb/s",
            **{key: f"{step} Mb/s" for key, step in steps.items() if step is not None},
        }  # fmt: skip

    def marks(self, waiting: int, packet: Packet, tick: int) -> bool:
        name = who(packet.source, packet.label)
        return reds(waiting, (self.mark_from, self.mark_all), self.mark_chance, name, tick)

    def source(self) -> type[Endpoint]:
        return ConnectxSource


@dataclass
class Rate:
    """The rate of a send queue, as a share of its channel, as it was at a time."""

    rate: float = 1.0
    target: float = 1.0
    alpha: float = 1.0
    first: int | None = None  # when it was told of a mark for the first time
    alpha_at: int = 0  # the last look at alpha, and whether it was told since
    in_alpha: bool = False
    cut_at: int = 0  # the last look whether to cut, and whether it was told since
    in_cut: bool = False
    raised_at: int = 0  # the last increase or cut
    increases: int = 0  # since the cut


class ConnectxSource(NotifiedSource):
    """It goes from look to look: what is due first is done first, alpha before increases before cuts."""

    of_rates = Rate

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        assert isinstance(sim.case.protocol, Connectx)
        self.keys, case = sim.case.protocol, sim.case
        self.alpha_timer, self.timer = case.rounded(self.keys.alpha_timer), case.rounded(self.keys.timer)
        self.cut_timer = case.rounded(self.keys.cut_timer)
        self.cnp_interval = case.rounded(self.keys.cnp_interval)

    def advance(self, state: Rate, time: int) -> None:
        while state.first is not None:
            due = [
                state.alpha_at + self.alpha_timer,
                state.raised_at + self.timer,
                state.cut_at + self.cut_timer,
            ]
            at = min(due)
            if at > time:
                break
            (self.look_at_alpha, self.increase, self.look_whether_to_cut)[due.index(at)](state, at)

    def look_at_alpha(self, state: Rate, at: int) -> None:
        gain = self.keys.gain
        state.alpha = (1 - gain) * state.alpha + (gain if state.in_alpha else 0)
        state.alpha_at, state.in_alpha = at, False

    def increase(self, state: Rate, at: int) -> None:
        state.raised_at = at
        if state.rate == 1:
            return
        stages = self.keys.recovery_stages
        if state.increases == stages:
            state.target += self.step(self.keys.increase, 5000)
        elif state.increases > stages:
            state.target += self.step(self.keys.hyper_increase, 500)
        state.increases += 1
        state.target = min(1.0, state.target)
        state.rate = (state.rate + state.target) / 2
        if state.rate >= 0.999:
            state.rate = state.target = 1.0

    def step(self, given: int | None, part: int) -> float:
        """What is added to a target, as a share of the channel."""
        return self.share(given) if given is not None else 1 / part

    def look_whether_to_cut(self, state: Rate, at: int) -> None:
        state.cut_at = at
        if state.in_cut:
            if self.keys.clamp_target or state.increases > 0:
                state.target = state.rate
            state.rate = max(self.share(self.keys.rate_min), state.rate * (1 - state.alpha / 2))
            state.in_cut, state.raised_at, state.increases = False, at, 0

    def is_unlimited(self, state: Rate) -> bool:
        return state.rate == 1 and not state.in_cut

    def hear(self, queue: Queue, packet: Packet) -> None:
        state, now = self.rate(queue, self.sim.now), self.sim.now
        if state.first is None:
            state.first = state.alpha_at = state.cut_at = state.raised_at = now
        else:
            state.in_alpha = True
        state.in_cut = True
