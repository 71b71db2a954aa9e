"""A buffer that shares its switch's memory, and stops its sender by what is free: the second simulator."""

from __future__ import annotations

from dataclasses import dataclass, field

from reference_channel import Guard


@dataclass
class Pool:
    """Memory that the input buffers of a switch share."""

    flits: int
    alpha: float
    offset: int
    used: int = 0

    @property
    def threshold(self) -> int:
        """What a buffer may hold of it, by what is free now."""
        return int(self.alpha * (self.flits - self.used))


@dataclass
class SharingGuard(Guard):
    """One that holds `xoff` of its own, then some of the pool, then what comes until its sender stops."""

    pool: Pool = field(default_factory=lambda: Pool(0, 1, 0))
    behind: list[int] = field(init=False)  # flits of each virtual channel that came when the rest was full

    def __post_init__(self) -> None:
        self.behind = [0 for _ in self.held]

    def together(self, buffers: int) -> int:
        """Flits of the pool that so many come to hold before they stop their senders."""
        parts = self.pool.alpha * buffers
        return int(self.pool.flits * parts / (1 + parts))

    def shared(self, vc: int) -> int:
        """Flits of the pool."""
        return max(0, self.held[vc] - self.xoff)

    def take(self, vc: int, flits: int) -> None:
        """Takes in a packet, or lets one go (less than none)."""
        before = self.shared(vc)
        beyond = max(0, self.held[vc] + flits - self.xoff)
        room = min(self.pool.threshold, before + self.pool.flits - self.pool.used)
        if flits > 0 and beyond > before and beyond > room:
            self.behind[vc] += flits
            return
        late = min(self.behind[vc], -flits) if flits < 0 else 0
        self.behind[vc] -= late
        self.held[vc] += flits + late
        self.pool.used += self.shared(vc) - before

    def stops(self, vc: int) -> bool:
        """Whether the sender may not go on."""
        shared, least = self.shared(vc), self.pool.threshold
        if self.behind[vc] or not self.stopped[vc]:
            return self.behind[vc] > 0 or shared > least
        return shared > 0 and shared + self.pool.offset > least
