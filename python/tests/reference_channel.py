"""Packets, and channels with the credits of their virtual channels."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reference_nodes import Node


@dataclass(eq=False)
class Packet:
    """What is known of a packet in the node where it is."""

    kind: int
    message: int
    sequence: int
    flits: int
    source: int
    destination: int
    pair: int = field(default=0, kw_only=True)  # of the queue pairs between the two
    vc: int = 0  # the virtual channel on which it came
    level: int = 0
    way: Any = None  # what the routing remembers of it
    made: int = -1  # when it was, if it is an answer
    turn: int | None = None  # none before its source has considered it
    network: int = 0
    bubble: bool = False  # enters a ring, where room for another packet must be left
    port: int = 0  # where it came in (-1: a switch made it), and where it goes
    out: int = 0
    next_vc: int = 0
    came: int = 0  # when it was there, whole or its head, and when its tail is behind the pipeline
    tail: int = 0
    what: str = "data"
    granted: int = -1  # the time that it carries, for protocols with one
    asked: int = 0  # flits that a reservation is for
    waited: int = 0  # in input buffers
    injected: int = 0  # when its source began to send it
    label: tuple[int, int] | None = None  # by which chance knows it: a message's number, and a place in that
    is_marked: bool = False  # met congestion, or answers one that did
    carries: dict[str, float] = field(default_factory=dict)  # what others tell its destination


@dataclass
class Memory:
    """The input buffers behind a channel, as their sender knows them."""

    own: list[int]  # flits of each virtual channel
    shared: int = 0  # what all may take beside that
    counts: bool = True  # whether the sender counts what fits, or is paused
    used: list[int] = field(init=False)
    paused: list[bool] = field(init=False)

    def __post_init__(self) -> None:
        self.used = [0 for _ in self.own]
        self.paused = [False for _ in self.own]

    def room(self, vc: int) -> int:
        """What a virtual channel may still take."""
        if not self.counts:
            return 0 if self.paused[vc] else 1 << 60
        taken = sum(max(0, used - own) for used, own in zip(self.used, self.own, strict=True))
        return max(0, self.own[vc] - self.used[vc]) + self.shared - taken


@dataclass
class Guard:
    """The far end of a channel, which has its sender stop and go on."""

    xoff: int
    xon: int
    held: list[int]  # flits of each virtual channel
    stopped: list[bool]

    def together(self, buffers: int) -> int:
        """Flits of what they share that so many come to hold before they stop their senders."""
        return 0

    def take(self, vc: int, flits: int) -> None:
        """Takes in a packet, or lets one go (less than none)."""
        self.held[vc] += flits

    def stops(self, vc: int) -> bool:
        """Whether the sender may not go on."""
        return self.held[vc] > (self.xon if self.stopped[vc] else self.xoff)

    def orders(self, vcs: set[int]) -> list[tuple[int, bool]]:
        """Which of these virtual channels are to stop (true) or to go on, by what is held now."""
        turning = [vc for vc in sorted(vcs) if self.stops(vc) != self.stopped[vc]]
        for vc in turning:
            self.stopped[vc] = not self.stopped[vc]
        return [(vc, self.stopped[vc]) for vc in turning]


@dataclass(frozen=True)
class Speeds:
    """What a channel carries: flits in a time, but no more than so many from a start to a stop."""

    tick: int
    usual: Fraction
    spells: tuple[tuple[int, float, Fraction], ...]

    def end(self, now: int, flits: int) -> int:
        """When it has carried so many, rounded up to a tick."""
        turns = sorted({turn for start, stop, _ in self.spells for turn in (start, stop)} - {inf})
        at, left = Fraction(now), Fraction(flits)
        for turn in (turn for turn in turns if turn > now):
            speed = self.speed(at)
            if left <= speed * (turn - at):
                break
            left -= speed * (turn - at)
            at = Fraction(turn)
        return ceil((at + left / self.speed(at)) / self.tick) * self.tick

    def speed(self, at: Fraction) -> Fraction:
        """Flits in a time at a moment."""
        return min([self.usual, *(slow for start, stop, slow in self.spells if start <= at < stop)])


@dataclass(eq=False)
class Channel:
    """From an output of a node to an input of another."""

    origin: Node
    to: Node
    port: int
    flit: Fraction
    latency: int
    memory: Memory
    pace: Fraction  # time of a flit behind the head: longer than `flit` if the endpoint drains more slowly
    turns: list[int]  # next virtual channel, by class
    guard: Guard | None = None
    slow: Speeds | None = None  # if it, or its endpoint, is slow at times
    free_at: int = 0
    cut_until: int = 0  # end of its last control packet, between whose flits no other goes

    def end(self, now: int, flits: int) -> int:
        """When a packet that starts now has been sent, if it has come by then."""
        if self.slow is not None:
            return self.slow.end(now, flits)
        return now + ceil(flits * self.pace)

    def head(self, now: int, flits: int) -> int:
        """When so much of a packet that starts now is at the other end that the rest follows in time."""
        lag = 0 if self.slow is None else self.slow.end(now, flits) - now - ceil(flits * self.pace)
        return now + self.latency + ceil(self.flit) + lag

    @property
    def reach(self) -> int:
        """Flits of a virtual channel of data that can be ahead while its sender is not paused."""
        return self.memory.own[-1] if self.guard is None else self.guard.xoff

    def choose(self, queues: list[deque[Packet]], *, by_age: bool, by_input: bool) -> int | None:
        """The one whose first packet goes next: of the best class with credit, by age, by turns."""
        for kind in range(len(self.turns)):
            ranks = []
            for vc, queue in enumerate(queues):
                if queue and queue[0].kind == kind and queue[0].flits <= self.memory.room(vc):
                    age = (queue[0].came, queue[0].port if by_input else 0) if by_age else (0, 0)
                    ranks.append((age, (vc - self.turns[kind]) % len(queues), vc))
            if ranks:
                return min(ranks)[-1]
        return None
