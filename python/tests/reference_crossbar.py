"""Switches with a crossbar: every output proposes a packet, every input takes one proposal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil

from reference_channel import Packet
from reference_switches import Switch


@dataclass
class Output:
    """The crossbar's side of an output."""

    turns: list[int]  # next input, by class
    order: list[list[list[int]]]  # virtual channels with a packet that may be next, by class and input
    owed: list[Packet | None]  # to whom room is reserved, by virtual channel
    free_at: int = 0
    waiting: int = 0
    contended: bool = False
    late: tuple[int, int] | None = None  # class and input that it passed over, and for how many packets
    passed: int = 0
    watched: Packet | None = None  # lest room be reserved for others for ever
    missed: int = 0  # how often it was, since
    watch_from: int = 0  # the next one is looked for from this place on: classes, in each its inputs
    looks_on: bool = False  # for another one, when all else of this time has happened


class Crossbar(Switch):
    """`cioq` and `input-queued`."""

    def connect(self) -> None:
        super().connect()
        vcs, inputs, none = self.sim.vcs, self.inputs, [0] * len(self.case.classes)
        self.lanes: list[list[list[Packet]]] = [[[] for _ in range(vcs)] for _ in inputs]
        self.input_free, self.input_turns = [0 for _ in inputs], [[*none] for _ in inputs]
        orders: list[list[list[list[int]]]] = [[[[] for _ in inputs] for _ in none] for _ in self.ports]
        self.outputs = [Output([*none], order, [None] * vcs) for order in orders]

    def enter(self, packet: Packet) -> None:
        lane, output = self.lanes[packet.port][packet.vc], self.outputs[packet.out]
        lane.append(packet)
        if self.voq(packet) or len(lane) == 1:
            self.line_up(packet)
        output.waiting += 1
        output.contended |= output.waiting > 1 or not self.case.reserves_late

    def voq(self, packet: Packet) -> bool:
        """Whether there are virtual output queues where a packet waits: the virtual input has them always."""
        return self.case.voq[packet.what == "data"] or packet.port < 0

    def line_up(self, packet: Packet) -> None:
        """The packet's virtual channel has one that may be next for an output."""
        order = self.outputs[packet.out].order[packet.kind][packet.port]
        if packet.vc not in order:
            order.append(packet.vc)

    def leave(self, packet: Packet) -> None:
        """Takes a packet out of its lane; its virtual channel goes behind the others of its input."""
        lane, output = self.lanes[packet.port][packet.vc], self.outputs[packet.out]
        lane.remove(packet)
        output.order[packet.kind][packet.port].remove(packet.vc)
        behind = next((other for other in lane if other.out == packet.out or not self.voq(packet)), None)
        if behind is not None:
            self.line_up(behind)
        output.waiting -= 1
        output.contended &= output.waiting > 0
        if output.watched is packet:
            output.watched, output.looks_on = None, True
        if output.owed[packet.next_vc] is packet:
            output.owed[packet.next_vc] = None
            self.pass_by(output, packet)
        if output.late == (packet.kind, packet.port):
            output.late, output.passed = None, 0

    def pass_by(self, output: Output, packet: Packet) -> None:
        """A reservation ends: after four rounds of them, the next is for the packet that is watched."""
        watched = output.watched
        if watched is None:
            output.looks_on = True
        elif watched.next_vc == packet.next_vc and not (self.case.by_age and packet.came <= watched.came):
            output.missed += 1
            if output.missed > 4 * self.all_ports and not watched.bubble:
                output.owed[watched.next_vc] = watched

    def watch(self, number: int) -> None:
        """Finds another packet to watch: the first of the next input in turn that has one."""
        output = self.outputs[number]
        places = [(kind, port) for kind in range(len(output.turns)) for port in self.inputs]
        order = [*range(output.watch_from, len(places)), *range(output.watch_from)]
        found = [at for at in order if output.order[places[at][0]][places[at][1]]]
        if output.looks_on and output.watched is None and output.contended and found:
            output.watched, output.missed = next(self.firsts(number, *places[found[0]])), 0
            output.watch_from = found[0] + 1
        output.looks_on = False

    def firsts(self, number: int, kind: int, port: int) -> Iterator[Packet]:
        """The first packets of an input's virtual channels of a class for an output."""
        for vc in self.outputs[number].order[kind][port]:
            yield next(packet for packet in self.lanes[port][vc] if packet.out == number)

    def fits(self, packet: Packet) -> bool:
        """Whether there is room beside what is reserved: nothing where an output is idle and empty."""
        channel, vc = self.out[packet.out], packet.next_vc
        if self.has_queues and channel.free_at <= self.sim.now and not any(self.queues[packet.out]):
            return True
        owed = self.outputs[packet.out].owed[vc]
        aside = self.needs(owed) if owed is not None and owed is not packet else 0
        return self.needs(packet) + aside <= (
            self.room[packet.out][vc] if self.has_queues else channel.memory.room(vc)
        )

    def may_owe(self, packet: Packet) -> bool:
        """Whether room can be reserved for a packet: not where it waits alone, nor for a second one."""
        output = self.outputs[packet.out]
        return output.contended and not packet.bubble and output.owed[packet.next_vc] is None

    def age(self, packet: Packet) -> int:
        """When a packet came, if that matters."""
        return packet.came if self.case.by_age else 0

    def first_that_fits(self, packets: list[Packet]) -> Packet | None:
        """The first packet that has room; for the first ones without, room is reserved."""
        if self.case.by_age:
            return self.oldest_that_fits(packets)
        for packet in packets:
            if self.fits(packet):
                return packet
            if self.may_owe(packet):
                self.outputs[packet.out].owed[packet.next_vc] = packet
        return None

    def oldest_that_fits(self, packets: list[Packet]) -> Packet | None:
        """By age; of equals those that lack room come first."""
        packets = sorted(packets, key=self.age)
        while True:
            able = next(filter(self.fits, packets), None)
            lacking = next((one for one in packets if not self.fits(one) and self.may_owe(one)), None)
            if lacking is None or (able is not None and able.came < lacking.came):
                return able
            self.outputs[lacking.out].owed[lacking.next_vc] = lacking

    def propose(self, number: int) -> tuple[Packet | None, tuple[int, int] | None]:
        """The packet that an output proposes, and the class and input that it passes over for it."""
        now, output = self.sim.now, self.outputs[number]
        if output.free_at > now or not output.waiting:
            return None, None
        if output.late is not None and output.passed > self.all_ports:
            if self.input_free[output.late[1]] > now:
                return None, None
            waiting = sorted(self.firsts(number, *output.late), key=self.age)
            found = (
                next(filter(self.fits, waiting), None) if self.case.by_age else self.first_that_fits(waiting)
            )
            if found is not None:
                return found, None
        skipped: list[tuple[int, int]] = []
        for kind, turn in enumerate(output.turns):
            inputs = self.inputs[turn:] + self.inputs[:turn]
            busy = [port for port in inputs if output.order[kind][port] and self.input_free[port] > now]
            packets = [one for port in inputs if port not in busy for one in self.firsts(number, kind, port)]
            found = self.first_that_fits(packets)
            if found is not None and not self.case.by_age:
                busy = [port for port in busy if inputs.index(port) < inputs.index(found.port)]
            skipped += [(kind, port) for port in busy]
            if found is not None:
                return found, next(iter(skipped), None)
        return None, None

    def rank(self, packet: Packet) -> tuple[int, int, int]:
        """Of two proposals an input takes that of the lesser rank."""
        turn = (packet.out - self.input_turns[packet.port][packet.kind]) % len(self.ports)
        return packet.kind, self.age(packet), turn

    def decide(self) -> None:
        while True:
            self.slip()
            best: dict[int, tuple[Packet, tuple[int, int] | None]] = {}
            for number in self.ports:
                packet, skipped = self.propose(number)
                if packet is None:
                    self.start(number)
                    continue
                key = number if self.case.parallel_reads else packet.port
                if key not in best or self.rank(packet) < self.rank(best[key][0]):
                    best[key] = packet, skipped
            if not best:
                for number in self.ports:
                    self.watch(number)
                return
            for packet, skipped in sorted(best.values(), key=lambda pair: pair[0].out):
                self.cross(packet)
                if skipped is not None:
                    output = self.outputs[packet.out]
                    output.late, output.passed = output.late or skipped, output.passed + 1

    def slip(self) -> None:
        """Control packets go past the crossbar between the flits of others: one per output, and again."""
        while self.case.interleave:
            found = [packet for number in self.ports for packet in self.slipping(number)]
            if not found:
                return
            for packet in found:
                output, channel, vc = self.outputs[packet.out], self.out[packet.out], packet.next_vc
                end = max(self.sim.now + self.crossing(packet), packet.tail)
                self.leave(packet)
                self.release(packet, end)
                packet.tail = end
                output.turns[packet.kind] = packet.port + 1
                is_alone = channel.free_at <= self.sim.now
                self.cut_in(channel, packet, vc)
                if not self.has_queues:
                    output.free_at = channel.free_at
                elif is_alone:
                    self.room[packet.out][vc] -= packet.flits
                    self.sim.at(channel.free_at, self, partial(self.clear, packet.out, vc, packet.flits))

    def slipping(self, number: int) -> list[Packet]:
        """The control packet of the next input that has one, if it has credit and its queue is empty."""
        output = self.outputs[number]
        for kind in range(self.case.controls):
            turn = output.turns[kind]
            inputs = self.inputs[turn:] + self.inputs[:turn]
            packets = [next(self.firsts(number, kind, port)) for port in inputs if output.order[kind][port]]
            if packets and self.may_slip(packets[0]):
                return packets[:1]
        return []

    def may_slip(self, packet: Packet) -> bool:
        """Whether the output queue of a control packet is empty, and the channel has credit for it."""
        needs = packet.flits if self.has_queues else self.needs(packet)
        is_first = not self.queues[packet.out][packet.next_vc]
        return is_first and needs <= self.out[packet.out].memory.room(packet.next_vc)

    def crossing(self, packet: Packet) -> int:
        """The time that a packet takes in the crossbar."""
        return ceil(packet.flits * self.sim.fastest / (self.case.speedup or 1))

    def cross(self, packet: Packet) -> None:
        """Takes a packet over the crossbar, and starts the channel."""
        output, channel = self.outputs[packet.out], self.out[packet.out]
        self.leave(packet)
        output.turns[packet.kind] = packet.port + 1
        self.input_turns[packet.port][packet.kind] = packet.out + 1
        held = self.sim.now + self.crossing(packet)
        end = max(held, packet.tail)
        if not self.case.interleave:
            held = end
        if not self.case.parallel_reads:
            self.input_free[packet.port] = held
        self.sim.at(held, self)
        self.release(packet, end)
        packet.tail = end
        if self.has_queues:
            output.free_at = held
            self.queue(packet)
            self.start(packet.out)
        else:
            self.send(channel, packet, packet.next_vc, self.sim.now)
            output.free_at = channel.free_at
