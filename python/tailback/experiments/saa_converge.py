"""saa-converge: how soon sources know their rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.saa_paper import (
    ADAPTIVE,
    FLOW_NS,
    HOLD,
    PAPER,
    STATIC,
    arity,
    column,
    packet_cost,
    permutations,
    scenario,
    tree,
)
from tailback.figures import style
from tailback.result import Result

ROUTES = {"static": (0, STATIC), "adaptive": (2, ADAPTIVE)}
PERIOD_NS = 10_000.0


def cases(full: bool) -> list[Case]:
    """Two permutations, with packets and as a fluid on the same static routes, and with adaptive routes."""
    k = arity(full)
    return [
        Case(
            {"routes": name, "model": "fluid" if fluid else "packets"},
            scenario(
                f"convergence, {name} routes",
                tree(k, width),
                routing,
                {"kind": "saa", **HOLD},
                permutations(2, k, 1),
                fluid=fluid,
            ),
            packet_cost(k, 2, 1),
        )
        for name, (width, routing) in ROUTES.items()
        for fluid in (False, True)
        if not fluid or name == "static"
    ]


def settled(result: Result) -> np.ndarray[Any, Any]:
    """When each flow learned the load that it knew at its last packet, in us."""
    return column(result, "flows", "settled_ns") / 1e3


def first_probe(result: Result) -> np.ndarray[Any, Any]:
    """Which flows learned it by their first probe: the next leaves a period after the return of that."""
    return settled(result) < 2 * PERIOD_NS / 1e3


def draw(data: Data) -> Figure:
    """The share of flows that know their rate, over time."""
    with style.styled():
        figure, (axes,) = style.figure(height=2.8)
        for number, name in enumerate(ROUTES):
            (result,) = data.results(routes=name, model="packets")
            times = np.sort(settled(result))
            share = np.arange(1, len(times) + 1) / len(times)
            axes.step(times, share, label=f"{name} routes", where="post", **style.line(number))
        axes.set_xlabel("time since the start of the phase [us]")
        axes.set_ylabel("flows that know their last rate")
        axes.set_ylim(0, 1.05)
        axes.set_xlim(0, 2 * PERIOD_NS / 1e3)
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = [_exact(data), _exact_adaptive(data)]
    for name in ROUTES:
        (result,) = data.results(routes=name, model="packets")
        found += [_unchanged(name, result), _round_trip(name, result)]
    return found


def _exact(data: Data) -> Claim:
    (packets,), (fluid,) = (data.results(routes="static", model=model) for model in ("packets", "fluid"))
    known, central = column(packets, "flows", "link_load_ns"), column(fluid, "flows", "link_load_ns")
    # The own channel is not asked: a source takes the larger of it and what it was told.
    own = 2 * FLOW_NS
    off, early = np.abs(np.maximum(known, own) - central), first_probe(packets)
    largest = off[early].max(initial=0.0)
    return hard(
        "static routes: after the first probe the rates are exactly those computed centrally",
        f"largest difference {largest:.3f} ns of load, of the {early.sum()} of {len(early)} flows that "
        "learned no other later",
        bool(early.any() and largest < 1.0),
    )


def _exact_adaptive(data: Data) -> Claim:
    (result,) = data.results(routes="adaptive", model="packets")
    early = first_probe(result)
    known = column(result, "flows", "link_load_ns")[early].max(initial=0.0)
    carried = float(column(result, "phases", "bound_ns")[0])
    return hard(
        "adaptive routes: after the first probe the largest load known is what the busiest link carries",
        f"{known:.1f} and {carried:.1f} ns",
        abs(known - carried) < 1.0,
        note="The fluid takes other adaptive routes: flow by flow there is nothing central to compare.",
    )


def _unchanged(name: str, result: Result) -> Claim:
    changed = np.flatnonzero(~first_probe(result))
    return hard(
        f"{name} routes: rates known after the first probe stay till the flow ends",
        f"{len(changed)} of {len(settled(result))} flows learned another",
        not len(changed),
        note="Probes overtake data: so a flow weighs on a link until its tear-down packet, which follows its "
        "last data, has left on it.",
        cause=lambda: _why_changed(result, changed),
    )


def _why_changed(result: Result, changed: np.ndarray[Any, Any]) -> str:
    ends, loads = column(result, "flows", "time_ns") / 1e3, column(result, "flows", "link_load_ns") / 1e3
    at = settled(result)[changed]
    return (
        f"Learned at {_told(at)} us, {_told(ends[changed] - at)} us before their last packet arrived: a "
        f"load of {_told(loads[changed])} us. A flow weighs on a link until its tear-down packet leaves "
        "there, behind its last data; which ones had left, the results do not tell, having no routes."
    )


def _told(times: np.ndarray[Any, Any]) -> str:
    return " and ".join(f"{time:.1f}" for time in times)


def _round_trip(name: str, result: Result) -> Claim:
    # A flow's first probe leaves a period after the return of its set-up packet.
    times = settled(result)
    last = float(times[first_probe(result)].max())
    return value(
        f"{name} routes: a probe's way there and back, at most",
        "under 10 us",
        last - PERIOD_NS / 1e3,
        (0.0, 10.0),
        "us",
        note=(
            f"The last flow knew its rate at {last:.2f} us: set-up and probe of the slowest flow together, "
            f"less the period; the fastest set-up packet was back at {times.min():.2f} us. 10 us at 10 Gb/s "
            "are 100 kbit."
        ),
    )


EXPERIMENT = Experiment(
    id="saa-converge",
    paper=PAPER,
    title="Rates are exact after one probe",
    setup=(
        "Two random permutations of flows of 128 packets; probes 10 us after a flow is set up. 16-ary "
        "3-tree, reduced 8-ary. What each source knows at its last packet, and since when; on static "
        "routes against the fluid model, which has the same routes there."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
