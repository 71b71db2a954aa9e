"""Congestion trees on the maps of the page: a mark for every channel that is held, coloured by its root."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import plotly.graph_objects as go

from tailback.congestion_trees import by_root, congestion_trees, held
from tailback.figures.network_map import NetworkMap
from tailback.result import Result

_COLOURS = ("#e41a1c", "#000000", "#ff7f00", "#f781bf", "#a65628")
"""Of the largest trees of a run; the others share the last."""
_OTHERS = "#888888"
_SIZES = (2.0, 9.0)
_CHANNEL, _ENDPOINT = "circle", "circle-open"
REMARK = (
    "A dot marks a channel to another switch that has something to send and no room ahead, a ring an "
    "endpoint like that; those of one colour wait for the same, grey ones for others. Point at one for what "
    "holds it."
)

_Mark = tuple[int, int, str, str, int]
"""A row and a column, how it looks, its root, and how far that is."""


@dataclass(frozen=True)
class Marks:
    """The marks of a run by time, how large they are, and the colours of roots."""

    marks: dict[float, list[_Mark]]
    size: float
    colours: dict[str, str]

    @classmethod
    def of(cls, result: Result, network: NetworkMap, height: float) -> Marks:
        """Those of a result, on a map of so many pixels; none if it has no table `trees`."""
        size = min(_SIZES[1], max(_SIZES[0], 0.55 * height / network.blank().shape[0]))
        table = result.tables.get("trees")
        if not table:
            return cls({}, size, {})
        largest = [tree.root for tree in by_root(congestion_trees(table))]
        marks: defaultdict[float, set[_Mark]] = defaultdict(set)
        for row in held(table):
            ends = (row.switch, row.port)
            if not row.is_of_endpoint:
                ends = (int(row.sender.removeprefix("switch ")), row.sender_port)
            line, column = network.places(*ends)
            look = _ENDPOINT if row.is_of_endpoint else _CHANNEL
            marks[row.time_ns].add((int(line), int(column), look, row.root, row.depth))
        ordered = {time: sorted(of_time) for time, of_time in marks.items()}
        return cls(ordered, size, dict(zip(largest, _COLOURS, strict=False)))

    def __len__(self) -> int:
        """How many there are, all times together."""
        return sum(map(len, self.marks.values()))

    def at(self, time: float, label: str) -> go.Scatter:
        """Those of a time, of a run whose name is HTML already."""
        marked = self.marks.get(time, [])
        return go.Scatter(
            mode="markers",
            x=[column for _, column, *_ in marked],
            y=[row for row, *_ in marked],
            customdata=[(root, depth or "") for *_, root, depth in marked],
            marker={
                "color": [self.colours.get(root, _OTHERS) for *_, root, _ in marked],
                "symbol": [look for _, _, look, *_ in marked],
                "size": self.size,
                "line": {"width": 1, "color": [self._edge(root, look) for _, _, look, root, _ in marked]},
            },
            hovertemplate="held by %{customdata[0]} (%{customdata[1]} away)<extra>" + label + "</extra>",
            showlegend=False,
        )

    def _edge(self, root: str, look: str) -> str:
        return "#ffffff" if look == _CHANNEL else self.colours.get(root, _OTHERS)
