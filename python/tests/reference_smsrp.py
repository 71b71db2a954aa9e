"""The small-message speculative reservation protocol, after docs/protocols/smsrp.md."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_droppers import DropperCrossbar, DropperUnlimited
from reference_nodes import Endpoint
from reference_protocol import Protocol, Queue
from reference_protocols import Source
from reference_switches import Switch


@dataclass(frozen=True)
class Smsrp(Protocol):
    """Its parameters."""

    epsilon: Fraction = Fraction(0)
    overhead: int = 1
    classes = ("reservation", "grant", "control", "data", "speculative")

    def keys(self) -> dict[str, object]:
        return {
            "kind": "smsrp", "time_to_wait": f"{self.time_to_wait} ps", "epsilon": float(self.epsilon),
            "overhead": f"{self.overhead} flits", "stops": self.stops, "lead": self.lead,
        }  # fmt: skip

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return SmsrpSource, DropperCrossbar if kind is Crossbar else DropperUnlimited


class SmsrpSource(Source):
    """Reserves for every packet that is refused, in the turn of its send queue."""

    def hear(self, queue: Queue, packet: Packet) -> None:
        super().hear(queue, packet)
        if packet.what == "nack":
            self.wait(queue)
            asked, flits = self.lost(packet).flits, self.case.control
            ask = replace(self.lost(packet), kind=self.kind("reservation"), what="reservation")
            queue.extra.append(replace(ask, flits=flits, asked=asked))
        elif packet.what == "grant":
            self.put(queue, self.lost(packet), packet.granted)
