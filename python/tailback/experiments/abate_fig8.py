"""abate-fig8: 29 jobs that fill the large network, without and with CODES_CC."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_mix as mix
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, hard

_FAR_NEARER = 0.5
"""The part of the slowdown over 1 that may be left: our reading of "far nearer its baseline"."""


def cases(counts: Mapping[str, int], full: bool) -> list[Case]:
    """The mix without and with control, and the jobs of each kind without the others."""
    made = paper.cases(
        f"{sum(counts.values())} jobs",
        lambda title, control: mix.scenario(title, counts, full, control),
        120,
    )
    baselines = [
        Case(
            {"control": "baseline", "kind": kind}, mix.scenario(f"{kind} alone", counts, full, only=kind), 30
        )
        for kind in counts
    ]
    return made + baselines


def draw(data: Data) -> Figure:
    """Bars per job."""
    return pictures.job_times({control: paper.one(data, control=control) for control in paper.CONTROLS})


def slowdowns(data: Data, kinds: Mapping[str, int]) -> dict[tuple[str, str], float]:
    """The slowest job of a kind over the slowest in the baseline, by kind and control."""
    base = {kind: mix.slowest(paper.one(data, control="baseline", kind=kind), kind) for kind in kinds}
    return {
        (kind, control): mix.slowest(paper.one(data, control=control), kind) / base[kind]
        for kind in kinds
        for control in paper.CONTROLS
    }


def restored(found: Mapping[tuple[str, str], float], victims: list[str], told: str) -> Claim:
    """Every victim is far nearer its baseline, and the strong incasts barely slower, with a variant."""

    def worst(control: str) -> float:
        return max((found[kind, control] - 1) / max(found[kind, "off"] - 1, 1e-9) for kind in victims)

    best = min(paper.VARIANTS, key=worst)
    left = ", ".join(f"{control} {worst(control):.2f}" for control in paper.VARIANTS)
    return hard(
        f"on: every victim far nearer its baseline (at most {_FAR_NEARER} of its slowdown is left), "
        "strong incasts at most "
        "1.2x, with a variant of the scheme",
        f"{told}; largest part of a victim's slowdown that is left: {left}",
        worst(best) <= _FAR_NEARER and found["strong", best] <= 1.2,
        note=f"the default is as published; the best: {best}",
    )


def claims(counts: Mapping[str, int], data: Data) -> list[Claim]:
    """Those of claims table row abate-fig8."""
    found = slowdowns(data, counts)
    told = "; ".join(
        f"{kind} " + ", ".join(f"{control} {found[kind, control]:.2f}x" for control in paper.CONTROLS)
        for kind in counts
    )
    off = paper.one(data, control="off")
    pairs, strong = mix.slowest(off, "pairs"), mix.slowest(off, "strong")
    return [
        hard(
            "off: fixed pairs end only after the strong incasts",
            f"{pairs:.0f} and {strong:.0f} us",
            pairs > strong,
        ),
        hard(
            "off: weak incasts are slowed (over 1.1x), though not bound by ejection",
            told,
            found["weak", "off"] > 1.1,
        ),
        hard("off: strong incasts at their baseline (within 1.1x)", told, found["strong", "off"] <= 1.1),
        restored(found, [kind for kind in mix.VICTIMS if kind in counts], told),
    ]


EXPERIMENT = Experiment(
    id="abate-fig8",
    paper=paper.PAPER,
    title="29 jobs on the large network",
    setup="8192 endpoints, PAR, random placement: five LAMMPS of 1024 ranks, ten 99:1 and seven 39:1 "
    "incasts, seven fixed pairs of "
    "256. CODES_CC, signals at once. Sizes of messages and numbers of iterations are ours; full: five "
    "times as many.",
    cases=partial(cases, mix.FIG8),
    draw=draw,
    claims=partial(claims, mix.FIG8),
)
