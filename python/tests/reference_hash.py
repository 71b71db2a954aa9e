"""What routings draw for a packet on its way, by the hashes that the engine draws with.

The pages say only that it is a hash of the seed, the packet or its connection, the place and the time; which
one was read in the engine (`rng.rs`, and where its routings are asked).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

SEED, WORD = 1, (1 << 64) - 1


def mixed(one: int, other: int) -> int:
    """Two words as one, by the finaliser of SplitMix64."""
    word = one * 0x9E3779B97F4A7C15 & WORD ^ other + 0x9E3779B97F4A7C15 & WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def turned(word: int, by: int) -> int:
    """A word whose bits are turned to the left."""
    return (word << by | word >> 64 - by) & WORD


class Chance:
    """Numbers drawn one after the other, from a word."""

    def __init__(self, word: int) -> None:
        self.word = word

    def below(self, count: int) -> int:
        """A number from 0 to one less than a count."""
        self.word = mixed(self.word, 1)
        return (self.word >> 32) * count >> 32


T = TypeVar("T")


def least(choices: Iterable[T], weigh: Callable[[T], int], chance: Chance) -> T:
    """The choice that weighs least, of equals one at random: the n-th takes the place with chance 1/n."""
    best, equals = list[tuple[int, T]](), 0
    for choice in choices:
        weight = weigh(choice)
        if not best or weight < best[0][0]:
            best, equals = [(weight, choice)], 1
        elif weight == best[0][0]:
            equals += 1
            if chance.below(equals) == 0:
                best = [(weight, choice)]
    return best[0][1]


def on_arrival(switch: int, port: int, tick: int) -> Chance:
    """What is drawn for the packet whose head comes to a port of a switch in a tick."""
    return Chance(switch << 16 ^ port ^ turned(tick, 40) ^ mixed(SEED, 0))


def of_made(switch: int, tick: int, about: tuple[int, int, int]) -> Chance:
    """The same for a packet that a switch makes, by its source, and its message and place in that."""
    source, message, sequence = about
    key = mixed(source << 32 | message, sequence)
    return Chance(mixed(mixed(mixed(SEED, tick), switch), key))


def at_source(source: int, message: int, sequence: int, tick: int) -> Chance:
    """What the source of a packet draws for it, whose message has a number there."""
    return Chance(mixed(SEED, mixed(source << 32 | message, turned(sequence, 48) ^ tick)))


def at_source_in_turn(source: int, turn: int) -> Chance:
    """The same where what is drawn decides the queue: by the packet's place among those of its source."""
    return Chance(mixed(SEED, mixed(source << 32, turn)))


def of_flow(switch: int, source: int, destination: int) -> Chance:
    """What is drawn in a switch for all packets from a source to a destination."""
    return Chance(mixed(mixed(SEED, switch), source << 32 | destination))


def ahead_of(switch: int, destination: int) -> Chance:
    """What is taken for granted of a packet before it comes to a switch."""
    return Chance(mixed(switch << 32 | destination, SEED))
