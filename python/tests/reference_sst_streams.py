"""The switches of SST_CM: the streams towards their endpoints, and the shares of their sources."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_signals import DIVISOR, Ordering
from reference_switches import Unlimited

if TYPE_CHECKING:
    from reference_sst_cm import SstCm


@dataclass
class Stream:
    """What comes of a source for an endpoint."""

    flits: int = 0  # inside
    seen: int = 0
    due: int = 0  # does not end before
    told: int = 0  # how many streams its source was told of


@dataclass
class Target:
    """An endpoint of a switch."""

    inside: int = 0  # flits of all packets for it
    streams: dict[int, Stream] = field(default_factory=dict)  # those that go on
    idle: dict[int, Stream] = field(default_factory=dict)  # those that have ended, and have packets inside
    is_on: bool = False
    drains: bool = False
    times: set[int] = field(default_factory=set)  # at which a stream may end

    @property
    def outstanding(self) -> int:
        """Flits of streams inside."""
        return sum(stream.flits for stream in self.streams.values())


class SstSwitch(Ordering):
    """Tracks the streams towards its endpoints, and tells their sources their shares."""

    protocol: SstCm

    def connect(self) -> None:
        super().connect()
        self.targets: defaultdict[int, Target] = defaultdict(Target)
        self.as_coded = self.protocol.variant == "as coded"
        self.margin = self.protocol.variant == "drain margin"

    def time(self, flits: float, out: int) -> int:
        """The time of some flits to an endpoint, rounded down."""
        tick, most = self.case.tick, self.case.packet_max
        return int(flits * (self.case.span(most, self.out[out].pace) / tick / most)) * tick

    def life(self, out: int) -> int:
        """The silence after which a stream has ended."""
        target, p = self.targets[out], self.protocol
        factor, count = float(p.expiry), max(len(target.streams), 1)
        if self.as_coded:
            factor, count = 5.0 if target.is_on else factor, count + 1
        if self.margin:
            factor *= 2
        mtu = p.mtu if p.mtu is not None else self.case.packet_max
        tick = self.case.tick
        ticks = int(factor * count * (self.case.span(mtu, self.out[out].pace) // tick))
        return ticks * tick

    def notice(self, out: int, packet: Packet) -> None:
        target, now = self.targets[out], self.sim.now
        target.inside += packet.flits
        if packet.flits < self.protocol.smallest:
            return
        source = packet.source
        is_new = source not in target.streams
        if is_new:
            target.streams[source] = target.idle.pop(source, None) or Stream()
            target.streams[source].told = 0
        stream = target.streams[source]
        stream.flits += packet.flits
        stream.seen = now
        if is_new:
            stream.due = now + self.life(out)
        much = target.outstanding >= self.protocol.outstanding
        if not target.is_on and much and len(target.streams) >= self.protocol.streams:
            target.is_on = target.drains = True
            self.grow(out)
        elif target.is_on and is_new:
            self.grow(out)
        elif target.is_on and much and not target.drains and self.margin:
            target.drains = True
            self.share(out)
        self.watch(out)

    def grow(self, out: int) -> None:
        """Tells all sources that there are more of them."""
        target, count = self.targets[out], len(self.targets[out].streams)
        pause = min(self.time(float(self.protocol.pause) * target.inside, out), (2**32 - 1) * self.case.tick)
        for source, stream in sorted(target.streams.items()):
            if stream.told < count:
                is_first = not stream.told
                if is_first:
                    stream.due = max(self.ends(out, stream), self.sim.now) + pause
                stream.told = count
                self.tell(out, source, self.divisor(out), pause if is_first or self.as_coded else 0)

    def share(self, out: int) -> None:
        """Tells all sources their share."""
        target = self.targets[out]
        for source, stream in sorted(target.streams.items()):
            stream.told = len(target.streams)
            self.tell(out, source, self.divisor(out))

    def divisor(self, out: int) -> int:
        """The share of a source: less than all."""
        target, most = self.targets[out], self.case.packet_max
        part = float(self.protocol.margin) if self.margin and target.drains else 1.0
        slower = self.case.span(most, self.out[out].pace) / self.case.span(most, self.into[out].flit)
        divisor = max(int(len(target.streams) * DIVISOR * slower / part), DIVISOR + 1)
        return divisor + int(2 * self.as_coded * DIVISOR * slower)

    def tell(self, out: int, source: int, divisor: int = DIVISOR, pause: int = 0) -> None:
        """Gives an order, or ends all."""
        streams = len(self.targets[out].streams)
        order = "normal" if (divisor, pause) == (DIVISOR, 0) else "limit"
        self.say(out, source, streams, order, divisor, pause)

    def leaves(self, out: int, packet: Packet) -> None:
        target = self.targets[out]
        target.inside -= packet.flits
        if packet.flits >= self.protocol.smallest:
            stream = target.streams.get(packet.source) or target.idle[packet.source]
            stream.flits -= packet.flits
            if not stream.flits:
                target.idle.pop(packet.source, None)
        if self.as_coded:
            self.end(out)
        elif target.is_on and target.drains and 4 * target.outstanding < self.protocol.outstanding:
            target.drains = False
            if self.margin:
                self.share(out)

    def watch(self, out: int) -> None:
        """Looks again when the next stream may end."""
        dues = [self.ends(out, stream) for stream in self.targets[out].streams.values()]
        if dues and not self.as_coded:
            when = max(min(dues), self.sim.now + self.case.tick)
            self.targets[out].times.add(when)
            self.sim.at(when, self)

    def ends(self, out: int, stream: Stream) -> int:
        """When a stream ends if no packet comes."""
        if self.as_coded and not self.targets[out].is_on and not stream.flits:
            return stream.due
        return max(stream.seen + self.life(out), stream.due)

    def look(self) -> None:
        for out, target in self.targets.items():
            if self.sim.now in target.times:
                target.times.remove(self.sim.now)
                self.end(out)

    def end(self, out: int) -> None:
        """Ends the streams whose time has come."""
        target, now, life = self.targets[out], self.sim.now, self.life(out)
        ended = [source for source, stream in target.streams.items() if self.ends(out, stream) <= now]
        for source, stream in target.streams.items() if self.as_coded else []:
            if stream.due <= now and source not in ended:
                stream.due = stream.seen + life
        for source in sorted(ended):
            stream = target.streams.pop(source)
            if stream.flits:
                target.idle[source] = stream
            if target.is_on and stream.told:
                self.tell(out, source)
        if ended and target.is_on and len(target.streams) >= self.protocol.streams:
            self.share(out)
        elif ended and target.is_on:
            target.is_on = False
            for source, stream in sorted(target.streams.items()):
                self.tell(out, source)
                stream.told = int(self.as_coded)
        if ended:
            self.watch(out)


class SstCrossbar(SstSwitch, Crossbar):
    """With a crossbar."""


class SstUnlimited(SstSwitch, Unlimited):
    """Without one."""
