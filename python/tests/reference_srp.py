"""The speculative reservation protocol, after docs/protocols/srp.md, where small messages bypass."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heapify, heappop
from typing import TYPE_CHECKING, Any

from reference_case import Message
from reference_channel import Packet
from reference_crossbar import Crossbar
from reference_droppers import DropperCrossbar, DropperUnlimited
from reference_hash import Label
from reference_nodes import Endpoint
from reference_protocol import Protocol, Queue
from reference_protocols import Source
from reference_srp_blocks import Block, Flight, SrpQueue, key
from reference_switches import Switch

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Srp(Protocol):
    """Its parameters."""

    n_min: int = 0
    n_max: int = 0  # packets; 0: the whole message
    epsilon: Fraction = Fraction(0)
    max_outstanding: int = 1
    reserves: str = "at-once"
    own_class: bool = False
    variant: str = "default"
    overhead = 0

    @property
    def answers_all(self) -> bool:
        return self.variant != "default"

    @property
    def classes(self) -> tuple[str, ...]:
        return ("reservation", *(["grant"] if self.own_class else []), "control", "data", "speculative")

    def keys(self) -> dict[str, object]:
        return {
            "kind": "srp", "n_min": f"{self.n_min} flits", "time_to_wait": f"{self.time_to_wait} ps",
            "n_max": f"{self.n_max} packets" if self.n_max else "whole message",
            "epsilon": float(self.epsilon), "max_outstanding": self.max_outstanding,
            "reserves": self.reserves, "variant": self.variant, "lead": self.lead,
            "grants": "own class" if self.own_class else "control class",
        }  # fmt: skip

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return SrpSource, DropperCrossbar if kind is Crossbar else DropperUnlimited


class SrpSource(Source):
    """Reserves for every block, and speculates until it is told something."""

    first_class = "data"  # of small messages

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.blocks: dict[tuple[int, int], Block] = {}  # by packet
        self.hurried: list[Queue] = []

    def queue(self, destination: int, grade: int = 0) -> Any:
        return self.sends.setdefault((grade, destination), SrpQueue(destination, grade))

    def add(self, message: Message) -> None:
        queue = self.queue(*self.key_of(message))
        reserves = message.flits >= self.protocol.n_min
        packets = self.packets(message, "speculative" if reserves else self.first_class)
        size = self.protocol.n_max if reserves and self.protocol.n_max else len(packets)
        is_first = not queue.parts
        for at in range(0, len(packets), size):
            block = Block(deque(packets[at : at + size]), reserves)
            queue.parts.append(block)
            self.blocks |= {key(packet): block for packet in block.fresh}
        if is_first:
            self.join(queue)

    def look(self, queue: Queue) -> None:
        self.hurry(queue)

    def join(self, queue: Queue) -> None:
        super().join(queue)
        self.hurry(queue)

    def hurry(self, queue: Queue) -> None:
        """Puts a queue that can reserve ahead of all data, now or at a time, if it may go there."""
        if self.protocol.reserves != "at-once":
            return
        pull = self.pull(queue)
        if isinstance(pull, int):
            self.sim.at(pull, self)
        elif pull is not None and pull.what == "reservation" and queue not in self.hurried:
            self.hurried.append(queue)

    def pull(self, queue: Any) -> Packet | int | None:
        now, most = self.sim.now, self.protocol.max_outstanding
        if queue.again and queue.again[0][0] <= now:
            return queue.again[0][-1]
        part = queue.parts[0] if queue.parts else None
        if queue.extra:
            return queue.extra[0]
        if part is not None and (part in queue.open or (not part.reserves and self.may_try(queue))):
            return part.fresh[0]
        queue.open = [one for one in queue.open if not one.is_over(now)]
        if part is not None and part.reserves and (not most or len(queue.open) < most):
            ask = replace(part.fresh[0], kind=self.kind("reservation"), what="reservation")
            flits = sum(packet.flits for packet in part.fresh)
            return replace(ask, flits=self.case.control, asked=flits)
        times = [one.granted for one in queue.open if one.granted > now]
        return min(times + [entry[0] for entry in queue.again], default=None)

    def copy(self, queue: SrpQueue, block: Block) -> None:
        """Has second copies of what is not answered wait for the granted time, or for the end of the rest."""
        rest = sum(one.flits for one in block.lost) if self.protocol.variant == "fast-resend" else 0
        for flight in block.flights.values():
            flight.second = "waits"
            one = replace(flight.packet, kind=self.kind("data", flight.packet))
            self.put(queue, one, block.granted + self.case.span(rest, self.out[0].flit))
        block.again += len(block.flights)

    def is_news(self, queue: SrpQueue, block: Block, answer: Packet) -> bool:
        """Notes what became of a copy; whether it is lost and there is no second one."""
        flight = block.flights.get(key(answer))
        if flight is None:
            return answer.what == "nack"
        flight.copies -= 1
        if not flight.copies:
            del block.flights[key(answer)]
        if answer.what == "ack" and flight.second == "waits":
            queue.again = [entry for entry in queue.again if key(entry[-1]) != key(answer)]
            heapify(queue.again)
            block.again -= 1
        return answer.what == "nack" and flight.second == "none"

    def fits(self, packet: Packet) -> bool:
        if self.brings_first(packet):
            first = replace(self.blocks[key(packet)].fresh[0], network=packet.network)
            if not super().fits(first):
                return False
        return super().fits(packet)

    def is_for_block(self, packet: Packet) -> bool:
        """Whether it is the reservation of a block."""
        return packet.what == "reservation" and self.blocks[key(packet)].reserves

    def brings_first(self, packet: Packet) -> bool:
        """Whether it is a reservation that the first packet of its block follows at once."""
        return self.protocol.reserves == "with-first-packet" and self.is_for_block(packet)

    def send_ahead(self, lacking: set[int]) -> bool:
        lacks = set[int]()  # of these grades, the first
        for queue in sorted(self.hurried, key=lambda queue: queue.grade):
            if queue.grade in lacks:
                continue
            pull = self.pull(queue)
            is_reservation = isinstance(pull, Packet) and pull.what == "reservation"
            if is_reservation and self.lacks(queue, pull, lacking):
                lacks.add(queue.grade)
                continue
            self.hurried.remove(queue)
            if is_reservation:
                self.go(queue, pull)
                return True
        return False

    def label(self, packet: Packet) -> Label:
        if packet.made >= 0:
            return super().label(packet)
        number = self.numbers.get(packet.message, len(self.numbers))
        return number, packet.sequence

    def requeue(self, queue: Queue, sent: Packet) -> None:
        if self.brings_first(sent):
            self.ring.insert(0, queue)
        else:
            super().requeue(queue, sent)

    def go(self, queue: Any, packet: Packet) -> None:
        self.numbers.setdefault(packet.message, len(self.numbers))
        if packet.what == "reservation":
            queue.open.append(queue.parts[0])
        elif queue.again and packet is queue.again[0][-1]:
            heappop(queue.again)
            self.blocks[key(packet)].again -= 1
            if key(packet) in self.blocks[key(packet)].flights:
                flight = self.blocks[key(packet)].flights[key(packet)]
                flight.copies, flight.second = flight.copies + 1, "sent"
        elif queue.extra and packet is queue.extra[0]:
            queue.extra.popleft()
        else:
            queue.parts[0].fresh.popleft()
            if self.protocol.variant != "default" and queue.parts[0].reserves:
                queue.parts[0].flights[key(packet)] = Flight(replace(packet))
            if not queue.parts[0].fresh:
                queue.parts.popleft()
            self.sent[key(packet)] = replace(packet)
        self.begin(packet)

    def arrive(self, packet: Packet) -> None:
        if packet.what != "ack" or self.protocol.variant != "default":  # or else it changes nothing
            super().arrive(packet)

    def hear(self, queue: Any, packet: Packet) -> None:
        block = self.blocks[key(packet)]
        if packet.what != "grant" and not self.is_news(queue, block, packet):
            return
        if packet.what == "grant":
            time = block.granted = packet.granted
        else:
            time = max(block.granted, self.sim.now)
            block.lost.append(self.lost(packet))
        if queue.parts and queue.parts[0] is block:
            queue.parts.popleft()
            block.lost += [replace(one, kind=self.kind("data", one)) for one in block.fresh]
            block.fresh.clear()
        if packet.what == "grant":
            self.copy(queue, block)
        if block.granted >= 0:
            for one in block.lost:
                self.put(queue, one, time)
            block.again += len(block.lost)
            block.lost = []
