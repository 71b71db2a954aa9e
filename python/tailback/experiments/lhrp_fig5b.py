"""lhrp-fig5b: accepted throughput of a 60:4 hot spot over the load of its destinations."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments import lhrp_hotspot as hot
from tailback.experiments.draw import LABELS, curve, finish, hold, look, mark, plain_ticks
from tailback.experiments.lhrp_paper import PAPER, hotspot, hotspot_cost, scenario
from tailback.experiments.measure import accepted_per_destination, delivered_latency, mean_series
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard, value
from tailback.figures import style
from tailback.figures.tables import series
from tailback.stats import Interval

_ACCEPTED = accepted_per_destination("hot")


_STEP = "500 ns"
_SOURCES, _FLITS = 60, 4
_INCREMENT, _PERIOD = 24, 96
"""What a mark adds to ECN's delay, and the time after which one cycle goes off it, cycles."""
_CHANGES: dict[str, tuple[Any, ...]] = {
    "increment": ("3 cycles", "1 cycle"),
    "decrement": ("4 cycles", "12 cycles"),
    "threshold": ("1000 flits", "4000 flits"),
    "marking_rate": (10,),
    "increase_period": ("2 us",),
}
"""Settings of ECN other than the paper's 24 cycles, the 1 cycle that is ours, and half an output queue; and
fewer steps per round trip: what devices of InfiniBand default to, and one step."""


def cases(full: bool) -> list[Case]:
    """The runs of the figure, and those that tell why ECN accepts what it accepts."""
    span = hot.ecn_times(full, 2)
    return (
        hot.cases(full)
        + [
            Case(
                {key: step, "seed": seed},
                scenario(
                    f"60:4 hot spot, ecn, 2x, {key} {step}",
                    "ecn",
                    hotspot(4, 2),
                    span,
                    seed,
                    changes={key: step},
                ),
                hotspot_cost(4, 2, span),
            )
            for key, steps in _CHANGES.items()
            for step in steps
            for seed in (1, 2, 3)
        ]
        + [_stepwise(span)]
    )


def _stepwise(span: Times) -> Case:
    """ECN at 2x in steps of a quarter of a round trip."""
    made = scenario("60:4 hot spot, ecn, 2x, in steps", "ecn", hotspot(4, 2), span, 1, series=_STEP)
    return Case({"step": _STEP, "seed": 1}, made, hotspot_cost(4, 2, span))


