"""What abate-fig2, abate-fig6 and abate-fig7 share: halos beside incasts on the large network."""

from __future__ import annotations

import random
from typing import Any

from tailback.experiments import abate_paper as paper
from tailback.result import Result

RANKS = 1728
HALOS = tuple(f"halo{number}" for number in range(4))
SENDERS = 63


def halo(name: str, ranks: int, iterations: int, **keys: Any) -> str:
    """A halo exchange with 26 neighbours, faces of 28.8 kB (ours); placed at random unless said otherwise."""
    return paper.job(
        name,
        "halo3d26",
        ranks,
        cells=[60, 60, 60],
        compute="20 us",
        iterations=iterations,
        allreduce=True,
        **keys,
    )


def incasts(count: int, message: str, start: str, draw: int = 7, **keys: Any) -> list[str]:
    """Incasts on endpoints drawn at random, before the halos are placed; the last of each is the target.

    One long message from each: what a source sends in 2 us, before the first order reaches it (50 kB), is
    beyond control, and a barrier between shorter messages would start that over again and again.
    """
    drawn = random.Random(draw).sample(range(8192), count * (SENDERS + 1))
    parts = [drawn[at * (SENDERS + 1) : (at + 1) * (SENDERS + 1)] for at in range(count)]
    keys |= {"message": message, "iterations": 1, "start": start}
    return [
        paper.job(f"incast{number}", "incast", SENDERS + 1, placement=part, **keys)
        for number, part in enumerate(parts)
    ]


def holds_target(result: Result, halo_name: str, incast_name: str) -> bool:
    """Whether the endpoint that an incast is aimed at lies among those of a halo."""
    ranks = result.tables["ranks"].to_pylist()
    own = [row["endpoint"] for row in ranks if row["job"] == halo_name]
    target = max((row for row in ranks if row["job"] == incast_name), key=lambda row: row["rank"])["endpoint"]
    return bool(min(own) < target < max(own))
