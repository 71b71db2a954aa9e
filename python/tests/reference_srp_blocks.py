"""The send queues of SRP: blocks of messages, each with one reservation."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from reference_channel import Packet
from reference_protocol import Queue


def key(packet: Packet) -> tuple[int, int]:
    """By which a source knows a packet."""
    return packet.message, packet.sequence


@dataclass
class Flight:
    """A packet that went speculatively and of which a copy is not answered."""

    packet: Packet
    copies: int = 1
    second: str = "none"  # or it waits, or was sent


@dataclass(eq=False)
class Block:
    """A part of a message for which there is one reservation, or a small message, for which there is none."""

    fresh: deque[Packet]
    reserves: bool
    granted: int = -1
    lost: list[Packet] = field(default_factory=list)  # until the grant comes
    again: int = 0  # packets that wait for the granted time
    flights: dict[tuple[int, int], Flight] = field(default_factory=dict)  # where second copies are made

    def is_over(self, now: int) -> bool:
        """Whether its time has come, all of it has been sent, and no copy waits for an answer."""
        return 0 <= self.granted <= now and not (self.again or self.fresh or self.flights)


@dataclass(eq=False)
class SrpQueue(Queue):
    """A send queue: what has not been sent is in its parts."""

    parts: deque[Block] = field(default_factory=deque)
    open: list[Block] = field(default_factory=list)  # what has been reserved for and has not ended

    @property
    def is_empty(self) -> bool:
        return not (self.parts or self.again or self.extra)
