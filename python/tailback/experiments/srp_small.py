"""srp-small: a hot spot of 1-packet messages, which are too small for a reservation."""

from __future__ import annotations

from math import nan
from typing import Any

from matplotlib.figure import Figure

from tailback.experiments.draw import look, seeds_told, single_dots
from tailback.experiments.measure import accepted, accepted_per_destination, delivered_latency
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard
from tailback.experiments.srp_hotspot import Hotspot
from tailback.experiments.srp_paper import PAPER, cost, scenario
from tailback.figures import style
from tailback.stats import Interval

_LOAD = 0.4
_VARIANTS: dict[str, dict[str, Any]] = {
    "bypass": {"small": "bypass"},
    "ECN-triggered": {"small": "ecn"},
    "coalesced": {"small": "coalesce"},
}
_ACCEPTED, _LATENCY = accepted("background"), delivered_latency("background", "packet")
_HOT = delivered_latency("hot")


def cases(full: bool) -> list[Case]:
    """Each treatment of small messages, and the background alone."""
    span = Times(1000, 5000 if full else 1000, 100)
    made = []
    for seed in (1, 2):
        spot = Hotspot(40, seed, message="1 packet")
        alone = spot.background(_LOAD)
        runs: dict[str, tuple[str, dict[str, Any]]] = {"alone": (alone, {})} | {
            name: (alone + spot.traffic(), changes) for name, changes in _VARIANTS.items()
        }
        made += [
            Case(
                {"variant": name, "seed": seed},
                scenario(f"1-packet hot spot, {name}", "srp", traffic, span, seed, changes=changes),
                cost(_LOAD, span),
            )
            for name, (traffic, changes) in runs.items()
        ]
    return made


def draw(data: Data) -> Figure:
    """Latency of the background and of the hot spot, a point per treatment."""
    with style.styled():
        figure, panels = style.figure(2, height=2.2)
        names = data.values("variant")
        shown = {"packet latency of\nthe background [us]": (_LATENCY, names)}
        shown["in-flight latency of\nthe hot spot [us]"] = (_HOT, list(_VARIANTS))
        for axes, (label, (measure, measured)) in zip(panels, shown.items(), strict=True):
            points = [
                data.mean(measure, variant=name).scaled(1e-3) if name in measured else Interval(nan, nan, 0)
                for name in names
            ]
            single_dots(axes, names, points, [look("srp")] * len(names))
            axes.set_ylabel(label)
            style.logarithmic(axes, "y")
        panels[-1].set_xlabel(seeds_told(data, variant="alone"))
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    given = accepted_per_destination("hot")
    found = []
    alone = data.mean(_LATENCY, variant="alone").scaled(1e-3)
    for name in _VARIANTS:
        rate = data.mean(_ACCEPTED, variant=name).scaled(100)
        time, flight = (data.mean(each, variant=name).scaled(1e-3) for each in (_LATENCY, _HOT))
        hot = data.mean(given, variant=name).scaled(100)
        congested = rate.mean < 90 * _LOAD or time.mean > 2 * alone.mean
        told = (
            f"background {rate} %, {time} us ({alone} us without the hot spot); hot {hot} %, in flight "
            f"{flight} us"
        )
        if name == "bypass":
            found.append(hard("small messages that bypass congest the network", told, congested))
        else:
            text = f"{name} ones do not, and use the hot channel (at least 90 %)"
            found.append(hard(text, told, not congested and hot.mean >= 90))
    return found


EXPERIMENT = Experiment(
    id="srp-small",
    paper=PAPER,
    title="A hot spot of 1-packet messages",
    setup="40 endpoints send 1-packet messages to one at line rate; all others send 8-packet messages "
    "uniformly at 40 % to all but that one. Measured after 1 ms, for 1 ms (full size: 5 ms), seeds 1 and 2.",
    cases=cases,
    draw=draw,
    claims=claims,
)
