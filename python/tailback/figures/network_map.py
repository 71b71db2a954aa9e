"""A picture of the ports of a network: a block per group, in it a row per switch, a column per port."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailback.errors import InputError, mistake
from tailback.figures.tables import numbers, recorded
from tailback.result import Result
from tailback.scenario import Scenario

Cells = NDArray[np.float64]
Counts = NDArray[np.int64]
EMPTY = 0.5
"""What a cell holds whose port has no flits; cells of no port hold NaN."""


@dataclass(frozen=True)
class NetworkMap:
    """The picture of a network: the block of each switch, and how many ports it has."""

    block: Counts
    ports: Counts
    name: str = "block"
    """What a block is called."""
    gap: int = 1
    """Rows between blocks."""

    @classmethod
    def of(cls, result: Result) -> NetworkMap:
        """That of a result with the table `queues`: its blocks are those of the network.

        Raises `InputError` if there is no such table, or if the result's scenario is none.
        """
        queues = recorded(result, "queues")
        try:
            told = Scenario.loads(result.scenario).channels()
            kind = tomllib.loads(result.scenario)["topology"]["kind"]
        except (InputError, ValueError, LookupError, TypeError, RecursionError) as error:
            why = f"the scenario of the result {result.name!r} is damaged: {_told(error)}"
            raise mistake(why, "run the scenario again") from None
        switches = int(told["switches"])
        starts = np.array([start for start, *_ in told["channels"]], dtype=int)
        ports = np.bincount(starts[starts < switches], minlength=switches)
        # At the edge of a mesh ports before the last have no channel.
        switch, port = (numbers(queues, name).astype(int) for name in ("switch", "port"))
        np.maximum.at(ports, switch, port + 1)
        block = np.array(told["blocks"], dtype=int)
        if switches > 1 and not block.any():  # the network has no parts
            block = np.arange(switches) // math.isqrt(switches)
        return cls(block, ports, "group" if kind == "dragonfly" else "block")

    @property
    def switches(self) -> int:
        """How many there are."""
        return len(self.block)

    @property
    def height(self) -> int:
        """Rows of a block."""
        return int(np.bincount(self.block).max())

    @property
    def width(self) -> int:
        """Columns of a block."""
        return int(self.ports.max())

    @property
    def across(self) -> int:
        """Blocks side by side, so that the picture is about square."""
        return math.ceil(math.sqrt((self.block.max() + 1) * self.height / self.width))

    @cached_property
    def rows(self) -> Counts:
        """The row of each switch in its block: they are in the order of their numbers."""
        order = np.argsort(self.block, kind="stable")
        first = np.searchsorted(self.block[order], self.block[order])
        rows = np.empty(self.switches, dtype=int)
        rows[order] = np.arange(self.switches) - first
        return rows

    def corner(self, block: Any) -> tuple[Any, Any]:
        """Row and column of the first cell of a block, or of each of several."""
        return block // self.across * (self.height + self.gap), block % self.across * (self.width + 1)

    def places(self, switch: Any, port: Any) -> tuple[Any, Any]:
        """Row and column of a port, or of each of several."""
        row, column = self.corner(self.block[switch])
        return row + self.rows[switch], column + port

    def blank(self) -> Cells:
        """The picture of an empty network."""
        last_row, last_column = (place.max() for place in self.corner(np.arange(self.block.max() + 1)))
        image = np.full((last_row + self.height, last_column + self.width), np.nan)
        switch = np.repeat(np.arange(self.switches), self.ports)
        port = np.arange(len(switch)) - np.repeat(np.cumsum(self.ports) - self.ports, self.ports)
        image[self.places(switch, port)] = EMPTY
        return image

    def cells(self, table: Any) -> Cells:
        """The picture of rows of the table `queues`: the flits that wait for each port."""
        image = self.blank()
        image[self.places(table["switch"].to_numpy(), table["port"].to_numpy())] = table["flits"].to_numpy()
        return image


def _told(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error.problems[0])
    return f"it has no {error}" if isinstance(error, LookupError) else str(error).splitlines()[0]
