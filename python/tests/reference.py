"""A second simulator of Tailback's packet model: small, slow, and written from docs/model.md.

Where the page had left something open, it follows the engine, and the page says so now.

It knows packets in virtual cut-through with credits, the four kinds of switches, the queueing schemes but
those for trees, several routings, the congestion controls, priorities, and messages whose times are given.
All that happens at one time is gathered first; then switches decide what they start, and then endpoints.
Times are whole picoseconds.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import ceil, inf

from reference_case import Case, Row, Slow, SlowLink
from reference_channel import Channel, Guard, Memory, Packet, Speeds
from reference_crossbar import Crossbar
from reference_dragonfly_others import OTHERS
from reference_dragonfly_ways import KINDS
from reference_hash import Chance, Label, at_source, at_source_in_turn, first_pair, of_made, on_arrival
from reference_kns import ByLines
from reference_nodes import Endpoint, Node
from reference_queueing import lanes, queue_count, queue_of
from reference_routing import FlowDefault, InOrder, Routing, Senses, Shortest, levels_between
from reference_sharing import Pool, SharingGuard
from reference_signals import Order
from reference_switches import Hop, Switch, Unlimited
from reference_tree import Ancestor, Around

_UNLIMITED = 1 << 60


class Simulation:
    """A case under way: its nodes, and what is to happen."""

    endpoint = Endpoint

    def __init__(self, case: Case) -> None:
        case = case.protocol.settled(case) if case.protocol else case
        self.case, self.now, self.rows = case, 0, list[Row]()
        self.tick = case.tick
        self.orders: list[tuple[int, Order]] = []  # by their time
        self.events: list[tuple[int, int, Node, Callable[[], None] | None]] = []
        self.count = 0
        self.moves: list[
            tuple[Channel, int, int]
        ] = []  # flits of virtual channels that buffers take in, or let go
        self.pools: dict[Switch, Pool] = {}
        number = 1 + max([*case.hosts, *(max(link.a, link.b) for link in case.links)])
        self.routing = self._routing()
        self.levels = self.routing.levels
        self.queues = queue_count(case)
        several = case.networks * self.queues > 1
        self.keeps_queues = several and not case.fifo and case.queueing not in ("voqsw", "damq")
        self.vcs = len(case.classes) * case.networks * self.queues * self.levels
        self.fastest = case.flit_bits * 1000 / max([case.host_rate, *(link.rate for link in case.links)])
        kind: type[Switch] = Crossbar if case.has_crossbar else Unlimited
        make, kind = case.protocol.nodes(kind) if case.protocol else (self.endpoint, kind)
        self.endpoints = [make(self, f"endpoint {at}") for at in range(len(case.hosts))]
        self.switches = [kind(self, f"switch {at}", at) for at in range(number)]
        for endpoint, switch in zip(self.endpoints, case.hosts, strict=True):
            self._join(endpoint, self.switches[switch], case.host_rate, case.host_latency)
        for link in case.links:
            self._join(self.switches[link.a], self.switches[link.b], link.rate, link.latency)
        for one in self.switches:
            if case.ring is not None:
                one.turn_ports()
            if case.dragonfly is not None:
                one.sort_ports(case.dragonfly.order_of_ports(one.number))
            one.connect()
        for number, message in enumerate(case.messages):  # each is a class of its own
            source, ends = self.endpoints[message.source], (message.source, message.destination)
            paired = replace(message, pair=first_pair(number, 0, *ends, case.queue_pairs))
            self.at(case.rounded(message.start), source, partial(source.create, paired))

    def _routing(self) -> Routing:
        case = self.case
        if case.dragonfly is not None:
            return (KINDS | OTHERS)[case.dragonfly.kind](self)
        if case.kns is not None:
            return ByLines(self)
        if case.tree is not None and case.choose == "by-destination":
            return FlowDefault(self) if case.has_flows else (Around if case.failed else Ancestor)(self)
        return Shortest(self) if case.dims is None else InOrder(self)

    def _join(self, one: Node, other: Node, rate: Fraction, latency: int) -> None:
        flit = self.case.flit_bits * 1000 / rate
        for origin, to, port in ((one, other, len(other.out)), (other, one, len(one.out))):
            pace = flit
            if isinstance(to, Endpoint) and self.case.drain is not None:
                pace = self.case.flit_bits * 1000 / min(rate, self.case.drain)
            memory, guard = Memory([_UNLIMITED] * self.vcs), None
            if isinstance(to, Switch):
                whole, most = ceil(flit), (2 + self.case.stores) * self.case.packet_max
                round_trip = ceil(2 * (latency + whole + self.case.pipeline) / flit) + most
                levels = levels_between(self.routing, origin, to)
                if self.case.pauses is not None:
                    headroom = self.case.headroom(rate, latency)
                    guard = self._guard(round_trip, headroom, levels, self._pool(to))
                    round_trip += headroom
                memory = self._memory(round_trip, levels)
                memory.counts = guard is None
            turns = [0] * len(self.case.classes)
            channel = Channel(origin, to, port, flit, latency, memory, pace, turns, guard)
            channel.slow = self._speeds(origin, to, pace)
            origin.out.append(channel)
            to.into.append(channel)

    def _speeds(self, origin: Node, to: Node, pace: Fraction) -> Speeds | None:
        flit, rounded = self.case.flit_bits * 1000, self.case.rounded
        ends = [self.endpoints.index(node) for node in (origin, to) if isinstance(node, Endpoint)]
        ends = ends or sorted(self.switches.index(node) for node in (origin, to) if isinstance(node, Switch))
        found: list[Slow | SlowLink] = [slow for slow in self.case.slow_links if tuple(ends) == slow.ends]
        if isinstance(to, Endpoint):
            found += [slow for slow in self.case.slow if ends[0] in slow.endpoints]
        spells = tuple(
            (
                rounded(slow.start),
                inf if slow.stop is None else rounded(slow.stop),
                Fraction(0) if slow.rate is None else slow.rate / flit,
            )
            for slow in found
        )
        return Speeds(self.case.tick, 1 / pace, spells) if spells else None

    def _guard(self, busy: int, headroom: int, levels: int, pool: Pool | None) -> Guard:
        """Of a buffer with room for the headroom and what keeps its channel busy, or as the case says."""
        assert self.case.pauses is not None
        size, most = self.case.input_buffer, self.case.packet_max
        if size is None:
            room = busy
        else:
            in_use = 1 if self.case.per == "vc" else self.case.networks * lanes(self.case) * levels
            room = size // in_use - headroom
        limits, fills = self.case.pauses.limits(most, room), ([0] * self.vcs, [False] * self.vcs)
        if pool is not None:
            return SharingGuard(*limits, *fills, pool)
        return Guard(*limits, *fills)

    def _pool(self, switch: Switch) -> Pool | None:
        """What the input buffers of a switch share."""
        pauses = self.case.pauses
        if pauses is None or pauses.shared is None:
            return None
        offset = 2 * self.case.packet_max if pauses.offset is None else pauses.offset
        return self.pools.setdefault(switch, Pool(pauses.shared, pauses.alpha, offset))

    def hold(self, channel: Channel, vc: int, flits: int) -> None:
        """A buffer that stops its sender takes flits in, or lets them go."""
        self.moves.append((channel, vc, flits))

    def _give_orders(self) -> None:
        """Buffers whose fill has changed in a time have their senders stop, or go on."""
        changed: dict[Channel, set[int]] = {}
        # What comes goes before what leaves, and in the order of the inputs.
        for channel, vc, flits in sorted(self.moves, key=_place):
            assert channel.guard is not None
            channel.guard.take(vc, flits)
            changed.setdefault(channel, set()).add(vc)
        self.moves.clear()
        for channel, vcs in changed.items():
            assert channel.guard is not None
            assert self.case.pauses is not None
            way = channel.latency + ceil(channel.flit) + self.case.rounded(self.case.pauses.response)
            for vc, stops in channel.guard.orders(vcs):
                obey = partial(channel.memory.paused.__setitem__, vc, stops)
                self.at(self.now + way, channel.origin, obey)

    def _memory(self, round_trip: int, levels: int) -> Memory:
        """The input buffers of a port where so many levels are in use."""
        size = self.case.input_buffer or round_trip
        in_use = self.case.networks * lanes(self.case) * levels
        if self.case.per == "vc" or self.case.input_buffer is None:
            return Memory([size] * self.vcs)
        if self.case.per == "port":
            return Memory([size // in_use] * self.vcs)
        return Memory([self.case.packet_max] * self.vcs, size - in_use * self.case.packet_max)

    def vc(self, packet: Packet, to: Node) -> int:
        """The virtual channel of a packet on its way to a node."""
        queue, network = 0, packet.network
        if packet.what in ("data", "set-up", "tear-down"):
            asks = self.case.queueing in ("voqsw", "damq") and isinstance(to, Switch)
            ahead = self.routing.ahead(to, packet) if asks and isinstance(to, Switch) else 0
            queue = queue_of(self.case, packet.destination, network, ahead) % self.queues
        return (
            (packet.kind * self.case.networks + network) * self.queues + queue
        ) * self.levels + packet.level

    def hop(self, switch: Switch, packet: Packet) -> Hop:
        """Where a packet goes that has come to a switch, or was made there."""
        tick = self.now // self.tick
        if packet.port >= 0:
            chance = on_arrival(switch.number, packet.port, tick)
        else:
            chance = of_made(switch.number, tick, packet.source, packet.label)
        return self.routing.hop(Senses(switch, chance, packet.vc), packet)

    def chance_at_source(self, packet: Packet) -> Chance:
        """What the source of a packet draws for it."""
        source = packet.source
        if packet.turn is not None and self.case.networks * self.queues > 1:
            return at_source_in_turn(source, packet.turn)
        label = self.endpoints[source].label(packet)
        return at_source(source, label, (packet.made if packet.made >= 0 else self.now) // self.tick)

    def record(
        self, packet: Packet, where: tuple[str, str], when: tuple[int, int, int], event: str = "sent"
    ) -> None:
        """Notes what became of a packet."""
        who = packet.what, packet.source, packet.destination, packet.message, packet.sequence
        start, *rest = when
        traffic_class = self.case.classes[packet.kind]
        self.rows.append(Row(start, *who, *where, *rest, event, traffic_class, packet.granted))

    def reply(self, packet: Packet, what: str, granted: int = -1) -> Packet:
        """A control packet that answers another."""
        classes = self.case.classes
        about = packet.message, packet.sequence
        kind = classes.index(what if what in classes else "control") if "control" in classes else 0
        ends = packet.destination, packet.source
        reply = Packet(kind, *about, self.case.control, *ends, what=what, granted=granted, asked=packet.asked)
        reply.pair = packet.pair
        reply.label, reply.made = packet.label, self.now
        return reply

    def in_network(self, packet: Packet, label: Label | None = None, when: int | None = None) -> Packet:
        """Draws the virtual network of an endpoint's control packet, or of one known by a label at a time."""
        when = self.now if when is None else when
        chance = at_source(packet.source, label or packet.label, when // self.tick)
        turn = chance.below(self.case.networks)
        packet.network = self.endpoints[packet.source].lightest(packet, turn)
        return packet

    def at(self, when: int, node: Node, action: Callable[[], None] | None = None) -> None:
        """Does something at a time, and has a node decide when all that happens then has happened."""
        assert when >= self.now
        self.count += 1
        heapq.heappush(self.events, (when, self.count, node, action))

    def settle_until(self, when: int) -> None:
        """Everything before a time has happened."""

    def run(self) -> list[Row]:
        """All packets on all channels."""
        while self.events:
            self.settle_until(self.events[0][0])
            self.now, nodes = self.events[0][0], set[Node]()
            while self.events and self.events[0][0] == self.now:
                _, _, node, action = heapq.heappop(self.events)
                if action is not None:
                    action()
                nodes.add(node)
            ends = [node for node in nodes if isinstance(node, Endpoint)]
            for node in nodes.difference(ends):
                node.settle()
            for end in ends:
                end.open_letters()
                end.place_answers()
            for end in ends:
                end.settle()
            if not self.events or self.events[0][0] > self.now:
                self._give_orders()
        return sorted(self.rows)


def _place(move: tuple[Channel, int, int]) -> tuple[bool, int]:
    channel, _, flits = move
    return flits < 0, channel.to.into.index(channel)
