"""Phases of flows behind a barrier, after docs/flows.md and `tailback list phases`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from reference import Simulation
from reference_case import Case
from reference_channel import Packet


class Flown(NamedTuple):
    """A flow of a phase: when it had arrived, and what its source knew at its last packet and since when."""

    phase: int
    source: int
    destination: int
    time: int
    load: int = -1
    settled: int = -1


class Phase(NamedTuple):
    """When a phase started, how long it took, and what the busiest channel needs for its data."""

    start: int
    time: int
    bound: int


class PhaseSimulation(Simulation):
    """A case whose messages are the flows of a phase, and begin anew with each."""

    def __init__(self, case: Case, phases: int, barrier: int) -> None:
        flows = sorted(case.messages, key=lambda one: (one.source, one.destination))
        super().__init__(replace(case, messages=tuple(flows)))
        self.phases, self.barrier, self.start, self.end = phases, barrier, 0, 0
        self.flown: list[Flown] = []
        self.told: list[Phase] = []
        nodes = [*self.endpoints, *self.switches]
        self.paces = {(one.name, channel.to.name): channel.pace for one in nodes for channel in one.out}
        self.carried = Counter[tuple[str, str, int]]()
        self.missing = Counter({(one.source, one.destination): one.flits for one in case.messages})

    def routes(self) -> dict[str, int]:
        """What the summary counts of the routes of flows."""
        switches: list[Any] = self.switches
        names = ("set_ups_routed", "own_port", "cache_full")
        found = {name: sum(one.counts[name] for one in switches) for name in names}
        return found | {"cache_entries_max": max(one.most for one in switches)}

    def record(
        self, packet: Packet, where: tuple[str, str], when: tuple[int, int, int], event: str = "sent"
    ) -> None:
        super().record(packet, where, when, event)
        if packet.what != "data":
            return
        self.carried[*where, packet.port] += packet.flits
        pair = packet.source, packet.destination
        if where[1] == f"endpoint {packet.destination}":
            self.missing[pair] -= packet.flits
            if not self.missing[pair]:
                self.arrived(packet, when[2] - self.start)

    def arrived(self, packet: Any, time: int) -> None:
        """A flow has arrived at a time since the start of its phase; once all have, the next phase starts."""
        pair = packet.source, packet.destination
        knows = getattr(packet, "knows", None)
        load, settled = (knows[0], knows[1] - self.start) if knows else (-1, -1)
        self.flown.append(Flown(len(self.told), *pair, time, load, settled))
        del self.missing[pair]
        if self.missing:
            return
        longest = max(flow.time for flow in self.flown if flow.phase == len(self.told))
        bound = max(
            self.case.span(flits, self.paces[one, other]) for (one, other, _), flits in self.carried.items()
        )
        self.told.append(Phase(self.start, longest, bound))
        self.carried.clear()
        self.end = self.start = self.start + longest + self.barrier
        tick = self.case.tick
        if len(self.told) < self.phases:
            for message in self.case.messages:
                source = self.endpoints[message.source]
                self.missing[message.source, message.destination] = message.flits
                self.at(-(-self.start // tick) * tick, source, partial(source.create, message))
