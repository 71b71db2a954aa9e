"""lhrp-fig12: LHRP for small messages and SRP for large ones in one network."""

from __future__ import annotations

import math
from dataclasses import replace

from matplotlib.figure import Figure

from tailback.experiments.draw import (
    LABELS,
    OFFERED,
    curves,
    finish,
    protocol_lines,
    seeds_told,
    whole_decades,
)
from tailback.experiments.lhrp_paper import FULL, PAPER, scenario, uniform_cost
from tailback.experiments.measure import accepted, latency
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard, unjudged, value
from tailback.figures import style
from tailback.stats import Interval

_KINDS = ("none", "lhrp+srp")
_SIZES = {"small": 4, "large": 512}
_LOADS = {
    "none": (0.4, 0.55, 0.7, 0.72, 0.74, 0.76, 0.82, 0.84, 0.86),
    "lhrp+srp": (0.4, 0.55, 0.7, 0.72, 0.74, 0.76, 0.82),
}
_LOADS_FULL = (0.1, 0.3, 0.5, 0.6, 0.7, 0.72, 0.74, 0.76, 0.78, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.95)
"""Steps of 2 points where a class saturates, which leave it open by 1.4 %: it is judged to 3 %."""


def cases(full: bool) -> list[Case]:
    """The baseline and the combination at every load."""
    span = replace(FULL, drain=20) if full else Times(20, 30, 10)
    return [
        Case(
            {"protocol": protocol, "load": load, "seed": 1},
            scenario(f"uniform, 4 and 512 flits, {protocol}", protocol, _traffic(load), span, 1),
            uniform_cost(load / 2, 4, span) + uniform_cost(load / 2, 512, span),
        )
        for protocol in _KINDS
        for load in (_LOADS_FULL if full else _LOADS[protocol])
    ]


def _traffic(load: float) -> str:
    return "".join(
        f"""
[[traffic]]
name = "{name}"
pattern = "uniform"
load = {load / 2}
message = "{flits} flits"
share = true
"""
        for name, flits in _SIZES.items()
    )


def draw(data: Data) -> Figure:
    """Message latency over load, a panel per size."""
    with style.styled():
        figure, panels = style.figure(2, height=2.4)
        for axes, (name, flits) in zip(panels, _SIZES.items(), strict=True):
            curves(axes, data, latency(name, "message"), "load", protocol_lines(data), 1e-3)
            axes.set_title(f"{flits}-flit messages", loc="left")
            style.logarithmic(axes, "y")
            axes.set_ylabel("mean message\nlatency [us]")
        whole_decades(*panels)
        return finish(figure, panels[-1], OFFERED, "mean message\nlatency [us]", seeds_told(data))


def saturation(data: Data, name: str, protocol: str) -> Interval:
    """The load at which a class's accepted/offered falls below 97 %, interpolated, in percent.

    NaN if that is not between two of the loads.
    """
    loads, points = data.curve(accepted(name), "load", protocol=protocol)
    ratios = [2 * point.mean / load for load, point in zip(loads, points, strict=True)]
    for at, ratio in enumerate(ratios):
        if ratio < 0.97:
            if at == 0:
                break
            part = (ratios[at - 1] - 0.97) / (ratios[at - 1] - ratio)
            step = loads[at] - loads[at - 1]
            return Interval(100 * (loads[at - 1] + part * step), 100 * step / 2, 1)
    return Interval(math.nan, math.nan, 1)


def _shared_out(data: Data) -> str:
    """Who gets what where both protocols are past saturation."""
    load = next(load for load in data.values("load") if load > 0.8)
    got = {
        kind: [100 * data.mean(accepted(name), protocol=kind, load=load).mean for name in _SIZES]
        for kind in _KINDS
    }
    names = list(_SIZES)
    told = "; ".join(
        f"{LABELS[kind]} {of[names.index('small')]:.1f} % of small and {of[names.index('large')]:.1f} % of "
        f"large messages, {sum(of):.1f} % together"
        for kind, of in got.items()
    )
    return (
        f"Next to nothing is lost, but shared out otherwise. Accepted at {load:.0%}: {told}. Past saturation "
        "the baseline serves the small messages, which bring most of the packets of an endpoint's round "
        "robin, at the cost of the large ones. Under LHRP+SRP what large messages were granted goes ahead of "
        "the small ones' first tries."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = {(name, kind): saturation(data, name, kind) for name in _SIZES for kind in _KINDS}
    told = {name: ", ".join(f"{LABELS[kind]} {found[name, kind]} %" for kind in _KINDS) for name in _SIZES}
    loss = {name: 100 * (found[name, "lhrp+srp"].mean / found[name, "none"].mean - 1) for name in _SIZES}
    large = hard(
        "large messages saturate as in the baseline (within 3 %)",
        told["large"],
        None if math.isnan(loss["large"]) else abs(loss["large"]) <= 3,
        note="Saturation: where accepted over offered falls below 97 %, interpolated between runs.",
    )
    text = "small messages: saturation over the baseline's"
    if math.isnan(loss["small"]):
        return [
            large,
            unjudged(text, "value", "-5 %", f"{told['small']}: outside of the loads that were run."),
        ]
    small = value(
        text, "-5 %", loss["small"], (-9, 0), "%", note=told["small"], cause=lambda: _shared_out(data)
    )
    return [large, small]


EXPERIMENT = Experiment(
    id="lhrp-fig12",
    paper=PAPER,
    title="LHRP and SRP in one network",
    setup="All 1056 endpoints send 4-flit and 512-flit messages to random others, half of the data in each. "
    "LHRP below 48 flits, SRP from there on, one scheduler in the last-hop switch. Reduced: 20 us of "
    "warm-up and 30 us measured instead of 30 and 50; one seed.",
    cases=cases,
    draw=draw,
    claims=claims,
)
