"""Congestion trees, as the reference simulator sees them between two times."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from reference_channel import Channel, Packet
from reference_crossbar import Crossbar
from reference_nodes import Endpoint, Node
from reference_switches import Switch, Unlimited

if TYPE_CHECKING:
    from reference import Simulation

Held = tuple[int, str, str, int, int, str, int, int, int | None]
"""A time, both ends, input port, virtual channel, root, how far it is, flits that wait, those for others."""


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
        held = (place for node in nodes for place in self._held(node))
        self.held = {(channel, self._place(channel, vc)) for channel, vc in held}

    def _place(self, channel: Channel, vc: int) -> int:
        """Virtual channels that share a buffer have one."""
        return -1 if channel.memory.shared and channel.memory.counts else vc

    def _held(self, node: Node) -> Iterator[tuple[Channel, int]]:
        if isinstance(node, Endpoint):
            waits = bool(node.acks) or any(node.queues.values())
            if waits and node.out[0].free_at < self.sim.now:
                firsts = range(0, self.sim.vcs, self.sim.levels)
                yield from ((node.out[0], vc) for vc in firsts if self._lacks_room(node.out[0], vc))
            return
        assert isinstance(node, Switch)
        for out, channel in enumerate(node.out):
            if isinstance(channel.to, Switch):
                for vc in range(self.sim.vcs):
                    needs = list(_needs(node, out, vc))
                    if needs and min(needs) > self._room(channel, vc):
                        yield channel, vc

    def _room(self, channel: Channel, vc: int) -> int:
        """The room that there is when a channel is free, by the credits that are on their way."""
        memory, coming = channel.memory, []
        if memory.counts:  # what a buffer that stops its sender will tell is not known
            actions = (
                (when, action) for when, _, _, action in self.sim.events if isinstance(action, partial)
            )
            coming = [
                action
                for when, action in actions
                if when <= channel.free_at and action.args and action.args[0] is memory.used
            ]
        used = list(memory.used)
        for action in coming:
            action()
        room = memory.room(vc)
        memory.used[:] = used
        return room

    def _lacks_room(self, channel: Channel, vc: int) -> bool:
        """Whether a buffer has no room for the largest packet that an endpoint may send there."""
        case = self.sim.case
        most = case.control if vc < self._of_controls else case.packet_max
        return channel.memory.room(vc) < most

    @property
    def _of_controls(self) -> int:
        """The virtual channels of control packets, which come first."""
        classes = self.sim.case.classes
        return self.sim.vcs // len(classes) * sum(name.startswith("control") for name in classes)

    def _next(self, place: tuple[Channel, int]) -> tuple[Channel, int] | None:
        """What most of the flits at the end of a channel wait for."""
        wants = self.buffers[place].wants
        outs = place[0].to.out
        return min(wants, key=lambda one: (-wants[one], outs.index(one[0]), one[1]), default=None)

    def rows(self) -> list[Held]:
        """A row for each virtual channel that is held."""
        return sorted(self._row(*place) for place in self.held)

    def _row(self, channel: Channel, vc: int) -> Held:
        buffer = self.buffers[channel, vc]
        at, seen, root = (channel, vc), [(channel, vc)], "nothing"
        while (ahead := self._next(at)) is not None:
            root = _name(ahead[0])
            ahead = ahead[0], self._place(*ahead)
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
        ends = channel.origin.name, channel.to.name, channel.port
        # Where nothing is acknowledged, there is no class of control packets.
        vc -= 0 if self.sim.case.acknowledge or vc < 0 else self._of_controls
        return self.sim.now, *ends, vc, root, depth, flits, others


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
