"""Congestion trees on the maps of the page: a mark for every channel that is held, coloured by its root."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

import numpy as np
import plotly.graph_objects as go

from tailback.congestion_trees import held
from tailback.figures.network_map import NetworkMap
from tailback.result import Result

_COLOURS = ("#e41a1c", "#000000", "#ff7f00", "#f781bf", "#a65628")
"""Of the largest trees, of all results together; what hangs on others is grey."""
_OTHERS = "#888888"
_SIZES = (3.0, 9.0)
_EDGED = 5.0
"""From this size on marks have a white edge."""
_CHANNEL, _ENDPOINT = 0, 100
"""Plotly's numbers of a disc and of a ring."""
_REMARK = (
    "A dot marks a channel to another switch that has something to send and no room ahead, a ring an "
    "endpoint like that, in the colour of what it waits for in the end:"
)

Place = tuple[int, int]
"""Row and column of a map."""


@dataclass
class _Mark:
    """What a cell shows: of several virtual channels, the root of the largest tree counts."""

    symbol: int
    roots: dict[str, int]
    """With how far it is at most."""


@dataclass(frozen=True)
class Marks:
    """The marks of a run, by time and cell."""

    marks: Mapping[float, Mapping[Place, _Mark]]
    size: float
    colours: Mapping[str, str]

    @classmethod
    def of(cls, result: Result, network: NetworkMap, pixels: Place, colours: Mapping[str, str]) -> Marks:
        """Those of a result, on a map of so many pixels; none if it has no table `trees`."""
        cell = min(of_map / cells for of_map, cells in zip(pixels, network.blank().shape, strict=True))
        size = min(_SIZES[1], max(_SIZES[0], 0.55 * cell))
        marks: defaultdict[float, dict[Place, _Mark]] = defaultdict(dict)
        table = result.tables.get("trees")
        for row in held(table) if table else ():
            ends = (row.switch, row.port)
            if not row.is_of_endpoint:
                ends = (int(row.sender.removeprefix("switch ")), row.sender_port)
            line, column = network.places(*ends)
            symbol = _ENDPOINT if row.is_of_endpoint else _CHANNEL
            mark = marks[row.time_ns].setdefault((int(line), int(column)), _Mark(symbol, {}))
            mark.roots[row.root] = max(row.depth, mark.roots.get(row.root, 0))
        return cls(marks, size, colours)

    def __len__(self) -> int:
        """How many there are, all times together."""
        return sum(map(len, self.marks.values()))

    def at(self, time: float) -> go.Scatter:
        """Those of a time. What they tell is told by the cell."""
        marked = self.marks.get(time, {})
        places = np.array(list(marked), dtype=np.float64).reshape(-1, 2)
        ranks = list(self.colours)
        shown = [
            min((ranks.index(root) for root in mark.roots if root in self.colours), default=len(ranks))
            for mark in marked.values()
        ]
        colours = [*self.colours.values(), _OTHERS]
        scale = [[at / max(1, len(colours) - 1), colour] for at, colour in enumerate(colours)]
        edge = 1 if self.size >= _EDGED else 0
        return go.Scatter(
            mode="markers",
            x=places[:, 1],
            y=places[:, 0],
            marker={
                "color": np.array(shown, dtype=np.float64),
                "colorscale": scale if len(scale) > 1 else [[0, _OTHERS], [1, _OTHERS]],
                "cmin": 0,
                "cmax": max(1, len(colours) - 1),
                "symbol": np.array([mark.symbol for mark in marked.values()]),
                "size": self.size,
                "line": {"width": edge, "color": "#ffffff"},
            },
            hoverinfo="skip",
            showlegend=False,
        )

    def told(self, time: float) -> Iterator[tuple[Place, str]]:
        """What is told of every cell that is marked at a time, as HTML."""
        for place, mark in self.marks.get(time, {}).items():
            yield place, "".join(f"<br>held by {_told(root, far)}" for root, far in mark.roots.items())


def _told(root: str, far: int) -> str:
    if not far:
        return "a circle of channels that wait for one another"
    return f"{escape(root)}, {far} {'channel' if far == 1 else 'channels'} away"


def colours(results: Mapping[str, Result]) -> dict[str, str]:
    """The colours of the roots of the most, of all results together: a root has one colour everywhere."""
    sizes: Counter[str] = Counter()
    for result in results.values():
        if table := result.tables.get("trees"):
            rows = {(row.time_ns, row.switch, row.port, row.root) for row in held(table)}
            sizes.update(root for *_, root in rows)
    largest = sorted(sizes, key=lambda root: (-sizes[root], root))
    return dict(zip(largest, _COLOURS, strict=False))


def remark(of_roots: Mapping[str, str]) -> str:
    """What the marks mean, as HTML."""
    known = [*of_roots.items(), ("others", _OTHERS)]
    keys = (f'<span style="color:{colour}">●</span>&nbsp;{escape(root)}' for root, colour in known)
    return f"{_REMARK} {', '.join(keys)}. Point at it for more."
