"""srp-scale: a three-level fat tree with longer channels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import bars, hold, look, seeds_told
from tailback.experiments.measure import accepted, delivered_latency, per_packet
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard, value
from tailback.experiments.srp_hotspot import Hotspot
from tailback.experiments.srp_paper import PAPER, cost, scenario
from tailback.figures import style
from tailback.stats import Interval, mean_interval

_TREE = """
[topology]
kind = "fat-tree"
levels = 3
arity = {arity}

[routing]
kind = "nca"
up = "random"
"""
_VARIANTS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("baseline", "none", {}),
    ("SRP", "srp", {}),
    *((f"SRP, TTW {wait} us", "srp", {"time_to_wait": f"{wait} us"}) for wait in ("2.6", "10", "100")),
)
_SPANS = {True: Times(500, 1000, 100), False: Times(300, 300, 50)}
_ACCEPTED, _BACKGROUND = accepted("uniform"), accepted("background")
_DROPS = per_packet("uniform", "dropped")
_FLIGHT = delivered_latency("hot")


def cases(full: bool) -> list[Case]:
    """Uniform traffic at full load, and a 200:1 hot spot with a background of 40 %."""
    arity = 16 if full else 8
    made = [
        _case(arity, kind, uniform.traffic(1.0, "4 packets"), _SPANS[full], seed, changes, variant=name)
        for name, kind, changes in _VARIANTS
        for seed in uniform.seeds(full, 3)
    ]
    spot = Hotspot(200, 1, arity**3)
    alone, both = spot.background(0.4), spot.background(0.4) + spot.traffic()
    span = Times(1000, 1000, 100) if full else _SPANS[full]
    return made + [
        _case(arity, kind, both if hot else alone, span, 1, {}, hot=hot, protocol=kind)
        for kind, hot in (("none", True), ("srp", True), ("srp", False))
    ]


def _case(
    arity: int, kind: str, traffic: str, span: Times, seed: int, changes: Mapping[str, Any], **labels: Any
) -> Case:
    made = scenario(
        f"{arity**3} endpoints, {kind}",
        kind,
        traffic,
        span,
        seed,
        network=_TREE.format(arity=arity),
        changes=changes,
    )
    longer = made.replace({"link.latency": "128 ns"})
    return Case({"seed": seed, **labels}, longer, 2 * cost(0.7, span, arity**3))


def draw(data: Data) -> Figure:
    """Accepted at full offered load, a bar per variant."""
    with style.styled():
        figure, (axes,) = style.figure(height=2.6)
        names = [name.replace(", ", ",\n") for name, _, _ in _VARIANTS]
        found = [data.mean(_ACCEPTED, variant=name).scaled(100) for name, _, _ in _VARIANTS]
        bars(axes, names, found, [look(kind) for _, kind, _ in _VARIANTS])
        hold(axes, 0, 100)
        axes.set_xlabel(seeds_told(data, variant="SRP"))
        axes.set_ylabel("accepted at full offered load\n[% of injection bandwidth]")
    return figure


def _gain(data: Data) -> Interval:
    """Percent that the longer time-to-wait adds to what is accepted, seed by seed."""
    usual, longer = (data.results(variant=name) for name in ("SRP", "SRP, TTW 2.6 us"))
    pairs = zip(longer, usual, strict=True)
    return mean_interval([100 * (_ACCEPTED(one) / _ACCEPTED(two) - 1) for one, two in pairs])


def _in_noise(gain: Interval) -> str:
    """Whether the seeds tell a difference from none."""
    if gain.low <= 0 <= gain.high:
        return "The interval holds 0: the seeds show no difference between the two times."
    return "The interval does not hold 0: the two times differ."


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    got = {name: data.mean(_ACCEPTED, variant=name).scaled(100) for name, _, _ in _VARIANTS}
    beside, alone = (data.mean(_BACKGROUND, protocol="srp", hot=hot).scaled(100) for hot in (True, False))
    base = data.mean(_BACKGROUND, protocol="none", hot=True).scaled(100)
    flight = data.mean(_FLIGHT, protocol="srp", hot=True).scaled(1e-3)
    usual, gain = got["SRP"], _gain(data)
    waits = [name for name, kind, _ in _VARIANTS if kind == "srp"]
    lost = ", ".join(str(data.mean(_DROPS, variant=name).scaled(100)) for name in waits)
    kept = ", ".join(str(got[name]) for name in waits)
    waited = (
        f"With a time-to-wait of 1.3, 2.6, 10 and 100 us, {lost} % of the packets are dropped, and "
        f"{kept} % are accepted."
    )
    return [
        hard(
            "a 200:1 hot spot is managed with the same parameters",
            f"background {beside} %, {alone} % without the hot spot ({base} % without control); hot packets "
            f"are {flight} us in flight",
            beside.mean >= 0.97 * alone.mean,
        ),
        hard(
            "uniform traffic saturates as in the baseline (within 2 points)",
            f"SRP {usual} %, baseline {got['baseline']} %",
            abs(usual.mean - got["baseline"].mean) <= 2,
            cause="Drops do not bound SRP here: speculative packets have the lowest priority, and take only "
            f"what granted ones leave. {waited} What bounds it are its reservations, which leave room: no "
            "more than 1/(1 + epsilon) = 95.2 %. So it stays above the baseline, as with 256 endpoints.",
        ),
        value(
            "TTW 2.6 us: more than with 1.3 us by",
            "+3 %",
            gain,
            (0, 6),
            "%",
            note="Seed by seed. " + _in_noise(gain),
            cause="At full load a speculative packet that waits at all waits for far longer than 2.6 us, "
            f"behind granted ones. {waited}",
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-scale",
    paper=PAPER,
    title="A larger network with longer channels",
    setup="A three-level fat tree (full: 4096 endpoints; reduced: 512) with channels of 128 ns: 4-packet "
    "messages uniformly at full load; and 200 endpoints that send to one beside a background of 40 %. "
    "Uniform traffic is measured after 0.3 ms, for 0.3 ms (full size: after 0.5 ms, for 1 ms), under seeds 1 "
    "to 3; the hot spot likewise (full size: after 1 ms), under seed 1.",
    cases=cases,
    draw=draw,
    claims=claims,
)
