"""Dragonflies, after `tailback list dragonfly`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from reference_case import Case, Link

Global = tuple[int, int]
"""One of the links from a group: to which of the others it leads, and which of the parallel ones it is."""


@dataclass(frozen=True)
class Dragonfly:
    """Endpoints and global ports of a switch, switches of a group, and how many groups; and its routing."""

    p: int
    a: int
    h: int
    groups: int
    arrangement: str = "absolute"
    parallel: int = 1
    kind: str = "minimal"
    threshold: int = 0

    @property
    def others(self) -> int:
        """Groups but one."""
        return self.groups - 1

    @property
    def ports(self) -> int:
        """Of a switch, with those that lead nowhere."""
        return self.p + self.a - 1 + self.h

    @property
    def hosts(self) -> tuple[int, ...]:
        """The switch of each endpoint."""
        return tuple(at // self.p for at in range(self.p * self.a * self.groups))

    def tables(self, case: Case) -> dict[str, dict[str, object]]:
        """The tables of the network."""
        topology: dict[str, object] = {
            "kind": "dragonfly", "p": self.p, "a": self.a, "h": self.h, "groups": self.groups,
            "arrangement": self.arrangement,
        }  # fmt: skip
        if self.groups > 1:
            topology["global_links"] = self.parallel
        routing: dict[str, object] = {"kind": self.kind}
        if self.kind in ("ugal", "par", "codes-par"):
            routing["threshold"] = f"{self.threshold} flits"
        elif self.kind == "sst-ugal":
            routing["bias"] = f"{self.threshold} flits"
        classes = {"host": (case.host_rate, case.host_latency)}
        for link in case.links:
            is_local = link.a // self.a == link.b // self.a
            classes["local" if is_local else "global"] = link.rate, link.latency
        bandwidth = {name: f"{int(rate * 1000)} Mb/s" for name, (rate, _) in classes.items()}
        latency = {name: f"{latency} ps" for name, (_, latency) in classes.items()}
        return {"topology": topology, "routing": routing, "link": latency | {"bandwidth": bandwidth}}

    def towards(self, group: int, other: int) -> int:
        """Which of the ports of a group leads to another: the first of the parallel ones."""
        if self.arrangement == "palm-tree":
            return (group - other - 1) % self.groups
        return other - (other > group)

    def gateway(self, link: Global) -> tuple[int, int]:
        """The place in its group of the switch where a global link begins, and the port there."""
        number = link[1] * self.others + link[0]
        return number // self.h, self.p + self.a - 1 + number % self.h

    def links(self, local: tuple[Fraction, int], far: tuple[Fraction, int]) -> tuple[Link, ...]:
        """All links, of a rate and latency within groups, and of others between them."""
        starts = [group * self.a for group in range(self.groups)]
        found = [
            Link(first + a, first + b, *local) for first in starts for a, b in combinations(range(self.a), 2)
        ]
        return (*found, *(Link(one, other, *far) for one, _, other, _ in self._global()))

    def _global(self) -> list[tuple[int, int, int, int]]:
        """Switch and port at both ends of all global links."""
        found = []
        for one, other in combinations(range(self.groups), 2):
            for number in range(self.parallel):
                near, port = self.gateway((self.towards(one, other), number))
                away, into = self.gateway((self.towards(other, one), number))
                found.append((one * self.a + near, port, other * self.a + away, into))
        return found

    def order_of_ports(self, switch: int) -> list[int]:
        """The ports of a switch in their order, as numbers in the order of the links."""
        first = self.p + self.a - 1
        ports = [
            port for one, a, other, b in self._global() for at, port in ((one, a), (other, b)) if at == switch
        ]
        ranked = sorted(range(len(ports)), key=lambda at: ports[at])
        return [*range(first), *(first + at for at in ranked)]
