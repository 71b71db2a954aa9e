"""lhrp-fig11: the threshold of LHRP, for long uniform messages and for a hot spot."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from matplotlib.figure import Figure

from tailback.experiments.draw import curve, seeds_told
from tailback.experiments.lhrp_paper import (
    PAPER,
    ROOMIER,
    ROOMY,
    SPANS,
    hotspot,
    hotspot_cost,
    scenario,
    times,
    uniform,
    uniform_cost,
)
from tailback.experiments.measure import accepted, delivered_latency, is_saturated
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.figures import style
from tailback.stats import Interval, mean_interval

_THRESHOLDS = (250, 500, 1000, 2000, 4000, None)
"""In flits; None is infinite."""
_HOLLOW = "hollow: over 1 % of the injected packets had not arrived; mean of those that had"
_UNIFORM, _HOT = (0.8, 0.9, 1.0), (0.9, 1.5, 2, 4)
_JUDGED = 2
_INFINITE = "1000000 flits"


def cases(full: bool) -> list[Case]:
    """Each threshold under both kinds of traffic, and the baseline under uniform traffic."""
    span = times(full)
    long = replace(span, drain=0)
    made = [
        Case(
            {"threshold": "baseline", "traffic": "uniform", "load": load, "seed": 1},
            scenario("uniform, 512 flits, none", "none", uniform(load, "512 flits"), long, 1),
            uniform_cost(load, 512, long),
        )
        for load in _UNIFORM
    ]
    for threshold in _THRESHOLDS:
        changes = {"threshold": f"{threshold} flits" if threshold else _INFINITE}
        made += [
            Case(
                {"threshold": threshold, "traffic": "uniform", "load": load, "seed": 1},
                scenario(
                    "uniform, 512 flits, lhrp", "lhrp", uniform(load, "512 flits"), long, 1, changes=changes
                ),
                uniform_cost(load, 512, long),
            )
            for load in _UNIFORM
        ]
        made += [
            Case(
                {"threshold": threshold, "traffic": "hot", "load": load, "seed": seed},
                scenario("60:4 hot spot, lhrp", "lhrp", hotspot(4, load), span, seed, changes=changes),
                hotspot_cost(4, load, span),
            )
            for load in _HOT
            for seed in range(1, 7 if load == _JUDGED else 4)
        ]
        roomy = scenario(
            "uniform, 512 flits, lhrp", "lhrp", uniform(1.0, "512 flits"), long, 1, changes=changes
        )
        made.append(Case({"roomy": threshold, "seed": 1}, roomy.replace(ROOMY), uniform_cost(1.0, 512, long)))
    return made


def _name(threshold: object) -> str:
    if threshold is None:
        return "infinite"
    return f"{threshold} flits" if isinstance(threshold, int) else str(threshold)


def draw(data: Data) -> Figure:
    """Accepted throughput of long messages, and latency of the hot spot, a line per threshold."""
    with style.styled():
        made = Figure(figsize=(7.2, 5.6), layout="constrained")
        above, below = made.subplots(2, 1)
        lower = False
        for number, threshold in enumerate(data.values("threshold", traffic="uniform")):
            loads, points = data.curve(accepted("uniform"), "load", threshold=threshold, traffic="uniform")
            shown = [point.scaled(100) for point in points]
            curve(above, [100 * load for load in loads], shown, _name(threshold), number)
            if threshold == "baseline":
                continue
            loads, points = data.curve(delivered_latency("hot"), "load", threshold=threshold, traffic="hot")
            _, cut = data.curve(is_saturated("hot"), "load", threshold=threshold, traffic="hot")
            hollow = [part.mean > 0 for part in cut]
            lower |= any(hollow)
            shown = [point.scaled(1e-3) for point in points]
            curve(below, [100 * load for load in loads], shown, "", number, hollow)
        above.set_title("(a) uniform, 512-flit messages", loc="left")
        above.set_ylabel("accepted data\n[% of injection bandwidth]\n(does not begin at 0)")
        below.set_title("(b) 60:4 hot spot, 4-flit messages", loc="left")
        style.logarithmic(below, "y")
        told = [seeds_told(data, traffic="uniform"), seeds_told(data, traffic="hot", load=_HOT[0])]
        more = len(data.values("seed", traffic="hot", load=_JUDGED))
        below.set_xlabel(
            "offered load; in (b) per destination [%]\n"
            f"(a) {told[0]}; (b) {told[1]}, at {_JUDGED:.0%} of {more}" + (f"\n{_HOLLOW}" if lower else "")
        )
        below.set_ylabel("mean network\nlatency [us]")
        style.legend(made, above)
    return made


def _gain(data: Data, one: int | None, two: int | None) -> Interval:
    """By how many ns the higher threshold is slower, seed by seed."""
    runs = [data.results(threshold=each, traffic="hot", load=_JUDGED) for each in (one, two)]
    latency = delivered_latency("hot")
    return mean_interval([latency(high) - latency(low) for low, high in zip(*runs, strict=True)])


def _slower(data: Data) -> bool:
    steady = all(_gain(data, one, two).high >= 0 for one, two in pairwise(_THRESHOLDS))
    return steady and _gain(data, 1000, None).low > 0


def _gains(data: Data) -> str:
    pairs = [*pairwise(_THRESHOLDS), (1000, None)]
    return ", ".join(f"{_name(one)} to {_name(two)} {_gain(data, one, two)} ns" for one, two in pairs)


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    full_load = {
        t: data.mean(accepted("uniform"), threshold=t, traffic="uniform", load=1.0)
        for t in (*_THRESHOLDS, "baseline")
    }
    hot = {
        t: data.mean(delivered_latency("hot"), threshold=t, traffic="hot", load=_JUDGED) for t in _THRESHOLDS
    }
    a = ", ".join(f"{_name(t)} {point.scaled(100)} %" for t, point in full_load.items())
    b = ", ".join(f"{_name(t)} {point.scaled(1e-3)} us" for t, point in hot.items())
    roomy = {t: data.mean(accepted("uniform"), roomy=t) for t in _THRESHOLDS}
    c = ", ".join(f"{_name(t)} {point.scaled(100)} %" for t, point in roomy.items())
    rising = all(full_load[two].mean >= full_load[one].mean - 0.003 for one, two in pairwise(_THRESHOLDS))
    rising = rising and full_load[None].mean > full_load[250].mean + 0.01
    gap = abs(full_load[None].mean - full_load["baseline"].mean)
    return [
        hard(
            "(a) a higher threshold gives a higher saturation",
            f"accepted at full offered load: {a}",
            rising,
            note="Infinite over 250 flits by more than a point, and no neighbour lower by over 0.3.",
            cause="Refusals relieve as well as cost. Input buffers hold a credit round trip: 150 flits "
            "behind a local channel, 60 behind an endpoint's. Packets for an endpoint at which two messages "
            "meet fill them, and others wait behind; a refused packet waits at its source instead. "
            f"{ROOMIER}: {c}.",
        ),
        hard(
            "(a) infinite equals the baseline (within 1 point)", f"{100 * gap:.2f} points apart", gap <= 0.01
        ),
        hard(
            "(b) a higher threshold gives a higher latency past saturation",
            f"at {_JUDGED}x: {b}; more, seed by seed: {_gains(data)}",
            _slower(data),
            note="Significant from 1000 flits to infinite, and no significant fall between neighbours. What "
            "waits under low thresholds is granted data (lhrp-fig5a), of which they decide nothing.",
        ),
    ]


EXPERIMENT = Experiment(
    id="lhrp-fig11",
    paper=PAPER,
    title="The threshold of LHRP",
    setup="(a) all endpoints send 512-flit messages uniformly; (b) a 60:4 hot spot of 4-flit messages. "
    "Only 1000 flits is the paper's. "
    f"{SPANS} (a) one seed; (b) 3, at {_JUDGED}x 6.",
    cases=cases,
    draw=draw,
    claims=claims,
)
