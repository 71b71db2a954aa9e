"""saa-fig5: how many flows meet, by the width of the rows."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments.draw import curve, finish, hold
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.saa_paper import (
    ADAPTIVE,
    PAPER,
    STATIC,
    arity,
    by_phase,
    permutations,
    scenario,
    tree,
)
from tailback.figures import style
from tailback.stats import Interval, mean_interval

WIDTHS = (0, 1, 2, 3, 4)
REDUCTIONS = {"largest": np.max, "mean": np.mean}


def cases(full: bool) -> list[Case]:
    """Static routes on the plain tree, and adaptive ones on each width."""
    k, phases = arity(full), 1000 if full else 50
    runs = [("static", STATIC, 0)] + [("adaptive", ADAPTIVE, width) for width in WIDTHS]
    return [
        Case(
            {"routing": name, "width": width},
            scenario(
                f"contention, {name}, width {width}",
                tree(k, width),
                routing,
                {"kind": "saa"},
                permutations(1, k, phases),
                fluid=True,
            ),
            phases * k**3 / 50_000,
        )
        for name, routing, width in runs
    ]


def contention(data: Data, what: str, **labels: object) -> Interval:
    """The largest or the mean over the flows of a permutation, as a mean over the permutations."""
    (result,) = data.results(**labels)
    return mean_interval(by_phase(result, "contention", REDUCTIONS[what]))


def draw(data: Data) -> Figure:
    """The paper's Figure 5."""
    with style.styled():
        figure, (axes,) = style.figure(height=3.0)
        for number, what in enumerate(REDUCTIONS):
            points = [contention(data, what, routing="adaptive", width=width) for width in WIDTHS]
            curve(axes, WIDTHS, points, f"{what}, adaptive", number)
            level = contention(data, what, routing="static").mean
            looks = style.line(number)
            axes.axhline(level, color=looks["color"], linestyle=":", label=f"{what}, static")
        hold(axes)
        axes.set_xticks(WIDTHS)
        finish(figure, axes, "horizontal links between neighbours", "flows on the busiest link of a flow")
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    static = {what: contention(data, what, routing="static") for what in REDUCTIONS}
    plain = {what: contention(data, what, routing="adaptive", width=0) for what in REDUCTIONS}
    near = all(abs(plain[what].mean / static[what].mean - 1) <= 0.2 for what in REDUCTIONS)
    told = ", ".join(f"{what} {plain[what]} and {static[what]}" for what in REDUCTIONS)
    found = [hard("width 0: adaptive within 20 % of static", told, near)]
    for width in (2, 3, 4):
        for what, limits in (("largest", (-60.0, -35.0)), ("mean", (-100.0, -20.0))):
            change = contention(data, what, routing="adaptive", width=width).scaled(100 / static[what].mean)
            published = "-50 %" if what == "largest" else "-20 % or more"
            told = f"width {width}, {what}, against static"
            found.append(value(told, published, change.shifted(-100), limits, "%"))
    return found


EXPERIMENT = Experiment(
    id="saa-fig5",
    paper=PAPER,
    title="Rows let flows keep out of each other's way",
    setup=(
        "One random permutation; the contention of a flow is the number of flows on the link of its way with "
        "most. Static routes on the plain tree, adaptive ones with rows of width 0 to 4. 16-ary 3-tree and "
        "1000 permutations, reduced 8-ary and 50. Set-up packets go one after the other, in random order."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
