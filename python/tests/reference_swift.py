"""Swift, after docs/protocols/swift.md and the paper."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_nodes import Endpoint
from reference_switches import Switch, Unlimited
from reference_windows import Windowed, WindowQueue, WindowSource


@dataclass(frozen=True)
class Swift(Windowed):
    """Its parameters."""

    base_target: int = 0
    hop_target: int = 0
    ai: float = 1.0
    beta: float = 0.8
    max_mdf: float = 0.5
    fs_range: int = 0
    fs_min_cwnd: float = 0.1
    fs_max_cwnd: float = 100.0
    min_cwnd: float = 0.001
    max_cwnd: float = 1.0
    initial_cwnd: float = 1.0

    def all_keys(self) -> dict[str, object]:
        times = {
            key: f"{getattr(self, key)} ps" for key in ("base_target", "hop_target", "fs_range", "restart")
        }
        numbers = (
            "ai",
            "beta",
            "max_mdf",
            "fs_min_cwnd",
            "fs_max_cwnd",
            "min_cwnd",
            "max_cwnd",
            "initial_cwnd",
        )
        return {"kind": "swift", **times, **{key: getattr(self, key) for key in numbers}}

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return SwiftSource, SwiftCrossbar if kind is Crossbar else SwiftUnlimited


@dataclass(eq=False)
class SwiftQueue(WindowQueue):
    """A send queue with its window, in largest packets."""

    window: float = 0.0
    cut: int | None = None  # when the window last shrank
    took: int = 0  # the latest round trip
    sent: int = 0  # when the latest packet went


class SwiftSource(WindowSource):
    """Its window grows below the target, and shrinks above it once per round trip."""

    def new(self, destination: int) -> SwiftQueue:
        return SwiftQueue(destination, window=self.protocol.initial_cwnd)

    def is_as_new(self, queue: SwiftQueue) -> bool:
        return queue.window == self.protocol.initial_cwnd

    def has_room(self, queue: SwiftQueue, packet: Packet) -> bool:
        return not queue.flight or queue.flight < queue.window * self.case.packet_max

    def due(self, queue: SwiftQueue) -> int:
        if queue.window >= 1:
            return 0
        return queue.sent + int(queue.took / self.tick / queue.window) * self.tick

    def go(self, queue: SwiftQueue, packet: Packet) -> None:
        queue.sent = self.sim.now
        super().go(queue, packet)

    def target(self, window: float, hops: float) -> float:
        """The delay that is aimed at with a window, over so many switches."""
        its, rounded = self.protocol, self.case.rounded
        least, most = 1 / sqrt(its.fs_min_cwnd), 1 / sqrt(its.fs_max_cwnd)
        whole = rounded(its.fs_range)
        scaled = whole * (1 / sqrt(window) - most) / (least - most)
        return rounded(its.base_target) + hops * rounded(its.hop_target) + max(0, min(scaled, whole))

    def react(self, queue: SwiftQueue, ack: Packet, took: int, flits: int) -> None:
        its, before = self.protocol, queue.window
        target, acked = self.target(before, ack.carries["hops"]), flits / self.case.packet_max
        if took < target:
            queue.window += its.ai * acked / max(before, 1)
        elif queue.cut is None or self.sim.now - queue.cut >= took:
            queue.window *= max(1 - its.beta * (took - target) / took, 1 - its.max_mdf)
            queue.cut = self.sim.now
        queue.window = max(its.min_cwnd, min(queue.window, its.max_cwnd))
        queue.took = took


class Hops(Switch):
    """A switch that counts itself in packets."""

    def arrive(self, packet: Packet) -> None:
        if packet.what == "data":
            packet.carries["hops"] = packet.carries.get("hops", 0) + 1
        super().arrive(packet)


class SwiftCrossbar(Hops, Crossbar):
    """With a crossbar."""


class SwiftUnlimited(Hops, Unlimited):
    """Without one."""
