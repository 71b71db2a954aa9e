"""NSCC and RCCC together, after docs/protocols/nscc-rccc.md."""

from __future__ import annotations

from dataclasses import dataclass, field

from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_nodes import Endpoint
from reference_nscc import Nscc, NsccCrossbar, NsccQueue, NsccSource, NsccUnlimited
from reference_rccc import Rccc, RcccQueue, RcccSource
from reference_switches import Switch
from reference_windows import Windowed


@dataclass(frozen=True)
class NsccRccc(Windowed):
    """The parameters of both."""

    nscc: Nscc = field(default_factory=Nscc)
    rccc: Rccc = field(default_factory=Rccc)
    knows_pairs = False

    def keys(self) -> dict[str, object]:
        keys: dict[str, object] = {"kind": "nscc+rccc"}
        for name, its in (("nscc", self.nscc), ("rccc", self.rccc)):
            keys[name] = {key: value for key, value in its.keys().items() if key != "kind"}
        return keys

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return NsccRcccSource, NsccCrossbar if kind is Crossbar else NsccUnlimited


@dataclass(eq=False)
class NsccRcccQueue(RcccQueue, NsccQueue):
    """A send queue with a window and credit."""


class NsccRcccSource(RcccSource, NsccSource):
    """Sends what it has credit for, as long as the window has room."""

    @property
    def nscc(self) -> Nscc:
        its: NsccRccc = self.protocol
        return its.nscc

    @property
    def rccc(self) -> Rccc:
        its: NsccRccc = self.protocol
        return its.rccc

    def new(self, destination: int) -> NsccRcccQueue:
        return NsccRcccQueue(destination, window=self.full, free=self.rccc.unsolicited)

    def is_over(self, queue: NsccRcccQueue) -> bool:
        silent = self.sim.now - queue.heard >= self.case.rounded(self.nscc.restart)
        return not queue.when and (self.is_as_new(queue) or silent) and super().is_over(queue)

    def pull(self, queue: NsccRcccQueue) -> Packet | int | None:
        pull = super().pull(queue)
        has_room = not isinstance(pull, Packet) or pull.what != "data" or self.has_room(queue, pull)
        return pull if has_room else None

    def usable(self, queue: NsccRcccQueue) -> float:
        return int(queue.window + self.case.packet_max)

    def hear(self, queue: NsccRcccQueue, packet: Packet) -> None:
        if packet.what == "ack":
            NsccSource.hear(self, queue, packet)
        else:
            super().hear(queue, packet)
