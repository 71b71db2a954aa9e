"""Compares the engine's congestion trees with those of the reference simulator, in random scenarios.

`python test_reference_trees.py KIND COUNT [FIRST]` compares more of them.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable
from math import isnan

import pytest
from reference import Simulation
from reference_case import Case
from reference_trees import Held, Trees
from test_reference import MAKERS, SUITED, toml

import tailback

LOOKS = 40


class Watched(Simulation):
    """A simulation that is looked at before what happens at some times."""

    def __init__(self, case: Case, looks: list[int]) -> None:
        super().__init__(case)
        self.looks, self.seen = looks, list[Held]()

    def settle_until(self, when: int) -> None:
        """Everything before a time has happened."""
        while self.looks and self.looks[0] <= when:
            self.now = self.looks.pop(0)
            self.seen += Trees(self).rows()


def engine(case: Case, looks: list[int]) -> list[Held]:
    """What Tailback says."""
    times = ", ".join(f'"{look} ps"' for look in looks)
    text = toml(case).replace("packets = true", f"packets = true\ntrees = true\noccupancy = [{times}]")
    found = []
    for row in tailback.Scenario.loads(text).run().tables["trees"].to_pylist():
        time, others = round(row["time_ns"] * 1000), row["strangers"]
        root = row["root"].partition(" (")[0]
        to, depth = f"switch {row['to_switch']}", row["depth"]
        shares = row["flits"], None if isnan(others) else int(others)
        ends = row["from"], to, row["to_port"], row["virtual_channel"]
        found.append((time, *ends, root, depth, *shares))
    return sorted(found)


def difference(case: Case, seed: int) -> tuple[list[Held], list[Held], int]:
    """The rows that only one has, the engine's first, and how many there are in all."""
    end = max(row.tail for row in Simulation(case).run())
    ticks = random.Random(seed).sample(range(end // case.tick), min(LOOKS, end // case.tick))
    looks = sorted(tick * case.tick for tick in ticks)
    ours = engine(case, looks)
    watched = Watched(case, looks)
    watched.run()
    one, other = Counter(ours), Counter(watched.seen)
    return list((one - other).elements()), list((other - one).elements()), len(watched.seen)


@pytest.mark.engine
@pytest.mark.parametrize(("make", "kind"), SUITED)
def test_every_tree_is_what_the_reference_sees(make, kind):
    rows = 0
    for seed in range(4):
        *differ, count = difference(make(kind, seed), seed)
        assert differ == [[], []], f"{make.__name__}({kind!r}, {seed})"
        rows += count
    assert rows > 0


def main(kind: str, count: str, first: str = "0") -> None:
    """Compares many, and tells how the first differs that does."""
    rows, wrong = 0, list[tuple[Callable[[str, int], Case], int]]()
    for seed in range(int(first), int(first) + int(count)):
        for make in MAKERS:
            ours, theirs, more = difference(make(kind, seed), seed)
            rows += more
            if ours or theirs:
                wrong.append((make, seed))
                if len(wrong) == 1:
                    print(make.__name__, seed)
                    print("only the engine:", *ours[:9], "only the reference:", *theirs[:9], sep="\n")
    print(f"{kind}: {len(MAKERS) * int(count)} cases with {rows} held channels, {len(wrong)} differ")


if __name__ == "__main__":
    main(*sys.argv[1:])
