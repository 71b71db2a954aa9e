"""Numbers of things in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any


def counted(number: int, noun: str) -> str:
    """How many there are, such as "1 point", "2,000 points" or "2 switches"."""
    plural = "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}{plural}"


def in_runs(numbers: Iterable[int]) -> str:
    """Different numbers in order, three or more in a row by the first and the last: "1 to 100, 200"."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    long = [[f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run) for run in runs]
    return ", ".join(part for parts in long for part in parts)


def are(number: int) -> str:
    """The verb that goes with a number of things."""
    return "is" if number == 1 else "are"


def were(number: int) -> str:
    """The verb in the past."""
    return "was" if number == 1 else "were"


SATURATED, NOT_KNOWN = "saturated", "not known"
_ENOUGH = 0.97
"""Of what is offered, as a search for the saturation has it."""


def withheld(facts: Mapping[str, Any], latency: str) -> str:
    """What the latency of a class is called that has no numbers, as over 1 % of its messages had not arrived.

    They were refused by a network that is saturated, or were only under way when the run ended.
    """
    values = facts.get(f"{latency}_latency_ns")
    if not (isinstance(values, Mapping) and values.get("saturated")):
        return ""
    offered, accepted = (facts.get(key) for key in ("offered", "accepted"))
    if isinstance(offered, int | float) and isinstance(accepted, int | float):
        return SATURATED if accepted < _ENOUGH * offered else NOT_KNOWN
    return NOT_KNOWN


def tells_stable(states: Set[bool | None]) -> bool:
    """Whether it is told which runs are stable: not of jobs, of which it is not known, nor where all are."""
    return False in states or states == {True, None}


def all_stable(states: Set[bool | None]) -> bool | None:
    """Whether all runs are stable; None if that is not to be told."""
    if False in states:
        return False
    return None if None in states else True


def named(value: object) -> str:
    """The kind of a value that has no place where it is, such as "a value of type int"."""
    return f"a value of type {type(value).__name__}"
