"""lhrp-fig9: a 60:1 hot spot under LHRP, with and without drops in the fabric."""

from __future__ import annotations

import math
from dataclasses import replace

from matplotlib.figure import Figure

from tailback.experiments.draw import FREE, curve, finish, hold, look, mark, plain_ticks
from tailback.experiments.lhrp_paper import FABRIC_DROP, PAPER, SPANS, hotspot, hotspot_cost, scenario, times
from tailback.experiments.measure import delivered_latency, is_saturated
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.figures import style
from tailback.result import Result

_LATENCY = delivered_latency("hot")
_SATURATED = is_saturated("hot")
_REDUCED = (1, 2, 5, 6, 7, 8, 9, 15, 30, 60)
_FULL = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 45, 60)
# Section 6.1 of the paper argues with sources that go on sending speculatively whatever is refused.
_SOURCES = {"stops": "message"}
_CHANGES = {"without": _SOURCES, "with": {**_SOURCES, "fabric_drop": FABRIC_DROP}}
_NUMBERS = {"without": look("lhrp"), "with": FREE}
_LEAD = {"lead": "way"}
"""Grants that can be met, shown beside: without them a standing queue hides what the fabric takes."""


def cases(full: bool) -> list[Case]:
    """Both variants at every load."""
    return _runs(full, {}, "fabric_drop") + _runs(False, _LEAD, "leading")


def _runs(full: bool, rule: dict[str, str], label: str) -> list[Case]:
    span = times(full)
    return [
        Case(
            {label: name, "load": load, "seed": seed},
            scenario(
                f"60:1 hot spot, {load}x, {name} fabric drop",
                "lhrp",
                hotspot(1, load),
                span,
                seed,
                changes={**changes, **rule},
            ),
            hotspot_cost(1, load, span),
        )
        for name, changes in _CHANGES.items()
        for load in (_FULL if full else _REDUCED)
        for seed in (1, 2, 3)
    ]


def draw(data: Data) -> Figure:
    """Network latency over load, a line per variant."""
    with style.styled():
        figure, (axes,) = style.figure()
        for name, number in _NUMBERS.items():
            loads, points = data.curve(_LATENCY, "load", fabric_drop=name)
            _, cut = data.curve(_SATURATED, "load", fabric_drop=name)
            shown = [point.scaled(1e-3) for point in points]
            curve(axes, loads, shown, f"LHRP {name} fabric drop", number, [part.mean > 0 for part in cut])
        style.logarithmic(axes, "x")
        plain_ticks(axes, (1, 2, 5, 7, 15, 30, 60))
        mark(axes, 7.0, "7 local ports")
        hold(axes)
        finish(
            figure,
            axes,
            "over-subscription of the destination",
            "mean network latency [us]",
            "hollow: over 1 % of the injected packets neither arrived nor were dropped",
        )
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    loads = data.values("load", fabric_drop="without")
    climbs = {name: [load for load in loads if _climbed(data, name, load)] for name in _CHANGES}
    jammed = [load for load in loads if data.mean(_SATURATED, fabric_drop="without", load=load).mean > 0.5]
    knee = min(jammed, default=math.inf)
    below = max((load for load in loads if load < knee), default=math.nan)
    latency_knee = value(
        "knee without fabric drop",
        "7x",
        min(climbs["without"], default=math.inf),
        (5, 9),
        "x",
        note="The knee: latency climbs, as above.",
        cause=lambda: (
            f"{'' if climbs['without'] else 'Latency does not climb. '}"
            f"The fabric jams from {knee:g}x on ({below:g}x does not): most runs "
            "leave over 1 % of the injected packets there."
        ),
    )
    return [
        hard(
            "without fabric drop, latency climbs once over-subscription exceeds the 7 local fabric ports",
            _told(data, "without", climbs["without"]),
            bool(climbs["without"]) and 5 <= min(climbs["without"]) <= 9,
            note="Latency counts as climbing where that of delivered packets is over 1.5 times that at 2x.",
            cause=lambda: _priority(data, loads, knee),
        ),
        hard(
            "with fabric drop, latency stays low",
            _told(data, "with", climbs["with"]),
            not climbs["with"] and not any(_jams(data, load) for load in loads if load > 1),
        ),
        latency_knee if climbs["without"] else replace(latency_knee, measured="none"),
    ]


