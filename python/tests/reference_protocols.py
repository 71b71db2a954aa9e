"""What endpoints have in common under congestion controls: their send queues, and whose turn it is."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from reference_case import Message
from reference_channel import Packet
from reference_hash import Label
from reference_nodes import Endpoint, Key
from reference_protocol import Queue

if TYPE_CHECKING:
    from reference import Simulation


class Source(Endpoint):
    """An endpoint whose packets go speculatively, and if they are refused again at a granted time.

    In a tick it takes in what arrives, then new messages, then the times that have come.
    """

    first_class = "speculative"  # of first tries

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.protocol: Any = sim.case.protocol
        self.control: list[deque[Packet]] = [deque() for _ in self.case.classes]
        self.sends: dict[Key, Queue] = {}
        self.grades: dict[int, int] = {}  # of its messages, by their numbers
        self.ring: list[Queue] = []
        self.created: list[Message] = []
        self.fresh: list[Packet] = []  # answers of this tick, if they go between the flits of others
        self.sent: dict[tuple[int, int], Packet] = {}  # what may have to be sent again
        self.granted_until = 0

    def kind(self, name: str, about: Packet | None = None) -> int:
        """The number of a traffic class, for data that of the message that a packet is of, or answers."""
        return self.case.class_of(name, self.grades[about.message] if about is not None else 0)

    def create(self, message: Message) -> None:
        self.created.append(message)

    def queue(self, destination: int, grade: int = 0) -> Queue:
        """The send queue for a destination."""
        return self.sends.setdefault((grade, destination), Queue(destination, grade))

    def key_of(self, message: Message) -> tuple[int, int]:
        """What the send queue of a message is for, and its grade."""
        place = self.case.place(message.destination, message.pair)
        return place, self.case.priorities.index(message.priority)

    def packets(self, message: Message, name: str) -> list[Packet]:
        """Cuts a message into packets of a traffic class."""
        most, ends, number = self.case.packet_max, (message.source, message.destination), self.messages
        grade = self.grades[number] = self.case.priorities.index(message.priority)
        self.messages += 1
        sizes = [min(most, message.flits - at) for at in range(0, message.flits, most)]
        return [
            Packet(self.case.class_of(name, grade), number, at, size, *ends, pair=message.pair)
            for at, size in enumerate(sizes)
        ]

    def add(self, message: Message) -> None:
        """Takes a message in. One that comes to an empty queue puts it into the round robin."""
        queue = self.queue(*self.key_of(message))
        is_first = not queue.fresh
        queue.fresh += self.packets(message, self.first_class)
        if is_first:
            self.join(queue)

    def join(self, queue: Queue) -> None:
        """Puts a queue at the end of the round robin: it leaves when it is asked and has nothing to send."""
        if queue not in self.ring:
            queue.wakes = -1
            self.ring.append(queue)

    def line_up(self, queue: Queue) -> None:
        """Puts a queue that has something to send into the round robin, if need be when its time comes."""
        pull = self.pull(queue)
        if isinstance(pull, Packet):
            self.join(queue)
        elif pull is not None:
            self.sleep(queue, pull)

    def sleep(self, queue: Queue, time: int) -> None:
        """Lets a queue join the round robin at a time."""
        if queue not in self.ring:
            queue.wakes = time
            self.sim.at(time, self)

    def pull(self, queue: Queue) -> Packet | int | None:
        """The packet that a queue wants to send, or the time when it will."""
        if queue.again and queue.again[0][0] <= self.sim.now:
            return queue.again[0][-1]
        if queue.extra:
            return queue.extra[0]
        if queue.fresh and self.may_try(queue):
            return queue.fresh[0]
        return queue.again[0][0] if queue.again else None

    def may_try(self, queue: Queue) -> bool:
        """Whether a first try may go."""
        if not queue.waiting or self.protocol.stops == "message":
            return True
        return bool(self.protocol.stops == "growth" and queue.allowed)

    def arrive(self, packet: Packet) -> None:
        if packet.what == "data":
            if self.protocol.answers_all or self.case.acknowledge or self.is_first_try(packet):
                self.answer(packet, "ack")
        elif packet.what == "reservation":
            self.answer(packet, "grant", self.grant(packet))
        else:
            queue = self.queue(self.case.place(packet.source, packet.pair), self.grades[packet.message])
            self.hear(queue, packet)
            self.line_up(queue)

    def is_first_try(self, packet: Packet) -> bool:
        """Whether a packet may have been dropped."""
        return self.case.name_of(packet.kind).startswith("speculative")

    def answer(self, packet: Packet, what: str, granted: int = -1) -> Packet:
        """Sends a control packet back."""
        reply = self.reply_to(packet, what, granted)
        if self.case.interleave:
            self.fresh.append(reply)
        else:
            self.control[reply.kind].append(reply)
        return reply

    def grant(self, reservation: Packet) -> int:
        """The beginning of the next interval of the channel to this endpoint that is free."""
        whole = (reservation.asked + self.protocol.overhead) * (1 + self.protocol.epsilon)
        start = max(self.protocol.earliest(reservation, self.sim.now), self.granted_until)
        self.granted_until = start + self.case.span(whole, self.into[0].pace)
        return start

    def hear(self, queue: Queue, packet: Packet) -> None:
        """A control packet came."""
        if packet.what == "ack":
            queue.allowed += 1

    def lost(self, packet: Packet) -> Packet:
        """The copy of a packet that was refused, for its granted time."""
        return replace(self.sent[packet.message, packet.sequence], kind=self.kind("data", packet))

    def wait(self, queue: Queue) -> None:
        """A refused packet of a queue waits from now on."""
        queue.allowed *= queue.waiting > 0
        queue.waiting += 1

    def put(self, queue: Queue, packet: Packet, time: int) -> None:
        """Sends a packet again at a time."""
        heappush(queue.again, (time, packet.message, packet.sequence, packet))
        self.sim.at(max(time, self.sim.now), self)

    def reply(self) -> None:
        """Sends the answers of this tick in the order in which they were made, if none waits."""
        for reply in self.fresh:
            if not any(self.control) and self.fits(reply):
                self.begin(reply)
            else:
                self.control[reply.kind].append(reply)
        self.fresh = []

    def settle(self) -> None:
        self.reply()
        for message in self.created:
            self.add(message)
        self.created = []
        for queue in sorted(self.sends.values(), key=lambda queue: queue.destination):
            if queue.wakes == self.sim.now:
                queue.wakes = -1
                (self.line_up if queue.is_empty else self.join)(queue)
            else:
                self.look(queue)
        if self.is_free:
            self.send_one()
        if self.case.interleave and not self.is_free:
            while self.send_control() or self.send_ahead(set()):
                pass

    def look(self, queue: Queue) -> None:
        """Looks at a queue that may have to do something ahead of all data by now."""

    def send_control(self) -> bool:
        """Sends the first control packet that has credit, and tells whether there was one."""
        for control in self.control:
            packet = next(filter(self.fits, control), None)
            if packet is not None:
                control.remove(packet)
                self.begin(packet)
                return True
        return False

    def send_one(self) -> None:
        """Sends control packets, else what goes ahead of data, else what is due, else in turn."""
        if self.send_control():
            return
        lacking = set[int]()
        if self.send_ahead(lacking):
            return
        for grade in range(len(self.case.priorities)):
            if self.send_due(grade, lacking) or self.send_in_turn(grade, lacking):
                return

    def send_ahead(self, lacking: set[int]) -> bool:
        """Sends what goes ahead of all data, and tells whether it did."""
        return False

    def send_due(self, grade: int, lacking: set[int]) -> bool:
        """Sends what was granted the earliest time, if that has come, and tells whether it did."""
        queues = [queue for queue in self.sends.values() if queue.grade == grade]
        due = [queue for queue in queues if queue.again and queue.again[0][0] <= self.sim.now]
        if not due:
            return False
        queue = min(due, key=lambda queue: (queue.again[0][0], queue.destination))
        packet = queue.again[0][-1]
        if self.lacks(queue, packet, lacking):
            return False
        self.go(queue, packet)
        self.line_up(queue)
        return True

    def send_in_turn(self, grade: int, lacking: set[int]) -> bool:
        """Sends of the first queue that can. No other takes the credit that one ahead of it lacked."""
        for queue in [queue for queue in self.ring if queue.grade == grade]:
            pull = self.pull(queue)
            if not isinstance(pull, Packet):
                self.ring.remove(queue)
                if pull is not None:
                    self.sleep(queue, pull)
            elif not self.lacks(queue, pull, lacking):
                self.ring.remove(queue)
                self.go(queue, pull)
                self.requeue(queue, pull)
                return True
        return False

    def lacks(self, queue: Queue, packet: Packet, lacking: set[int]) -> bool:
        """Whether a packet lacks credit, or has to leave it to one ahead of it; if it does, that is noted."""
        vcs = self.case.networks * self.sim.queues * self.sim.levels  # of a class
        most = self.case.networks * (self.sim.queues if packet.what == "data" else 1)
        if sum(vc // vcs == packet.kind for vc in lacking) == most:
            return True
        self.choose(queue, packet)
        vc = self.vc(packet)
        lacks = vc in lacking or not self.fits(packet)
        if packet.what == "data":
            if queue.turn is None:
                queue.turn, self.turn = self.turn, self.turn + 1
            queue.turn = queue.turn if lacks else None
        elif not lacks:
            queue.tried = None
        if lacks:
            lacking.add(vc)
        return lacks

    def choose(self, queue: Queue, packet: Packet) -> None:
        """Gives a packet its virtual network: data by the turn of their send queue, others by chance."""
        if packet.what == "data":
            packet.turn = self.turn if queue.turn is None else queue.turn
            self.take_network(packet)
        else:
            packet.label = self.label(packet)
            queue.tried = queue.tried or (packet.label, self.sim.now)
            self.sim.in_network(packet, *queue.tried)

    def label(self, packet: Packet) -> Label:
        if packet.made >= 0:  # an answer goes by what it is about
            return super().label(packet)
        if packet.what != "data":
            return 0, 0
        return self.numbers.setdefault(packet.message, len(self.numbers)), packet.sequence

    def requeue(self, queue: Queue, sent: Packet) -> None:
        """A queue that had its turn goes to the end of the round robin."""
        if queue.is_empty:
            self.line_up(queue)
        else:
            self.join(queue)

    def go(self, queue: Queue, packet: Packet) -> None:
        """Sends the packet that a queue wants to send."""
        if self.case.name_of(packet.kind) == "data":
            heappop(queue.again)
            queue.waiting -= 1
            queue.allowed += not self.case.acknowledge
        elif queue.extra and packet is queue.extra[0]:
            queue.extra.popleft()
        else:
            queue.fresh.popleft()
            queue.allowed -= queue.allowed > 0
        if packet.what == "data":
            self.sent[packet.message, packet.sequence] = replace(packet)
        self.begin(packet)
