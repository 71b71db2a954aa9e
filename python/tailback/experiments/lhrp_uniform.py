"""The runs that Figures 7 and 8 of the LHRP paper share: uniform 4-flit messages under each protocol."""

from __future__ import annotations

import math
from dataclasses import replace

from matplotlib.axes import Axes

from tailback.experiments.draw import LABELS, curve, look
from tailback.experiments.lhrp_paper import PROTOCOLS, scenario, times, uniform, uniform_cost
from tailback.experiments.measure import latency
from tailback.experiments.model import Case, Data, Search, Times
from tailback.figures import style

LOADS = (0.2, 0.5)
"""Of small messages; near saturation there are the searches, and a run of 80 us takes a minute."""
LOADS_FULL = (0.2, 0.4, 0.55, 0.75)
"""Those up to where a protocol saturates: a latency beyond it grows with the run, and is not drawn."""
SHARES_LOAD = 0.8
_SMALL = {"topology.p": 2, "topology.a": 4, "topology.h": 2, "topology.groups": 9}
LONG = Times(100, 400, 0)
_SEARCHED = {False: Times(10, 10, 5), True: Times(100, 100, 5)}
SEARCHED = (
    "Saturations in the reduced size: accepted in 10 us after a warm-up of 10 (messages over 24 flits: 30), "
    "to within a point; full: 100 us after 100, a quarter of a point, of SRP with 4 flits two; one seed."
)


def case(protocol: str, load: float, full: bool, flits: int = 4, span: Times | None = None) -> Case:
    """One protocol at one load."""
    span = span or replace(times(full), drain=10)
    return Case(
        {"protocol": protocol, "load": load, "seed": 1, "flits": flits},
        scenario(f"uniform, {flits} flits, {protocol}", protocol, uniform(load, f"{flits} flits"), span, 1),
        uniform_cost(min(load, 0.8), flits, span),
    )


def small(protocol: str, load: float, span: Times = LONG) -> Case:
    """A run on 72 endpoints, which can last until something is refused."""
    whole = case(protocol, load, False, span=span)
    labels = {"small": protocol, "load": load, "window": span.duration, "seed": 1}
    return Case(labels, whole.scenario.replace(_SMALL), whole.cost * 72 / 1056)


def search(protocol: str, full: bool, between: tuple[float, float], flits: int = 4) -> Search:
    """The saturation of a protocol; searches that are alike share their runs."""
    span = _SEARCHED[full] if full or flits <= 24 else Times(10, 30, 5)
    return Search(
        {"protocol": protocol, "flits": flits},
        scenario(f"uniform, {flits} flits, {protocol}", protocol, uniform(0.5, f"{flits} flits"), span, 1),
        "traffic.uniform.load",
        *between,
        _tolerance(protocol, full, flits),
        1,
        cost=3 * uniform_cost(between[1], flits, span),
    )


def _tolerance(protocol: str, full: bool, flits: int) -> float:
    """How far a bracket is closed; SRP's is far from the others', and its runs beyond take twice as long."""
    if not full:
        return 0.02
    return 0.04 if protocol == "srp" and flits == 4 else 0.005


def brackets(protocol: str, full: bool) -> tuple[float, float]:
    """Loads between which a protocol saturates under 4-flit messages; full, near those reduced."""
    if full:
        return (0.54, 0.62) if protocol == "srp" else (0.74, 0.84)
    return (0.35, 0.67) if protocol == "srp" else (0.58, 0.9)


def loads(protocol: str, full: bool) -> tuple[float, ...]:
    """The loads of a curve under 4-flit messages."""
    return tuple(load for load in (LOADS_FULL if full else LOADS) if load < brackets(protocol, full)[1])


def cases(full: bool) -> list[Case]:
    """Every protocol at every load; in the reduced size high loads for as long as a search takes."""
    if full:
        return [case(protocol, load, full) for protocol in PROTOCOLS for load in loads(protocol, full)]
    low, high = LOADS
    brief = Times(10, 10, 10)
    return [
        case(protocol, load, full, span=None if load == low else brief)
        for protocol in PROTOCOLS
        for load in (low, high, SHARES_LOAD)
        if load < brackets(protocol, full)[1]
    ]


SHORT = "hollow: runs of the searches"
"""What a figure says of the points between the others."""


def draw_latency(axes: Axes, data: Data, protocol: str, flits: int) -> None:
    """Mean message latency [us] of a protocol over the offered load, and where it saturates."""
    loads, means = data.curve(latency("uniform", "message"), "load", protocol=protocol, flits=flits)
    found = data.saturation(protocol=protocol, flits=flits)
    points = {tried.load: tried.latency_ns for tried in found.tried if not math.isnan(tried.latency_ns.mean)}
    short = points.keys() - set(loads)
    points |= dict(zip(loads, means, strict=True))
    along = sorted(points)
    shown = [points[load].scaled(1e-3) for load in along]
    hollow = [load in short for load in along]
    curve(axes, [100 * load for load in along], shown, LABELS[protocol], look(protocol), hollow)
    if found.is_bracketed:
        axes.axvline(100 * found.load, linewidth=0.8, **style.line(look(protocol)))
