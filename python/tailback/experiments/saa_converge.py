"""saa-converge: how soon sources know their rates."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.saa_paper import (
    ADAPTIVE,
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
from tailback.result import Result
from tailback.stats import mean_interval

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
            packet_cost(k, 2, 1, 8.0),
        )
        for name, (width, routing) in ROUTES.items()
        for fluid in (False, True)
        if not fluid or name == "static"
    ]


def settled(result: Result) -> np.ndarray[Any, Any]:
    """When each flow knew its load, in us, of those that knew before any flow had ended."""
    known, ends = column(result, "flows", "settled_ns"), column(result, "flows", "time_ns")
    return np.asarray(known[known < ends.min()] / 1e3)


def draw(data: Data) -> Figure:
    """The share of flows that know their rate, over time."""
    with style.styled():
        figure, (axes,) = style.figure(height=2.8)
        for number, name in enumerate(ROUTES):
            (result,) = data.results(routes=name, model="packets")
            times = np.sort(settled(result))
            axes.step(
                times, np.arange(1, len(times) + 1) / len(times), label=f"{name} routes", **style.line(number)
            )
        axes.set_xlabel("time since the start of the phase [us]")
        axes.set_ylabel("flows that know their last rate")
        axes.set_ylim(0, 1.05)
        axes.set_xlim(left=0)
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """Those of claims table row saa-converge."""
    (packets,), (fluid,) = (data.results(routes="static", model=model) for model in ("packets", "fluid"))
    known, central = column(packets, "flows", "link_load_ns"), column(fluid, "flows", "link_load_ns")
    # The own channel is not asked: a source takes the larger of it and what it was told.
    own = 2 * 128 * 1638.4
    ends, learned = column(packets, "flows", "time_ns"), column(packets, "flows", "settled_ns")
    lasting = learned < ends.min()
    off = np.abs(np.maximum(known, own) - central)[lasting]
    found = [
        hard(
            "distributed rates are exactly those computed centrally",
            f"largest difference {off.max():.3f} ns of load, of {lasting.sum()} flows",
            bool(off.max() < 1.0),
        )
    ]
    for name in ROUTES:
        (result,) = data.results(routes=name, model="packets")
        times = settled(result)
        # A flow's first probe leaves a period after the return of its set-up packet.
        last = float(times.max())
        found.append(
            hard(
                f"{name} routes: exact after the first probe",
                f"last at {last:.2f} us, probes leave after {PERIOD_NS / 1e3:g} us",
                last < 2 * PERIOD_NS / 1e3,
            )
        )
        first = float(column(result, "flows", "settled_ns").min()) / 1e3
        found.append(
            value(
                f"{name} routes: a probe's way there and back, at most",
                "under 10 us",
                mean_interval([last - PERIOD_NS / 1e3]),
                (0.0, 10.0),
                "us",
                note=(
                    "Set-up and probe of the slowest flow together, less the period; the fastest set-up "
                    f"packet was back at {first:.2f} us. 10 us at 10 Gb/s are 100 kbit."
                ),
            )
        )
    return found


EXPERIMENT = Experiment(
    id="saa-converge",
    paper=PAPER,
    title="Rates are exact after one probe",
    setup=(
        "Two random permutations of flows of 128 packets; probes 10 us after a flow is set up. 16-ary "
        "3-tree, reduced 8-ary. What each source knows at its last packet, and since when, "
        "against the fluid model."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
