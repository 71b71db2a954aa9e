"""srp-fig10: what SRP adds to the use of the channels."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import Line, over_load, protocol_lines
from tailback.experiments.measure import utilisation
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER, kinds
from tailback.stats import mean_interval

_USED = utilisation({"injection": 256, "level1": 512, "ejection": 256})
_SMALL = "1 packet"
_FORCED = {"n_min": _SMALL}


def cases(full: bool) -> list[Case]:
    """Every protocol with 4-packet messages; the baseline and SRP forced on with 1-packet messages."""
    return (
        [
            uniform.case(protocol, load, full, seed=seed, size=4)
            for protocol in kinds()
            for load in uniform.loads(full, uniform.FEWER_LOADS)
            for seed in uniform.seeds(full)
        ]
        + [
            uniform.case(protocol, load, full, _SMALL, changes=changes, size=1)
            for protocol, changes in (("none", None), ("srp", _FORCED))
            for load in uniform.loads(full, uniform.FEWER_LOADS)
        ]
        + uniform.rules()
    )


def draw(data: Data) -> Figure:
    """Mean use of a channel over load."""
    small = [
        Line(f"{name}, 1-packet messages", number, {"protocol": kind, "size": 1})
        for kind, name, number in (("none", "baseline", 5), ("srp", "SRP", 6))
    ]
    return over_load(data, _USED, protocol_lines(data, size=4) + small, "mean use of a channel [%]")


def _extra(data: Data, protocol: str, size: int) -> dict[float, float]:
    """Points of utilisation over the baseline's, by load."""
    steps, own = data.curve(_USED, "load", protocol=protocol, size=size)
    _, base = data.curve(_USED, "load", protocol="none", size=size)
    return {at: 100 * (one.mean - two.mean) for at, one, two in zip(steps, own, base, strict=True)}


def _why_forced(data: Data) -> str:
    """What the extra of 1-packet messages consists of."""
    loads = [load for load in data.values("load", size=1) if load >= 0.7]
    drops = ", ".join(
        f"{100 * data.mean(uniform.DROPPED, protocol='srp', size=1, load=load).mean:.1f} % at {load:.0%}"
        for load in loads
    )
    return (
        "A reservation and a grant are 2 flits for 32 of data, 5 points at 80 % load; acknowledgements, of "
        "speculative packets only, are under 1. The rest is what is dropped, which no ejection channel "
        f"carries: of the injection bandwidth {drops}. For 20 points, drops would have to be some five times "
        "as many. They are few for the same reasons as with 4-packet messages (srp-fig11)."
    )


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-fig10."""
    srp, ecn, forced = _extra(data, "srp", 4), _extra(data, "ecn", 4), _extra(data, "srp", 1)
    top = max(srp, key=lambda load: srp[load])
    told = ", ".join(f"{load:.0%}: SRP {srp[load]:+.2f}, ECN {ecn[load]:+.2f}" for load in srp)
    why = uniform.why_dropped(data)
    below = [load for load in srp if load <= 0.9]
    return [
        hard(
            "SRP uses more than ECN, ECN no less than the baseline (up to 90 %)",
            f"points over the baseline: {told}",
            all(srp[load] > ecn[load] >= -0.05 for load in below),
            cause=why,
        ),
        hard("SRP's largest extra lies past 70 % load", f"at {top:.0%}", top >= 0.7, cause=why),
        value(
            "SRP's largest extra", "below 2.5 points", mean_interval([srp[top]]), (0, 4), "points", cause=why
        ),
        value(
            "SRP forced on 1-packet messages: largest extra",
            "up to 20 points",
            mean_interval([max(forced.values())]),
            (14, 26),
            "points",
            cause=_why_forced(data),
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-fig10",
    paper=PAPER,
    title="Channel utilisation under uniform traffic",
    setup=uniform.SETUP.format("4-packet messages") + " Mean over all injection, ejection and tree channels.",
    cases=cases,
    draw=draw,
    claims=claims,
)
