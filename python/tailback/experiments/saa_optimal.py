"""saa-optimal: explicit rates are feasible and as fast as the routes allow, on any network."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments import saa_routes as routes
from tailback.experiments.draw import grouped_bars
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.saa_paper import (
    FLOW_NS,
    HOLD,
    HOLD_NS,
    PACKETS,
    PAPER,
    column,
    scenario,
)
from tailback.figures import style
from tailback.result import Result
from tailback.stats import Interval, mean_interval
from tailback.words import counted

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

LISTS = 10


def cases(full: bool) -> list[Case]:
    """Superpositions of permutations, and flows of unequal sizes, as fluids; these once more as packets."""
    made = [
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
    lists = 50 if full else LISTS
    fixed = {name: network[:3] for name, network in routes.FIXED.items()}
    made += [_listed("fixed", name, fixed[name], seed) for name in fixed for seed in range(lists)]
    return made + [_listed("packets", name, NETWORKS[name], seed) for name in NETWORKS for seed in range(2)]


def _listed(part: str, name: str, network: tuple[dict[str, Any], dict[str, Any], int], seed: int) -> Case:
    topology, routing, ranks = network
    lines = [f"{a} {b} {size} packets" for a, b, size in routes.flows(ranks, seed)]
    made = scenario(
        f"{name}, list {seed}, {part}",
        topology,
        routing,
        {"kind": "saa"} if part == "fixed" else {"kind": "saa", **HOLD},
        {"ranks": ranks, "flows": "list", "text": "\n".join(lines)},
        fluid=part == "fixed",
    )
    return Case({"part": part, "network": name, "list": seed}, made, 2.0)


def overload(result: Result) -> float:
    """Largest share of a link that the rates take, less one."""
    return float(column(result, "links", "used").max()) - 1


def _by_hand(data: Data) -> tuple[float, float]:
    """Largest share of a link that rates worked out here take, less one; and how far flows' times are off.

    Over the lists on fixed routes; the second relative.
    """
    most, worst = 0.0, 0.0
    for name in data.values("network", part="fixed"):
        for seed in data.values("list", part="fixed", network=name):
            (result,) = data.results(part="fixed", network=name, list=seed)
            sent = sorted(routes.flows(routes.FIXED[name][2], seed))
            times, used = routes.times(name, sent, FLOW_NS / PACKETS)
            # The table has flows by source and destination, as `sent` now is.
            worst = max(worst, float(np.abs(column(result, "flows", "time_ns") / times - 1).max()))
            most = max(most, used - 1)
    return most, worst


def _late(data: Data, name: str) -> float:
    """Largest relative excess of packets' time, from when data start, over what the busiest link carried."""
    results = data.results(part="packets", network=name)
    return max(
        float(((column(result, "phases", "time_ns") - HOLD_NS) / column(result, "phases", "bound_ns")).max())
        - 1
        for result in results
    )


def _phase_ms(data: Data, name: str, count: int) -> Interval:
    """How long a phase takes, the mean over those of a run, each of permutations of its own."""
    (result,) = data.results(network=name, permutations=count)
    return mean_interval((column(result, "phases", "time_ns") / 1e6).tolist())


def draw(data: Data) -> Figure:
    """Mean load of the busiest link, by network: what the optimum is."""
    with style.styled():
        figure, (axes,) = style.figure(height=2.8)
        heights = {
            counted(count, "permutation"): [_phase_ms(data, name, count) for name in NETWORKS]
            for count in data.values("permutations")
        }
        grouped_bars(axes, list(NETWORKS), heights)
        axes.set_ylabel("phase = busiest link [ms]")
        axes.set_xlabel("means over the phases, 95 % intervals")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    drawn = [
        overload(result)
        for name in NETWORKS
        for count in data.values("permutations")
        for result in data.results(network=name, permutations=count)
    ]
    most, worst = _by_hand(data)
    late = {name: _late(data, name) for name in data.values("network", part="packets")}
    return [
        hard(
            "rates are feasible",
            f"busiest link over its capacity by {max(drawn):.1e}, with rates worked out here {most:.1e}",
            max(*drawn, most) < 1e-12,
        ),
        hard(
            "every flow takes as long as the busiest link of its route, and so the phase as long as the "
            "busiest link: fluids, routes and loads worked out here",
            f"relative difference of a flow's time {worst:.1e}",
            worst < 1e-12,
        ),
        hard(
            "packets do too, by what every link carried (within 5 %, as in saa-fig6)",
            "at most longer by " + ", ".join(f"{name} {100 * part:.1f} %" for name, part in late.items()),
            max(late.values()) < 0.05,
        ),
    ]


EXPERIMENT = Experiment(
    id="saa-optimal",
    paper=PAPER,
    title="Theorem 1, on five networks",
    setup=(
        "Superpositions of 1, 3 and 10 random permutations, drawn anew in each of 40 phases (full: 200), on "
        "five networks; fluids, shown in the figure. Lists of flows between random pairs, 1 to 256 packets "
        "each, three an endpoint: 10 (full: 50) as fluids on each of three networks where the definition "
        "leaves a pair one route, a 4-ary 3-tree, a 7 x 7 torus and a dragonfly of 72, so that routes, loads "
        "and rates can be worked out without the engine; two as packets with periodic selection on each of "
        "the five, where the engine counts the data that every link carried."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