def draw(data: Data) -> Figure:
    """Accepted over offered, a line per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        for protocol in data.values("protocol"):
            loads, points = data.curve(_ACCEPTED, "load", protocol=protocol)
            curve(axes, loads, [point.scaled(100) for point in points], LABELS[protocol], look(protocol))
        style.logarithmic(axes, "x")
        plain_ticks(axes, (0.25, 0.5, 1, 2, 4, 7.5, 15))
        hold(axes, 0, 105)
        mark(axes, 1.0, "its channel")
        finish(
            figure,
            axes,
            "load per destination [multiples of its channel]",
            "accepted data throughput\n[% of ejection bandwidth]",
        )
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    over = [load for load in data.values("load") if load > 1]
    found = [_near_full(data, protocol, over) for protocol in ("none", "ecn", "lhrp")]
    least = min(
        (data.mean(_ACCEPTED, protocol="lhrp", load=load) for load in over), key=lambda part: part.mean
    )
    found.append(value("LHRP, least accepted over 1x", "nearly 100 %", least.scaled(100), (95, 100.5), "%"))
    return found + _reservations(data, over)


def _near_full(data: Data, protocol: str, over: list[float]) -> Claim:
    points = {load: data.mean(_ACCEPTED, protocol=protocol, load=load) for load in over}
    worst = min(points, key=lambda load: points[load].mean)
    measured = f"least: {points[worst].scaled(100)} % at {worst:g}x; at 2x {points[2].scaled(100)} %"
    held = points[worst].mean >= 0.95
    text = f"{LABELS[protocol]} accepts about 100 % past saturation"
    return hard(text, measured, held, cause=lambda: _overthrottled(data) if protocol == "ecn" else "")


def _overthrottled(data: Data) -> str:
    at2 = data.mean(_ACCEPTED, protocol="ecn", load=2).scaled(100)
    tried = {
        key: ", ".join((f"{step} " if len(steps) > 1 else "") + _outcome(data, key, step) for step in steps)
        for key, steps in _CHANGES.items()
    }
    return (
        f"ECN settles at {at2} % at 2x because it overshoots. {_overshoot(data)} {_stepped(data)} Measured "
        "at 2x (accepted, latency) with other thresholds: "
        f"{tried['threshold']}; other increments: {tried['increment']}; the published increment and other "
        f"decrements: {tried['decrement']}; one packet in 11 marked, the marking rate that devices of "
        f"InfiniBand default to: {tried['marking_rate']}; at most one step of a queue in 2 us: "
        f"{tried['increase_period']}. What keeps the channels busy keeps a long queue. {_after_burst(data)} "
        "The paper says that every notification adds its step, and nothing of a marking rate or of the "
        "decrement: as the default. Its first author's public simulator (BookSim2, branch "
        "hotspot_reservation, ecn_ird_limit) bounds the delay; neither paper names a bound, and none is set "
        "here."
    )


def _overshoot(data: Data) -> str:
    """By how much the marks of a round trip slow a flow down, from what the paper sets and a latency."""
    turn = _SOURCES * _FLITS
    trip = 2 * data.mean(delivered_latency("hot"), protocol="ecn", load=0.9).mean
    marks = round(trip / turn)
    step = marks * _INCREMENT
    return (
        f"A flow in equilibrium sends {_FLITS} flits every {turn} ns: about {marks} of its packets are under "
        f"way in a round trip of {trip / 1e3:.1f} us (twice the latency at 0.9x). Once more than 192 flits "
        f"wait, all that leave the queue are marked until the sources react: about {marks} x {_INCREMENT} = "
        f"{step} cycles on an inter-packet delay of {turn - _FLITS}, so the rate falls to "
        f"{turn / (turn + step):.0%}, and at 1 cycle per {_PERIOD} it takes {step * _PERIOD / 1e3:.0f} us to "
        "return."
    )


def _stepped(data: Data) -> str:
    """How unevenly the four destinations are served."""
    (result,) = data.results(step=_STEP)
    times, shares = series(result, "hot", "accepted_per_destination")
    settled = shares[(times >= times.max() / 2) & (times < times.max())]
    low, high = np.percentile(settled, (5, 95))
    return (
        f"In steps of {_STEP} over the second half of a run the four destinations together accept from "
        f"{low:.0%} to {high:.0%} of their channels (5th and 95th percentile), and {settled.max():.0%} at "
        "most: what is lost while the sources are slow does not come back."
    )


def _after_burst(data: Data) -> str:
    """What a first burst of many times the channel does to ECN's sources."""
    times, accepted = mean_series(data.results(protocol="ecn", load=15), "hot", "accepted_per_destination")
    settled = float(np.mean(accepted[len(accepted) // 2 :]))
    low = int(np.argmin(np.where(times < times.max() / 2, accepted, np.inf)))
    back = times[low + int(np.argmax(accepted[low:] >= 0.9 * settled))]
    return (
        f"At 15x all of the first burst is marked: {times[low]:.0f} us after the start the destinations "
        f"accept {accepted[low]:.0%}, and only from {back:.0f} us on nine tenths of what they settle at."
    )


def _outcome(data: Data, key: str, step: object) -> str:
    accepted = data.mean(_ACCEPTED, **{key: step}).scaled(100)
    time = data.mean(delivered_latency("hot"), **{key: step}).mean / 1e3
    return f"{accepted} % ({time:.1f} us)"


def _reservations(data: Data, over: list[float]) -> list[Claim]:
    loads, shares = data.curve(_ACCEPTED, "load", protocol="smsrp")
    points = {load: 100 * share.mean for load, share in zip(loads, shares, strict=True) if load >= 0.9}
    measured = ", ".join(f"{load:g}x {points[load]:.1f} %" for load in points)
    held = max(points.values()) > 95 and points[over[-1]] < max(points.values()) - 2
    why = hot.why_smsrp_declines(data)
    largest = _largest(data, "srp")
    others = min(_largest(data, p).mean for p in ("none", "lhrp"))
    share = largest.scaled(100)
    return [
        hard("SMSRP reaches about 100 %, then declines", measured, held, cause=why, note=why),
        hard("SRP saturates first", f"{share} %", largest.mean < others - 0.05),
        value("SRP's largest accepted", "70 %", share, (60, 82), "%", note=_closed(data)),
    ]


def _closed(data: Data) -> str:
    """SRP's closed form beside what was measured."""
    loads = [load for load in data.values("load") if 0.75 <= load <= 2]
    told = ", ".join(
        f"{load:g}x {100 * min(load, 1 - load / 4):.1f} ({100 * at.mean:.1f})"
        for load in loads
        for at in [data.mean(_ACCEPTED, protocol="srp", load=load)]
    )
    return (
        "Closed form: a reservation per 4 flits takes L/4 of the channel, so that L is accepted up to 4/5 "
        f"and 1 - L/4 past it; in percent, and measured: {told}."
    )


def _largest(data: Data, protocol: str) -> Interval:
    loads = [load for load in data.values("load") if load <= 2]
    return max((data.mean(_ACCEPTED, protocol=protocol, load=load) for load in loads), key=lambda p: p.mean)


EXPERIMENT = Experiment(
    id="lhrp-fig5b",
    paper=PAPER,
    title="Accepted throughput of a 60:4 hot spot",
    setup=hot.SETUP,
    cases=cases,
    draw=draw,
    claims=claims,
)
