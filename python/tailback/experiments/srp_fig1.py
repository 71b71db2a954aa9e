"""srp-fig1: what congestion does to a flow that has no part in it."""

from __future__ import annotations

from functools import partial

from tailback.experiments import srp_two_switches as switches
from tailback.experiments.model import Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER
from tailback.experiments.srp_two_switches import throughput
from tailback.stats import Interval


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    got = switches.measured(data, "none")
    far = data.mean(throughput("S1", "S2")).scaled(1 / 2)
    near = data.mean(throughput("S3", "S4", "S5")).scaled(1 / 3)
    told = ", ".join(f"{name} {link}" for name, link in got.items() if name in switches.LINKS)
    found = [
        hard("L2 is fully used", f"{got['L2']}", got["L2"].mean > 0.995),
        hard("L0 and L1 are under-used", told, got["L0"].mean < 0.9 and got["L1"].mean < 0.9),
        hard("S1 and S2 get half of S3, S4, S5", f"{far} and {near}", abs(far.mean / near.mean - 0.5) < 0.05),
    ]
    for names, published in ((("S0", "S1", "S2"), 1 / 8), (("S3", "S4", "S5"), 1 / 4)):
        worst: Interval = max((got[name] for name in names), key=lambda point: abs(point.mean - published))
        limits = (published - 0.01, published + 0.01)
        found.append(value(f"{', '.join(names)}: farthest from it", f"{published:g} each", worst, limits))
    found.append(value("L0", "3/8", got["L0"], (0.365, 0.385)))
    return found


EXPERIMENT = Experiment(
    id="srp-fig1",
    paper=PAPER,
    title="Congestion reaches a flow that has no part in it",
    setup=switches.SETUP + " No control.",
    cases=partial(switches.cases, "none"),
    draw=switches.draw,
    claims=claims,
)
