"""abate-fig9: 17 jobs that behave, but for eight incasts, without and with CODES_CC."""

from __future__ import annotations

from functools import partial

from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_fig8 as fig8
from tailback.experiments import abate_mix as mix
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Claim, Data, Experiment, hard


def draw(data: Data) -> Figure:
    """How long packets took."""
    return pictures.latency_distribution(
        {control: paper.one(data, control=control) for control in paper.CONTROLS}
    )


def claims(data: Data) -> list[Claim]:
    """Those of claims table row abate-fig9."""
    found = fig8.slowdowns(data, mix.FIG9)
    told = "; ".join(
        f"{kind} " + ", ".join(f"{control} {found[kind, control]:.2f}x" for control in paper.CONTROLS)
        for kind in mix.FIG9
    )
    latencies = {
        control: paper.one(data, control=control).summary["classes"]["all"]["network_latency_ns"]
        for control in paper.CONTROLS
    }
    fallen = [
        control
        for control in paper.VARIANTS
        if all(latencies[control][which] < latencies["off"][which] for which in ("mean", "max"))
    ]
    each = ", ".join(
        f"{control} {facts['mean']:.0f} and {facts['max']:.0f} ns" for control, facts in latencies.items()
    )
    return [
        fig8.restored(found, ["lammps", "milc", "weak"], told),
        hard(
            "mean and largest packet latency fall, with a variant of the scheme",
            each,
            bool(fallen),
            note=f"they do: {', '.join(fallen) or 'with none'}",
        ),
    ]


EXPERIMENT = Experiment(
    id="abate-fig9",
    paper=paper.PAPER,
    title="17 jobs on the large network",
    setup="8192 endpoints, PAR, random placement: five LAMMPS of 1024 ranks, four MILC of 625, four 99:1 "
    "and four 39:1 incasts. "
    "CODES_CC, signals at once. Sizes of messages and numbers of iterations are ours; full: five times "
    "as many.",
    cases=partial(fig8.cases, mix.FIG9),
    draw=draw,
    claims=claims,
)
