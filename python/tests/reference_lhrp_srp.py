"""LHRP for small messages and SRP for large ones, after docs/protocols/lhrp-srp.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_droppers import DropperCrossbar, DropperUnlimited
from reference_hash import Label
from reference_lhrp import LhrpSource, LhrpSwitch
from reference_nodes import Endpoint
from reference_protocol import Protocol
from reference_protocols import Source
from reference_srp import SrpSource
from reference_srp_blocks import key
from reference_switches import Switch


@dataclass(frozen=True)
class LhrpSrp(Protocol):
    """Its parameters; a message of `n_min` flits is large."""

    n_min: int = 48
    threshold: int = 0
    drop_small: str = "threshold"
    drop_large: str = "timeout"
    coalesce_after: int = 3
    classes = ("reservation", "control", "data", "speculative small", "speculative")
    n_max, epsilon, max_outstanding = 0, Fraction(0), 0
    reserves, variant = "with-first-packet", "default"

    @property
    def timed(self) -> tuple[str, ...]:
        return self.dropped_by("timeout")

    @property
    def counted(self) -> tuple[str, ...]:
        return self.dropped_by("threshold")

    def dropped_by(self, rule: str) -> tuple[str, ...]:
        """The classes whose packets are dropped by a rule."""
        rules = {"speculative small": self.drop_small, "speculative": self.drop_large}
        return tuple(name for name in rules if rules[name] == rule)

    def keys(self) -> dict[str, object]:
        return {
            "kind": "lhrp+srp", "threshold_message": f"{self.n_min} flits", "stops": self.stops,
            "threshold": f"{self.threshold} flits", "time_to_wait": f"{self.time_to_wait} ps",
            "drop_small": self.drop_small, "drop_large": self.drop_large,
            "coalesce_after": self.coalesce_after, "lead": self.lead,
        }  # fmt: skip

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return LhrpSrpSource, LhrpSrpCrossbar if kind is Crossbar else LhrpSrpUnlimited


class LhrpSrpSource(LhrpSource, SrpSource):
    """Both kinds of messages are in one send queue, in the order in which they came."""

    first_class, asks = "speculative small", "reservation"

    def go(self, queue: Any, packet: Packet) -> None:
        if packet.what == "data" and not self.blocks[key(packet)].reserves:
            if self.case.name_of(packet.kind) == "data":
                queue.waiting -= 1
                queue.allowed += not self.case.acknowledge
            elif not queue.extra:
                queue.allowed -= queue.allowed > 0
        if self.is_for_block(packet):
            SrpSource.go(self, queue, packet)
        else:
            super().go(queue, packet)

    def label(self, packet: Packet) -> Label:
        is_for_refused = packet.what == "reservation" and not self.is_for_block(packet)
        return (0, 0) if is_for_refused else super().label(packet)

    def arrive(self, packet: Packet) -> None:
        Source.arrive(self, packet)

    def hear(self, queue: Any, packet: Packet) -> None:
        if not self.blocks[key(packet)].reserves:
            LhrpSource.hear(self, queue, packet)
        elif packet.what != "ack":
            SrpSource.hear(self, queue, packet)


class LhrpSrpSwitch(LhrpSwitch):
    """Grants the reservations of both; a large message's packet that it drops gets no time."""

    def refuse(self, out: int, packet: Packet) -> int:
        is_small = self.case.name_of(packet.kind) == "speculative small"
        return super().refuse(out, packet) if is_small else -1


class LhrpSrpCrossbar(LhrpSrpSwitch, DropperCrossbar):
    """With a crossbar."""


class LhrpSrpUnlimited(LhrpSrpSwitch, DropperUnlimited):
    """Without one."""
