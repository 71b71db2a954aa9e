"""What is drawn for a packet, its way and its mark, by the hashes that the engine draws with.

The pages say only that it is a hash of the seed, the packet or its connection, the place and the time; which
one was read in the engine (`rng.rs`, and where its routings are asked).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

SEED, WORD = 1, (1 << 64) - 1
Label = tuple[int, int]
"""Of a packet: the number of its message as those of its source began, and its place in that."""


def mixed(one: int, other: int) -> int:
    """Two words as one, by the finaliser of SplitMix64."""
    word = one * 0x9E3779B97F4A7C15 & WORD ^ other + 0x9E3779B97F4A7C15 & WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def turned(word: int, by: int) -> int:
    """A word whose bits are turned to the left."""
    return (word << by | word >> 64 - by) & WORD


def below(word: int, count: int) -> int:
    """A word as a number from 0 to one less than a count."""
    return (word >> 32) * count >> 32


class Chance:
    """Numbers drawn one after the other, from a word."""

    def __init__(self, word: int) -> None:
        self.word = word

    def below(self, count: int) -> int:
        """A number from 0 to one less than a count."""
        self.word = mixed(self.word, 1)
        return below(self.word, count)


T = TypeVar("T")


class Least(Generic[T]):
    """The choice that weighs least, of equals one at random: the n-th takes the place with chance 1/n."""

    best: tuple[int, T]  # with its weight, once there is one

    def __init__(self, chance: Chance) -> None:
        self.chance, self.equals = chance, 0

    def offer(self, weight: int, choice: T) -> None:
        """Weighs a choice."""
        if self.equals and weight > self.best[0]:
            return
        self.equals = self.equals + 1 if self.equals and weight == self.best[0] else 1
        if self.equals == 1 or self.chance.below(self.equals) == 0:
            self.best = weight, choice


def least(choices: Iterable[T], weigh: Callable[[T], int], chance: Chance) -> T:
    """The best of some choices."""
    found = Least[T](chance)
    for choice in choices:
        found.offer(weigh(choice), choice)
    return found.best[1]


def on_arrival(switch: int, port: int, tick: int) -> Chance:
    """What is drawn for the packet whose head comes to a port of a switch in a tick."""
    return Chance(switch << 16 ^ port ^ turned(tick, 40) ^ mixed(SEED, 0))


def who(source: int, label: Label | None) -> int:
    """What tells a packet from others: its source and its label; none is like that of the first packet."""
    message, place = label or (0, 0)
    return mixed(source << 32 | message, place)


def of_made(switch: int, tick: int, source: int, label: Label | None) -> Chance:
    """The same for a packet that a switch makes, by its source and label."""
    return Chance(mixed(mixed(mixed(SEED, tick), switch), who(source, label)))


def at_source(source: int, label: Label | None, tick: int) -> Chance:
    """What the source of a packet draws for it."""
    message, place = label or (0, 0)
    return Chance(mixed(SEED, mixed(source << 32 | message, turned(place, 48) ^ tick)))


def reds(waiting: int, lengths: tuple[int, int], chance: float, packet: int, tick: int) -> bool:
    """Whether a packet, by `who` it is, is marked that leaves so many flits behind it at a time in ticks."""
    first, every = lengths
    if waiting > every or waiting <= first:
        return waiting > every
    drawn = ((mixed(mixed(SEED, tick), packet) >> 11) + 1) / (1 << 53)
    return drawn < chance * (waiting - first) / (every - first)


def at_source_in_turn(source: int, turn: int) -> Chance:
    """The same where what is drawn decides the queue: by the packet's place among those of its source."""
    return Chance(mixed(SEED, mixed(source << 32, turn)))


def of_flow(switch: int, source: int, destination: int, pair: int = 0) -> Chance:
    """What is drawn in a switch for all packets of a queue pair from a source to a destination."""
    flow = source << 32 | destination
    return Chance(mixed(mixed(SEED, switch), mixed(flow, pair) if pair else flow))


def first_pair(kind: int, first: int, source: int, destination: int, count: int) -> int:
    """The queue pair, of so many from the first on, that the first message of a class takes."""
    return first + below(mixed(SEED, mixed(kind << 32 | first, source << 32 | destination)), count)


def ahead_of(switch: int, destination: int) -> Chance:
    """What is taken for granted of a packet before it comes to a switch."""
    return Chance(mixed(switch << 32 | destination, SEED))
