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


def seeds(full: bool) -> tuple[int, ...]:
    """Seeds of a size."""
    return (1, 2, 3) if full else (1, 2)


def peak(data: Data, measure: Any, **labels: Any) -> tuple[float, float]:
    """The load at which a mean is largest, and that mean."""
    steps, points = data.curve(measure, "load", **labels)
    best = max(range(len(steps)), key=lambda at: points[at].mean)
    return float(steps[best]), points[best].mean
