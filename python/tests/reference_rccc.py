"""RCCC, after docs/protocols/rccc.md and what is public of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import TYPE_CHECKING

from reference_channel import Packet
from reference_nodes import Endpoint
from reference_switches import Switch
from reference_windows import Windowed, WindowQueue, WindowSource

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Rccc(Windowed):
    """Its parameters."""

    unsolicited: int = 1
    quantum: int = 1
    rate: float = 0.99
    outstanding: int = 1
    knows_pairs = False

    def all_keys(self) -> dict[str, object]:
        sizes = {key: f"{getattr(self, key)} flits" for key in ("unsolicited", "quantum", "outstanding")}
        return {"kind": "rccc", **sizes, "rate": self.rate, "restart": f"{self.restart} ps"}

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return RcccSource, kind


@dataclass(eq=False)
class RcccQueue(WindowQueue):
    """A send queue with what it may send, in flits."""

    free: int = 0  # without credit
    credit: int = 0  # less than none where a packet was longer
    told: int = 0  # what the destination was told of and has given no credit for
    active: int = 0  # when something was sent or credit came last


class RcccSource(WindowSource):
    """Sends what it has credit for, and gives credit to others."""

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.number = int(name.split()[1])
        self.wanted: dict[int, int] = {}  # flits, by source
        self.turns: deque[int] = deque()
        self.given = 0  # flits of credit of which the data have not come
        self.next = 0.0  # when credit is due, in ticks

    @property
    def rccc(self) -> Rccc:
        """Its parameters."""
        its: Rccc = self.protocol
        return its

    def new(self, destination: int) -> RcccQueue:
        return RcccQueue(destination, free=self.rccc.unsolicited)

    def is_over(self, queue: RcccQueue) -> bool:
        if queue.fresh or queue.told or queue in self.ring:
            return False
        is_as_new = queue.free == self.rccc.unsolicited
        return is_as_new or self.sim.now - queue.active >= self.case.rounded(self.rccc.restart)

    def usable(self, queue: RcccQueue) -> float:
        """Flits for which a queue could use credit now."""
        return inf

    def untold(self, queue: RcccQueue, goes: int = 0) -> int:
        """What a queue has that needs credit and that the destination does not know of, when some go."""
        waits = min(sum(packet.flits for packet in queue.fresh) - goes, self.usable(queue))
        return max(0, int(waits) - (queue.free + queue.credit + queue.told - goes))

    def pull(self, queue: RcccQueue) -> Packet | int | None:
        if not queue.fresh:
            return None
        if queue.free + max(0, queue.credit) > 0:
            return queue.fresh[0]
        untold = self.untold(queue)
        if queue.told or not untold:
            return None
        ask = replace(queue.fresh[0], kind=self.kind("control"), what="reservation", asked=untold)
        return replace(ask, flits=self.case.control)

    def go(self, queue: RcccQueue, packet: Packet) -> None:
        queue.active = self.sim.now
        if packet.what == "reservation":
            queue.told += packet.asked
            self.begin(packet)
            return
        packet.asked = self.untold(queue, packet.flits)
        free = min(queue.free, packet.flits)
        packet.carries["paid"] = packet.flits - free
        queue.told += packet.asked
        queue.free -= free
        queue.credit -= packet.flits - free
        super().go(queue, packet)

    def arrive(self, packet: Packet) -> None:
        if packet.what not in ("data", "reservation"):
            queue = self.queue(packet.source)
            self.hear(queue, packet)
            self.line_up(queue)
            return
        if packet.what == "data":
            self.given -= int(packet.carries["paid"])
            if self.case.acknowledge:
                self.answer(packet, "ack")
        if packet.asked and not self.wanted.get(packet.source):
            self.turns.append(packet.source)
        self.wanted[packet.source] = self.wanted.get(packet.source, 0) + packet.asked

    def hear(self, queue: RcccQueue, packet: Packet) -> None:
        if packet.what == "credit":
            queue.active = self.sim.now
            queue.credit += packet.asked
            queue.told -= packet.asked

    def settle(self) -> None:
        self.reply()
        self.give()
        super().settle()

    def give(self) -> None:
        """Gives credit to the sources in turn."""
        its, now, most = self.rccc, self.sim.now // self.tick, self.case.packet_max
        pace = ceil(most * self.into[0].pace / self.tick) / most / its.rate
        while self.turns and self.given < its.outstanding:
            if self.next > now:
                self.sim.at(ceil(self.next) * self.tick, self)
                return
            source = self.turns.popleft()
            flits = min(its.quantum, self.wanted[source])
            self.wanted[source] -= flits
            if self.wanted[source]:
                self.turns.append(source)
            self.given += flits
            self.next = (self.next if self.next > now - 1.0 else now) + max(flits * pace, 1.0)
            ends, size = (self.number, source), self.case.control
            credit = Packet(self.kind("control"), 0, 0, size, *ends, what="credit", asked=flits)
            self.control[0].append(self.sim.in_network(credit))
