"""Flows that set up routes and take them down, after docs/flows.md and `tailback list flow-adaptive`."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import Any

from reference_case import Message
from reference_channel import Channel, Packet
from reference_crossbar import Crossbar
from reference_hash import of_flow
from reference_nodes import Endpoint
from reference_protocol import Protocol, Queue
from reference_protocols import Source
from reference_switches import Switch, Unlimited

ON_THE_WAY = ("set-up", "data", "probe", "tear-down")
"""What goes the way of its flow, from its source."""


@dataclass(frozen=True)
class Flows(Protocol):
    """Flows without congestion control: what they do is up to the routing."""

    adaptive: bool = True
    cache: int | None = None  # entries for each input; None: unlimited
    one_class = True

    @property
    def classes(self) -> tuple[str, ...]:
        return ("control", "data")

    @property
    def routing(self) -> dict[str, object]:
        """The table `routing`."""
        if not self.adaptive:
            return {"kind": "nca", "up": "deterministic"}
        return {"kind": "flow-adaptive"} | ({} if self.cache is None else {"cache": self.cache})

    def keys(self) -> dict[str, object]:
        return {"kind": "none"}

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        return FlowSource, FlowCrossbar if kind is Crossbar else FlowUnlimited


@dataclass(eq=False)
class FlowPacket(Packet):
    """A packet that asks for rates, or the answer to one."""

    told: Any = 0  # by the links on its way
    known: Any = None  # what its source knows
    asks: bool = False  # though it is a data packet
    knows: tuple[int, int] | None = None  # the time that its flow takes, and since when its source knows that
    about: str = ""  # of an answer, to what


@dataclass(eq=False)
class Flow:
    """A message, and what has been sent of it."""

    fresh: deque[Packet]
    about: Packet
    flits: int
    state: str = "new"  # announced, open, ended


@dataclass(eq=False)
class FlowQueue(Queue):
    """A send queue: its flows, one after the other."""

    flows: deque[Any] = field(default_factory=deque)

    @property
    def is_empty(self) -> bool:
        return not self.flows


class FlowSource(Source):
    """Sends a set-up packet ahead of each flow, a tear-down packet behind it, and waits for their return."""

    def queue(self, destination: int, grade: int = 0) -> Any:
        return self.sends.setdefault((grade, destination), FlowQueue(destination))

    def add(self, message: Message) -> None:
        queue = self.queue(message.destination)
        is_first = not queue.flows
        queue.flows.append(self.flow(message))
        if is_first:
            self.join(queue)

    def flow(self, message: Message) -> Flow:
        """A message as a flow."""
        fresh = self.packets(message, "data")
        about = replace(fresh[0], flits=self.case.control, asked=message.flits)
        return Flow(deque(fresh), FlowPacket(**vars(about)), message.flits)

    def pull(self, queue: Any) -> Packet | int | None:
        if not queue.flows:
            return None
        flow = queue.flows[0]
        if flow.state == "new":
            return replace(flow.about, what="set-up")
        if flow.state == "open":
            return flow.fresh[0] if flow.fresh else replace(flow.about, what="tear-down")
        return None

    def go(self, queue: Any, packet: Packet) -> None:
        flow = queue.flows[0]
        if packet.what == "set-up":
            flow.state = "announced"
        elif packet.what == "tear-down":
            flow.state = "ended"
        elif packet.what == "data":
            flow.fresh.popleft()
        self.begin(packet)

    def arrive(self, packet: Packet) -> None:
        if packet.what == "data":
            asked: Any = packet
            if getattr(packet, "asks", False) and self.is_news(asked.known, asked.told):
                self.turn_round(packet, "probe")
            if self.case.acknowledge:
                self.answer(packet, "ack")
        elif packet.what in ON_THE_WAY:
            self.turn_round(packet, packet.what)
        else:
            super().arrive(packet)

    def is_news(self, known: Any, told: Any) -> bool:
        """Whether a source is to hear what its data met."""
        return bool(known != told)

    def turn_round(self, packet: Any, about: str) -> None:
        """Sends back what a packet was told."""
        reply = self.reply_to(packet, "return")
        told = {"told": getattr(packet, "told", 0), "about": about}
        self.control[reply.kind].append(FlowPacket(**vars(reply) | told))

    def hear(self, queue: Any, packet: Any) -> None:
        if packet.what != "return":
            return
        flow = queue.flows[0]
        if packet.about == "set-up":
            flow.state = "open"
        elif packet.about == "tear-down":
            queue.flows.popleft()


class FlowSwitch(Switch):
    """Keeps routes by input, and for each output its flows and their flits till their tear-downs leave by it.

    In a tick it takes in what comes in the order of its ports.
    """

    def connect(self) -> None:
        super().connect()
        self.protocol: Any = self.case.protocol
        self.routes: list[dict[tuple[int, int], int]] = [{} for _ in self.ports]
        self.counts, self.most = Counter[str](), 0  # of entries in a route cache
        self.flows, self.flits = [0 for _ in self.ports], [0 for _ in self.ports]

    def direct(self, packet: Packet) -> None:
        super().direct(packet)
        if packet.what not in ON_THE_WAY:
            return
        pair, routes = (packet.source, packet.destination), self.routes[packet.port]
        if packet.what == "set-up":
            self.set_up(packet, routes)
        packet.out = routes.get(pair, packet.out)
        packet.next_vc = self.sim.vc(packet, self.out[packet.out].to)
        self.account(packet)
        if packet.what == "tear-down":
            routes.pop(pair, None)

    def set_up(self, packet: Packet, routes: dict[tuple[int, int], int]) -> None:
        """Gives a flow a route of its own, if that is better and there is room."""
        choice = self.choose(packet) if self.protocol.adaptive else packet.out
        self.counts["set_ups_routed"] += 1
        if choice != packet.out and self.protocol.cache == len(routes):
            self.counts["cache_full"] += 1
        elif choice != packet.out:
            routes[packet.source, packet.destination] = choice
            self.counts["own_port"] += 1
            self.most = max(self.most, len(routes))

    def choose(self, packet: Packet) -> int:
        """The candidate with the fewest flows; of several the default port, else one drawn for the pair."""
        assert self.case.tree is not None
        before = self.into[packet.port].origin
        came_from = before.number if isinstance(before, Switch) else None
        ports = self.case.tree.candidates(self.number, packet.destination, came_from)
        choice, equals = packet.out, 0
        chance = of_flow(self.number, packet.source, packet.destination)
        for port in ports:
            if self.flows[port] < self.flows[choice]:
                choice, equals = port, 1
            elif self.flows[port] == self.flows[choice] and packet.out not in (port, choice):
                equals += 1
                if chance.below(equals) == 0:
                    choice = port
        return choice

    def account(self, packet: Packet) -> None:
        """Counts a flow in."""
        if packet.what == "set-up":
            self.flows[packet.out] += 1
            self.flits[packet.out] += packet.asked

    def send(self, channel: Channel, packet: Packet, vc: int, now: int) -> None:
        super().send(channel, packet, vc, now)
        if packet.what == "tear-down":
            self.end(packet)

    def end(self, packet: Packet) -> None:
        """Counts a flow out."""
        self.flows[packet.out] -= 1
        self.flits[packet.out] -= packet.asked


class FlowCrossbar(FlowSwitch, Crossbar):
    """With a crossbar."""


class FlowUnlimited(FlowSwitch, Unlimited):
    """Without one."""
