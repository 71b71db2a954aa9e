"""Sources whose flows are told rates, after docs/protocols/saa.md: they announce, ask, send by an injection.

In which order an endpoint does that, how it reckons and how ties go was read in the engine. Rates are in
flits per tick.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from reference_case import Message
from reference_channel import Packet
from reference_flows import Flow, FlowPacket, Flows, FlowSource


@dataclass(frozen=True)
class Explicit(Flows):
    """The parameters that controls with explicit rates share."""

    injection: str = "periodic-selection"
    probe_period: int = 10_000_000
    hold: int = 20_000_000
    piggyback: bool = False
    one_class = False

    def keys(self) -> dict[str, object]:
        return {
            "injection": self.injection, "probe_period": f"{self.probe_period} ps",
            "hold": f"{self.hold} ps", "piggyback": self.piggyback,
        }  # fmt: skip


@dataclass(eq=False)
class RatedFlow(Flow):
    """A flow that has a rate once its set-up packet is back."""

    known: Any = None  # what came back last
    time: int = 0  # that it takes at the rate that it was told, in ticks
    since: int = 0  # when it came to be told that
    opens: int = 0  # when its first data may go
    interval: int = 0  # between two probes
    probe_at: int = 0
    probing: bool = False
    rate: float = 0
    before: float = 0  # how far it was when it came to its rate, and what it has sent at that
    sent: int = 0
    last: tuple[int, int] | None = None  # start of its last packet, in ticks, and its flits

    @property
    def progress(self) -> float:
        """What it has sent for its rates."""
        return self.before + self.sent / self.rate

    def go_on(self, rate: float, clock: float) -> None:
        """Gives it a rate; one that has had none is as far as the others."""
        if rate != self.rate:
            self.before = self.progress if self.rate else clock
            self.rate, self.sent = rate, 0

    def eligible(self) -> float:
        """When its own period has passed since its last packet."""
        return self.last[0] + self.last[1] / self.rate if self.last else 0


class RatedSource(FlowSource):
    """Sends what sets up, probes and ends flows first, then data by the injection."""

    def __init__(self, sim: Any, name: str) -> None:
        super().__init__(sim, name)
        self.tick = self.case.tick
        self.hold = self.case.rounded(self.protocol.hold)
        self.order: list[Any] = []  # its queues
        self.start, self.flits, self.least = 0.0, 0.0, 0.0  # of its period, in ticks

    def flow(self, message: Message) -> RatedFlow:
        flow = super().flow(message)
        return RatedFlow(flow.fresh, flow.about, flow.flits)

    def add(self, message: Message) -> None:
        super().add(message)
        queue = self.queue(message.destination)
        if queue not in self.order:
            self.order.append(queue)

    def requests(self, flow: RatedFlow) -> Any:
        """What the next packet that asks carries."""
        raise NotImplementedError

    def load(self, flow: RatedFlow) -> int:
        """The time that a flow takes at its rate, in ticks."""
        return flow.time

    def learn(self, flow: RatedFlow, told: Any) -> int:
        """Takes in what came back, and returns the time that the flow takes at its rate."""
        raise NotImplementedError

    def lasts(self, news: bool) -> bool:
        """Whether the next probe is to come later than the last."""
        raise NotImplementedError

    def send_one(self) -> None:
        if self.send_control():
            return
        lacking, able = set[int](), list[Any]()
        at = 0
        while at < len(self.order):
            queue = self.order[at]
            if not queue.flows:
                self.order[at] = self.order[-1]
                self.order.pop()
                continue
            packet = self.about(queue.flows[0])
            if packet is not None and packet.what == "data":
                able.append(queue)
            elif packet is not None and self.may_go(packet, lacking):
                self.go(queue, packet)
                return
            at += 1
        self.send_data(able, lacking)

    def may_go(self, packet: Packet, lacking: set[int]) -> bool:
        """Whether there is room for a packet, and none before it lacked that."""
        vc = self.sim.vc(packet, self.out[0].to)
        if self.fits(packet) and vc not in lacking:
            return True
        if not self.sim.keeps_queues:
            lacking.add(vc)
        return False

    def about(self, flow: RatedFlow) -> Packet | None:
        """What a flow wants to send now."""
        now = self.sim.now
        if flow.state == "new":
            return replace(flow.about, what="set-up")
        if flow.state != "open":
            return None
        if not flow.fresh:
            return replace(flow.about, what="tear-down")
        starts = flow.opens <= now
        if not flow.probing and flow.probe_at <= now and not (starts and self.protocol.piggyback):
            return replace(flow.about, what="probe", kind=self.kind("control"), told=self.requests(flow))
        return flow.fresh[0] if starts else None

    def send_data(self, able: list[Any], lacking: set[int]) -> None:
        """Sends data of the flow whose turn it is, or wakes when there is one."""
        for queue in able:
            flow = queue.flows[0]
            flow.go_on(flow.flits / max(self.load(flow), 1), self.least)
        rates = sum((queue.flows[0].rate for queue in able), 0.0)
        queue = self.choose(able, rates) if able else None
        if queue is None:
            return
        flow = queue.flows[0]
        packet = self.stamp(flow)
        if self.may_go(packet, lacking):
            now = self.sim.now // self.tick
            self.least, due = max(self.least, flow.progress), self.start + self.flits / rates
            self.start, self.flits = due if now - 1 < due <= now else now, packet.flits
            flow.sent += packet.flits
            flow.last = now, packet.flits
            self.go(queue, packet)

    def choose(self, able: list[Any], rates: float) -> Any:
        """The queue whose turn it is; none before a time at which it looks again."""
        now, injection = self.sim.now // self.tick, self.protocol.injection
        if injection == "greedy":
            return min(able, key=lambda one: (one.flows[0].last or (-1, 0), one.destination))
        if injection == "periodic-selection":
            next_at = self.start + self.flits / rates
            ready = able if next_at <= now else []
        else:
            next_at = min(queue.flows[0].eligible() for queue in able)
            ready = [queue for queue in able if queue.flows[0].eligible() <= now]
        if not ready:
            self.sim.at(max(ceil(next_at), now + 1) * self.tick, self)
            return None
        return min(ready, key=lambda one: (one.flows[0].progress, one.destination))

    def stamp(self, flow: RatedFlow) -> Packet:
        """The next data packet of a flow: all but the last may ask."""
        packet = FlowPacket(**vars(flow.fresh[0]) | {"knows": (flow.time * self.tick, flow.since)})
        if self.protocol.piggyback and len(flow.fresh) > 1:
            packet.told, packet.known, packet.asks = self.requests(flow), flow.known, True
        return packet

    def go(self, queue: Any, packet: Packet) -> None:
        queue.flows[0].probing |= packet.what == "probe"
        super().go(queue, packet)

    def hear(self, queue: Any, packet: Any) -> None:
        if packet.what != "return":
            return
        flow = queue.flows[0] if queue.flows else None
        if flow is None or flow.about.message != packet.message:
            return  # it was overtaken by the end of its flow
        super().hear(queue, packet)
        if packet.about == "set-up":
            flow.opens = self.sim.now + self.hold
            self.sim.at(flow.opens, self)
        elif packet.about == "probe":
            flow.probing = False
        if packet.about in ("set-up", "probe"):
            time = self.learn(flow, packet.told)
            news = time != flow.time
            if news:
                flow.time, flow.since = time, self.sim.now
            period = max(self.case.rounded(self.protocol.probe_period), self.tick)
            flow.interval = 2 * flow.interval if self.lasts(news) else period
            flow.probe_at = self.sim.now + flow.interval
            self.sim.at(flow.probe_at, self)
