"""lhrp-fig9: a 60:1 hot spot under LHRP, with and without drops in the fabric."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.draw import curve, finish, plain_ticks
from tailback.experiments.lhrp_paper import FABRIC_DROP, PAPER, hotspot, hotspot_cost, scenario, times
from tailback.experiments.measure import delivered_latency, is_saturated
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.stats import Interval

_LATENCY = delivered_latency("hot")
_SATURATED = is_saturated("hot")
_REDUCED = (1, 2, 5, 6, 7, 8, 9, 15, 30, 60)
_FULL = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30, 45, 60)
# Section 6.1 of the paper argues with sources that go on sending speculatively whatever is refused.
_SOURCES = {"stops": "message"}
_CHANGES = {"without": _SOURCES, "with": {**_SOURCES, "fabric_drop": FABRIC_DROP}}


def cases(full: bool) -> list[Case]:
    """Both variants at every load."""
    span = times(full)
    return [
        Case(
            {"fabric_drop": name, "load": load, "seed": seed},
            scenario(
                f"60:1 hot spot, {load}x, {name} fabric drop",
                "lhrp",
                hotspot(1, load),
                span,
                seed,
                changes=changes,
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
        for number, name in enumerate(_CHANGES):
            loads, points = data.curve(_LATENCY, "load", fabric_drop=name)
            _, cut = data.curve(_SATURATED, "load", fabric_drop=name)
            shown = [point.scaled(1e-3) for point in points]
            curve(axes, loads, shown, f"LHRP {name} fabric drop", number, [part.mean > 0 for part in cut])
        axes.set_xscale("log")
        plain_ticks(axes, (1, 2, 5, 7, 15, 30, 60))
        axes.axvline(7.0, color="#777777", linewidth=0.8)
        axes.set_ylim(bottom=0)
        finish(
            figure,
            axes,
            "over-subscription of the destination",
            "mean network latency [us]",
            "hollow: over 1 % of the injected packets neither arrived nor were dropped",
        )
    return figure


def claims(data: Data) -> list[Claim]:
    """Those of claims table row lhrp-fig9."""
    loads = data.values("load")
    climbs = [load for load in loads if _climbed(data, "without", load)]
    knee = min(climbs) if climbs else math.inf
    below = max((load for load in loads if load < knee), default=math.nan)
    stays = [load for load in loads if _climbed(data, "with", load)]
    delivered = ", ".join(
        f"{load}x {data.mean(_LATENCY, fabric_drop='without', load=load).scaled(1e-3)}" for load in loads
    )
    note = (
        "Latency counts as climbing where it is over 1.5 times that at 2x or reported as saturated (over 1 "
        "% of the "
        f"injected packets neither arrived nor were dropped). Delivered packets alone, in us: {delivered}: "
        f"they are "
        "granted ones, whose class has priority over the speculative packets that jam the 7 "
        "local ports."
    )
    return [
        hard(
            "without fabric drop, latency climbs once over-subscription exceeds the 7 local fabric ports",
            f"climbs from {knee:g}x on" if climbs else "does not climb",
            bool(climbs),
            note=note,
            cause="What is delivered does not slow down: see the note above.",
        ),
        hard(
            "with fabric drop, latency stays low",
            f"climbs at {', '.join(map(str, stays))}x" if stays else "never climbs",
            not stays,
            cause=_with_cause(data, stays),
        ),
        value("knee", "7x", Interval((knee + below) / 2, abs(knee - below) / 2, 1), (5, 9), "x"),
    ]


def _climbed(data: Data, name: str, load: float) -> bool:
    at2 = data.mean(_LATENCY, fabric_drop=name, load=2).mean
    here = data.mean(_LATENCY, fabric_drop=name, load=load).mean
    return here > 1.5 * at2 or data.mean(_SATURATED, fabric_drop=name, load=load).mean > 0


def _with_cause(data: Data, loads: list[float]) -> str:
    told = ", ".join(
        f"{load}x {data.mean(_LATENCY, fabric_drop='with', load=load).scaled(1e-3)} us" for load in loads
    )
    return f"Latency with fabric drop: {told}."


EXPERIMENT = Experiment(
    id="lhrp-fig9",
    paper=PAPER,
    title="LHRP with and without fabric drop under very high over-subscription",
    setup="60 random sources send 4-flit messages to one destination, up to 60 times its channel. Fabric "
    "time-out: 1 us.",
    cases=cases,
    draw=draw,
    claims=claims,
)
