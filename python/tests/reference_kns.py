"""KNS networks in dimension order, after `tailback list kns` and dor."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from reference_case import Case, Link
from reference_channel import Packet
from reference_routing import Routing, Senses
from reference_switches import Hop, Switch
from reference_tree import Tree

if TYPE_CHECKING:
    from reference import Simulation

LETTERS = "xyz"


@dataclass(frozen=True)
class Kns:
    """Endpoints along each dimension, dimensions, and the stages of the tree that joins a line; its arity."""

    k: int
    n: int
    stages: int = 1
    arity: int = 0  # if there are several stages

    @cached_property
    def tree(self) -> Tree:
        """The network of a line."""
        arity = self.arity if self.stages > 1 else self.k
        return Tree((arity,) * self.stages, (arity,) * (self.stages - 1))

    @cached_property
    def each(self) -> int:
        """Switches of a line."""
        return sum(self.tree.subtrees(level) * self.tree.tops(level) for level in range(self.stages))

    @cached_property
    def hosts(self) -> tuple[int, ...]:
        """The router of each endpoint."""
        row = self.k + self.n * self.each
        return tuple(at // self.k * row + at % self.k for at in range(self.k**self.n))

    @cached_property
    def lines(self) -> dict[int, tuple[int, int]]:
        """Of each switch of a line its dimension, and its number in the line's tree."""
        rows, row = self.k ** (self.n - 1), self.k + self.n * self.each
        return {
            one * row + self.k + dim * self.each + at: (dim, at)
            for one in range(rows)
            for dim in range(self.n)
            for at in range(self.each)
        }

    def places(self, endpoint: int) -> tuple[int, ...]:
        """The coordinates of an endpoint."""
        return tuple(endpoint // self.k**dim % self.k for dim in range(self.n))

    def tables(self, case: Case) -> dict[str, dict[str, object]]:
        """The tables of the network."""
        routing: dict[str, object] = {"kind": "dor"}
        if case.orders:
            routing["orders"] = list(case.orders)
            if len(case.orders) > 1:
                routing["choose"] = "occupancy" if case.weighs else "round-robin"
        classes = {"host": (case.host_rate, case.host_latency)}
        for link in case.links:
            classes[LETTERS[self.lines[link.b][0]]] = link.rate, link.latency
        bandwidth = {name: f"{int(rate * 1000)} Mb/s" for name, (rate, _) in classes.items()}
        latency = {name: f"{latency} ps" for name, (_, latency) in classes.items()}
        topology: dict[str, object] = {"kind": "kns", "k": self.k, "n": self.n, "stages": self.stages}
        return {"topology": topology, "routing": routing, "link": latency | {"bandwidth": bandwidth}}

    def links(self, classes: list[tuple[Fraction, int]]) -> tuple[Link, ...]:
        """All links, in the order of ports: of routers by dimension, of lines' switches down, then up."""
        row, found = self.k + self.n * self.each, list[Link]()
        for dim, (rate, latency) in enumerate(classes):
            for endpoint, router in enumerate(self.hosts):
                rest = endpoint % self.k**dim + endpoint // self.k ** (dim + 1) * self.k**dim
                first = rest * row + self.k + dim * self.each
                leaf = self.places(endpoint)[dim] // self.tree.down[0]
                found.append(Link(router, first + leaf, rate, latency))
            inner = self.tree.links([rate] * self.stages, [latency] * self.stages)
            for first in sorted(at for at, place in self.lines.items() if place == (dim, 0)):
                found += [Link(first + link.a, first + link.b, rate, latency) for link in inner]
        return tuple(found)


class ByLines(Routing):
    """Line by line; what a line's switch makes leaves its line on a level of its own."""

    def __init__(self, sim: Simulation) -> None:
        super().__init__(sim)
        assert sim.case.kns is not None
        self.net: Kns = sim.case.kns
        self.levels = 1 + any(name.startswith("speculative") for name in sim.case.classes)

    def hop(self, senses: Senses, packet: Packet) -> Hop:
        here, there = senses.here, self.net.places(packet.destination)
        last = self.arrives(here, packet)
        if last is not None:
            return Hop(last)
        line = self.net.lines.get(here.number)
        if line is None:
            packet.way = None
            return Hop(1 + self._dimension(here, packet, there))
        dim, at = line
        if here.came_from(packet) is None:
            packet.way = "made in a line"
        return Hop(self.net.tree.default(at, there[dim]), int(packet.way is not None))

    def _dimension(self, here: Switch, packet: Packet, there: tuple[int, ...]) -> int:
        """The first of the packet's order in which a router is not at its place."""
        at = self.net.places(self.net.hosts.index(here.number))
        letters = LETTERS[: self.net.n]
        order = self.case.orders[packet.network] if self.case.orders else letters
        order += "".join(letter for letter in letters if letter not in order)
        return next(dim for dim in map(letters.index, order) if at[dim] != there[dim])
