"""A congestion control, and what an endpoint knows of a send queue under it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar

from reference_case import Case
from reference_channel import Packet
from reference_hash import Label
from reference_nodes import Endpoint
from reference_switches import Switch


@dataclass(frozen=True)
class Protocol:
    """A congestion control with its parameters."""

    stops: str = "growth"
    time_to_wait: int | None = None
    lead: str = field(default="none", kw_only=True)
    timed: ClassVar = ("speculative",)  # classes whose packets are dropped after the time to wait
    counted: ClassVar = ("speculative",)  # and at the last hop, over a threshold, if there is one
    answers_all = False  # whether all data are acknowledged, whatever the scenario says
    knows_pairs = True  # whether the queue pairs to a destination have a send queue each
    one_class = False  # whether control packets go with data where there are no acknowledgements

    @property
    def needs_acknowledgements(self) -> bool:
        """Whether it takes them for its own ends."""
        return False

    @property
    def classes(self) -> tuple[str, ...]:
        """The traffic classes, the best first."""
        raise NotImplementedError

    def earliest(self, packet: Packet, now: int) -> int:
        """The earliest time to grant to a packet that asks, or is refused."""
        return now + (now - packet.injected if self.lead == "way" else 0)

    def keys(self) -> dict[str, object]:
        """Its table in the scenario."""
        raise NotImplementedError

    def nodes(self, kind: type[Switch]) -> tuple[type[Endpoint], type[Switch]]:
        """What endpoints are, and switches of a kind."""
        raise NotImplementedError

    def settled(self, case: Case) -> Case:
        """The case as it is under this protocol."""
        return case


@dataclass(eq=False)
class Queue:
    """What an endpoint knows of a send queue."""

    destination: int
    grade: int = 0
    fresh: deque[Packet] = field(default_factory=deque)  # not sent yet
    again: list[tuple[int, int, int, Packet]] = field(default_factory=list)  # by granted time
    extra: deque[Packet] = field(default_factory=deque)  # reservations, and what is tried again
    waiting: int = 0  # refused packets that have not been sent again
    allowed: int = 0  # first tries that may go while there are any
    wakes: int = -1  # when it joins the round robin by itself
    turn: int | None = None  # of the data packet that it sends next; none before that has been considered
    tried: tuple[Label, int] | None = None  # what another packet drew its network by, if that waits

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to send, now or later."""
        return not (self.fresh or self.again or self.extra)
