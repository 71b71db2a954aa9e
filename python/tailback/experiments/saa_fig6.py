"""saa-fig6: how long a phase takes with and without adaptive routes and explicit rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments.draw import curve, finish, hold
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.saa_paper import (
    ADAPTIVE,
    FLOW_NS,
    HOLD,
    HOLD_NS,
    PAPER,
    STATIC,
    arity,
    column,
    packet_cost,
    permutations,
    scenario,
    tree,
)
from tailback.figures import style
from tailback.stats import Interval, mean_interval

COUNTS = (1, 2, 3, 4, 5)
SCHEMES: dict[str, tuple[int, dict[str, Any], dict[str, Any], bool]] = {
    "NC": (0, STATIC, {"kind": "none"}, False),
    "AR": (2, ADAPTIVE, {"kind": "none"}, False),
    "SAA": (0, STATIC, {"kind": "saa"}, True),
    "SAA+AR": (2, ADAPTIVE, {"kind": "saa"}, True),
    "SAA+AR, packets": (2, ADAPTIVE, {"kind": "saa", **HOLD}, False),
}
"""Width of the rows, routing, congestion control, and whether it is a fluid, as in the paper."""
REDUCED = 16
"""Phases in the reduced size, of all schemes: the same permutations, so that they are compared in pairs."""


def cases(full: bool) -> list[Case]:
    """Every scheme with every number of permutations."""
    k, made = arity(full), []
    for name, (width, routing, control, fluid) in SCHEMES.items():
        for count in COUNTS:
            phases = 50 if full else REDUCED
            cost = phases * k**3 * count / 50_000 if fluid else packet_cost(k, count, phases)
            made.append(
                Case(
                    {"scheme": name, "permutations": count},
                    scenario(
                        f"{name}, {count} permutations",
                        tree(k, width),
                        routing,
                        control,
                        permutations(count, k, phases),
                        fluid=fluid,
                    ),
                    cost,
                )
            )
    return made


def completion(data: Data, scheme: str, count: int) -> Interval:
    """Mean time of a phase, in times of a flow at line rate."""
    results = data.results(scheme=scheme, permutations=count)
    return mean_interval(
        [float(t) / FLOW_NS for result in results for t in column(result, "phases", "time_ns")]
    )


def draw(data: Data) -> Figure:
    """The paper's Figure 6."""
    with style.styled():
        figure, (axes,) = style.figure(height=3.0)
        for number, scheme in enumerate(SCHEMES):
            curve(axes, COUNTS, [completion(data, scheme, count) for count in COUNTS], scheme, number)
        hold(axes)
        axes.set_xticks(COUNTS)
        finish(figure, axes, "permutations", "completion [flow at line rate = 1]")
    return figure


def _over_bound(data: Data, scheme: str, count: int, hold_ns: float = 0.0) -> float:
    """Mean time of a phase, from when data start, over what the busiest link of its routes needs."""
    results = data.results(scheme=scheme, permutations=count)
    times = [column(result, "phases", "time_ns") - hold_ns for result in results]
    bounds = [column(result, "phases", "bound_ns") for result in results]
    return float(np.mean(np.concatenate(times) / np.concatenate(bounds)))


def _over_none(data: Data, scheme: str, count: int) -> Interval:
    """Time over that without control, phase by phase: both send the same permutations."""
    (none,), (other,) = (data.results(scheme=name, permutations=count) for name in ("NC", scheme))
    pairs = zip(column(other, "phases", "time_ns"), column(none, "phases", "time_ns"), strict=True)
    return mean_interval([float(time / base) for time, base in pairs])


def _change(data: Data, scheme: str, count: int) -> Interval:
    """Time saved against no control, in per cent."""
    return _over_none(data, scheme, count).scaled(-100).shifted(100)


def _why_not_worse(data: Data) -> str:
    def told(scheme: str) -> str:
        return ", ".join(f"{_over_bound(data, scheme, count):.2f}" for count in (3, 4, 5))

    def told_gain(count: int) -> str:
        return str(round(_change(data, "AR", count).mean))

    return (
        f"It gains less than its routes promise: at 3, 4 and 5 permutations it takes {told('AR')} times what "
        f"their busiest link needs, NC {told('NC')} times. Congestion that spreads along longer ways takes "
        f"the rest: they gain {told_gain(3)} % at 3 permutations and {told_gain(5)} % at 5. On the 16-ary "
        "tree nothing is gained at 5 (docs/reports/2026-11-25-full): of no use there, as published, but not "
        "worse."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    at = {(scheme, count): completion(data, scheme, count) for scheme in SCHEMES for count in COUNTS}
    best = all(
        at["SAA+AR", count].mean <= min(at[scheme, count].mean for scheme in ("NC", "AR", "SAA"))
        for count in COUNTS
    )
    told = "; ".join(
        f"{count}: " + ", ".join(f"{scheme} {at[scheme, count].mean:.2f}" for scheme in SCHEMES)
        for count in COUNTS
    )
    over = [_over_none(data, "AR", count) for count in (3, 4, 5)]
    worse = all(ratio.mean > 1 for ratio in over)
    ratios = ", ".join(map(str, over))
    saa = max((_change(data, "SAA", count) for count in COUNTS), key=lambda change: change.mean)
    both = max((_change(data, "SAA+AR", count) for count in COUNTS), key=lambda change: change.mean)
    twofold = _over_none(data, "SAA+AR", 1)
    late = max(_over_bound(data, "SAA+AR, packets", count, HOLD_NS) for count in COUNTS)
    return [
        hard("SAA+AR is best everywhere", told, best),
        hard(
            "AR alone is worse than NC from 3 permutations",
            f"AR over NC {ratios} at 3, 4, 5",
            worse,
            cause=lambda: _why_not_worse(data),
        ),
        value("SAA alone below NC, at most", "up to 13 %", saa, (3, 20), "%"),
        value("SAA+AR below NC, at most", "up to 50 %", both, (35, 60), "%"),
        value("SAA+AR over NC, one permutation", "half", twofold, (0.4, 0.65)),
        hard(
            "packets with periodic selection take as long as the fluid on the same routes (within 5 %)",
            f"at most {100 * (late - 1):.1f} % longer than the busiest link of their routes needs",
            late < 1.05,
            note="From when data start, 25 us into the phase. Set-up packets under way together know less "
            "of each other than those of the fluid, which go one by one: so routes and completion differ.",
        ),
    ]


EXPERIMENT = Experiment(
    id="saa-fig6",
    paper=PAPER,
    title="Adaptive routes and explicit rates are worth little alone and much together",
    setup=(
        "Superposition of 1 to 5 random permutations of flows of 128 packets of 2 KB, at 10 Gb/s. NC: static "
        "routes, no control; AR: adaptive routes on rows of width 2; SAA: explicit rates; as in the paper "
        "NC and AR are packets with 8 buffers of 2 KB at each input, SAA and SAA+AR fluids. 16-ary 3-tree "
        "and 50 phases, reduced 8-ary and 16. All schemes send the same permutations; ratios are means over "
        "the phases, each over the same phase of NC."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
