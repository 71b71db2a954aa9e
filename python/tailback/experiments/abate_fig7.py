"""abate-fig7: the times of four halos beside two incasts, without and with SST_CM."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_halo as halo
from tailback.experiments import abate_paper as paper
from tailback.experiments.measure import largest
from tailback.experiments.model import Case, Claim, Data, Experiment, hard


def cases(full: bool) -> list[Case]:
    """Four halos and two incasts."""
    load = halo.incasts(2, "1 MiB" if full else "256 KiB", "0 us")
    load += [halo.halo(name, halo.RANKS, 5 if full else 3) for name in halo.HALOS]
    made = paper.cases(
        "Four halos and two incasts",
        lambda title, control: paper.scenario(
            title,
            paper.LARGE,
            load,
            scheme="sst-cm",
            control=control,
            routing="ugal",
            record="" if control == "off" else "control = true",
        ),
        40 if full else 10,
    )
    alone = paper.scenario(
        "Four halos", paper.LARGE, load, scheme="sst-cm", routing="ugal", run=paper.only(*halo.HALOS)
    )
    return [*made, Case({"control": "alone"}, alone, 20 if full else 5)]


def draw(data: Data) -> Figure:
    """Bars per job."""
    return pictures.job_communication(
        {control: paper.one(data, control=control) for control in data.values("control")}
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    runs = {control: paper.one(data, control=control) for control in data.values("control")}
    times = {
        control: {name: paper.time_us(result, name) for name in halo.HALOS}
        for control, result in runs.items()
    }
    slowdowns = {
        control: largest(times[control][name] / times["alone"][name] for name in halo.HALOS)
        for control in paper.CONTROLS
    }
    holding = [
        name
        for name in halo.HALOS
        if any(halo.holds_target(runs["off"], name, f"incast{number}") for number in range(2))
    ]
    best, note = paper.best_variant(slowdowns)
    ordered = sorted(halo.HALOS, key=lambda name: -times[best][name] / times["alone"][name])
    told = ", ".join(f"{control} {slowdown:.2f}x" for control, slowdown in slowdowns.items())
    each = ", ".join(f"{name} {times[best][name] / times['alone'][name]:.2f}x" for name in halo.HALOS)
    return [
        hard(
            "on: the halos are near their baseline (within 1.5x), with a variant of the scheme, and "
            "nearer than off",
            f"the slowest halo over its time alone: {told}",
            slowdowns[best] <= 1.5 and slowdowns[best] < slowdowns["off"],
            note=f"{note}. {paper.why_allowed(paper.variants(data), 'incast0')}",
        ),
        hard(
            "on: the halos among whose endpoints an incast's target lies are the slowest",
            f"{best}: {each}; targets lie in {', '.join(holding) or 'none'}",
            bool(holding) and set(ordered[: len(holding)]) == set(holding),
            cause="What the halos share with the incasts besides their targets' switches was not isolated.",
        ),
    ]


EXPERIMENT = Experiment(
    id="abate-fig7",
    paper=paper.PAPER,
    title="Four halos and two incasts",
    setup="8192 endpoints, UGAL, SST_CM. Four halo exchanges of 1728 ranks (reduced: 3 iterations), "
    "placed one after the other; two incasts of 63 random endpoints that send 256 KiB each to one (ours; "
    "full: 1 MiB).",
    cases=cases,
    draw=draw,
    claims=claims,
)
