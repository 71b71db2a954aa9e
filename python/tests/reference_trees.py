"""Congestion trees, as the reference simulator sees them between two times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reference_channel import Channel, Packet
from reference_crossbar import Crossbar
from reference_nodes import Endpoint, Node
from reference_switches import Switch, Unlimited

if TYPE_CHECKING:
    from reference import Simulation

Held = tuple[int, str, str, int, str, int, int, int | None]
"""A time, both ends, the input port, the root, how far that is, flits that wait, those for others."""


@dataclass
class _Buffer:
    """What waits in the input buffer of a virtual channel."""

    wants: Counter[tuple[Channel, int]] = field(default_factory=Counter)
    bound: Counter[int] = field(default_factory=Counter)

    def add(self, packets: list[Packet], first: Packet, node: Switch) -> None:
        for packet in packets:
            self.wants[node.out[first.out], first.next_vc] += packet.flits
            self.bound[packet.destination] += packet.flits


class Trees:
    """Who cannot send now, and what holds them."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.buffers: defaultdict[tuple[Channel, int], _Buffer] = defaultdict(_Buffer)
        for switch in sim.switches:
            for first, packets in _queues(switch):
                if first.port >= 0:
                    into = switch.into[first.port]
                    self.buffers[into, self._place(into, first.vc)].add(packets, first, switch)
        nodes: list[Node] = [*sim.endpoints, *sim.switches]
        self.held = {(channel, vc) for node in nodes for channel, vc in self._held(node)}

    def _place(self, channel: Channel, vc: int) -> int:
        """Virtual channels that share a buffer have one."""
        return -1 if channel.memory.shared and channel.memory.counts else vc

    def _held(self, node: Node) -> Iterator[tuple[Channel, int]]:
        if isinstance(node, Endpoint):
            waits = bool(node.acks) or any(node.queues.values())
            if waits and node.out[0].free_at < self.sim.now:
                most = self.sim.case.packet_max
                firsts = range(0, self.sim.vcs, self.sim.levels)
                yield from ((node.out[0], vc) for vc in firsts if node.out[0].memory.room(vc) < most)
            return
        assert isinstance(node, Switch)
        for out, channel in enumerate(node.out):
            if isinstance(channel.to, Switch):
                for vc in range(self.sim.vcs):
                    needs = list(_needs(node, out, vc))
                    if needs and min(needs) > channel.memory.room(vc):
                        yield channel, vc

    def _next(self, place: tuple[Channel, int]) -> tuple[Channel, int] | None:
        """What most of the flits at the end of a channel wait for."""
        wants = self.buffers[place[0], self._place(*place)].wants
        outs = place[0].to.out
        return min(wants, key=lambda one: (-wants[one], outs.index(one[0]), one[1]), default=None)

    def rows(self) -> list[Held]:
        """A row for each virtual channel that is held."""
        return sorted(self._row(*place) for place in self.held)

    def _row(self, channel: Channel, vc: int) -> Held:
        buffer = self.buffers[channel, self._place(channel, vc)]
        at, seen, root = (channel, vc), [(channel, vc)], "nothing"
        while (ahead := self._next(at)) is not None:
            root = _name(ahead[0])
            if ahead not in self.held or self._next(ahead) is None:
                break
            if ahead in seen:
                root = "circle"
                break
            seen.append(ahead)
            at = ahead
        depth = 0 if root in ("nothing", "circle") else len(seen)
        flits, others = buffer.bound.total(), None
        if root.startswith("endpoint"):
            others = flits - buffer.bound[int(root.removeprefix("endpoint "))]
        return self.sim.now, channel.origin.name, channel.to.name, channel.port, root, depth, flits, others


def _name(channel: Channel) -> str:
    if isinstance(channel.to, Endpoint):
        return channel.to.name
    return f"{channel.origin.name} port {channel.origin.out.index(channel)}"


def _queues(switch: Switch) -> Iterator[tuple[Packet, list[Packet]]]:
    """The queues in the input buffers: the first packet of each, and all."""
    if isinstance(switch, Crossbar):
        for lanes in switch.lanes:
            for lane in filter(None, lanes):
                if switch.voq(lane[0]):
                    for out in {packet.out for packet in lane}:
                        packets = [packet for packet in lane if packet.out == out]
                        yield packets[0], packets
                else:
                    yield lane[0], lane
    if isinstance(switch, Unlimited):
        for queues in switch.waiting if switch.has_queues else switch.queues:
            for queue in queues:
                yield from ((packet, [packet]) for packet in queue)


def _needs(switch: Switch, out: int, vc: int) -> Iterator[int]:
    """The room that what may be sent next on a virtual channel needs."""
    if switch.has_queues or isinstance(switch, Unlimited):
        yield from (packet.flits for packet in list(switch.queues[out][vc])[:1])
        return
    assert isinstance(switch, Crossbar)
    owed = switch.outputs[out].owed[vc]
    for kind in range(len(switch.case.classes)):
        for port in switch.ports:
            for packet in switch.firsts(out, kind, port):
                if packet.next_vc == vc:
                    aside = switch.needs(owed) if owed is not None and owed is not packet else 0
                    yield switch.needs(packet) + aside
