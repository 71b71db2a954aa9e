"""The switches of CODES_CC: what waits for each endpoint, and who is ordered to throttle."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_signals import DIVISOR, Ordering
from reference_switches import Unlimited

if TYPE_CHECKING:
    from reference_codes_cc import CodesCc


@dataclass
class Port:
    """What is known of a port to an endpoint."""

    inside: Counter[int] = field(default_factory=Counter)  # flits, by source
    seen: dict[int, int] = field(default_factory=dict)  # when a packet of a source came last
    ordered: set[int] = field(default_factory=set)
    is_congested: bool = False
    drains: bool = False
    until: int = 0  # the congestion lasts at least until then

    @property
    def streams(self) -> int:
        """Sources with packets inside, or under an order."""
        return len({*self.sources} | self.ordered)

    @property
    def sources(self) -> list[int]:
        """Sources with packets inside."""
        return sorted(source for source, flits in self.inside.items() if flits)


class CodesSwitch(Ordering):
    """Counts what is inside it for its endpoints, and orders the sources of what is too much."""

    protocol: CodesCc

    def connect(self) -> None:
        super().connect()
        self.watched: defaultdict[int, Port] = defaultdict(Port)
        self.buffer = self.protocol.buffer
        if self.buffer is None:
            one = self.case.output_buffer if self.has_queues else self.into[0].reach
            self.buffer = one * self.case.networks * self.sim.queues * self.sim.levels
            self.buffer += 0 if self.has_queues else self._beside()
        self.low = float(self.protocol.decongested) * self.buffer
        self.high = float(self.protocol.congested) * self.buffer
        self.as_coded = self.protocol.variant == "as coded"

    def _beside(self) -> int:
        """What all those of an input come to share."""
        guard = self.into[0].guard
        if guard is None:
            return self.into[0].memory.shared
        return guard.together(self.case.networks * self.sim.queues * self.sim.levels)

    def size(self, packet: Packet) -> int:
        """What a packet counts."""
        return self.case.packet_max if self.as_coded else packet.flits

    def notice(self, out: int, packet: Packet) -> None:
        port, source = self.watched[out], packet.source
        port.inside[source] += self.size(packet)
        port.seen[source] = self.sim.now
        if port.is_congested:
            self.comes(out, packet)
        elif port.inside.total() >= self.high:
            self.begin(out)

    def comes(self, out: int, packet: Packet) -> None:
        """A packet comes during a congestion."""
        port = self.watched[out]
        port.until += self.case.span(self.size(packet), self.out[out].pace)
        self.sim.at(max(port.until, self.sim.now), self)
        self.order(out, [packet.source] * self.is_aggressor(port, packet.source))

    def is_aggressor(self, port: Port, source: int) -> bool:
        """Whether all that waits is of a source: an application is a class, here of one source."""
        share = port.inside[source] // port.inside.total()
        return not self.as_coded or share >= self.protocol.aggressor_share

    def time(self, flits: float, out: int) -> int:
        """The time of some flits to an endpoint, rounded down."""
        tick, most = self.case.tick, self.case.packet_max
        return int(max(flits, 0.0) * (self.case.span(most, self.out[out].pace) / tick / most)) * tick

    def begin(self, out: int) -> None:
        """A port becomes congested."""
        port, total = self.watched[out], self.watched[out].inside.total()
        port.is_congested = True
        beyond = 2 * (self.high - self.low) if self.as_coded else total - self.low
        port.until = self.sim.now + self.time(beyond, out)
        self.sim.at(port.until, self)
        self.order(out, [one for one in port.sources if self.is_aggressor(port, one)], is_first=True)

    def order(self, out: int, sources: list[int], is_first: bool = False) -> None:
        """Orders sources that have not been ordered."""
        port = self.watched[out]
        ports = self.watched.values() if self.as_coded else [port]
        for source in sources:
            has_one = any(source in other.ordered for other in ports)
            if is_first or not has_one:
                port.ordered.add(source)
            if not has_one:
                self.tell(out, source, "abate", port.streams)

    def tell(self, out: int, source: int, what: str, streams: int, divisor: int = 0) -> None:
        """Gives an order."""
        self.say(out, source, streams, what, divisor)

    def leaves(self, out: int, packet: Packet) -> None:
        port = self.watched[out]
        port.inside[packet.source] -= self.size(packet)
        if self.as_coded:
            self.end(out)

    def look(self) -> None:
        if not self.as_coded:
            for out in self.watched:
                self.end(out)

    def end(self, out: int) -> None:
        """Ends the congestion of a port, if it is time."""
        port = self.watched[out]
        if (
            port.is_congested
            and self.sim.now >= port.until + self.as_coded
            and port.inside.total() < self.low
        ):
            port.is_congested = False
            streams, sources, port.ordered = port.streams, port.ordered, set()
            ports = self.watched.values() if self.as_coded else [port]
            for source in sorted(sources):
                if not any(source in other.ordered for other in ports):
                    self.tell(out, source, "normal", streams)


class MarginSwitch(CodesSwitch):
    """Tells sources their shares of a port, less while its backlog drains, until they have been silent."""

    def begin(self, out: int) -> None:
        port = self.watched[out]
        port.is_congested = port.drains = True
        port.ordered = {*port.sources}
        self.share(out)
        self.wait(out)

    def wait(self, out: int) -> None:
        """Looks for silent sources after a time."""
        port = self.watched[out]
        port.until = self.sim.now + self.silence(out)
        self.sim.at(port.until, self)

    def silence(self, out: int) -> int:
        """The silence after which a source is free."""
        packets = len(self.watched[out].ordered) * float(self.protocol.hold) / float(self.protocol.margin)
        return max(self.time(packets * self.case.packet_max, out), self.case.tick)

    def share(self, out: int) -> None:
        """Tells all sources their rate."""
        port, most = self.watched[out], self.case.packet_max
        slower = self.case.span(most, self.out[out].pace) / self.case.span(most, self.into[out].flit)
        part = float(self.protocol.margin) if port.drains else 1.0
        divisor = int(len(port.ordered) * DIVISOR * slower / part)
        for source in sorted(port.ordered):
            self.tell(out, source, "abate", port.streams, divisor)

    def comes(self, out: int, packet: Packet) -> None:
        self.adjust(out, packet.source)

    def leaves(self, out: int, packet: Packet) -> None:
        super().leaves(out, packet)
        self.adjust(out)

    def adjust(self, out: int, source: int | None = None) -> None:
        """Tells all sources what has changed."""
        port, total = self.watched[out], self.watched[out].inside.total()
        if not port.is_congested:
            return
        before, is_new = port.drains, source is not None and source not in port.ordered
        port.drains = total >= self.high or (before and total >= self.low)
        if is_new and source is not None:
            port.ordered.add(source)
        if is_new or port.drains != before:
            self.share(out)

    def end(self, out: int) -> None:
        port, now = self.watched[out], self.sim.now
        if not port.is_congested or port.until != now:
            return
        silence = self.silence(out)
        free = [
            one for one in sorted(port.ordered) if not port.inside[one] and port.seen[one] + silence <= now
        ]
        for source in free:
            self.tell(out, source, "normal", port.streams)
        port.ordered -= {*free}
        port.is_congested = bool(port.ordered)
        if port.is_congested:
            if free:
                self.share(out)
            port.until = now + silence
            self.sim.at(port.until, self)


class CodesCrossbar(CodesSwitch, Crossbar):
    """With a crossbar."""


class CodesUnlimited(CodesSwitch, Unlimited):
    """Without one."""


class MarginCrossbar(MarginSwitch, Crossbar):
    """With a crossbar."""


class MarginUnlimited(MarginSwitch, Unlimited):
    """Without one."""