def _climbed(data: Data, name: str, load: float) -> bool:
    at2 = data.mean(_LATENCY, fabric_drop=name, load=2).mean
    return data.mean(_LATENCY, fabric_drop=name, load=load).mean > 1.5 * at2


def _jams(data: Data, load: float) -> bool:
    return data.mean(_SATURATED, fabric_drop="with", load=load).mean > 0.5


def _told(data: Data, name: str, climbs: list[float]) -> str:
    loads = [load for load in data.values("load", fabric_drop=name) if load in (2, 7, 15, 60)]
    points = ", ".join(
        f"{load}x {data.mean(_LATENCY, fabric_drop=name, load=load).scaled(1e-3)} us" for load in loads
    )
    return f"{'climbs from ' + format(min(climbs), 'g') + 'x on' if climbs else 'does not climb'}: {points}"


def _dropped_rate(result: Result) -> float:
    """Flits of dropped packets per flit time in the window."""
    dropped = int(result.summary["classes"]["hot"]["dropped_packets"])
    return dropped * 4 / _window_ns(result)


def _refused_before(result: Result) -> float:
    """Packets sent again over delivered packets in the window."""
    facts = result.summary["classes"]["hot"]
    return float(facts["resent_packets"] * 4 / _window_ns(result) / facts["accepted_per_destination"])


def _window_ns(result: Result) -> float:
    facts = result.summary["classes"]["hot"]
    return float(facts["packets"] * 4 / facts["offered"] / 60)


def _priority(data: Data, loads: list[float], knee: float) -> str:
    rates = ", ".join(
        f"{load}x {data.mean(_dropped_rate, fabric_drop='without', load=load).mean:.1f}" for load in loads
    )
    least = min(
        data.mean(_refused_before, fabric_drop="without", load=load).mean for load in loads if load > 1
    )
    return (
        f"The fabric does jam, but with first tries only. Flits dropped per flit time: {rates}; from "
        f"{knee:g}x on, most runs leave over 1 % of the injected packets there. What is delivered was "
        f"granted (at least {100 * least:.1f} % of what arrives past 1x had been refused before). Granted "
        "packets go first at every switch, but adaptive routing sends them on detours round the jam, which "
        "take longer. Their latency does not show it, since what they lose on the way they "
        "need not wait at its end: in front of the destination stands a queue of about a network latency, "
        "because the first grants name the present time, which no source can meet (lhrp-fig5a). With grants "
        f'that can be met (lead = "way", not judged; the paper does not speak of it): {_leading(data)}.'
    )


def _leading(data: Data) -> str:
    """Latencies over load, and hops, where grants can be met."""

    def told(name: str) -> str:
        loads, points = data.curve(_LATENCY, "load", leading=name)
        each = (f"{load:g}x {point.scaled(1e-3)}" for load, point in zip(loads, points, strict=True))
        hops = (data.mean(_hops, leading=name, load=load).mean for load in (2, 7, 15))
        ways = ", ".join(f"{hop:.1f}" for hop in hops)
        return f"{name} fabric drop {', '.join(each)} us, and {ways} hops at 2x, 7x and 15x"

    return "; ".join(map(told, _CHANGES))


def _hops(result: Result) -> float:
    return float(result.summary["classes"]["hot"]["hops_mean"])


EXPERIMENT = Experiment(
    id="lhrp-fig9",
    paper=PAPER,
    title="LHRP with and without fabric drop under very high over-subscription",
    setup="60 random sources send 4-flit messages to one destination, up to 60 times its channel. Fabric "
    'time-out: 1 us. A refusal stops only its own message (stops = "message"), which is not our default: '
    f"the paper argues with sources that go on. {SPANS} 3 seeds.",
    cases=cases,
    draw=draw,
    claims=claims,
)
