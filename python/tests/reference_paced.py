"""What protocols have in common under which switches mark packets and sources wait between packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reference_channel import Channel, Packet
from reference_crossbar import Crossbar
from reference_nodes import Endpoint
from reference_protocol import Protocol, Queue
from reference_protocols import Source
from reference_switches import Switch, Unlimited

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Marking(Protocol):
    """A protocol whose switches mark packets."""

    classes = ("control", "data")
    is_red = False  # marks by what a packet leaves behind, whether there is credit for more or not

    @property
    def sees(self) -> str:
        """What waits for an output, or of that what is behind the packet that leaves, or at the inputs."""
        return "behind" if self.is_red else "all"

    def marks(self, waiting: int, packet: Packet, tick: int) -> bool:
        """Whether a packet is marked that leaves when so many flits wait for its output, or behind it."""
        raise NotImplementedError

    def source(self) -> type[Endpoint]:
        """What endpoints are."""
        raise NotImplementedError

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return self.source(), MarkingCrossbar if kind is Crossbar else MarkingUnlimited


class PacedSource(Source):
    """An endpoint whose send queues wait between packets. What was sent tells when the next may go."""

    first_class = "data"

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.next: dict[int, int] = {}  # the earliest time of a send queue's next packet, by destination

    def pull(self, queue: Queue) -> Packet | int | None:
        if queue.fresh:
            time = self.next.get(queue.destination, 0)
            return queue.fresh[0] if time <= self.sim.now else time
        wakes = self.wakes_at(queue)
        if wakes is None:
            queue.wakes = -1
            self.forget(queue)
        return wakes

    def join(self, queue: Queue) -> None:
        """One that is empty is looked at, and holds no place."""
        if queue.fresh:
            super().join(queue)
        else:
            self.line_up(queue)

    def line_up(self, queue: Queue) -> None:
        if queue not in self.ring:
            super().line_up(queue)

    def forget(self, queue: Queue) -> None:
        """A queue is as new if it is empty and nothing is left that would tell it from a new one."""

    def wakes_at(self, queue: Queue) -> int | None:
        """When an empty queue, if it is not as new, looks whether it is."""
        raise NotImplementedError

    def go(self, queue: Queue, packet: Packet) -> None:
        queue.fresh.popleft()
        self.begin(packet)
        self.next[queue.destination] = self.following(queue, packet)

    def following(self, queue: Queue, packet: Packet) -> int:
        """When the next packet of a queue may go, after one that starts now."""
        raise NotImplementedError

    def arrive(self, packet: Packet) -> None:
        if packet.what == "data":
            self.receive(packet)
        else:
            queue = self.queue(self.case.place(packet.source, packet.pair))
            if self.hears(packet):
                self.hear(queue, packet)
                self.line_up(queue)

    def hears(self, packet: Packet) -> bool:
        """Whether a control packet is for the send queue, whatever it says."""
        raise NotImplementedError

    def receive(self, packet: Packet) -> None:
        """Answers a data packet."""
        if self.case.acknowledge:
            self.answer(packet, "ack").is_marked = packet.is_marked


class MarkingSwitch(Switch):
    """Marks what leaves through a port for which much waits."""

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        protocol, waiting = self.case.protocol, sum(self.bound[packet.out])
        assert isinstance(protocol, Marking)
        if protocol.sees != "all":
            waiting -= packet.flits
        if protocol.sees == "inputs" and self.has_queues:
            waiting -= sum(other.flits for queue in self.queues[packet.out] for other in queue)
        super().send(channel, packet, vc, now)
        if packet.what == "data" and protocol.marks(waiting, packet, now // self.case.tick):
            packet.is_marked |= protocol.is_red or channel.memory.room(vc) >= self.case.packet_max


class MarkingCrossbar(MarkingSwitch, Crossbar):
    """With a crossbar."""


class MarkingUnlimited(MarkingSwitch, Unlimited):
    """Without one."""
