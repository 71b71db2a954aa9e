"""abate-fig10b: late signals, with the jobs of abate-fig9."""

from __future__ import annotations

from functools import partial

from tailback.experiments import abate_fig10 as fig10
from tailback.experiments import abate_mix as mix
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Claim, Data, Experiment


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = fig10.times(data, mix.FIG9)
    judged = {
        control: fig10.trend(found, ["lammps", "milc"], control, partial(fig10.why, data, control))
        for control in fig10.CONTROLS
    }
    return [claim for control, of in judged.items() for claim in fig10.of_the_paper([of], control)]


EXPERIMENT = Experiment(
    id="abate-fig10b",
    paper=paper.PAPER,
    title="Late signals, with jobs that behave",
    setup="The jobs of abate-fig9 under CODES_CC, as published and as coded, with signals that take 0.2, "
    "12.8, 128 and 1024 us. On 288 endpoints, unjudged: LAMMPS beside 99 senders with floors of 0.01 and "
    "0.001.",
    cases=lambda full: [*fig10.cases(mix.FIG9, full), *fig10.small()],
    draw=partial(fig10.draw, mix.FIG9),
    claims=claims,
)
