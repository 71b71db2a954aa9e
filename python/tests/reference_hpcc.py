"""HPCC, after docs/protocols/hpcc.md and the papers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from struct import pack, unpack

from reference_channel import Channel, Packet
from reference_crossbar import Crossbar
from reference_nodes import Endpoint
from reference_switches import Switch, Unlimited
from reference_windows import Windowed, WindowQueue, WindowSource


@dataclass(frozen=True)
class Hpcc(Windowed):
    """Its parameters."""

    base_rtt: int = 0
    eta: float = 0.95
    max_stage: int = 5
    window_ai: float = 1
    rate_min: int = 100_000_000
    telemetry: str = "int"

    def all_keys(self) -> dict[str, object]:
        return {
            "kind": "hpcc", "base_rtt": f"{self.base_rtt} ps", "restart": f"{self.restart} ps",
            "eta": self.eta, "max_stage": self.max_stage, "window_ai": f"{self.window_ai} flits",
            "rate_min": f"{self.rate_min} b/s", "telemetry": self.telemetry,
        }  # fmt: skip

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return HpccSource, HpccCrossbar if kind is Crossbar else HpccUnlimited


@dataclass(eq=False)
class HpccQueue(WindowQueue):
    """A send queue with its window in flits."""

    window: float = 0.0
    base: float = 0.0  # what the window is changed from
    stage: int = 0  # how often it only grew
    count: int = 0  # packets sent
    renewed: int = 0  # packets that had been sent when the base was last renewed
    mean: float = 1.0  # how busy the busiest channel is
    sent: int = 0  # when the latest packet went, and its flits
    flits: int = 0


class HpccSource(WindowSource):
    """Its window follows how busy the busiest channel is."""

    def full(self) -> float:
        """What its channel carries in a round trip, in flits."""
        return self.carried(self.case.rounded(self.protocol.base_rtt))

    def new(self, destination: int) -> HpccQueue:
        return HpccQueue(destination, window=self.full(), base=self.full())

    def is_as_new(self, queue: HpccQueue) -> bool:
        return min(queue.window, queue.base) >= self.full()

    def has_room(self, queue: HpccQueue, packet: Packet) -> bool:
        return queue.flight < queue.window

    def due(self, queue: HpccQueue) -> int:
        ticks = self.case.rounded(self.protocol.base_rtt) / self.tick
        return queue.sent + int(queue.flits * ticks / queue.window) * self.tick

    def go(self, queue: HpccQueue, packet: Packet) -> None:
        queue.sent, queue.flits = self.sim.now, packet.flits
        queue.count += 1
        packet.carries["count"] = queue.count
        super().go(queue, packet)

    def react(self, queue: HpccQueue, ack: Packet, took: int, flits: int) -> None:
        its = self.protocol
        if queue.renewed == 0:
            queue.renewed = queue.count
            return
        if "busy" not in ack.carries:
            return
        busy, over = ack.carries["busy"]
        ticks = self.case.rounded(its.base_rtt) / self.tick
        queue.mean += min(over / ticks, 1.0) * (busy - queue.mean)
        busy = queue.mean
        only_grows = busy < its.eta and queue.stage < its.max_stage
        window = (queue.base if only_grows else queue.base * its.eta / busy) + its.window_ai
        least = self.full() * (its.rate_min / int(self.case.host_rate * 10**9))
        queue.window = min(max(window, least), self.full())
        if ack.carries["count"] > queue.renewed:
            queue.renewed, queue.base = queue.count, queue.window
            queue.stage = queue.stage + 1 if only_grows else 0


class Busy(Switch):
    """A switch that measures how busy its outputs are."""

    def connect(self) -> None:
        super().connect()
        self.busy = [0.0 for _ in self.ports]
        self.last = [0 for _ in self.ports]  # when the latest packet began to leave
        self.sent = [0 for _ in self.ports]  # ticks of sending
        self.flows: list[dict[tuple[int, int], tuple[int, int, float]]] = [{} for _ in self.ports]

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        out, tick = packet.out, self.case.tick
        whole = self.case.rounded(self.case.protocol.base_rtt) / tick  # type: ignore[union-attr]
        since = (now - self.last[out]) / tick
        takes = ceil(packet.flits * channel.pace / tick)
        waits = (sum(self.bound[out]) - packet.flits) * takes / packet.flits
        part = min(since / whole, 1.0)
        self.busy[out] += part * (waits / whole - self.busy[out]) + takes / max(since, whole)
        self.last[out] = now
        if packet.what == "data":
            measure = self.measure(out, packet, (now // tick, self.sent[out], waits))
            if measure and measure[0] > packet.carries.get("busy", (0.0, 0))[0]:
                packet.carries["busy"] = measure
        self.sent[out] += takes
        super().send(channel, packet, vc, now)

    def measure(self, out: int, packet: Packet, sample: tuple[int, int, float]) -> tuple[float, int] | None:
        """How busy the output is for a packet, in 24 bits, and the ticks that this was measured over."""
        its, tick = self.case.protocol, self.case.tick
        whole = self.case.rounded(its.base_rtt) // tick  # type: ignore[union-attr]
        busy, over = self.busy[out], whole
        if its.telemetry == "int":  # type: ignore[union-attr]
            flow = packet.source, packet.destination, packet.pair
            before = self.flows[out].get(flow)
            self.flows[out][flow] = sample
            if before is None:
                return None
            over = sample[0] - before[0]
            if not 0 < over <= self.keep() // tick:
                return None
            busy = min(sample[2], before[2]) / whole + (sample[1] - before[1]) / over
        return unpack("f", pack("f", busy))[0], over

    def keep(self) -> int:
        """How long it knows what a flow's packet found."""
        its: Hpcc = self.case.protocol  # type: ignore[assignment]
        packets = 10 * self.case.packet_max * self.case.flit_bits * 10**12
        return max(self.case.rounded(its.restart), self.case.rounded(ceil(Fraction(packets, its.rate_min))))


class HpccCrossbar(Busy, Crossbar):
    """With a crossbar."""


class HpccUnlimited(Busy, Unlimited):
    """Without one."""
