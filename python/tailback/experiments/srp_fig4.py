"""srp-fig4: what SRP does for a flow that has no part in a hot spot."""

from __future__ import annotations

from tailback.experiments import srp_two_switches as switches
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER

_HOT = ("S1", "S2", "S3", "S4", "S5")


def cases(full: bool) -> list[Case]:
    """The baseline and SRP."""
    return [*switches.cases("none", full), *switches.cases("srp", full)]


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    base, srp = (switches.measured(data, protocol) for protocol in ("none", "srp"))
    shares = [srp[name].mean for name in _HOT]
    worst = max((srp[name] for name in _HOT), key=lambda share: abs(share.mean - 0.19))
    loss = srp["L2"].scaled(100 / base["L2"].mean).shifted(-100)
    return [
        hard(
            "the five hot senders get equal shares (within 2 %)",
            ", ".join(f"{name} {srp[name]}" for name in _HOT),
            max(shares) <= 1.02 * min(shares),
        ),
        value("a hot sender: farthest from it", "0.190 each", worst, (0.18, 0.2)),
        value("S0's gain", "47 points", srp["S0"].shifted(-base["S0"].mean).scaled(100), (43, 51), "points"),
        value("S0", "0.60", srp["S0"], (0.56, 0.64)),
        value("data on L2", "-5 %", loss, (-6.5, -3.5), "%"),
    ]


EXPERIMENT = Experiment(
    id="srp-fig4",
    paper=PAPER,
    title="SRP frees a flow that has no part in a hot spot",
    setup=switches.SETUP + " Under the baseline and under SRP.",
    cases=cases,
    draw=switches.draw,
    claims=claims,
)
