"""saa-cost: the ports that horizontal links add."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments.model import Case, Claim, Data, Experiment, value
from tailback.experiments.saa_paper import ADAPTIVE, PAPER, column, permutations, scenario, tree
from tailback.figures import style
from tailback.result import Result

WIDTHS = (0, 1, 2, 3, 4)


def ports(result: Result) -> float:
    """Connected ports of all switches."""
    return float(len(column(result, "links", "port")))


def cases(_full: bool) -> list[Case]:
    """The tree of the paper in every size: nothing is simulated but one phase of fluids."""
    return [
        Case(
            {"width": width},
            scenario(
                f"ports of a 16-ary 3-tree, width {width}",
                tree(16, width),
                ADAPTIVE,
                {"kind": "saa"},
                permutations(1, 16, 1),
                fluid=True,
                record="ports = true",
            ),
            2.0,
        )
        for width in WIDTHS
    ]


def draw(data: Data) -> Figure:
    """Ports added, over the width."""
    plain = data.mean(ports, width=0).mean
    with style.styled():
        figure, (axes,) = style.figure(height=2.6)
        added = [100 * (data.mean(ports, width=width).mean / plain - 1) for width in WIDTHS]
        axes.bar(WIDTHS, added, **style.bar(0))
        axes.set_xlabel("horizontal links between neighbours")
        axes.set_ylabel("ports added [%]")
        axes.grid(visible=False, axis="x")
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    plain = data.mean(ports, width=0)
    added = data.mean(lambda result: 100 * (ports(result) / plain.mean - 1), width=2)
    exact = f"{data.mean(ports, width=2).mean - plain.mean:g} of {plain.mean:g}"
    return [value("ports added by width 2", "about 10 %", added, (9, 11), "%", note=f"{exact} ports.")]


EXPERIMENT = Experiment(
    id="saa-cost",
    paper=PAPER,
    title="What horizontal links cost",
    setup="A 16-ary 3-tree (4096 endpoints) with rows of width 0 to 4.",
    cases=cases,
    draw=draw,
    claims=claims,
)
