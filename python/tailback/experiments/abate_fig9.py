"""abate-fig9: 17 jobs that behave, but for eight incasts, without and with CODES_CC."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_fig8 as fig8
from tailback.experiments import abate_mix as mix
from tailback.experiments import abate_paper as paper
from tailback.experiments.measure import largest
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value

_CLEARLY = 0.03
"""What one run of each may differ by, as in abate-fig10."""
_NEAR = 1.5


def draw(data: Data) -> Figure:
    """How long packets took."""
    return pictures.latency_distribution(
        {control: paper.one(data, control=control) for control in paper.CONTROLS}
    )


def cases(full: bool) -> list[Case]:
    """The mix, and what of abate-fig8 tells how much its weak incasts are hurt."""
    of_fig8 = {case.labels.get("kind", case.labels["control"]): case for case in fig8.cases(mix.FIG8, full)}
    beside = [Case({"fig8": name}, of_fig8[name].scenario, of_fig8[name].cost) for name in ("off", "weak")]
    return fig8.cases(mix.FIG9, full) + beside


def _less_hurt(data: Data, found: Mapping[tuple[str, str], float]) -> Claim:
    off, other = paper.one(data, control="off"), paper.one(data, fig8="off")
    before = mix.slowest(other, "weak") / mix.slowest(paper.one(data, fig8="weak"), "weak")
    here = found["weak", "off"]
    weak, strong = ([mix.slowest(run, kind) for run in (off, other)] for kind in ("weak", "strong"))
    return hard(
        f"off: weak incasts less hurt than in abate-fig8 (slowdown less by over {100 * _CLEARLY:g} %)",
        f"{here:.2f}x and {before:.2f}x",
        here < (1 - _CLEARLY) * before,
        note="One seed.",
        cause=(
            f"The slowest end at {weak[0]:.0f} us here and {weak[1]:.0f} us there. Strong incasts, four here "
            f"and ten there, take {strong[0]:.0f} and {strong[1]:.0f} us in two iterations; half of that is "
            f"{strong[0] / 2:.0f} and {strong[1] / 2:.0f} us. So weak ones wait about as long as an "
            "iteration of strong ones lasts, which is ours, however many there are. What the "
            "paper's jobs sent is not known."
        ),
    )


def _near(found: Mapping[tuple[str, str], float], victims: list[str]) -> Claim:
    """The slowest kind of victims, with the best variant of those that spare strong incasts."""
    worst = {control: largest(found[kind, control] for kind in victims) for control in paper.VARIANTS}
    spare = [control for control in paper.VARIANTS if found["strong", control] <= fig8.BARELY]
    best = paper.least_slowed(worst, spare or paper.VARIANTS)
    return value(
        "on: the slowest kind of victims over its baseline, with a variant of the scheme",
        "near-baseline restored",
        worst[best],
        (0.0, _NEAR),
        "x",
        note=(
            f"{best}; the default, as published: {worst['as published']:.2f}x. {_NEAR}x is our reading, as "
            "in abate-fig4."
        ),
        cause=(
            f"The drain margin brings {worst['drain margin']:.2f}x, but slows strong incasts to "
            f"{found['strong', 'drain margin']:.2f}x; {fig8.BARELY}x at most is asked. As coded, what the "
            "senders of an incast are allowed in all may be over what their target takes (abate-fig4): the "
            "longer jobs last, the more of them are caught."
        ),
    )


def _number(found: float | None) -> float:
    """A latency of packets, none of which may have arrived."""
    return math.nan if found is None else found


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = fig8.slowdowns(data, mix.FIG9)
    told = "; ".join(
        f"{kind} " + ", ".join(f"{control} {found[kind, control]:.2f}x" for control in paper.CONTROLS)
        for kind in mix.FIG9
    )
    latencies = {
        control: {which: _number(facts[which]) for which in ("mean", "max")}
        for control in paper.CONTROLS
        for facts in [paper.one(data, control=control).summary["classes"]["all"]["network_latency_ns"]]
    }
    fallen = [
        control
        for control in paper.VARIANTS
        if all(latencies[control][which] < most for which, most in latencies["off"].items())
    ]
    each = ", ".join(
        f"{control} {facts['mean']:.0f} and {facts['max']:.0f} ns" for control, facts in latencies.items()
    )
    victims = [kind for kind in mix.VICTIMS if kind in mix.FIG9]
    return [
        *fig8.off_claims(found, told),
        _less_hurt(data, found),
        fig8.restored(data, found, victims, told),
        _near(found, victims),
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
    "as many, so that a sender of a 99:1 incast has 6.6 MB, "
    "half of what it has in abate-fig4. The baseline of a job is the run of all jobs of its kind together, "
    "without the others.",
    cases=cases,
    draw=draw,
    claims=claims,
)
