"""When messages end here and in another simulator: what the experiments beside these have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from tailback.experiments.model import Claim, Data, value
from tailback.figures import style
from tailback.result import Result
from tailback.stats import Interval

WITHIN = 0.05
"""Of the other simulator's mean and last end; chosen after the first runs had been seen."""


@dataclass(frozen=True)
class Ends:
    """How long after their starts messages arrive in another simulator, in us."""

    mean: float
    last: float
    """The mean over the seeds."""
    tenths: Sequence[float]
    """Of the messages under all seeds: the first, those behind each tenth, and the last."""
    to: int | None = None
    """The endpoint that they go to, where others are not counted."""


def ends(result: Result, to: int | None = None) -> NDArray[Any]:
    """Of all messages, or of those to an endpoint, in us after their starts."""
    told = result.tables["messages"].select(["destination", "latency_ns"]).to_pydict()
    chosen = [to is None or destination == to for destination in told["destination"]]
    return np.array(told["latency_ns"], dtype=float)[chosen] / 1000


def within(
    text: str, theirs: float, ours: Interval, unit: str = "", part: float = WITHIN, cause: str = ""
) -> Claim:
    """That ours differs from theirs by no more than this part of it; or why it does."""
    bounds = (round(theirs * (1 - part), 1), round(theirs * (1 + part), 1))
    return value(text, f"{theirs:g} {unit}".strip(), ours, bounds, unit, cause=cause)


def near(text: str, theirs: Ends, data: Data, cause: str = "", **labels: object) -> list[Claim]:
    """That the mean and the last end are near theirs, over the seeds of these cases; or why not."""

    def claim(which: str, published: float, of: Any) -> Claim:
        ours = data.mean(lambda run: float(of(ends(run, theirs.to))), **labels)
        return within(f"{text}: {which} end", published, ours, "us", cause=cause)

    return [claim("mean", theirs.mean, np.mean), claim("last", theirs.last, np.max)]


def draw(axes: Axes, number: int, name: str, peer: str, theirs: Ends, data: Data, **labels: object) -> None:
    """How many messages have ended by when, in parts of the peer's last end: ours as a line, its as dots."""
    ours = np.sort(np.concatenate([ends(run, theirs.to) for run in data.results(**labels)]))
    looks = style.line(number, 0)
    parts = 100 * np.arange(1, len(ours) + 1) / len(ours)
    axes.step(ours / theirs.last, parts, where="post", label=f"{name}, Tailback", **looks)
    places = np.array(theirs.tenths) / theirs.last
    dots = style.marker(number)
    axes.plot(places, range(0, 101, 10), dots, color=looks["color"], label=f"{name}, {peer}")
