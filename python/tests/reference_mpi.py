"""A second MPI layer, on the second simulator of the packet model: small, slow, and written from the pages.

They are docs/internals.md and `tailback list` of `job.mpi` and `goal`. Times are whole picoseconds; a message
enters the network at the next tick.

What happens at one time in a rank has an order that no page tells. With a seed for `ties` it is random, to
find the programs whose outcome depends on it.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import NamedTuple

from reference import Simulation
from reference_case import ANY, DATA, Case, Job, Message, Op, Turn
from reference_hash import first_pair
from reference_nodes import Channel, Endpoint, Node, Packet

Action = Callable[[], object]
Letter = tuple[int, int, Callable[[int], object]]  # sender, tag, what the receive that takes it brings about


@dataclass(frozen=True, order=True)
class Sent:
    """A message of the network."""

    start: int
    source: int
    destination: int
    flits: int


class Pairs(NamedTuple):
    """The queue pairs between two ranks of a job by its number, and whether a message takes its turn."""

    job: int
    count: int
    takes_turn: bool


def last_of(count: int, action: Action) -> Action:
    """What is done the last of so many times."""
    left = iter(range(count - 1, -1, -1))
    return lambda: None if next(left) else action()


class Host(Endpoint):
    """An endpoint that tells when a message has left, and when it has come."""

    def __init__(self, sim: Simulation, name: str) -> None:
        super().__init__(sim, name)
        self.sending: dict[int, tuple[int, Action, Action]] = {}
        self.taken = Counter[tuple[int, int]]()
        self.turns = Counter[tuple[int, int, int]]()  # of messages: job, destination and first queue pair

    def transfer(self, message: Message, pairs: Pairs, left: Action, come: Action) -> None:
        """Hands over a message, which goes in one of some queue pairs from its own on."""
        self.sending[self.messages] = message.flits, left, come
        first, key = message.pair, (pairs.job, message.destination, message.pair)
        begin = first_pair(pairs.job, first, message.source, message.destination, pairs.count) - first
        self.create(replace(message, pair=first + (begin + self.turns[key]) % pairs.count))
        self.turns[key] += pairs.takes_turn

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        super().send(channel, packet, vc, now)
        if packet.kind == DATA:
            flits, left, _ = self.sending[packet.message]
            if packet.sequence * self.case.packet_max + packet.flits == flits:
                self.sim.at(channel.free_at, self, left)

    def arrive(self, packet: Packet) -> None:
        super().arrive(packet)
        if packet.kind == DATA:
            self.sim.at(packet.tail, self, partial(self.take, packet))

    def take(self, packet: Packet) -> None:
        """The tail of a packet is here."""
        source, name = self.sim.endpoints[packet.source], (packet.source, packet.message)
        flits, _, come = source.sending[packet.message]
        self.taken[name] += packet.flits
        if self.taken[name] == flits:
            come()


class Rank:
    """A rank of a job, and how far it is."""

    def __init__(self, world: World, job: Job, number: int) -> None:
        self.world, self.job, self.number, self.ops = world, job, number, job.ranks[number]
        self.host = world.endpoints[job.endpoints[number]]
        self.end = job.start
        self.undone = set(range(len(self.ops)))
        self.lacks = [len(op.requires) + len(op.irequires) for op in self.ops]
        self.ready: dict[int, deque[int]] = defaultdict(deque)  # by processor
        self.busy: dict[int, int] = {}
        self.computing, self.computed = 0, 0
        self.sent, self.arrived = Counter[Turn](), Counter[Turn]()
        self.early: dict[tuple[Turn, int], Letter] = {}
        self.copied = 0
        self.slowness = dict(job.slow).get(number, Fraction(1))
        self.mail: list[Letter] = []
        self.posted: list[int] = []

    def after(self, time: int, action: Action) -> None:
        """Does something later."""
        self.world.at(self.world.now + time, self.host, action)

    def begin(self) -> None:
        """The job starts."""
        self.free(at for at, lacks in enumerate(self.lacks) if lacks == 0)

    def free(self, operations: Iterable[int]) -> None:
        """These may begin now, and wait for their processors."""
        for at in operations:
            cpu = self.ops[at].cpu
            self.ready[cpu].append(at)
            self.after(0, partial(self.work, cpu))

    def release(self, operations: Iterable[int]) -> None:
        """One of those that these have waited for has come."""
        waiting = list(operations)
        for at in waiting:
            self.lacks[at] -= 1
        self.free(at for at in waiting if self.lacks[at] == 0)

    def work(self, cpu: int) -> None:
        """A processor that does nothing begins what has waited longest."""
        if cpu in self.busy or not self.ready[cpu]:
            return
        at = self.busy[cpu] = self.ready[cpu].popleft()
        op = self.ops[at]
        self.count(op, 1)
        takes = floor(op.amount * self.slowness + Fraction(1, 2))
        self.after(takes if op.kind == "calc" else self.job.mpi.overhead, partial(self.worked, cpu))
        self.release(other for other, one in enumerate(self.ops) if at in one.irequires)

    def count(self, op: Op, change: int) -> None:
        """Counts the time in which any processor computes."""
        if op.kind == "calc":
            self.computed -= self.world.now * ((self.computing == 0) - (self.computing + change == 0))
            self.computing += change

    def worked(self, cpu: int) -> None:
        """A processor is done with an operation."""
        at = self.busy.pop(cpu)
        self.count(self.ops[at], -1)
        act = {"calc": self.finish, "send": self.send, "recv": self.post}[self.ops[at].kind]
        self.after(0, partial(act, at))
        self.after(0, partial(self.work, cpu))

    def finish(self, at: int) -> None:
        """An operation is at its end."""
        self.undone.remove(at)
        self.end = self.world.now
        self.release(other for other, op in enumerate(self.ops) if at in op.requires)

    def send(self, at: int) -> None:
        """Sends a message when it is copied, or when its receiver has been asked."""
        op, mpi, peer = self.ops[at], self.job.mpi, self.world.ranks[self.job][self.ops[at].peer]
        turn = self.job.turn(self.number, op.peer, op.tag)
        arrive = partial(peer.arrive, turn, self.sent[turn])
        self.sent[turn] += 1

        def data(come: Action) -> None:
            self.transfer(peer, op.amount, come, partial(self.finish, at), takes_turn=True)

        def answer(receive: int) -> None:
            clear = partial(self.after, mpi.delay, partial(data, partial(peer.finish, receive)))
            peer.after(mpi.delay, partial(peer.transfer, self, mpi.control, clear))

        if op.amount < mpi.eager:
            copied = ceil(Fraction(op.amount * 8 * 10**6, mpi.copy))
            letter = self.number, op.tag, peer.finish
            self.after(mpi.delay + copied, partial(data, partial(arrive, letter)))
        else:
            asked = partial(arrive, (self.number, op.tag, answer))
            self.after(mpi.delay, partial(self.transfer, peer, mpi.control, asked))

    def transfer(
        self, peer: Rank, size: int, come: Action, left: Action = int, *, takes_turn: bool = False
    ) -> None:
        """Hands a message to the network, or to a rank of the same endpoint."""
        if peer.host is self.host:
            mpi, begin = self.job.mpi, max(self.copied, self.world.now)
            self.copied = begin + ceil(Fraction(size * 8 * 10**6, mpi.local_bandwidth))
            self.world.at(self.copied, self.host, left)
            self.world.at(self.copied + mpi.local_latency, self.host, come)
            return
        case, now = self.world.case, self.world.now
        flits, start = max(1, -(-size * 8 // case.flit_bits)), -(-now // case.tick) * case.tick
        ends = self.job.endpoints[self.number], self.job.endpoints[peer.number]
        pairs = Pairs(list(self.world.ranks).index(self.job), self.job.queue_pairs, takes_turn)
        seats = self.number % self.job.each * self.job.each + peer.number % self.job.each
        parts = self.parts(flits) if self.job.split and takes_turn else [flits]
        came = last_of(len(parts), partial(self.world.came, Sent(start, *ends, flits), come))
        left = last_of(len(parts), left)
        for part in parts:
            message = Message(*ends, part, start, pair=seats * pairs.count)
            self.after(start - now, partial(self.host.transfer, message, pairs, left, came))

    def parts(self, flits: int) -> list[int]:
        """A message dealt out to the queue pairs, packet by packet; whole if some would get none."""
        size, count = self.world.case.packet_max, self.job.queue_pairs
        packets = -(-flits // size)
        if packets < count:
            return [flits]
        parts = [size * len(range(part, packets, count)) for part in range(count)]
        parts[-1] -= packets * size - flits
        return parts

    def arrive(self, turn: Turn, number: int, letter: Letter) -> None:
        """A message or a request is here, and waits for those of its turn that were sent before it."""
        self.early[turn, number] = letter
        while (turn, self.arrived[turn]) in self.early:
            self.mail.append(self.early.pop((turn, self.arrived[turn])))
            self.arrived[turn] += 1
        self.match()

    def post(self, at: int) -> None:
        """A receive is posted."""
        self.posted.append(at)
        self.match()

    def match(self) -> None:
        """Receives, in the order in which they were posted, take the messages that came first."""
        for at in list(self.posted):
            op = self.ops[at]
            suits = (one for one in self.mail if op.peer in (ANY, one[0]) and op.tag in (ANY, one[1]))
            if letter := next(suits, None):
                self.posted.remove(at)
                self.mail.remove(letter)
                letter[2](at)


class World(Simulation):
    """Jobs on a network."""

    endpoint = Host

    def __init__(self, case: Case, jobs: Iterable[Job], ties: int | None = None) -> None:
        self.draw = None if ties is None else random.Random(ties)
        super().__init__(case)
        self.arrivals: list[tuple[int, Sent]] = []
        self.ranks = {job: [Rank(self, job, at) for at in range(len(job.ranks))] for job in jobs}
        for job, ranks in self.ranks.items():
            for rank in ranks:
                self.at(job.start, rank.host, rank.begin)

    def at(self, when: int, node: Node, action: Action | None = None) -> None:
        if self.draw:
            self.count = self.draw.getrandbits(60)
        super().at(when, node, action)

    def came(self, row: Sent, action: Action) -> None:
        """A message is here."""
        self.arrivals.append((self.now, row))
        action()
