"""srp-fig6: background traffic beside a 40:1 hot spot."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailback.experiments.draw import LABELS, Line, look, over_load
from tailback.experiments.measure import accepted
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard, value
from tailback.experiments.srp_hotspot import Hotspot
from tailback.experiments.srp_paper import PAPER, PROTOCOLS, cost, scenario
from tailback.result import Result

_ACCEPTED = accepted("background")
_LOADS = (0.05, 0.1, 0.2, 0.4, 0.6, 0.9, 1.0)
_START_US = 6500
"""By then ECN has settled. A background begun together with the hot spot heaps up at its sources until then,
and for milliseconds after is accepted above its load."""
_LEAF = 16
"""Endpoints on a switch."""
_LOADS_FULL = (0.02, 0.05, 0.08, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)


def cases(full: bool) -> list[Case]:
    """Every protocol at every load, with and without the hot spot."""
    span = Times(_START_US + 1500, 5000 if full else 500, 0)
    spots = [(seed, Hotspot(40, seed)) for seed in (1, 2, 3)]
    return [
        Case(
            {"protocol": protocol, "load": load, "hot": hot, "seed": seed},
            scenario(
                f"background of a hot spot, {protocol}",
                protocol,
                spot.background(load, _START_US) + (spot.traffic() if hot else ""),
                span,
                seed,
                record="sources = true" if hot and protocol == "none" else "",
            ),
            cost(load, Times(1500, span.duration, 0)),
        )
        for seed, spot in spots
        for protocol in PROTOCOLS
        for load in (_LOADS_FULL if full else _LOADS)
        for hot in (True, False)
    ]


def draw(data: Data) -> Figure:
    """Accepted over offered background, a line per protocol, with and without the hot spot."""
    lines = [
        Line(
            LABELS[kind] + (", hot spot" if hot else ""),
            look(kind),
            {"protocol": kind, "hot": hot},
            look(kind) + 3 * hot,
        )
        for kind in data.values("protocol")
        for hot in (False, True)
    ]
    return over_load(data, _ACCEPTED, lines, "accepted background\n[% of injection bandwidth]")


def _beside_the_hot_endpoint(result: Result) -> float:
    """What a background source on the hot endpoint's switch has accepted, of its channel."""
    return _by_switch(result, of_hot=True)


def _elsewhere(result: Result) -> float:
    """The same of those on other switches."""
    return _by_switch(result, of_hot=False)


def _by_switch(result: Result, of_hot: bool) -> float:
    hot = Hotspot(40, int(result.summary["seed"])).hot
    table = result.tables["sources"]
    table = table.filter(pc.equal(table["class"], "background"))
    leaf = np.asarray(table["endpoint"]) // _LEAF
    of = np.asarray(table["accepted"])
    return float(np.mean(of[(leaf == hot // _LEAF) == of_hot]))


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    loads = data.values("load")
    ratios = {
        kind: {
            load: data.mean(_ACCEPTED, protocol=kind, load=load, hot=True).mean
            / data.mean(_ACCEPTED, protocol=kind, load=load, hot=False).mean
            for load in loads
        }
        for kind in data.values("protocol")
    }
    told = {
        kind: ", ".join(f"{load:.0%}: {100 * ratio:.1f} %" for load, ratio in of.items())
        for kind, of in ratios.items()
    }
    most = max(
        (data.mean(_ACCEPTED, protocol="none", load=load, hot=True) for load in loads), key=lambda p: p.mean
    )
    by_seed = [
        max(
            100 * _ACCEPTED(data.results(protocol="none", load=load, hot=True, seed=seed)[0])
            for load in loads
        )
        for seed in data.values("seed")
    ]
    near, far = (
        [data.mean(part, protocol="none", load=load, hot=True).mean for load in (loads[0], loads[-1])]
        for part in (_beside_the_hot_endpoint, _elsewhere)
    )
    return [
        hard(
            f"{LABELS[kind]} accepts what it accepts without the hot spot (within 3 %)",
            f"of that without: {told[kind]}",
            max(abs(ratio - 1) for ratio in ratios[kind].values()) <= 0.03,
        )
        for kind in ("srp", "ecn")
    ] + [
        hard(
            "the baseline collapses",
            f"of that without: {told['none']}",
            ratios["none"][max(loads)] < 0.25,
        ),
        value(
            "the baseline's largest accepted background",
            "below 10 %",
            most.scaled(100),
            (0, 10),
            "%",
            note="by seed " + ", ".join(f"{share:.2f}" for share in by_seed) + " %",
            cause="The jam stands before the links down to the hot endpoint's switch. The sources on that "
            "switch never use these links, and nothing of theirs waits behind what does: from the least to "
            f"the largest load they get from {near[0]:.1%} to {near[1]:.1%} of their channels, all others "
            f"from {far[0]:.2%} to {far[1]:.2%}. So the mean over all grows with what is offered.",
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-fig6",
    paper=PAPER,
    title="Background traffic beside a hot spot",
    setup="40 endpoints send 8-packet messages to one at line rate; all others send uniformly to all but "
    "that one, from 6.5 ms on. Measured 1.5 ms later, for 0.5 ms (full size: 5 ms), under seeds 1 to 3, each "
    "with a hot endpoint and senders of its own; and the same without the hot spot.",
    cases=cases,
    draw=draw,
    claims=claims,
)
