"""What the reference simulator is given, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd

CONTROL, DATA = 0, 1


@dataclass(frozen=True)
class Link:
    """Between two switches, with its rate in Gb/s."""

    a: int
    b: int
    rate: Fraction
    latency: int


@dataclass(frozen=True)
class Message:
    """To be sent once."""

    source: int
    destination: int
    flits: int
    start: int


@dataclass(frozen=True)
class Case:
    """A network of switches with at most one link between two, and the messages that are sent over it."""

    hosts: tuple[int, ...]  # the switch of each endpoint
    links: tuple[Link, ...]
    messages: tuple[Message, ...]
    kind: str = "cioq"
    host_rate: Fraction = Fraction(100)
    host_latency: int = 10_000
    speedup: int = 2
    voq: bool = True
    parallel_reads: bool = False
    arbitration: str = "round-robin"
    pipeline: int = 0
    input_buffer: int | None = None  # flits of a virtual channel; None: "credit round trip"
    output_buffer: int = 64
    flit_bits: int = 100
    packet_max: int = 4
    control: int = 1
    acknowledge: bool = True
    fifo: bool = False
    drain: Fraction | None = None
    levels: bool = False  # a level for each hop; else one, and links that close no ring

    @property
    def has_crossbar(self) -> bool:
        """Whether inputs send one packet at a time."""
        return self.kind in ("cioq", "input-queued")

    @property
    def by_age(self) -> bool:
        """Whether the one that came first goes first."""
        return self.arbitration == "age"

    def tick(self) -> int:
        """The largest time of which all others are multiples."""
        rates = [self.host_rate, *(link.rate for link in self.links), *([self.drain] if self.drain else [])]
        flits = [self.flit_bits * 1000 / rate / (self.speedup if self.has_crossbar else 1) for rate in rates]
        if any(flit.denominator > 1 for flit in flits):
            return 1
        return gcd(self.pipeline, self.host_latency, *map(int, flits), *(link.latency for link in self.links))

    def rounded(self, time: int) -> int:
        """A time of the traffic, to the nearest tick; one that is not 0 has at least one."""
        tick = self.tick()
        return max((2 * time + tick) // (2 * tick), min(time, 1)) * tick


@dataclass(frozen=True, order=True)
class Row:
    """A packet on a channel, as the table `packets` has it."""

    start: int
    kind: str
    source: int
    destination: int
    message: int
    sequence: int
    origin: str
    to: str
    head: int
    tail: int
