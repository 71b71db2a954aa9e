"""abate-fig7: the times of four halos beside two incasts, without and with SST_CM."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_halo as halo
from tailback.experiments import abate_paper as paper
from tailback.experiments.measure import largest
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.stats import mean_interval

_DRAWS = (7, 1, 2, 3, 4, 5)
"""Of the incasts' endpoints; the figure is of the first."""


def cases(full: bool) -> list[Case]:
    """Four halos and two incasts, for every draw of the incasts' endpoints."""
    return [case for draw in _DRAWS for case in _of_draw(draw, full)]


def _of_draw(draw: int, full: bool) -> list[Case]:
    load = halo.incasts(2, "1 MiB" if full else "256 KiB", "0 us", draw)
    load += [halo.halo(name, halo.RANKS, 5 if full else 3, placement="linear") for name in halo.HALOS]
    common = {"scheme": "sst-cm", "routing": "ugal"}
    made = paper.cases(
        f"Four halos and two incasts, draw {draw}",
        lambda title, control: paper.scenario(
            title,
            paper.LARGE,
            load,
            control=control,
            record="" if control == "off" else "control = true",
            **common,
        ),
        40 if full else 10,
        draw=draw,
    )
    alone = paper.scenario(
        f"Four halos, draw {draw}", paper.LARGE, load, run=paper.only(*halo.HALOS), **common
    )
    return [*made, Case({"control": "alone", "draw": draw}, alone, 20 if full else 5)]


def draw(data: Data) -> Figure:
    """Bars per job."""
    return pictures.job_communication(
        {control: paper.one(data, control=control, draw=_DRAWS[0]) for control in data.values("control")}
    )


def _slowdowns(data: Data, control: str, draw: int) -> dict[str, float]:
    """Each halo's time over that alone."""
    run, alone = (paper.one(data, control=of, draw=draw) for of in (control, "alone"))
    return {name: paper.time_us(run, name) / paper.time_us(alone, name) for name in halo.HALOS}


def _holding(data: Data, draw: int) -> list[str]:
    """The halos among whose endpoints a target lies."""
    run = paper.one(data, control="off", draw=draw)
    return [
        name
        for name in halo.HALOS
        if any(halo.holds_target(run, name, f"incast{number}") for number in range(2))
    ]


def _near(data: Data) -> tuple[Claim, str]:
    """How near halos come to their time alone, and the variant under which they come nearest."""
    each = {
        control: mean_interval([largest(_slowdowns(data, control, draw).values()) for draw in _DRAWS])
        for control in paper.CONTROLS
    }
    means = {control: one.mean for control, one in each.items()}
    best, note = paper.best_variant(means)
    told = ", ".join(f"{control} {one}x" for control, one in each.items())
    runs = paper.variants(data, draw=_DRAWS[0])
    claim = hard(
        "on: the halos are near their baseline (within 1.5x), with a variant of the scheme, and nearer than "
        "off",
        f"the slowest halo over its time alone, mean over {len(_DRAWS)} draws of the incasts' endpoints: "
        f"{told}",
        means[best] <= 1.5 and means[best] < means["off"],
        note=f"{note}. {paper.why_allowed(runs, 'incast0')}",
    )
    return claim, best


def _slowest(data: Data, best: str) -> Claim:
    """Whether halos that hold a target are slower than the others."""
    more, told = [], []
    for draw in _DRAWS:
        slow, holding = _slowdowns(data, best, draw), _holding(data, draw)
        told.append(
            "; ".join(f"{name[4:]}{'*' if name in holding else ''} {one:.2f}x" for name, one in slow.items())
        )
        parts = [[slow[name] for name in halo.HALOS if (name in holding) == held] for held in (True, False)]
        if all(parts):
            held, others = (sum(part) / len(part) for part in parts)
            more.append(held - others)
    excess = mean_interval(more)
    return hard(
        "on: the halos among whose endpoints an incast's target lies are the slowest: slower than the "
        "others, in the mean over draws of the incasts' endpoints, by more than the interval",
        f"{best}: {excess} more of the time alone, {len(more)} draws, in {sum(one > 0 for one in more)} of "
        "them slower",
        excess.low > 0 and excess.values > 1,
        note=f"By draw, targets lie in those with *: {' | '.join(told)}.",
        cause="What the halos share with the incasts besides their targets' switches was not isolated.",
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    near, best = _near(data)
    return [near, _slowest(data, best)]


EXPERIMENT = Experiment(
    id="abate-fig7",
    paper=paper.PAPER,
    title="Four halos and two incasts",
    setup="8192 endpoints, UGAL, SST_CM. Four halo exchanges of 1728 ranks (reduced: 3 iterations), "
    "placed one after the other; two incasts of 63 random endpoints that send 256 KiB each to one (ours; "
    "full: 1 MiB), in six draws; the figure is of the first.",
    cases=cases,
    draw=draw,
    claims=claims,
)
