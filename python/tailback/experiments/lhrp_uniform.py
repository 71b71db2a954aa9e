"""The runs that Figures 7 and 8 of the LHRP paper share: uniform 4-flit messages under each protocol."""

from __future__ import annotations

from dataclasses import replace

from tailback.experiments.lhrp_paper import protocols, scenario, times, uniform, uniform_cost
from tailback.experiments.model import Case

LOADS = (0.2, 0.5, 0.7, 0.8, 0.9)
LOADS_FULL = (
    0.1,
    0.2,
    0.3,
    0.4,
    0.45,
    0.5,
    0.55,
    0.6,
    0.65,
    0.7,
    0.72,
    0.74,
    0.76,
    0.78,
    0.8,
    0.85,
    0.9,
    1.0,
)
SHARES_LOAD = 0.8


def case(protocol: str, load: float, full: bool, seed: int = 1) -> Case:
    """One protocol at one load."""
    span = replace(times(full), drain=10)
    return Case(
        {"protocol": protocol, "load": load, "seed": seed},
        scenario(f"uniform, 4 flits, {protocol}", protocol, uniform(load, "4 flits"), span, seed),
        uniform_cost(min(load, 0.8), 4, span),
    )


def cases(full: bool) -> list[Case]:
    """Every protocol at every load."""
    loads = LOADS_FULL if full else LOADS
    return [
        case(protocol, load, full) for protocol in protocols() if protocol != "lhrp+srp" for load in loads
    ]
