"""Max-min fair rates for independent flows, after docs/protocols/max-min.md.

How rates travel, and which are the same, was read in the engine. Rates are in flits per tick.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, NamedTuple

from reference_channel import Channel
from reference_crossbar import Crossbar
from reference_flows import FlowCrossbar, FlowSwitch, FlowUnlimited
from reference_nodes import Endpoint
from reference_rates import Explicit, RatedFlow, RatedSource
from reference_switches import Switch

NEAR = 1e-9
"""Rates as near as this are the same."""


class Told(NamedTuple):
    """A rate as the time of the flow at it (0: as much as there is), and whether a link held it back."""

    time: float = 0.0
    held: bool = False


@dataclass(frozen=True)
class MaxMin(Explicit):
    """Its parameters."""

    utilization: Fraction = Fraction(95, 100)

    def keys(self) -> dict[str, object]:
        return {"kind": "max-min", "utilization": float(self.utilization)} | super().keys()

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return MaxMinSource, MaxMinCrossbar if kind is Crossbar else MaxMinUnlimited


class MaxMinSource(RatedSource):
    """Asks for the rate that it has, or if no link limits that for more."""

    def requests(self, flow: RatedFlow) -> Told:
        return Told(flow.known)

    def learn(self, flow: RatedFlow, told: Told) -> int:
        flow.known = told.time if told.held else 0.0
        return floor(told.time + 0.5)

    def lasts(self, news: bool) -> bool:
        return False

    def is_news(self, known: Any, told: Any) -> bool:
        return bool(told != Told(known, held=True))


class Link:
    """A link, and what each of its flows asked for last."""

    def __init__(self, capacity: float) -> None:
        self.capacity = capacity
        self.flows: dict[tuple[int, int], tuple[int, float]] = {}  # flits, and the time that it asked for

    def account(self, packet: Any) -> None:
        """A packet of a flow crosses the link."""
        pair = packet.source, packet.destination
        if packet.what == "set-up":
            self.flows[pair] = packet.asked, 0.0
        if pair not in self.flows:
            return
        time = packet.told.time if packet.told else 0.0
        flits = self.flows[pair][0]
        self.flows[pair] = flits, time
        fair = flits / self.advertised()
        if fair > time * (1 + NEAR):
            packet.told = Told(fair, held=True)
        elif fair >= time * (1 - NEAR):
            packet.told = Told(time, held=True)

    def end(self, packet: Any) -> None:
        """A flow leaves the link."""
        del self.flows[packet.source, packet.destination]

    def advertised(self) -> float:
        """The rate up to which every flow may have what it asked for."""
        rates = [flits / time if time else float("inf") for _, (flits, time) in sorted(self.flows.items())]
        below, share = 0, self.capacity / len(rates)
        while True:
            modest = [rate for rate in rates if rate <= share]
            total = sum(modest, 0.0)
            if len(modest) == len(rates):
                return self.capacity - total + max(modest)
            if len(modest) <= below:
                return share
            below, share = len(modest), (self.capacity - total) / (len(rates) - len(modest))


class MaxMinSwitch(FlowSwitch):
    """Tells what asks the least rate that its links advertise."""

    def connect(self) -> None:
        super().connect()
        self.links = [self.link(channel, channel.pace) for channel in self.out]
        self.from_endpoints = [self.link(channel, channel.flit) for channel in self.into]

    def link(self, channel: Channel, flit: Fraction) -> Link:
        """What a channel gives away, in flits per tick."""
        most, tick = self.case.packet_max, self.case.tick
        return Link(float(self.protocol.utilization) * most / ceil(most * flit / tick))

    def account(self, packet: Any) -> None:
        super().account(packet)
        is_first = isinstance(self.into[packet.port].origin, Endpoint)
        if packet.what == "tear-down":
            if is_first:
                self.from_endpoints[packet.port].end(packet)
        elif packet.what != "data" or getattr(packet, "asks", False):
            if is_first:
                self.from_endpoints[packet.port].account(packet)
            self.links[packet.out].account(packet)

    def end(self, packet: Any) -> None:
        super().end(packet)
        self.links[packet.out].end(packet)


class MaxMinCrossbar(MaxMinSwitch, FlowCrossbar):
    """With a crossbar."""


class MaxMinUnlimited(MaxMinSwitch, FlowUnlimited):
    """Without one."""
