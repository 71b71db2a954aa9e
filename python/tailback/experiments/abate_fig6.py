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


def cases(full: bool) -> list[Case]:
    """Four halos and an incast that joins in their second iteration."""
    load = halo.incasts(1, "64 KiB", 16 if full else 4, "45 us")
    load += [halo.halo(name, halo.RANKS, 5) for name in halo.HALOS]
    record = 'series = "5 us"\ncontrol = true'
    made = paper.cases(
        "Four halos and an incast",
        lambda title, control: paper.scenario(
            title, paper.LARGE, load, scheme="sst-cm", control=control, routing="ugal", record=record
        ),
        60,
    )
    alone = paper.scenario(
        "Four halos",
        paper.LARGE,
        load,
        scheme="sst-cm",
        routing="ugal",
        record=record,
        run=paper.only(*halo.HALOS),
    )
    return [*made, Case({"control": "alone"}, alone, 40)]


def draw(data: Data) -> Figure:
    """Received bandwidth: of a halo's ranks in the mean, and of the incast's target."""
    controls = data.values("control")
    with style.styled():
        figure, panels = style.figure(len(controls), height=1.7)
        for axes, control in zip(panels, controls, strict=True):
            result = paper.one(data, control=control)
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
    """The mean and the least share of its channel that the incast's target takes while the incast lasts."""
    _, rates = series(result, "incast0", "accepted")
    busy = np.flatnonzero(rates * (halo.SENDERS + 1) > 0.01)
    inside = (halo.SENDERS + 1) * rates[busy[0] + 1 : busy[-1]]
    return float(inside.mean()), float(inside.min())


def claims(data: Data) -> list[Claim]:
    """Those of claims table row abate-fig6."""
    runs = {control: paper.one(data, control=control) for control in data.values("control")}
    halos = {control: _halos(result) for control, result in runs.items()}
    ends = {
        control: 45 + paper.time_us(result, "incast0")
        for control, result in runs.items()
        if control != "alone"
    }
    told = ", ".join(f"{control} {time:.0f} us" for control, time in halos.items())
    targets = {control: _target(runs[control]) for control in ends}
    shares = ", ".join(
        f"{control} {mean:.2f} (least {least:.2f})" for control, (mean, least) in targets.items()
    )
    best = min(paper.VARIANTS, key=lambda control: halos[control])
    return [
        hard(
            "off: the halos end only when the incast does",
            f"halos {halos['off']:.0f} us (alone {halos['alone']:.0f}), incast {ends['off']:.0f} us",
            halos["off"] > 0.9 * ends["off"] and halos["off"] > 1.5 * halos["alone"],
        ),
        hard(
            "on: near their own speed (within 1.5x), with a variant of the scheme",
            told,
            halos[best] <= 1.5 * halos["alone"],
            note=f"the default, as published: {halos['as published'] / halos['alone']:.2f}x; the best: "
            f"{best}",
        ),
        hard(
            "on: the incast goes near its ejection rate (0.8), with a dip below 0.6",
            f"share of the target's channel: {shares}",
            targets["as published"][0] > 0.8 and targets["as published"][1] < 0.6,
        ),
    ]


EXPERIMENT = Experiment(
    id="abate-fig6",
    paper=paper.PAPER,
    title="Four halos and an incast over time",
    setup="8192 endpoints, UGAL, SST_CM. Four halo exchanges of 1728 ranks, 5 iterations, placed one "
    "after the other; from 45 us on "
    "(in their second iteration) 63 random endpoints send 64 KiB messages to one, reduced 4, full 16 "
    "times.",
    cases=cases,
    draw=draw,
    claims=claims,
)
