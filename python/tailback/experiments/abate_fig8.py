"""abate-fig8: 29 jobs that fill the large network, without and with CODES_CC."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_mix as mix
from tailback.experiments import abate_paper as paper
from tailback.experiments.measure import largest
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.result import Result

BARELY = 1.2
"""Times its baseline that a strong incast may take: our reading of "barely slower"."""
_FAR_NEARER = 0.5
"""The part of the slowdown over 1 that may be left: our reading of "far nearer its baseline"."""
_FLOOR = 0.001
"""A tenth of the code's floor, which decides what CODES_CC as published gains: shown beside."""


def cases(counts: Mapping[str, int], full: bool) -> list[Case]:
    """The mix without and with control, and the jobs of each kind without the others."""
    made = paper.cases(
        f"{sum(counts.values())} jobs",
        lambda title, control: mix.scenario(
            title, counts, full, control, record="" if control == "off" else "control = true"
        ),
        mix.cost(full),
    )
    baselines = [
        Case(
            {"control": "baseline", "kind": kind},
            mix.scenario(f"{kind} alone", counts, full, only=kind),
            mix.cost(full) / 4,
        )
        for kind in counts
    ]
    title = f"{sum(counts.values())} jobs, as published, floor {_FLOOR:g}"
    floor = mix.scenario(title, counts, full, "as published", record="control = true", floor=_FLOOR)
    return [*made, *baselines, Case({"floor": _FLOOR}, floor, mix.cost(full))]


def draw(counts: Mapping[str, int], data: Data) -> Figure:
    """Bars per job, with lines where it ends in its baseline."""
    base = {kind: paper.one(data, control="baseline", kind=kind) for kind in counts}
    runs = {control: paper.one(data, control=control) for control in paper.CONTROLS}
    marked = {control: _beside(run, base) for control, run in runs.items()}
    return pictures.job_communication(marked, mark="without jobs of other kinds")


def _beside(result: Result, base: Mapping[str, Result]) -> Result:
    """The result with the time of each job in its baseline."""
    jobs = {
        name: facts | {"alone_communication_ns": alone}
        for name, facts in result.summary["jobs"].items()
        for alone in [base[mix.kind(name)].summary["jobs"][name]["communication_ns"]["max"]]
    }
    return replace(result, summary=result.summary | {"jobs": jobs})


def slowdowns(data: Data, kinds: Mapping[str, int]) -> dict[tuple[str, str], float]:
    """The slowest job of a kind over the slowest in the baseline, by kind and control."""
    base = {kind: mix.slowest(paper.one(data, control="baseline", kind=kind), kind) for kind in kinds}
    return {
        (kind, control): mix.slowest(paper.one(data, control=control), kind) / base[kind]
        for kind in kinds
        for control in paper.CONTROLS
    }


def restored(data: Data, found: Mapping[tuple[str, str], float], victims: list[str], told: str) -> Claim:
    """Every victim is far nearer its baseline, and the strong incasts barely slower, with a variant."""

    def worst(control: str) -> float:
        return largest((found[kind, control] - 1) / max(found[kind, "off"] - 1, 1e-9) for kind in victims)

    both = [
        control
        for control in paper.VARIANTS
        if worst(control) <= _FAR_NEARER and found["strong", control] <= BARELY
    ]
    left = ", ".join(f"{control} {worst(control):.2f}" for control in paper.VARIANTS)
    return hard(
        f"on: every victim far nearer its baseline (at most {_FAR_NEARER} of its slowdown is left), "
        f"strong incasts at most {BARELY}x, with a variant of the scheme",
        f"{told}; largest part of a victim's slowdown that is left: {left}",
        bool(both),
        note=(
            f"Both hold with: {', '.join(both) or 'none'}. The default, as published, leaves "
            f"{worst('as published'):.2f} and has strong incasts at {found['strong', 'as published']:.2f}x. "
            f"{paper.why_allowed(paper.variants(data), 'strong0')} {_by_floor(data, victims)} "
            f"{paper.MONITORED}"
        ),
    )


def _by_floor(data: Data, victims: list[str]) -> str:
    """What victims take as published, by the floor."""
    runs = {
        "off": paper.one(data, control="off"),
        "0.01": paper.one(data, control="as published"),
        f"{_FLOOR:g}": paper.one(data, floor=_FLOOR),
    }
    told = "; ".join(
        f"{kind} " + ", ".join(f"{name} {mix.slowest(run, kind):.0f} us" for name, run in runs.items())
        for kind in [*victims, "strong"]
    )
    return f"{paper.floor_told(99)} As published, by the floor (only 0.01 is judged), the slowest: {told}."


def claims(counts: Mapping[str, int], data: Data) -> list[Claim]:
    """The paper's claims."""
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
        *off_claims(found, told),
        restored(data, found, [kind for kind in mix.VICTIMS if kind in counts], told),
    ]


def off_claims(found: Mapping[tuple[str, str], float], told: str) -> list[Claim]:
    """What incasts suffer without control."""
    return [
        hard(
            "off: weak incasts are slowed (over 1.1x), though not bound by ejection",
            told,
            found["weak", "off"] > 1.1,
        ),
        hard("off: strong incasts at their baseline (within 1.1x)", told, found["strong", "off"] <= 1.1),
    ]


EXPERIMENT = Experiment(
    id="abate-fig8",
    paper=paper.PAPER,
    title="29 jobs on the large network",
    setup="8192 endpoints, PAR, random placement: five LAMMPS of 1024 ranks, ten 99:1 and seven 39:1 "
    "incasts, seven fixed pairs of "
    "256. CODES_CC, signals at once; as published also with a floor of 0.001. A sender of a 99:1 incast has "
    "1.31 MB (full: five times). Sizes of other messages and numbers of iterations are ours; full: five "
    "times as many. The baseline of a job is the run of all jobs of its kind together, "
    "without the others.",
    cases=partial(cases, mix.FIG8),
    draw=partial(draw, mix.FIG8),
    claims=partial(claims, mix.FIG8),
)
