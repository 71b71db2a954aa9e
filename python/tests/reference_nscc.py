"""NSCC, after docs/protocols/nscc.md and what is public of it."""

from __future__ import annotations

from dataclasses import dataclass

from reference_channel import Channel, Packet
from reference_crossbar import Crossbar
from reference_hash import reds, who
from reference_nodes import Endpoint
from reference_switches import Switch, Unlimited
from reference_windows import Windowed, WindowQueue, WindowSource


@dataclass(frozen=True)
class Nscc(Windowed):
    """Its parameters."""

    base_rtt: int = 0
    target: int = 0
    mark: int = 0  # all beyond it
    mark_from: int = 0  # some beyond it
    window: float = 0
    proportional_increase: float = 0.0
    fair_increase: float = 0.0
    constant_increase: float = 0.0
    fast_increase: float = 0.0
    fast_delay: int = 0
    gamma: float = 0.8
    gain: float = 0.0125
    quick_adapt: int = 0

    def all_keys(self) -> dict[str, object]:
        times = ("base_rtt", "target", "fast_delay", "quick_adapt", "restart")
        numbers = (
            "proportional_increase", "fair_increase", "constant_increase", "fast_increase", "gamma", "gain",
        )  # fmt: skip
        keys: dict[str, object] = {"kind": "nscc", "window": f"{self.window} flits"}
        keys |= {"mark_from": f"{self.mark_from} flits", "mark_all": f"{self.mark} flits"}
        keys |= {key: f"{getattr(self, key)} ps" for key in times}
        return keys | {key: getattr(self, key) for key in numbers}

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return NsccSource, NsccCrossbar if kind is Crossbar else NsccUnlimited


@dataclass(eq=False)
class NsccQueue(WindowQueue):
    """A send queue with its window in flits."""

    window: float = 0.0
    mean: float = 0.0  # of the delays
    growth: float = 0.0  # that is still to be added, times the window
    acked: int = 0  # since growth was added last
    added: int = 0  # when a round trip ended, of those after which growth is added
    cut: int = -1 << 60  # when the window shrank
    fast: int = 0  # flits in a row without a queue
    is_fast: bool = False
    back: int = 0  # flits that came back in the time that ends then
    until: int | None = None
    stale: int = 0  # flits under way since the window became what came back


class NsccSource(WindowSource):
    """Its window goes by the delay and the mark of each packet."""

    @property
    def nscc(self) -> Nscc:
        """Its parameters."""
        its: Nscc = self.protocol
        return its

    def new(self, destination: int) -> NsccQueue:
        return NsccQueue(destination, window=self.full)

    @property
    def full(self) -> float:
        """The largest window."""
        return max(self.nscc.window, self.case.packet_max)

    def is_as_new(self, queue: NsccQueue) -> bool:
        return bool(queue.window >= self.full and queue.mean < self.time("target") / 10)

    def has_room(self, queue: NsccQueue, packet: Packet) -> bool:
        return not queue.flight or queue.flight + packet.flits <= queue.window

    def time(self, name: str) -> float:
        """A parameter in ticks."""
        return self.case.rounded(getattr(self.nscc, name)) / self.tick

    def react(self, queue: NsccQueue, ack: Packet, took: int, flits: int) -> None:
        its, base, target = self.nscc, self.time("base_rtt"), self.time("target")
        delay, is_marked, most = (
            max(0.0, took / self.tick - base),
            "marked" in ack.carries,
            self.case.packet_max,
        )
        seen = base / 4 if delay >= target and not is_marked else delay
        queue.mean += its.gain * (seen - queue.mean)
        queue.back += flits
        adapts = self.adapts(queue, delay, is_marked)
        queue.stale = max(0, queue.stale - flits)
        if adapts:
            queue.growth, queue.acked = 0.0, 0
            return
        queue.acked += flits
        if is_marked and delay >= target:
            self.shrink(queue)
        elif not is_marked and delay >= target:
            queue.growth += its.fair_increase * most * flits
        elif not is_marked and not self.is_fast(queue, delay, flits):
            queue.growth += its.proportional_increase * most * (1 - delay / target) * flits
        queue.window = min(max(queue.window, most), self.full)
        self.grow(queue)
        queue.window = min(queue.window, self.full)

    def adapts(self, queue: NsccQueue, delay: float, is_marked: bool) -> bool:
        """Whether the window becomes what came back, or the acknowledgement is of data sent before it did."""
        now, before = self.sim.now, queue.until
        if queue.stale and is_marked:
            return True
        if before is not None and now <= before:
            return False
        back = queue.back
        queue.back, queue.until = 0, now + int(self.time("base_rtt") + self.time("target")) * self.tick
        if before is None or delay <= self.time("quick_adapt") or back >= self.full / 8:
            return False
        queue.window, queue.stale = max(back, self.case.packet_max), queue.flight
        return True

    def shrink(self, queue: NsccQueue) -> None:
        """Multiplies the window, once per round trip."""
        its, target, now = self.nscc, self.time("target"), self.sim.now
        self.is_slow(queue)
        if queue.mean > target and (now - queue.cut) / self.tick > self.time("base_rtt"):
            queue.window *= max(1 - its.gamma * (queue.mean - target) / queue.mean, 0.5)
            queue.cut = now

    def is_slow(self, queue: NsccQueue) -> None:
        """There was a queue."""
        queue.fast, queue.is_fast = 0, False

    def is_fast(self, queue: NsccQueue, delay: float, flits: int) -> bool:
        """Whether the window grows at once."""
        if delay >= self.time("fast_delay"):
            self.is_slow(queue)
            return False
        queue.fast += flits
        queue.is_fast |= queue.fast > queue.window
        if queue.is_fast:
            queue.window += self.nscc.fast_increase * flits
        return queue.is_fast

    def grow(self, queue: NsccQueue) -> None:
        """Adds what the window is to grow by, after more than eight packets or a round trip."""
        most, now = self.case.packet_max, self.sim.now
        is_round = now - queue.added >= self.case.rounded(self.nscc.base_rtt)
        if queue.acked > 8 * most or is_round:
            constant = self.nscc.constant_increase * most if is_round else 0.0
            queue.window += queue.growth / queue.window + constant
            queue.growth, queue.acked = 0.0, 0
            queue.added = now if is_round else queue.added


class Marker(Switch):
    """A switch that marks data where much waits, they included."""

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        its, tick = self.case.protocol, now // self.case.tick
        if not isinstance(its, Nscc):
            # Destinations give credit beside it, so that the last channel is left out.
            its = its.nscc if isinstance(channel.to, Switch) else None  # type: ignore[union-attr]
        behind, name = sum(self.bound[packet.out]) - packet.flits, who(packet.source, packet.label)
        if its and packet.what == "data" and reds(behind, (its.mark_from, its.mark), 1.0, name, tick):
            packet.carries["marked"] = 1
        super().send(channel, packet, vc, now)


class NsccCrossbar(Marker, Crossbar):
    """With a crossbar."""


class NsccUnlimited(Marker, Unlimited):
    """Without one."""
