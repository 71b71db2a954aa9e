"""What the experiments of the SRP paper with uniform traffic share: sections 5.4 and 6.1."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from tailback.experiments.measure import packets_share
from tailback.experiments.model import Case, Data, Times
from tailback.experiments.srp_paper import EPSILON, PACKET_NS, ZERO_LOAD_NS, cost, scenario

SETUP = (
    "All 256 endpoints of the two-level fat tree send {} to random others; measured after 0.5 ms, for 1 ms "
    "(full size: 4.5 ms)."
)
LOADS = (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
FEWER_LOADS = (0.2, 0.5, 0.7, 0.8, 0.85, 0.9)
"""Where a shape is known from the loads above."""
LOADS_FULL = (0.1, 0.2, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
DROPPED = packets_share("uniform", "dropped")
DROP_RATE = "dropped speculative packets\n[% of injection bandwidth]"


def loads(full: bool, reduced: tuple[float, ...] = LOADS) -> tuple[float, ...]:
    """Offered loads of a size."""
    return LOADS_FULL if full else reduced


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


_AT, _SHORT = (0.5, 0.7), Times(150, 150, 100)
"""Loads and times of the runs that tell why speculative packets are dropped."""
_RULES: dict[str, Mapping[str, Any]] = {
    "as above": {},
    "packets hold their channels to the end": {"packet.interleave": False},
    "reservations in turn with data": {"congestion_control.reserves": "in-turn"},
    "latencies of the authors' public simulator": {"link.host": "16 ns", "switch.pipeline": "19 ns"},
}
"""The last: its injection channels have none, its switches 3 cycles; the way through a spine is as long."""


def rules() -> list[Case]:
    """SRP as in the figures, and with one rule changed."""
    return [
        Case(
            {"rule": rule, "at": load, "seed": 1},
            scenario(
                f"uniform, 4 packets, srp, {rule}", "srp", traffic(load, "4 packets"), _SHORT, 1
            ).replace(changes),
            cost(load, _SHORT),
        )
        for rule, changes in _RULES.items()
        for load in _AT
    ]


def why_dropped(data: Data) -> str:
    """What the rules do to the drops."""

    def at(count: str, rule: str, load: float) -> float:
        return 100 * data.mean(packets_share("uniform", count), rule=rule, at=load).mean

    told = "; ".join(
        f"at {load:.0%} "
        + ", ".join(
            f"{at('speculative', rule, load):.1f} % speculative, {at('dropped', rule, load):.2f} % dropped "
            f"({rule})"
            for rule in _RULES
        )
        for load in _AT
    )
    load = _AT[-1]
    return (
        "What is dropped depends on how soon a grant comes, which stops the speculation: a message of four "
        f"packets needs {4 * PACKET_NS:.0f} ns, a reservation and its grant {2 * ZERO_LOAD_NS[1]:.0f} ns in "
        f"an empty network. Measured in runs of {_SHORT.duration:g} us: {told}. Bursts remain: the "
        f"reservations of a destination under {load:.0%} load are behind by more than the time-to-wait "
        f"{_behind(load):.0%} of the time (M/D/1 with messages as customers), and speculative packets sent "
        "into that are dropped."
    )


def _behind(load: float) -> float:
    """How often M/D/1 (Erlang, 1909), of reservations of four packets, waits longer than the time-to-wait."""
    wait_ns = 1300
    service = 4 * PACKET_NS * (1 + EPSILON)
    rate = load / (4 * PACKET_NS)
    terms = (
        (rate * (done * service - wait_ns)) ** done
        / math.factorial(done)
        * math.exp(-rate * (done * service - wait_ns))
        for done in range(int(wait_ns // service) + 1)
    )
    return 1 - (1 - rate * service) * sum(terms)


def seeds(full: bool, reduced: int = 1) -> tuple[int, ...]:
    """Seeds of a size. A share of what 256 endpoints send in 1 ms needs but one; latencies need more."""
    return tuple(range(1, (3 if full else reduced) + 1))


def peak(data: Data, measure: Any, **labels: Any) -> tuple[float, float]:
    """The load at which a mean is largest, and that mean."""
    steps, points = data.curve(measure, "load", **labels)
    best = max(range(len(steps)), key=lambda at: points[at].mean)
    return float(steps[best]), points[best].mean
