"""lhrp-fig10: long messages under uniform traffic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from tailback.experiments import bracket, lhrp_uniform
from tailback.experiments.draw import LABELS, OFFERED, finish, seeds_told, whole_decades
from tailback.experiments.lhrp_paper import (
    FULL,
    PAPER,
    ROOMIER,
    ROOMY,
    SPANS,
    scenario,
    times,
    uniform,
    uniform_cost,
)
from tailback.experiments.measure import accepted, per_packet
from tailback.experiments.model import Case, Claim, Data, Experiment, Search, Times, hard, value
from tailback.figures import style
from tailback.sweeps.found import Saturation

_SIZES = (192, 512)
_LOADS = (0.3, 0.6)
_LOADS_FULL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
_KINDS = ("none", "srp", "lhrp")


def cases(full: bool) -> list[Case]:
    """Each size under the baseline, SRP and LHRP."""
    span = replace(times(full), drain=20)
    return _full_load(replace(span, drain=0)) + [
        Case(
            {"protocol": protocol, "flits": size, "load": load, "seed": 1},
            scenario(f"uniform, {size} flits, {protocol}", protocol, uniform(load, f"{size} flits"), span, 1),
            uniform_cost(load, size, span),
        )
        for size in _SIZES
        for protocol in _KINDS
        for load in (_LOADS_FULL if full else _LOADS)
    ]


def _full_load(span: Times) -> list[Case]:
    """512 flits at full load, as it is and with buffers that hold a jam: what refusals do."""
    return [
        Case(
            {"whole": protocol, "buffers": buffers, "seed": 1},
            scenario(f"uniform, 512 flits, {protocol}", protocol, uniform(1.0, "512 flits"), span, 1).replace(
                changes
            ),
            uniform_cost(1.0, 512, span),
        )
        for protocol in ("none", "lhrp")
        for buffers, changes in {"paper": {}, "roomy": ROOMY}.items()
    ]


def _refusals(data: Data) -> str:
    """Why LHRP does not saturate before the baseline."""
    got = {
        (protocol, buffers): data.mean(accepted("uniform"), whole=protocol, buffers=buffers).scaled(100)
        for protocol in ("none", "lhrp")
        for buffers in ("paper", "roomy")
    }
    dropped = data.mean(per_packet("uniform", "dropped"), whole="lhrp", buffers="paper").mean
    searched = f"; saturation, of each protocol: {_roomy(data)}" if _is_searched(data) else ""
    return (
        f"LHRP refuses {100 * dropped:.1f} % of the packets at full load, so that it can lose little more; "
        "and refusals also relieve: a refused packet waits at its source, and not in buffers of a "
        "credit round trip in the way of others (lhrp-fig11 shows it by threshold). Accepted at full load: "
        f"LHRP {got['lhrp', 'paper']} %, baseline {got['none', 'paper']} %. {ROOMIER} it is "
        f"{got['lhrp', 'roomy']} and {got['none', 'roomy']} %{searched}."
    )


def _is_searched(data: Data) -> bool:
    """Whether saturations with larger buffers were: in full size only."""
    return all(data.saturation(roomy=kind).is_bracketed for kind in _KINDS)


def _roomy(data: Data) -> str:
    return ", ".join(f"{LABELS[p]} {bracket.told(data.saturation(roomy=p))}" for p in _KINDS)


def searches(full: bool) -> list[Search]:
    """The saturation for each size and protocol, and in full size for 512 flits with larger buffers."""
    roomy = [_search({"roomy": protocol}, protocol, 512, full) for protocol in _KINDS]
    return [
        _search({"protocol": protocol, "flits": size}, protocol, size, full)
        for size in _SIZES
        for protocol in _KINDS
    ] + (roomy if full else [])


def _search(labels: dict[str, Any], protocol: str, size: int, full: bool) -> Search:
    span = replace(FULL, drain=10) if full else Times(20, 40, 10)
    made = scenario(f"uniform, {size} flits, {protocol}", protocol, uniform(0.5, f"{size} flits"), span, 1)
    return Search(
        labels,
        made.replace(ROOMY) if "roomy" in labels else made,
        "traffic.uniform.load",
        0.6,
        1.0,
        0.005 if full else 0.02,
        2 if full else 1,
        cost=6 * uniform_cost(0.85, size, span),
    )


def draw(data: Data) -> Figure:
    """Message latency over load, a panel per size."""
    with style.styled():
        figure, panels = style.figure(2, height=2.6)
        for axes, size in zip(panels, _SIZES, strict=True):
            for protocol in data.values("protocol"):
                lhrp_uniform.draw_latency(axes, data, protocol, size)
            axes.set_title(f"{size}-flit messages", loc="left")
            axes.set_ylabel("mean message\nlatency [us]")
            style.logarithmic(axes, "y")
        whole_decades(*panels)
        note = f"vertical: saturation; latencies: {seeds_told(data)}; {lhrp_uniform.SHORT}"
        finish(figure, panels[-1], OFFERED, "mean message\nlatency [us]", note)
    return figure


def _first(found: Mapping[str, Saturation]) -> bool | None:
    """Whether LHRP refuses a load that all others are known to accept; None where brackets overlap."""
    below = [bracket.is_below(found["lhrp"], found[other]) for other in _KINDS if other != "lhrp"]
    if False in below:
        return False
    return None if None in below else True


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = {size: {p: data.saturation(protocol=p, flits=size) for p in _KINDS} for size in _SIZES}
    told = {
        size: ", ".join(f"{LABELS[p]} {bracket.told(each)}" for p, each in of.items())
        for size, of in found.items()
    }
    small, large = ([each.load for each in found[size].values()] for size in _SIZES)
    none, srp, lhrp = (found[512][p] for p in _KINDS)
    alike = hard(
        "192 flits: all saturate alike (within 5 points)", told[192], max(small) - min(small) <= 0.05
    )
    less = value(
        "512 flits: LHRP less than the baseline by",
        "-8 %",
        bracket.change(lhrp, none),
        (-14, -3),
        "%",
        cause="As above.",
    )
    both = hard(
        "SRP is like the baseline at both sizes",
        f"{told[192]}; {told[512]}",
        all(abs(of[1] - of[0]) <= 0.05 for of in (small, large)),
    )
    return [
        bracket.if_bracketed(alike, *found[192].values()),
        hard(
            "512 flits: LHRP saturates first, before the baseline and SRP",
            told[512],
            _first(found[512]),
            note="First: it refuses a load that the others accept (the brackets of the searches part them).",
            cause=lambda: _refusals(data),
        ),
        bracket.if_bracketed(less, lhrp, none),
        bracket.if_bracketed(both, none, srp, *(found[192][p] for p in ("none", "srp"))),
    ]


EXPERIMENT = Experiment(
    id="lhrp-fig10",
    paper=PAPER,
    title="Uniform traffic of long messages",
    setup="All 1056 endpoints send messages of 192 or 512 flits (8 or 22 packets) to random others. "
    f"{SPANS} One seed; full: 2 for the saturations. Saturations in the reduced size: 40 us after 20.",
    cases=cases,
    draw=draw,
    claims=claims,
    searches=searches,
)
