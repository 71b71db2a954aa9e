"""Collective operations as `tailback list` names them, in steps.

A step begins when the one before is complete. In an exchange the receive is posted before the send.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from reference_case import Op

Step = list[tuple[str, int, int]]  # kind of operation, the other rank, bytes
Steps = Iterator[Step]
Program = Callable[[int, int, int], Steps]  # of a rank, the number of ranks, and a size
Size = Callable[[int, int], int]  # bytes of the parts from one number up to another


def exchange(source: int, received: int, target: int, sent: int) -> Step:
    """Receives and sends at once."""
    return [("recv", source, received), ("send", target, sent)]


def part(size: int, first: int, last: int, count: int) -> int:
    """Bytes from one of `count` equal parts up to another."""
    return size * last // count - size * first // count


def barrier(rank: int, count: int, size: int) -> Steps:
    """Dissemination."""
    far = 1
    while far < count:
        yield exchange((rank - far) % count, 0, (rank + far) % count, 0)
        far *= 2


def broadcast(rank: int, count: int, size: int) -> Steps:
    """Down a binomial tree, to the farthest first."""
    far = 1
    while far < count and not rank & far:
        far *= 2
    if rank:
        yield [("recv", rank - far, size)]
    while far := far // 2:
        if rank + far < count:
            yield [("send", rank + far, size)]


def reduce(rank: int, count: int, size: int) -> Steps:
    """Up the same tree, from the nearest first."""
    other = {"recv": "send", "send": "recv"}
    for step in reversed(list(broadcast(rank, count, size))):
        yield [(other[kind], *rest) for kind, *rest in step]


def alltoall(rank: int, count: int, size: int) -> Steps:
    """Pairwise."""
    for far in range(1, count):
        yield exchange((rank - far) % count, size, (rank + far) % count, size)


def alltoall_at_once(rank: int, count: int, size: int) -> Steps:
    """The same in one step."""
    yield [one for step in alltoall(rank, count, size) for one in step]


def allgather_ring(rank: int, count: int, size: int) -> Steps:
    """The data go round."""
    for _ in range(1, count):
        yield exchange((rank - 1) % count, size, (rank + 1) % count, size)


def bruck(rank: int, count: int, size: int) -> Steps:
    """The data double."""
    far = 1
    while far < count:
        blocks = size * min(far, count - far)
        yield exchange((rank + far) % count, blocks, (rank - far) % count, blocks)
        far *= 2


def ring(rank: int, count: int, size: int, steps: int) -> Steps:
    """Parts go round, so that the sum of one is complete at its own rank after `count` - 1 steps."""
    for step in range(1, steps + 1):
        comes, goes = (rank - step - 1) % count, (rank - step) % count
        received, sent = part(size, comes, comes + 1, count), part(size, goes, goes + 1, count)
        yield exchange((rank - 1) % count, received, (rank + 1) % count, sent)


def reduce_scatter_ring(rank: int, count: int, size: int) -> Steps:
    """Once round the ring."""
    return ring(rank, count, size, count - 1)


def allreduce_ring(rank: int, count: int, size: int) -> Steps:
    """Twice round: the sums go on to the others."""
    return ring(rank, count, size, 2 * (count - 1))


def reduce_scatter_pairwise(rank: int, count: int, size: int) -> Steps:
    """Each part to its rank."""
    own = part(size, rank, rank + 1, count)
    for far in range(1, count):
        target = (rank + far) % count
        yield exchange((rank - far) % count, own, target, part(size, target, target + 1, count))


class Folded:
    """As many ranks as a power of two: of the first, those of even number join the next one."""

    def __init__(self, rank: int, count: int) -> None:
        self.power = 1 << count.bit_length() - 1
        self.rest, self.rank = count - self.power, rank
        self.number = rank // 2 if rank < 2 * self.rest else rank - self.rest

    def real(self, number: int) -> int:
        """The rank of a number that takes part."""
        return 2 * number + 1 if number < self.rest else number + self.rest

    def around(self, steps: Steps, whole: int, result: Callable[[int], int]) -> Steps:
        """A rank gives all its data to the next one, and gets a result when the steps are done."""
        rank, folds = self.rank, self.rank < 2 * self.rest
        if folds and rank % 2 == 0:
            yield [("send", rank + 1, whole)]
            yield [("recv", rank + 1, result(rank))]
            return
        if folds:
            yield [("recv", rank - 1, whole)]
        yield from steps
        if folds:
            yield [("send", rank - 1, result(rank - 1))]

    def halving(self, size: Size) -> Steps:
        """Exchanges of half of what is left."""
        first, half = 0, self.power // 2
        while half:
            middle, other = first + half, self.real(self.number ^ half)
            low, high = size(first, middle), size(middle, middle + half)
            upper = self.number >= middle
            yield exchange(other, high, other, low) if upper else exchange(other, low, other, high)
            first, half = middle if upper else first, half // 2

    def doubling(self, size: Size) -> Steps:
        """Exchanges of all there is."""
        far = 1
        while far < self.power:
            own, theirs = self.number // far * far, (self.number ^ far) // far * far
            other = self.real(self.number ^ far)
            yield exchange(other, size(theirs, theirs + far), other, size(own, own + far))
            far *= 2


def recursive_doubling(rank: int, count: int, size: int) -> Steps:
    """Exchanges of the whole vector."""
    fold = Folded(rank, count)
    return fold.around(fold.doubling(lambda first, last: size), size, lambda rank: size)


def rabenseifner(rank: int, count: int, size: int) -> Steps:
    """A reduce-scatter by halving, then an allgather by doubling."""
    fold = Folded(rank, count)

    def parts(first: int, last: int) -> int:
        return part(size, first, last, fold.power)

    return fold.around(chain(fold.halving(parts), fold.doubling(parts)), size, lambda rank: size)


def reduce_scatter_halving(rank: int, count: int, size: int) -> Steps:
    """One that took the data of another takes part for both."""
    fold = Folded(rank, count)

    def first(number: int) -> int:
        return number + min(number, fold.rest)

    def parts(one: int, last: int) -> int:
        return part(size, first(one), first(last), count)

    return fold.around(fold.halving(parts), size, lambda rank: part(size, rank, rank + 1, count))


def ring_exchange(rank: int, count: int, size: int) -> Steps:
    """To the next, from the one before."""
    yield exchange((rank - 1) % count, size, (rank + 1) % count, size)


def operations(program: Program, count: int, size: int, compute: int, times: int) -> list[list[Op]]:
    """What each of the ranks does: it computes and runs a program, again and again."""
    ranks = []
    for rank in range(count):
        ops = list[Op]()
        before: tuple[int, ...] = ()
        for _ in range(times):
            for step in chain([[("calc", 0, compute)]], program(rank, count, size)):
                first = len(ops)
                ops += [Op(kind, amount, other, requires=before) for kind, other, amount in step]
                before = tuple(range(first, len(ops)))
        ranks.append(ops)
    return ranks
