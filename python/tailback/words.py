"""Numbers of things in sentences."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """How many there are, such as "1 point" or "2,000 points"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def are(number: int) -> str:
    """The verb that goes with a number of things."""
    return "is" if number == 1 else "are"


def were(number: int) -> str:
    """The verb in the past."""
    return "was" if number == 1 else "were"
