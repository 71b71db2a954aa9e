"""abate-fig2: what an incast does to the ports of a network."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_halo as halo
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.result import Result


def cases(full: bool) -> list[Case]:
    """With and without the incast."""
    made = []
    for beside in (False, True):
        load = halo.incasts(1, "1 MiB", "0 us") if beside else []
        load.append(halo.halo("halo", 8000, 4 if full else 1))
        title = f"8000 ranks of halo3d26{', and a 63:1 incast' if beside else ''}"
        scenario = paper.scenario(title, paper.LARGE, load, routing="ugal", record="ports = true")
        made.append(Case({"incast": beside}, scenario, 4))
    return made


def draw(data: Data) -> Figure:
    """The triangles of port activity."""
    names = {False: "halo alone", True: "with a 63:1 incast"}
    return pictures.port_ternary({names[beside]: paper.one(data, incast=beside) for beside in names})


def _stalled(result: Result) -> np.ndarray:
    """Share of the run that each port between switches is stalled, largest first."""
    table = result.tables["ports"]
    table = table.filter(pc.not_equal(table["link_class"], "host"))
    times = {state: table[f"{state}_ns"].to_numpy() for state in ("active", "idle", "stalled")}
    return np.sort(times["stalled"] / np.maximum(sum(times.values()), 1e-9))[::-1]


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    alone, beside = (_stalled(paper.one(data, incast=beside)) for beside in (False, True))
    told = "; ".join(
        f"{name}: mean stall {100 * shares.mean():.2f} %, {(shares > 0.5).sum()} of {len(shares)} ports "
        "stalled over half "
        f"the time, {(shares > 0.2).sum()} over 20 %"
        for name, shares in (("alone", alone), ("with the incast", beside))
    )
    return [
        hard("without the incast there is almost no stall (mean under 1 %)", told, bool(alone.mean() < 0.01)),
        hard(
            "with it many ports (over 1 %) are stalled over half the time, and none such without",
            told,
            bool((beside > 0.5).mean() > 0.01 and (alone > 0.5).sum() == 0),
        ),
    ]


EXPERIMENT = Experiment(
    id="abate-fig2",
    paper=paper.PAPER,
    title="Ports with and without an incast",
    setup="8192 endpoints, UGAL. A halo exchange of 8000 ranks (reduced: one iteration), placed at random, "
    "with and without 63 ranks that send 1 MiB each to one (ours). Share of the time that each local and "
    "global port is idle, active, stalled.",
    cases=cases,
    draw=draw,
    claims=claims,
)
