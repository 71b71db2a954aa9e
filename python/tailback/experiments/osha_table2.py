"""osha-table2: the probabilities of Zipf's law for 64 endpoints."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments.model import Case, Claim, Data, Experiment, value
from tailback.experiments.osha_paper import PAPER
from tailback.figures import style
from tailback.scenario import Scenario

TABLE = {
    1: (21.1, 10.5, 7.0, 5.3, 4.2, 3.5, 3.0, 2.6, 2.3, 2.1),
    2: (61.4, 15.3, 6.8, 3.8, 2.5, 1.7, 1.3, 1.0, 0.8, 0.6),
    3: (83.2, 10.4, 3.1, 1.3, 0.7, 0.4, 0.2, 0.2, 0.1, 0.1),
}
"""In percent, as the paper prints them."""

_SCENARIO = """
title = "Zipf, s = {s}"
[topology]
kind = "single-switch"
endpoints = 64
[routing]
kind = "minimal"
[[traffic]]
name = "zipf"
pattern = "zipf"
s = {s}
self = true
load = 0.1
message = "1 flit"
[run]
warmup = "0 us"
duration = "1 us"
"""


def cases(full: bool) -> list[Case]:
    """A short run for each order: the probabilities are told before it begins."""
    return [Case({"s": s}, Scenario.loads(_SCENARIO.format(s=s)), 0.1) for s in TABLE]


def _ours(data: Data, s: int) -> list[float]:
    ranks: list[float] = Scenario.loads(data.results(s=s)[0].scenario).describe()["ranks"]["zipf"]
    return [100 * rank for rank in ranks]


def draw(data: Data) -> Figure:
    """The probabilities by rank: lines are ours, crosses the paper's."""
    with style.styled():
        figure, (axes,) = style.figure()
        for number, (s, printed) in enumerate(TABLE.items()):
            axes.plot(range(1, 11), _ours(data, s), label=f"s = {s}", **style.line(number))
            axes.plot(range(1, 11), printed, "x", color=style.COLOURS[number])
        style.logarithmic(axes, "y")
        axes.set_xlabel("rank of the destination\ncrosses: table 2")
        axes.set_ylabel("probability [%]")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """Every row, to its printed digit."""
    pairs = [pair for s, row in TABLE.items() for pair in zip(_ours(data, s), row, strict=True)]
    equal = sum(round(percent, 1) == printed for percent, printed in pairs)
    return [
        value(
            "probabilities that are those of the table, to their printed digit",
            "all",
            100 * equal / len(pairs),
            (100, 100),
            "%",
            note=f"{equal} of {len(pairs)}.",
        )
    ]


EXPERIMENT = Experiment(
    id="osha-table2",
    paper=PAPER,
    title="Probabilities of Zipf's law",
    setup="64 endpoints; the first ten of 64 preferred destinations.",
    cases=cases,
    draw=draw,
    claims=claims,
)
