"""What the reference simulator is given, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, gcd
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from reference_dragonfly import Dragonfly
    from reference_kns import Kns
    from reference_protocol import Protocol
    from reference_tree import Tree

CONTROL, DATA = 0, 1
ANY = -1  # rank, or tag, of a receive
Turn = tuple[int, int, int]  # sender, receiver, tag


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
    priority: int = 0
    pair: int = 0  # of the queue pairs to its destination


@dataclass(frozen=True)
class Slow:
    """Endpoints that take so much in Gb/s, or nothing, for a time."""

    endpoints: tuple[int, ...]
    rate: Fraction | None
    start: int
    stop: int | None


@dataclass(frozen=True)
class SlowLink:
    """A link of an endpoint, or all between two switches, that carries so much in Gb/s for a time."""

    ends: tuple[int, ...]
    rate: Fraction | None
    start: int
    stop: int | None


@dataclass(frozen=True)
class Pauses:
    """Priority flow control: flits above which a sender is paused, at which it is freed, and a delay."""

    xoff: int | None  # None: all but what comes until a pause is obeyed
    xon: int | None
    response: int
    shared: int | None = (
        None  # flits that a switch's buffers share beyond `xoff`, which is then what each has
    )
    alpha: float = 0.125
    offset: int | None = None  # None: two largest packets

    def limits(self, most: int, room: int) -> tuple[int, int]:
        """Both thresholds of a buffer with so much room beside that."""
        xoff = room if self.xoff is None else self.xoff
        return xoff, max(0, xoff - 2 * most) if self.xon is None else self.xon


@dataclass(frozen=True)
class Case:
    """A network of switches with at most one link between two, and the messages that are sent over it."""

    hosts: tuple[int, ...]  # the switch of each endpoint
    links: tuple[Link, ...]
    messages: tuple[Message, ...]
    kind: str = "cioq"
    host_rate: Fraction = Fraction(100)
    host_latency: int = 10_000
    speedup: int | None = 2  # None: "infinite"
    voq: tuple[bool, bool] = (True, True)  # by traffic class
    parallel_reads: bool = False
    arbitration: str = "round-robin"
    stores: bool = False  # switches pass on only what is there whole
    pipeline: int = 0
    queueing: str = "single"
    queues: int = 1  # of a port, where the scheme lets one choose
    pauses: Pauses | None = None  # instead of credits
    input_buffer: int | None = None  # flits; None: "credit round trip"
    per: str = "vc"  # what has so many: "vc" or "port", or a port whose virtual channels share them: "shared"
    output_buffer: int = 64
    flit_bits: int = 100
    packet_max: int = 4
    control: int = 1
    interleave: bool = False
    acknowledge: bool = True
    fifo: bool = False
    drain: Fraction | None = None
    slow: tuple[Slow, ...] = ()
    slow_links: tuple[SlowLink, ...] = ()
    failed: tuple[tuple[int, int], ...] = ()  # switches, the lower first, between which all links have failed
    choose: str = "by-destination"  # one of several shortest ways
    queue_pairs: int = 1
    protocol: Protocol | None = None
    levels: bool = False  # a level for each hop; else one, and links that close no ring
    dims: tuple[int, int] | None = None  # of a HyperX or torus, whose links are then those of the case
    ring: str | None = None  # of a torus, what keeps its rings from deadlock: "date-line" or "bubble"
    orders: tuple[str, ...] = ()  # of its dimensions, "xy" or "yx"; each has a virtual network
    tree: Tree | None = None  # whose links are then those of the case
    upwards: str = "deterministic"  # how a way up in it is chosen
    dragonfly: Dragonfly | None = None  # whose links are then those of the case
    kns: Kns | None = None  # whose links are then those of the case
    weighs: bool = False  # takes the order by occupancy, else in turn; with one send queue for all

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The traffic classes, the best first: those for data once for each priority."""
        if self.protocol is not None and self.protocol.one_class and not self.acknowledge:
            return ("data",)
        names = self.protocol.classes if self.protocol else ("control", "data")
        if len(self.priorities) == 1:
            return names
        for_data = [name for name in names if name.startswith(("data", "speculative"))]
        graded = [f"{name} (priority {one})" for one in self.priorities for name in for_data]
        return (*(name for name in names if name not in for_data), *graded)

    @cached_property
    def controls(self) -> int:
        """Classes of control packets in use: the best ones."""
        used = self.classes if self.protocol is not None or self.acknowledge else self.classes[1:]
        return sum(name in ("reservation", "grant", "control") for name in used)

    def class_of(self, name: str, grade: int = 0) -> int:
        """The number of a traffic class, for data that of their grade."""
        graded = f"{name} (priority {self.priorities[grade]})"
        return self.classes.index(graded if graded in self.classes else name)

    def name_of(self, kind: int) -> str:
        """The name of a traffic class, without its priority."""
        return self.classes[kind].partition(" (")[0]

    def grade_of(self, kind: int) -> int:
        """The place of a traffic class among the priorities; that of control packets is the first."""
        names = [
            name for name in self.classes if self.name_of(self.classes.index(name)) == self.name_of(kind)
        ]
        return names.index(self.classes[kind])

    @cached_property
    def priorities(self) -> list[int]:
        """Those of the messages, the most urgent first."""
        return sorted({message.priority for message in self.messages} or {0}, reverse=True)

    @property
    def networks(self) -> int:
        """Virtual networks."""
        return max(1, len(self.orders))

    def place(self, other: int, pair: int) -> int:
        """What a send queue is for: another endpoint, and one of the queue pairs where it knows them."""
        known = self.protocol is None or self.protocol.knows_pairs
        return other + (pair if known else 0) * len(self.hosts)

    @property
    def has_flows(self) -> bool:
        """Whether all packets of a source for a destination keep to one way of a tree."""
        return hasattr(self.protocol, "routing")

    def column(self, endpoint: int) -> tuple[int, int]:
        """The place of an endpoint along the first dimension, and how many there are."""
        if self.kns is not None:
            return endpoint % self.kns.k, self.kns.k
        assert self.dims is not None
        return self.places(self.hosts[endpoint])[0], self.dims[0]

    def places(self, switch: int) -> tuple[int, int]:
        """The place of a switch of a lattice in each dimension."""
        assert self.dims is not None
        return switch % self.dims[0], switch // self.dims[0]

    def joins(self, a: int, b: int, dim: int) -> bool:
        """Whether two switches of a lattice are joined along a dimension."""
        here, there = self.places(a), self.places(b)
        assert self.dims is not None
        near = (here[dim] - there[dim]) % self.dims[dim] in (1, self.dims[dim] - 1)
        return here[1 - dim] == there[1 - dim] and here[dim] != there[dim] and (near or self.ring is None)

    @property
    def open_ports(self) -> int:
        """Ports of a torus's switch that lead nowhere: of a dimension that has one switch."""
        return 2 * self.dims.count(1) if self.ring is not None and self.dims is not None else 0

    def is_long(self, dim: int) -> bool:
        """Whether the channels along a dimension could wait for one another in a circle."""
        return self.ring is not None and self.dims is not None and self.dims[dim] > 3

    @property
    def has_crossbar(self) -> bool:
        """Whether inputs send one packet at a time."""
        return self.kind in ("cioq", "input-queued") and self.speedup is not None

    @property
    def reserves_late(self) -> bool:
        """Whether an output reserves room only once two packets wait for it."""
        everywhere = self.voq[DATA] and (self.voq[CONTROL] or not self.controls)
        return everywhere and not self.interleave

    @property
    def by_age(self) -> bool:
        """Whether the one that came first goes first."""
        return self.arbitration == "age"

    @cached_property
    def tick(self) -> int:
        """The largest time of which all others are multiples."""
        usual = min(self.host_rate, self.drain or self.host_rate)
        rates = [self.host_rate, *(link.rate for link in self.links), usual]
        fastest = max(rates)
        rates += [slow.rate for slow in self.slow if slow.rate is not None and slow.rate < usual]
        rates += [slow.rate for slow in self.slow_links if slow.rate is not None and slow.rate < fastest]
        faster = (self.has_crossbar and self.speedup) or 1
        flits = [self.flit_bits * 1000 / rate / faster for rate in rates]
        if any(flit.denominator > 1 for flit in flits):
            return 1
        return gcd(self.pipeline, self.host_latency, *map(int, flits), *(link.latency for link in self.links))

    def span(self, flits: Fraction | int, flit: Fraction) -> int:
        """The time of some flits as protocols reckon: a share of a largest packet's, in whole ticks."""
        tick = self.tick
        most = ceil(self.packet_max * flit / tick)
        return ceil(flits * Fraction(most, self.packet_max)) * tick

    def headroom(self, rate: Fraction, latency: int) -> int:
        """Flits that may come over a channel until a pause is obeyed: the last starts just before that."""
        assert self.pauses is not None
        tick, most = self.tick, self.packet_max
        times = [ceil(flits * self.flit_bits * 1000 / rate / tick) * tick for flits in range(1, most + 1)]
        span = 2 * (latency + times[0]) + self.rounded(self.pauses.response)
        return max(-(-span * flits // time) for flits, time in enumerate(times, 1)) + most

    def rounded(self, time: int) -> int:
        """A time of the traffic, to the nearest tick; one that is not 0 has at least one."""
        tick = self.tick
        return max((2 * time + tick) // (2 * tick), min(time, 1)) * tick


class Row(NamedTuple):
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
    event: str = "sent"
    traffic_class: str = "data"
    granted: int = -1


@dataclass(frozen=True)
class Op:
    """Computing for so many ps, or a message of so many bytes; begins when others have ended, or begun."""

    kind: str  # calc, send, recv
    amount: int
    peer: int = 0
    tag: int = 0
    cpu: int = 0
    requires: tuple[int, ...] = ()
    irequires: tuple[int, ...] = ()


@dataclass(frozen=True)
class Mpi:
    """The keys of `mpi`: sizes in bytes, times in ps, rates in Mb/s."""

    eager: int = 8192
    control: int = 64
    overhead: int = 10_000
    delay: int = 3_500_000
    copy: int = 14_500
    local_latency: int = 200_000
    local_bandwidth: int = 80_000


@dataclass(frozen=True)
class Job:
    """The operations of each rank, and its endpoint; so many ranks share each."""

    ranks: tuple[tuple[Op, ...], ...]
    endpoints: tuple[int, ...]
    mpi: Mpi = Mpi()
    start: int = 0
    each: int = 1
    queue_pairs: int = 1  # of two ranks
    split: bool = False  # the data of a message goes in all of them
    slow: tuple[tuple[int, Fraction], ...] = ()  # ranks, and how many times as long they compute

    def turn(self, sender: int, receiver: int, tag: int) -> Turn:
        """What is not overtaken: messages of the same tag, or all, if some rank takes any tag."""
        any_tag = any(op.kind == "recv" and op.tag == ANY for ops in self.ranks for op in ops)
        return sender, receiver, ANY if any_tag else tag
