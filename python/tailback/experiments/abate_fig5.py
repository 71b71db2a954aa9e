"""abate-fig5: where packets wait at 2 ms of the runs of abate-fig4."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_fig4 as fig4
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.result import Result

_FULL = 64
"""Flits of a packet: a switch that holds at least one waits for something."""


def cases(full: bool) -> list[Case]:
    """Those of abate-fig4 without control and as published."""
    return [
        case
        for case in fig4.cases(full)
        if case.labels.get("control") in ("off", "as published")
        and case.labels.get("routing") in fig4.ROUTINGS
    ]


def draw(data: Data) -> Figure:
    """The occupancy of every port."""
    results = {
        f"{routing}, {control}": paper.one(data, routing=routing, control=control)
        for routing in fig4.ROUTINGS
        for control in data.values("control")
        if paper.one(data, routing=routing, control=control).tables["queues"].num_rows
    }
    return pictures.occupancy_map(results)


def _holding(result: Result) -> tuple[int, float]:
    """Switches with at least a packet waiting, and all flits that wait."""
    flits = np.asarray(result.tables["occupancy"]["flits"].to_numpy())
    return int((flits >= _FULL).sum()), float(flits.sum())


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = {
        (routing, control): _holding(paper.one(data, routing=routing, control=control))
        for routing in fig4.ROUTINGS
        for control in data.values("control")
    }
    told = "; ".join(
        f"{routing}, {control}: {count} switches, {flits:.0f} flits"
        for (routing, control), (count, flits) in found.items()
    )
    held = found["adaptive", "off"][0] > found["minimal", "off"][0]
    return [
        hard("off: adaptive routing spreads the tree over more switches", told, held, note=_reversed(found))
    ]


def _reversed(found: Mapping[tuple[str, str], tuple[int, float]]) -> str:
    """Under which control it is the other way round."""
    controls = {control for _, control in found if control != "off"}
    less = sorted(
        control for control in controls if found["adaptive", control][0] < found["minimal", control][0]
    )
    told = (
        f"fewer switches with adaptive routing under {' and '.join(less)}"
        if less
        else "the same under control"
    )
    return f"The paper does not say under which control; one seed. Ours: {told}."


EXPERIMENT = Experiment(
    id="abate-fig5",
    paper=paper.PAPER,
    title="Where packets wait",
    setup="The runs of abate-fig4 at 2 ms. Blocks are groups, rows switches, columns ports.",
    cases=cases,
    draw=draw,
    claims=claims,
)
