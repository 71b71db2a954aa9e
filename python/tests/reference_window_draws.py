"""Random parameters of the protocols with windows, that make them act; some of them are the defaults."""

from __future__ import annotations

import random
from dataclasses import replace
from math import ceil
from typing import Any

from reference_case import Case
from reference_draws import aside, round_trip
from reference_hpcc import Hpcc
from reference_nscc import Nscc
from reference_nscc_rccc import NsccRccc
from reference_protocol import Protocol
from reference_rccc import Rccc
from reference_swift import Swift


class Draw(random.Random):
    """Chance for a case, and what the defaults hang on."""

    def __init__(self, seed: str, case: Case) -> None:
        super().__init__(seed)
        self.most, self.rounded = case.packet_max, case.rounded
        self.trip, tick = round_trip(case), case.tick
        self.packet = ceil(self.most * case.flit_bits * 1000 / case.host_rate / tick) * tick
        rates = {case.host_rate, *(link.rate for link in case.links)}
        loops = len(case.links) >= len({*case.hosts})
        self.is_plain = len(rates) == 1 and not loops and case.drain is None  # so the longest trip is exact
        self.tick, self.rate = tick, int(case.host_rate * 10**9)

    def part(self, *parts: float) -> int:
        """A time in ps, near one of some parts of the round trip of the empty network."""
        time = self.choice(parts) * self.trip * self.uniform(0.8, 1.2)
        return max(1000, self.choice([round(time), round(time / 1000) * 1000]))

    def silence(self) -> int:
        """A time after which a queue begins anew."""
        return self.choice([0, self.randint(0, 3_000_000), self.part(0.5, 1, 2, 4)])

    def carried(self, time: int) -> float:
        """Flits that a channel carries in a time."""
        return self.rounded(time) // self.tick * self.most / (self.packet // self.tick)

    def usual(self, protocol: Any, **defaults: Any) -> Any:
        """Gives some parameters their defaults."""
        names = [name for name in defaults if self.random() < 0.5]
        return replace(protocol, **{name: defaults[name] for name in names}, left_out=tuple(names))


def _swift(draw: Draw) -> Swift:
    least, low = draw.choice([0.01, 0.1, 0.5, 1.0]), draw.choice([0.07, 0.3, 0.5, 1.0, 2.5])
    longest = draw.trip + 8 * draw.packet
    base = draw.choice([draw.part(0.3, 0.6, 1), longest])
    swift = Swift(
        restart=draw.silence(),
        base_target=base,
        hop_target=draw.choice([0, draw.part(0.05)]),
        fs_range=draw.choice([0, draw.part(0.1, 0.5, 2)]),
        ai=draw.choice([0.0, 0.3, 1.0, 1.0, 4.0]),
        beta=draw.choice([0.0, 0.3, 0.8, 0.8, 2.0]),
        max_mdf=draw.choice([0.1, 0.5, 0.5, 0.9, 1.0]),
        fs_min_cwnd=least,
        fs_max_cwnd=least * draw.choice([2, 10, 1000]),
        min_cwnd=low,
        max_cwnd=low * draw.choice([1, 2, 20, 500]),
    )
    largest = max(low, ceil(draw.rounded(base) / draw.packet))
    swift = draw.usual(swift, fs_range=base, max_cwnd=largest, restart=10 * draw.rounded(base))
    swift = _with_a_first_window(aside(draw), swift)
    if base == longest and draw.is_plain:
        swift = replace(swift, left_out=("base_target", *swift.left_out))
    return swift


def _with_a_first_window(draw: random.Random, swift: Swift) -> Swift:
    """New queues have the largest window, as by default, or another one."""
    least, most = swift.min_cwnd, swift.max_cwnd
    if draw.random() < 0.5:
        return replace(swift, initial_cwnd=most, left_out=("initial_cwnd", *swift.left_out))
    return replace(
        swift, initial_cwnd=draw.choice([least, most, (least + most) / 2, max(least, min(1.0, most))])
    )


