"""The last-hop reservation protocol, after docs/protocols/lhrp.md."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_droppers import DropperCrossbar, DropperUnlimited, LastHop
from reference_nodes import Endpoint
from reference_protocol import Protocol, Queue
from reference_protocols import Source
from reference_switches import Switch

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Lhrp(Protocol):
    """Its parameters; `time_to_wait` is `fabric_drop`."""

    threshold: int = 0
    coalesce_after: int = 3
    classes = ("control", "data", "speculative")

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {
            "kind": "lhrp",
            "threshold": f"{self.threshold} flits",
            "stops": self.stops,
            "lead": self.lead,
        }
        if self.time_to_wait is not None:
            keys |= {"fabric_drop": f"{self.time_to_wait} ps", "coalesce_after": self.coalesce_after}
        return keys

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return LhrpSource, LhrpCrossbar if kind is Crossbar else LhrpUnlimited


@dataclass
class Refused:
    """What was refused without a time, of a send queue."""

    in_a_row: int = 0
    packets: list[Packet] = field(default_factory=list)  # for which a reservation is to be made, or under way
    is_reserved: bool = False


class LhrpSource(Source):
    """A refusal carries the time at which to send again; one without is tried again, or reserved for."""

    asks = "control"  # the class of its reservations

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.without: defaultdict[Queue, Refused] = defaultdict(Refused)

    def may_try(self, queue: Queue) -> bool:
        return not self.without[queue].is_reserved and super().may_try(queue)

    def pull(self, queue: Queue) -> Packet | int | None:
        pull, refused = super().pull(queue), self.without[queue]
        goes_first = isinstance(pull, Packet) and (
            self.case.name_of(pull.kind) == "data" or bool(queue.extra)
        )
        if goes_first or refused.is_reserved or not refused.packets:
            return pull
        ask = replace(
            refused.packets[0], kind=self.kind(self.asks), what="reservation", flits=self.case.control
        )
        ask.number = ask.sequence = 0  # what is drawn for its grant does not know it by a message
        return replace(ask, asked=sum(packet.flits for packet in refused.packets))

    def go(self, queue: Queue, packet: Packet) -> None:
        if packet.what == "reservation":
            self.without[queue].is_reserved = True
            self.begin(packet)
        else:
            super().go(queue, packet)

    def hear(self, queue: Queue, packet: Packet) -> None:
        Source.hear(self, queue, packet)
        refused = self.without[queue]
        if packet.what == "nack" and packet.granted < 0:
            refused.in_a_row += 1
            if refused.in_a_row >= self.protocol.coalesce_after or refused.is_reserved:
                refused.packets.append(self.lost(packet))
            else:
                queue.extra.append(replace(self.lost(packet), kind=self.kind(self.first_class, packet)))
            return
        refused.in_a_row = 0
        if packet.what == "nack":
            self.wait(queue)
            self.put(queue, self.lost(packet), packet.granted)
        elif packet.what == "grant":
            refused.is_reserved = False
            self.place(queue, refused, packet)

    def place(self, queue: Queue, refused: Refused, grant: Packet) -> None:
        """Gives the packets of a reservation their times, one behind the other."""
        placed = 0
        while placed < grant.asked:
            packet = refused.packets.pop(0)
            self.wait(queue)
            self.put(queue, packet, grant.granted + self.case.span(placed, self.into[0].pace))
            placed += packet.flits


class LhrpSwitch(LastHop):
    """Drops what comes for one of its endpoints when too much waits for it, and says when to send again."""

    def connect(self) -> None:
        super().connect()
        self.granted_until = [0 for _ in self.ports]

    def take(self, packet: Packet) -> None:
        out = packet.out
        is_last = packet.port >= 0 and isinstance(self.out[out].to, Endpoint)
        if is_last and packet.what == "reservation":
            self.remove(packet, "consumed", "grant", self.grant(out, packet, packet.asked))
        elif is_last and self.counts(packet) and self.ahead(out, packet) > self.protocol.threshold:
            self.remove(packet, "dropped", "nack", self.refuse(out, packet))
        else:
            super().take(packet)

    def counts(self, packet: Packet) -> bool:
        """Whether a packet may be dropped over the threshold."""
        return self.case.name_of(packet.kind) in self.protocol.counted

    def refuse(self, out: int, packet: Packet) -> int:
        """The time for a packet that is dropped."""
        return self.grant(out, packet, packet.flits)

    def grant(self, out: int, packet: Packet, flits: int) -> int:
        """The beginning of the next interval of an endpoint's channel that is free."""
        start = max(self.protocol.earliest(packet, self.sim.now), self.granted_until[out])
        self.granted_until[out] = start + self.case.span(flits, self.out[out].pace)
        return start


class LhrpCrossbar(LhrpSwitch, DropperCrossbar):
    """With a crossbar."""


class LhrpUnlimited(LhrpSwitch, DropperUnlimited):
    """Without one."""
