"""A picture of the ports of a network: a block per group, in it a row per switch, a column per port."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tailback.errors import mistake
from tailback.result import Result

Cells = NDArray[np.float64]
EMPTY = 0.5
"""What a cell holds whose port has no flits; cells of no port hold NaN."""


@dataclass(frozen=True)
class NetworkMap:
    """The picture of a network of so many switches of so many ports, in blocks of so many switches."""

    switches: int
    ports: int
    block: int
    has_groups: bool = False
    """Whether the blocks are the groups of a dragonfly."""

    @classmethod
    def of(cls, result: Result) -> NetworkMap:
        """That of a result with the table `queues`; the groups of a dragonfly are its blocks.

        Raises `InputError` if the result's scenario is none.
        """
        try:
            topology = tomllib.loads(result.scenario)["topology"]
            if topology["kind"] == "dragonfly":
                p, a, h, groups = (int(topology[key]) for key in ("p", "a", "h", "groups"))
                return cls(a * groups, p + a - 1 + h, a, has_groups=True)
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            told = f"the scenario of the result {result.name!r} is damaged: {_told(error)}"
            raise mistake(told, "run the scenario again") from None
        tables = [result.tables[name] for name in ("occupancy", "queues") if name in result.tables]
        switches = 1 + max(int(pc.max(table["switch"]).as_py() or 0) for table in tables)
        ports = 1 + int(pc.max(result.tables["queues"]["port"]).as_py() or 0)
        return cls(switches, ports, max(1, math.isqrt(switches)))

    @property
    def _across(self) -> int:
        """Blocks side by side, so that the picture is about square."""
        return max(1, math.ceil(math.sqrt(math.ceil(self.switches / self.block) * self.block / self.ports)))

    def places(self, switch: Any, port: Any) -> tuple[Any, Any]:
        """Row and column of a port, or of each of several; blocks are a cell apart."""
        number, row = switch // self.block, switch % self.block
        across = self._across
        return number // across * (self.block + 1) + row, number % across * (self.ports + 1) + port

    def blank(self) -> Cells:
        """The picture of an empty network."""
        rows, columns = self.places(
            np.repeat(np.arange(self.switches), self.ports), np.tile(np.arange(self.ports), self.switches)
        )
        image = np.full((rows.max() + 1, columns.max() + 1), np.nan)
        image[rows, columns] = EMPTY
        return image

    def cells(self, table: Any) -> Cells:
        """The picture of rows of the table `queues`: the flits that wait for each port."""
        image = self.blank()
        image[self.places(table["switch"].to_numpy(), table["port"].to_numpy())] = table["flits"].to_numpy()
        return image


def _told(error: Exception) -> str:
    return f"it has no {error}" if isinstance(error, LookupError) else str(error).splitlines()[0]