def _hpcc(draw: Draw) -> Hpcc:
    base, eta = draw.choice([draw.trip, draw.part(0.7, 1, 1, 1.5)]), draw.choice([0.5, 0.9, 0.95, 1.0])
    hpcc = Hpcc(
        restart=draw.silence(),
        base_rtt=base,
        eta=eta,
        max_stage=draw.choice([0, 0, 1, 2, 5]),
        window_ai=draw.choice([0, 1, 1, 3]),
        rate_min=draw.rate // draw.choice([100, 20, 4]),
    )
    hpcc = draw.usual(hpcc, restart=10 * draw.rounded(base), window_ai=draw.carried(base) * (1 - eta) / 100)
    hpcc = replace(hpcc, telemetry=draw.choice(["int", "pint"]))
    return (
        replace(hpcc, left_out=("base_rtt", *hpcc.left_out)) if base == draw.trip and draw.is_plain else hpcc
    )


def _nscc(draw: Draw) -> Nscc:
    mark = draw.choice([0, 1, draw.most, draw.most, 3 * draw.most, 8 * draw.most])
    most, base = draw.most, draw.choice([draw.trip, draw.part(0.7, 1, 1, 1.5)])
    target = draw.choice([base, draw.part(0.1, 0.3, 1)])
    nscc = Nscc(
        restart=draw.silence(),
        base_rtt=base,
        target=target,
        mark=mark,
        mark_from=draw.choice([mark, draw.randint(0, mark)]),
        window=draw.choice([1, most, 3 * most, 10 * most, 40 * most]),
        proportional_increase=draw.choice([0.0, 0.5, 2.0, 5.0]),
        fair_increase=draw.choice([0.0, 0.3, 2.0]),
        constant_increase=draw.choice([0.0, 0.1, 1.0]),
        fast_increase=draw.choice([0.0, 0.25, 1.0]),
        fast_delay=draw.choice([0, draw.part(0.1, 0.5)]),
        gamma=draw.choice([0.2, 0.8, 0.8, 1.0]),
        gain=draw.choice([0.0125, 0.3, 1.0]),
        quick_adapt=draw.part(0.3, 1, 1, 10),
    )
    twelfth = ceil(draw.rounded(base) / draw.tick / 12) * draw.tick
    restart, window = 10 * draw.rounded(base), max(draw.most, 1.5 * draw.carried(base))
    adapt = 4 * draw.rounded(target)
    nscc = draw.usual(nscc, fast_delay=twelfth, quick_adapt=adapt, restart=restart, window=window)
    left_out = ("base_rtt",) * (base == draw.trip and draw.is_plain) + ("target",) * (base == target)
    return replace(nscc, left_out=(*left_out, *nscc.left_out))


def _rccc(draw: Draw) -> Rccc:
    most = draw.most
    return Rccc(
        restart=draw.silence(),
        unsolicited=draw.choice([0, 1, most, most + 1, 3 * most, 10 * most]),
        quantum=draw.choice([1, most, 2 * most + 1, 4 * most]),
        rate=draw.choice([0.3, 0.9, 0.99, 1.0]),
        outstanding=draw.choice([1, most, 4 * most, 20 * most, 100 * most]),
    )


def _both(draw: Draw) -> NsccRccc:
    return NsccRccc(nscc=_nscc(draw), rccc=_rccc(draw))


WINDOWED: dict[str, Any] = {
    "swift": _swift,
    "hpcc": _hpcc,
    "nscc": _nscc,
    "rccc": _rccc,
    "nscc+rccc": _both,
}
"""What draws them, by protocol."""


def random_window(name: str, seed: str, case: Case) -> Protocol:
    """A protocol with windows for a case."""
    protocol: Protocol = WINDOWED[name](Draw(seed, case))
    return protocol
