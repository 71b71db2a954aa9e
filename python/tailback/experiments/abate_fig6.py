"""abate-fig6: bandwidth over time of halos and an incast, without and with SST_CM."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import abate_halo as halo
from tailback.experiments import abate_paper as paper
from tailback.experiments.measure import series
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.result import Result

ROUTING = "ugal"
"""The one that is judged."""
SST_UGAL = "sst-ugal"
"""The paper's simulator's own adaptive routing, shown beside ours."""
_START_US = 45.0


def cases(full: bool) -> list[Case]:
    """Four halos and an incast that joins in their second iteration, with both routings."""
    load = halo.incasts(1, "1 MiB" if full else "256 KiB", f"{_START_US:g} us")
    load += [halo.halo(name, halo.RANKS, 5) for name in halo.HALOS]
    record = 'series = "5 us"\ncontrol = true'
    made = []
    for routing in (ROUTING, SST_UGAL):
        common = {"scheme": "sst-cm", "routing": routing, "record": record}
        made += paper.cases(
            f"Four halos and an incast, {routing}",
            lambda title, control, common=common: paper.scenario(
                title, paper.LARGE, load, control=control, **common
            ),
            60,
            routing=routing,
        )
        alone = paper.scenario(
            f"Four halos, {routing}", paper.LARGE, load, run=paper.only(*halo.HALOS), **common
        )
        made.append(Case({"control": "alone", "routing": routing}, alone, 40))
    return made


def draw(data: Data) -> Figure:
    """Received bandwidth: of a halo's ranks in the mean, and of the incast's target."""
    controls = data.values("control")
    with style.styled():
        figure, panels = style.figure(len(controls), height=1.7)
        for axes, control in zip(panels, controls, strict=True):
            result = paper.one(data, control=control, routing=ROUTING)
            for number, name in enumerate((*halo.HALOS, "incast0")):
                times, rates = series(result, name, "accepted")
                ranks = 1 if name in halo.HALOS else halo.SENDERS + 1
                axes.plot(times, paper.BANDWIDTH * ranks * rates, label=name, **style.line(number))
            axes.set_title(control, fontsize=9)
            axes.set_ylabel("GB/s")
        panels[-1].set_xlabel("simulated time [us]")
        style.legend(figure, panels[0])
    return figure


def _halos(result: Result) -> float:
    return max(paper.time_us(result, name) for name in halo.HALOS)


def _target(result: Result) -> tuple[float, float]:
    """Share of its channel that the incast's target takes: in the mean, and at least before it ends."""
    _, rates = series(result, "incast0", "accepted")
    shares = rates * (halo.SENDERS + 1)
    busy, full = np.flatnonzero(shares > 0.01), np.flatnonzero(shares > 0.9)
    return float(shares[busy[0] + 1 : busy[-1]].mean()), float(shares[full[0] : full[-1]].min())


def _why(runs: dict[str, Result]) -> str:
    told = []
    for control in paper.VARIANTS:
        incast = paper.time_us(runs[control], "incast0")
        span = (_START_US + 0.1 * incast, _START_US + 0.5 * incast)
        allowed, let_go = paper.allowed(runs[control], "incast0", span)
        told.append(f"{control} {allowed:.2f} times the channel ({let_go} times one was let go)")
    return (
        "A stream ends when nothing of it has come for 1.5 N times of an mtu, 15 us here, and its source "
        "goes at full rate again; but what it sent before the first order is stuck in the tree, so that it "
        "looks silent. What the senders were allowed in all, in the mean from a tenth to half of the "
        f"incast's time: {'; '.join(told)}. As coded, a stream lasts 5 instead of 1.5 N, and every source "
        "that joins makes all pause again."
    )


def claims(data: Data) -> list[Claim]:
    """Those of claims table row abate-fig6: of the default, as published, and of the code."""
    runs, beside = (
        {control: paper.one(data, control=control, routing=routing) for control in data.values("control")}
        for routing in (ROUTING, SST_UGAL)
    )
    halos = {control: _halos(result) for control, result in runs.items()}
    theirs = (
        f"With SST's own adaptive routing ({SST_UGAL}), which is not judged, the halos end after "
        + ", ".join(f"{_halos(result):.0f} us ({control})" for control, result in beside.items())
        + f"; the incast, off, after {_START_US + paper.time_us(beside['off'], 'incast0'):.0f} us."
    )
    incast = _START_US + paper.time_us(runs["off"], "incast0")
    found = [
        hard(
            "off: the halos end only when the incast does",
            f"halos {halos['off']:.0f} us (alone {halos['alone']:.0f}), incast {incast:.0f} us",
            halos["off"] > 0.9 * incast and halos["off"] > 1.5 * halos["alone"],
            note=theirs,
        )
    ]
    for control in paper.VARIANTS[:2]:
        mean, least = _target(runs[control])
        found += [
            hard(
                f"on, {control}: near their own speed (within 1.5x)",
                ", ".join(f"{name} {time:.0f} us" for name, time in halos.items()),
                halos[control] <= 1.5 * halos["alone"],
                cause=_why(runs),
            ),
            hard(
                f"on, {control}: the incast goes near its ejection rate (0.8), with a dip below 0.6",
                f"{mean:.2f} of the target's channel, {least:.2f} at least before its end",
                mean > 0.8 and least < 0.6,
                cause=_why(runs),
            ),
        ]
    return found


EXPERIMENT = Experiment(
    id="abate-fig6",
    paper=paper.PAPER,
    title="Four halos and an incast over time",
    setup="8192 endpoints, UGAL (ours; as SST defines it beside it), SST_CM. Four halo exchanges of 1728 "
    "ranks, 5 iterations, placed one after the other; at 45 us (in their second iteration) 63 random "
    "endpoints send 256 KiB each to one (ours; full: 1 MiB).",
    cases=cases,
    draw=draw,
    claims=claims,
)
