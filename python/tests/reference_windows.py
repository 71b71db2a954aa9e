"""What protocols that keep a window for every send queue have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

from reference_channel import Packet
from reference_protocol import Protocol, Queue
from reference_protocols import Source

if TYPE_CHECKING:
    from reference import Simulation


@dataclass(frozen=True)
class Windowed(Protocol):
    """Sends data in one class, and goes by their acknowledgements."""

    restart: int = 0
    left_out: tuple[str, ...] = ()  # parameters that are the defaults
    classes = ("control", "data")

    def keys(self) -> dict[str, object]:
        return {key: value for key, value in self.all_keys().items() if key not in self.left_out}

    def all_keys(self) -> dict[str, object]:
        """Its table with the defaults."""
        raise NotImplementedError


@dataclass(eq=False)
class WindowQueue(Queue):
    """A send queue with what its window is made from. Windows are in largest packets."""

    flight: int = 0  # flits that have not been acknowledged
    when: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # sent, and flits, by packet
    heard: int = 0  # when it last heard or sent


class WindowSource(Source):
    """An endpoint that sends of a queue what its window has room for."""

    first_class = "data"

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.tick = self.case.tick

    def carried(self, time: int) -> float:
        """Flits that its channel carries in a time, reckoned by the time of a largest packet."""
        most = self.case.packet_max
        return time // self.tick * most / ceil(most * self.out[0].flit / self.tick)

    def new(self, destination: int) -> Any:
        """A send queue that begins."""
        raise NotImplementedError

    def has_room(self, queue: Any, packet: Packet) -> bool:
        """Whether the window has room for a packet."""
        raise NotImplementedError

    def due(self, queue: Any) -> int:
        """When the next packet may go, if there is room for it."""
        return 0

    def react(self, queue: Any, ack: Packet, took: int, flits: int) -> None:
        """Changes the window by an acknowledgement, for so many flits, of what took so long."""
        raise NotImplementedError

    def queue(self, destination: int, grade: int = 0) -> Any:
        key = grade, destination
        old: Any = self.sends.get(key)
        if old is None or self.is_over(old):
            old = self.sends[key] = self.new(destination)
            old.grade = grade
        return old

    def is_over(self, queue: Any) -> bool:
        """Whether a queue was silent for so long that it begins anew."""
        if queue.fresh or queue.when or queue in self.ring or self.due(queue) > self.sim.now:
            return False
        silent = self.sim.now - queue.heard
        return bool(self.is_as_new(queue) or silent >= self.case.rounded(self.protocol.restart))

    def is_as_new(self, queue: Any) -> bool:
        """Whether an idle queue is as a new one."""
        return False

    def pull(self, queue: Any) -> Packet | int | None:
        if not queue.fresh or not self.has_room(queue, queue.fresh[0]):
            return None
        due = self.due(queue)
        return due if due > self.sim.now else queue.fresh[0]

    def go(self, queue: Any, packet: Packet) -> None:
        queue.fresh.popleft()
        queue.flight += packet.flits
        queue.heard = self.sim.now
        queue.when[packet.message, packet.sequence] = self.sim.now, packet.flits
        self.begin(packet)

    def hear(self, queue: Any, packet: Packet) -> None:
        sent, flits = queue.when.pop((packet.message, packet.sequence))
        queue.flight -= flits
        queue.heard = self.sim.now
        self.react(queue, packet, self.sim.now - sent, flits)

    def answer(self, packet: Packet, what: str, granted: int = -1) -> Packet:
        reply = super().answer(packet, what, granted)
        reply.carries = packet.carries
        return reply
