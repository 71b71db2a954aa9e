"""What the experiments of the SRP paper with uniform traffic share: sections 5.4 and 6.1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tailback.experiments.lhrp_paper import Times
from tailback.experiments.measure import packets_share
from tailback.experiments.model import Case, Data
from tailback.experiments.srp_paper import cost, scenario

SETUP = (
    "All 256 endpoints of the two-level fat tree send {} to random others; measured for 1 ms after 0.5 ms."
)
LOADS = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
LOADS_FULL = (0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
DROPPED = packets_share("uniform", "dropped")
DROP_RATE = "dropped speculative packets\n[% of injection bandwidth]"


def loads(full: bool) -> tuple[float, ...]:
    """Offered loads of a size."""
    return LOADS_FULL if full else LOADS


def times(full: bool) -> Times:
    """The window of section 5.4 is not given; 0.5 to 1.5 ms here."""
    return Times(500, 4500 if full else 1000, 100)


def traffic(load: float, message: Any) -> str:
    """Uniform traffic of all endpoints."""
    size = json.dumps(message) if isinstance(message, str) else message_mix(message)
    return f'[[traffic]]\nname = "uniform"\npattern = "uniform"\nload = {load}\nmessage = {size}\n'


def message_mix(mix: Mapping[str, Any]) -> str:
    """A mix of message sizes as an inline table."""
    return "{" + ", ".join(f"{key} = {json.dumps(item)}" for key, item in mix.items()) + "}"


def case(
    protocol: str,
    load: float,
    full: bool,
    message: Any = "4 packets",
    *,
    changes: Mapping[str, Any] | None = None,
    seed: int = 1,
    **labels: Any,
) -> Case:
    """One run; runs that are alike have the same scenario, whichever experiment they are for."""
    span = times(full)
    name = message if isinstance(message, str) else "a mix"
    title = f"uniform, messages of {name}, {protocol}"
    return Case(
        {"protocol": protocol, "load": load, "seed": seed, **labels},
        scenario(title, protocol, traffic(load, message), span, seed, changes=changes),
        cost(load, span),
    )


_FLITS, _AT, _SHORT = (32, 8), (0.5, 0.7), Times(150, 150, 100)
"""Packet sizes, the paper's first, and loads of the runs that tell why speculative packets are dropped."""


def finer() -> list[Case]:
    """SRP with the paper's packets and with smaller ones; messages and reservations are as long as before."""
    sizes = {"n_min": "128 flits", "n_max": "512 flits"}
    return [
        Case(
            {"flits": flits, "at": load, "seed": 1},
            scenario(
                f"uniform, 128 flits, packets of {flits} flits, srp",
                "srp",
                traffic(load, "128 flits"),
                _SHORT,
                1,
                changes=sizes,
            ).replace({"packet.max": f"{flits} flits"}),
            cost(load, _SHORT) * 32 / flits,
        )
        for flits in _FLITS
        for load in _AT
    ]


def why_dropped(data: Data) -> str:
    """What the smaller packets tell."""

    def at(count: str, flits: int, load: float) -> float:
        return 100 * data.mean(packets_share("uniform", count), flits=flits, at=load).mean

    told = "; ".join(
        f"at {load:.0%} "
        + ", ".join(
            f"{at('speculative', flits, load):.1f} % speculative, {at('dropped', flits, load):.2f} % dropped "
            f"(packets of {flits} flits)"
            for flits in _FLITS
        )
        for load in _AT
    )
    return (
        "A part of the cause: here a packet holds a channel to its end; the paper's simulator changes "
        "between virtual channels flit by flit. So reservations and grants wait for packets under way (up to "
        "205 ns a channel), more is sent before the grant comes, and more of it is dropped and sent twice. "
        "With the same messages in "
        f"smaller packets, which come nearer to that: {told}. What remains is not explained."
    )


def seeds(full: bool) -> tuple[int, ...]:
    """Seeds of a size."""
    return (1, 2, 3) if full else (1, 2)


def peak(data: Data, measure: Any, **labels: Any) -> tuple[float, float]:
    """The load at which a mean is largest, and that mean."""
    steps, points = data.curve(measure, "load", **labels)
    best = max(range(len(steps)), key=lambda at: points[at].mean)
    return float(steps[best]), points[best].mean
