"""srp-fig10: what SRP adds to the use of the channels."""

from __future__ import annotations

from functools import partial

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import LABELS, Line, look, over_load, protocol_lines
from tailback.experiments.measure import ejection_share, utilisation
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER, PROTOCOLS

_CHANNELS = {"injection": 256, "level1": 512, "ejection": 256}
_USED = utilisation(_CHANNELS)
_NOTIFIED = ejection_share("notification")
_SMALL = "1 packet"
_UNSATURATED = 0.9
"""Past this load SRP accepts more than the baseline, and uses more for that."""
_FORCED = {"n_min": _SMALL}


def cases(full: bool) -> list[Case]:
    """Every protocol with 4-packet messages; the baseline and SRP forced on with 1-packet messages."""
    return (
        [
            uniform.case(protocol, load, full, seed=seed, size=4)
            for protocol in PROTOCOLS
            for load in uniform.loads(full, uniform.FEWER_LOADS)
            for seed in uniform.seeds(full, 2)
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
        Line(f"{LABELS[kind]}, 1-packet messages", look(kind), {"protocol": kind, "size": 1}, at)
        for kind, at in (("none", 3), ("srp", 4))
    ]
    return over_load(data, _USED, protocol_lines(data, size=4) + small, "mean use of a channel [%]")


def _extra(data: Data, protocol: str, size: int) -> dict[float, float]:
    """Points of utilisation over the baseline's, by load."""
    steps, own = data.curve(_USED, "load", protocol=protocol, size=size)
    _, base = data.curve(_USED, "load", protocol="none", size=size)
    return {at: 100 * (one.mean - two.mean) for at, one, two in zip(steps, own, base, strict=True)}


def _over(data: Data, loads: list[float]) -> bool:
    """Whether ECN uses more than the baseline at these loads, under every seed."""
    pairs = [
        pair
        for load in loads
        for pair in zip(
            *(data.results(protocol=kind, size=4, load=load) for kind in ("ecn", "none")), strict=True
        )
    ]
    return all(_USED(own) > _USED(base) for own, base in pairs)


def _why_forced(data: Data, load: float) -> str:
    """What the extra of 1-packet messages consists of, where it is largest."""

    def more(*kinds: str) -> float:
        own, base = (
            data.mean(utilisation(_CHANNELS, kinds), protocol=kind, size=1, load=load).mean
            for kind in ("srp", "none")
        )
        return 100 * (own - base)

    asked, answered, copies = more("reservation", "grant"), more("ack", "nack"), more("data")
    lost = 100 * data.mean(uniform.DROPPED, protocol="srp", size=1, load=load).mean
    return (
        f"At {load:.0%}, reservations and grants add {asked:.2f} points, acknowledgements (of speculative "
        f"packets only) {answered:.2f}, and data {copies:.2f}: what was dropped, {lost:.2f} % of the "
        "injection bandwidth, was sent twice. For 20 points, the data of what is dropped would have to be "
        f"{(20 - asked - answered) / copies:.1f} times as much. Drops are few for the same reasons as with "
        "4-packet messages (srp-fig11)."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    below = [load for load in data.values("load", size=4) if load <= _UNSATURATED]
    srp, ecn, forced = (
        {load: more for load, more in _extra(data, protocol, size).items() if load <= _UNSATURATED}
        for protocol, size in (("srp", 4), ("ecn", 4), ("srp", 1))
    )
    top, most = (max(of, key=lambda load: of[load]) for of in (srp, forced))
    told = ", ".join(f"{load:.0%}: SRP {srp[load]:+.2f}, ECN {ecn[load]:+.3f}" for load in srp)
    why = partial(uniform.why_dropped, data)
    notified = [
        load for load in below if data.mean(_NOTIFIED, protocol="ecn", size=4, load=load).mean >= 1e-5
    ]
    return [
        hard(
            "SRP uses more than ECN (up to 90 %), ECN more than the baseline where it notifies",
            f"points over the baseline: {told}",
            all(srp[load] > ecn[load] for load in below) and bool(notified) and _over(data, notified),
            note="ECN is judged at the loads at which notifications take at least 0.001 % of the ejection "
            "channels, seed by seed: " + ", ".join(f"{load:.0%}" for load in notified),
            cause=why,
        ),
        hard("SRP's largest extra lies past 70 % load", f"at {top:.0%}", top > 0.7, cause=why),
        value("SRP's largest extra", "below 2.5 points", srp[top], (0, 4), "points", cause=why),
        value(
            "SRP forced on 1-packet messages: largest extra",
            "up to 20 points",
            forced[most],
            (14, 26),
            "points",
            cause=lambda: _why_forced(data, most),
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-fig10",
    paper=PAPER,
    title="Channel utilisation under uniform traffic",
    setup=uniform.SETUP.format("4-packet messages") + " Mean over all injection, ejection and "
    "tree channels, under seeds 1 and 2; 1-packet messages under seed 1 (full size: seeds 1 to 3 and 1).",
    cases=cases,
    draw=draw,
    claims=claims,
)
