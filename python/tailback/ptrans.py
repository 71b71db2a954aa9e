"""A trace of PTRANS, the matrix transposition of the HPC Challenge, in the VEF format.

An n × n matrix lies in blocks on a P × Q grid of tasks, block-cyclically: block (i, j) belongs to the task in
row i mod P and column j mod Q, task number row·Q + column. To add the transposed matrix to another, block
(i, j) goes to the owner of block (j, i). With g = gcd(P, Q) a task has P/g · Q/g partners, itself perhaps;
what it has for one of them goes in messages of at most `chunk` bytes, with computing between.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd

from tailback.errors import InputError, Problem, mistake

TASKS_MAX = 1 << 20
"""Tasks of a VEF trace; the engine has the same limit."""
BEGINNING = "VEF "
"""How every VEF trace begins."""
MESSAGES_MAX = 10_000_000
"""Messages of a trace: some 3 GB while it is made."""

Message = tuple[int, int, int]
"""The task that sends, the task that receives, and the bytes."""


@dataclass(frozen=True)
class Ptrans:
    """The sizes of a run. Times are in ns, sizes in bytes."""

    rows: int = 24
    columns: int = 24
    matrix: int = 4800
    block: int = 64
    element: int = 8
    chunk: int = 65536
    compute_ns: int = 1000
    iterations: int = 1

    def __post_init__(self) -> None:
        problems = []
        for name, value in vars(self).items():
            least = 0 if name == "compute_ns" else 1
            if value < least:
                problems.append(Problem(f"{name.removesuffix('_ns')} is {value}", help=f"at least {least}"))
        if problems:
            raise InputError(problems)
        if self.rows * self.columns > TASKS_MAX:
            told = f"{self.rows} rows of {self.columns} columns are {self.rows * self.columns:,} tasks"
            raise mistake(told, f"at most {TASKS_MAX:,}, which is what a trace may have")
        if self.rows * self.columns == 1:
            raise mistake("there is one task, which has data for no other", "2 or more rows or columns")
        if self.block >= self.matrix:
            told = f"the matrix of {self.matrix} is one block of {self.block}, which no task sends to another"
            raise mistake(told, "a block smaller than the matrix")
        if (most := self._messages_most()) > MESSAGES_MAX:
            told = f"the trace would have up to {most:,} messages"
            raise mistake(told, f"at most {MESSAGES_MAX:,}: a smaller matrix, or a larger chunk or block")

    def _messages_most(self) -> int:
        """A bound on the number of messages: full ones, and a last one for each pair of tasks."""
        step = gcd(self.rows, self.columns)
        pairs = self.rows * self.columns * (self.rows // step) * (self.columns // step)
        full = self.matrix**2 * self.element // self.chunk
        return self.iterations * (full + min(pairs, self._blocks() ** 2))

    def _blocks(self) -> int:
        """Blocks along a side of the matrix."""
        return -(-self.matrix // self.block)

    def volume(self, task: int) -> dict[int, int]:
        """Bytes of a task's part of the matrix by the tasks that they are for, itself left out."""
        row, column = divmod(task, self.columns)
        volumes: dict[int, int] = {}
        # Lines of blocks that a task has, by the row or column of tasks that they go to.
        down = self._lines(row, self.rows, self.columns)
        across = self._lines(column, self.columns, self.rows)
        for (to_column, height), (to_row, width) in product(down.items(), across.items()):
            other = to_row * self.columns + to_column
            if other != task:
                volumes[other] = height * width * self.element
        return volumes

    def _lines(self, own: int, tasks: int, others: int) -> dict[int, int]:
        """Matrix lines of every `tasks`-th block from block `own` on, by block number modulo `others`."""
        lines: dict[int, int] = {}
        for block in range(own, self._blocks(), tasks):
            size = min(self.block, self.matrix - block * self.block)
            lines[block % others] = lines.get(block % others, 0) + size
        return lines

    def partners(self, task: int) -> list[int]:
        """The tasks that a task sends to, round by round: in each round two tasks are partners of each other.

        Tasks whose row and column leave the remainders i and j send to those of j and i. With numbers p and q
        within the two sets, partners in round k are those with p + q = k, modulo how many there are.
        """
        row, column = divmod(task, self.columns)
        step = gcd(self.rows, self.columns)
        across = self.columns // step
        count = self.rows // step * across
        own = row // step * across + column // step

        def turn(other: int) -> int:
            row, column = divmod(other, self.columns)
            return (row // step * across + column // step + own) % count

        return sorted(self.volume(task), key=turn)

    def messages(self) -> list[Message]:
        """All messages, task by task."""
        tasks = range(self.rows * self.columns)
        return [(task, other, size) for task in tasks for other, size in self._cut(task)] * self.iterations

    def trace(self, messages: Sequence[Message] | None = None) -> Iterator[str]:
        """The lines of the trace, of these messages if they were asked for before.

        A task sends its next message `compute_ns` after it has received the message of the same number of the
        same partner and iteration, or, where that one has none for it, after it has sent its last.
        """
        tasks = self.rows * self.columns
        messages = self.messages() if messages is None else messages
        each = len(messages) // self.iterations
        # Numbers of the messages of each pair in an iteration, in order.
        numbers: dict[tuple[int, int, int], list[int]] = {}
        for number, (task, other, _) in enumerate(messages):
            numbers.setdefault((number // each, task, other), []).append(number)
        yield f"{BEGINNING}{tasks} {len(messages)} 1 0 0 FALSE"
        yield "C0 " + " ".join(map(str, range(tasks)))
        last: dict[int, int] = {}
        for number, (task, other, size) in enumerate(messages):
            yield f"{number} {task} {other} {size} {self._when(last.get(task), numbers, messages)}"
            last[task] = number

    def _cut(self, task: int) -> Iterator[tuple[int, int]]:
        volumes = self.volume(task)
        for other in self.partners(task):
            for begin in range(0, volumes[other], self.chunk):
                yield other, min(self.chunk, volumes[other] - begin)

    def _when(
        self,
        last: int | None,
        numbers: dict[tuple[int, int, int], list[int]],
        messages: Sequence[Message],
    ) -> str:
        """When the message behind a task's last is sent."""
        if last is None:
            return f"0 {self.compute_ns} -1"
        iteration = last * self.iterations // len(messages)
        task, other, _ = messages[last]
        place = bisect_left(numbers[iteration, task, other], last)
        back = numbers.get((iteration, other, task), [])
        if place < len(back):
            return f"2 {self.compute_ns} {back[place]}"
        return f"1 {self.compute_ns} {last}"
