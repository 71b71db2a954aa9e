"""lhrp-fig2: what SRP costs under uniform traffic of medium and of small messages."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments import bracket, lhrp_uniform
from tailback.experiments.draw import (
    LABELS,
    OFFERED,
    finish,
    seeds_told,
    whole_decades,
)
from tailback.experiments.lhrp_paper import PAPER, SPANS
from tailback.experiments.model import Case, Claim, Data, Experiment, Search, hard, value
from tailback.figures import style

_SIZES = (48, 4)
_KINDS = ("none", "srp")


def cases(full: bool) -> list[Case]:
    """The baseline and SRP with each size."""
    return [
        lhrp_uniform.case(protocol, load, full, flits=size)
        for size in _SIZES
        for protocol in _KINDS
        for load in (_loads_48(full) if size == 48 else lhrp_uniform.loads(protocol, full))
    ]


def _loads_48(full: bool) -> tuple[float, ...]:
    return (*lhrp_uniform.LOADS_FULL, 0.85, 0.95) if full else (*lhrp_uniform.LOADS, 0.8)


def searches(full: bool) -> list[Search]:
    """The saturation of both with each size."""
    return [lhrp_uniform.search(kind, full, (0.7, 1.0), 48) for kind in _KINDS] + [
        lhrp_uniform.search(kind, full, lhrp_uniform.brackets(kind, full)) for kind in _KINDS
    ]


def draw(data: Data) -> Figure:
    """Message latency over load, a panel per size."""
    with style.styled():
        figure, panels = style.figure(2, height=2.4)
        for axes, size in zip(panels, _SIZES, strict=True):
            for kind in _KINDS:
                lhrp_uniform.draw_latency(axes, data, kind, size)
            axes.set_title(f"{size}-flit messages", loc="left")
            style.logarithmic(axes, "y")
            axes.set_ylabel("mean message\nlatency [us]")
        whole_decades(*panels)
        note = f"vertical: saturation; latencies: {seeds_told(data, flits=_SIZES[0])}; {lhrp_uniform.SHORT}"
        return finish(figure, panels[-1], OFFERED, "mean message\nlatency [us]", note)


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = {size: [data.saturation(protocol=kind, flits=size) for kind in _KINDS] for size in _SIZES}
    told = {
        size: ", ".join(f"{LABELS[kind]} {bracket.told(each)}" for kind, each in zip(_KINDS, of, strict=True))
        for size, of in found.items()
    }
    more = {size: bracket.change(srp, base) for size, (base, srp) in found.items()}
    made = {
        48: [hard("48 flits: SRP tracks the baseline (within 5 %)", told[48], abs(more[48].mean) <= 5)],
        4: [
            hard("4 flits: SRP saturates far earlier", told[4], more[4].mean < -15),
            value(
                "4 flits: SRP below the baseline by",
                "almost 30 %",
                more[4].scaled(-1),
                (20, 40),
                "%",
                note="Closed form: 57.1 % instead of 80 %, 28.6 % less.",
            ),
        ],
    }
    return [bracket.if_bracketed(claim, *found[size]) for size, of in made.items() for claim in of]


EXPERIMENT = Experiment(
    id="lhrp-fig2",
    paper=PAPER,
    title="SRP with medium and small messages",
    setup="All 1056 endpoints send messages of 48 or 4 flits to random others. One seed. "
    f"Latencies: {SPANS} {lhrp_uniform.SEARCHED}",
    cases=cases,
    draw=draw,
    claims=claims,
    searches=searches,
)
