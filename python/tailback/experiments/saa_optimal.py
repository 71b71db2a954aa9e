"""saa-optimal: explicit rates are feasible and as fast as the routes allow, on any network."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.saa_paper import PAPER, column, scenario
from tailback.result import Result

NETWORKS: dict[str, tuple[dict[str, Any], dict[str, Any], int]] = {
    "fat tree": ({"kind": "fat-tree", "levels": 3, "arity": 4}, {"kind": "minimal"}, 64),
    "k-ary n-tree": (
        {"kind": "k-ary-n-tree", "k": 4, "n": 3, "horizontal": 2},
        {"kind": "flow-adaptive", "cache": 2},
        64,
    ),
    "dragonfly": ({"kind": "dragonfly", "p": 2, "a": 4, "h": 2, "groups": 9}, {"kind": "valiant"}, 72),
    "torus": ({"kind": "torus", "dims": [8, 8]}, {"kind": "dor"}, 64),
    "hyperx": ({"kind": "hyperx", "dims": [4, 4], "concentration": 3}, {"kind": "minimal"}, 48),
}


def cases(full: bool) -> list[Case]:
    """Superpositions of permutations on every network, as fluids."""
    return [
        Case(
            {"network": name, "permutations": count},
            scenario(
                f"{name}, {count} permutations",
                topology,
                routing,
                {"kind": "saa"},
                {"ranks": ranks, "permutations": count, "phases": 200 if full else 40},
                fluid=True,
                record="ports = true",
            ),
            1.0,
        )
        for name, (topology, routing, ranks) in NETWORKS.items()
        for count in (1, 3, 10)
    ]


def overload(result: Result) -> float:
    """Largest share of a link that the rates take, less one."""
    return float(column(result, "links", "used").max()) - 1


def late(result: Result) -> float:
    """Largest relative difference of a phase's time from the load of its busiest link."""
    times, bounds = column(result, "phases", "time_ns"), column(result, "phases", "bound_ns")
    return float(abs(times / bounds - 1).max())


def draw(data: Data) -> Figure:
    """Mean load of the busiest link, by network: what the optimum is."""
    with style.styled():
        figure, (axes,) = style.figure(height=2.8)
        counts = data.values("permutations")
        width = 0.8 / len(counts)
        for number, count in enumerate(counts):
            heights = [
                float(column(data.results(network=name, permutations=count)[0], "phases", "time_ns").mean())
                for name in NETWORKS
            ]
            places = [at + width * (number - 1) for at in range(len(heights))]
            axes.bar(
                places,
                [height / 1e6 for height in heights],
                width=width,
                label=f"{count} permutations",
                **style.bar(number),
            )
        axes.set_xticks(range(len(NETWORKS)), list(NETWORKS))
        axes.set_ylabel("phase = busiest link [ms]")
        axes.grid(visible=False, axis="x")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """Those of claims table row saa-optimal."""
    most, worst = max(map(overload, data.all_results())), max(map(late, data.all_results()))
    return [
        hard("rates are feasible", f"busiest link over its capacity by {most:.1e}", most < 1e-12),
        hard("a phase takes as long as its busiest link", f"relative difference {worst:.1e}", worst < 1e-12),
    ]


EXPERIMENT = Experiment(
    id="saa-optimal",
    paper=PAPER,
    title="Theorem 1, on five networks",
    setup=(
        "Superpositions of 1, 3 and 10 random permutations, drawn anew in each of 40 phases (full: 200); "
        "fluids."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
