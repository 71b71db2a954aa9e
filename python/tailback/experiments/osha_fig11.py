"""osha-fig11: four transpositions of 576 tasks each, side by side, on a KNS network and a torus."""

from __future__ import annotations

import math
from functools import cache

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import osha_paper as osha
from tailback.experiments.lhrp_paper import Times
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.ptrans import Ptrans
from tailback.result import Result
from tailback.stats import mean_interval

NUMBERS = (1, 3)
_JOBS = 4
_TURNS = (
    "In linear order a transposition sends 12 of the 48 tasks of a row over one channel where XY packets "
    "turn, and so on the torus: 614 kB of each take 590 us at least, two orders halve that on KNS (6 "
    "flows, 295 us), while 11 remain on a channel of the torus (541 us). So KNS is not under moderate "
    "load. It is where tasks are placed at random: without VOQs 1VC needs 0.411 and SASHA-4VC 0.377 ms "
    "there."
)
_RATIO = (
    "In linear order channels where packets turn bind both networks. With tasks placed at random and "
    "without VOQs SASHA-4VC takes 0.377 ms on KNS and 0.718 ms on the torus, 1.91 times as long, which is"
    " within the tolerance, and 1VC 0.411 and 0.846 ms, 2.06 times. A sixth of the load (60 us of "
    "computing) brings the two together: SASHA-4VC takes 1.356 and 1.322 ms."
)


@cache
def trace(full: bool) -> str:
    """The trace of a job: on average half of a channel, where nothing is in the way."""
    return (
        "\n".join(Ptrans(matrix=4800, chunk=65536, compute_ns=5000, iterations=40 if full else 2).trace())
        + "\n"
    )


def cases(full: bool) -> list[Case]:
    """Both networks in the paper's size, all schemes, without and with VOQs."""
    times = Times(0, 1_000_000, 0)
    made = []
    for number in NUMBERS:
        of = osha.network(number, full=True)
        jobs = "".join(
            f'[[job]]\nname = "ptrans{job}"\nworkload = "vef"\nranks = 576\nplacement = "linear"\n'
            for job in range(_JOBS)
        )
        texts = {f"job.ptrans{job}.text": trace(full) for job in range(_JOBS)}
        for voq in (False, True):
            for scheme in osha.SCHEMES:
                title = f"{of.name}, PTRANS, {scheme}, {osha.switches(voq)}"
                # Messages of several lengths have no bubbles of one length: date lines instead.
                scenario = osha.scenario(
                    title, of, scheme, voq=voq, traffic=jobs, times=times, deadlock="date-line"
                ).replace(texts)
                labels = {"network": number, "scheme": scheme, "voq": voq}
                made.append(Case(labels, scenario, of.hops * (20 if full else 1)))
    return made


def execution_ms(result: Result) -> float:
    """When the last job is done; not a number if one is not."""
    jobs = result.summary["jobs"].values()
    if any(job["unfinished_ranks"] for job in jobs):
        return math.nan
    return max(float(job["start_ns"] + job["time_ns"]) for job in jobs) / 1e6


def _found(data: Data, number: int, *, voq: bool) -> dict[str, float]:
    return {
        scheme: osha.at(data, execution_ms, network=number, voq=voq, scheme=scheme) for scheme in osha.SCHEMES
    }


def draw(data: Data) -> Figure:
    """Execution time by scheme: a panel for each network."""
    with style.styled():
        figure = Figure(figsize=(9.6, 3.8), layout="constrained")
        panels = figure.subplots(1, 2)
        for panel, number in zip(panels, NUMBERS, strict=True):
            for turn, voq in enumerate((False, True)):
                found = _found(data, number, voq=voq)
                places = [at + 0.4 * turn for at in range(len(found))]
                panel.bar(places, list(found.values()), 0.4, label=osha.switches(voq), **style.bar(turn))
            panel.set_xticks([at + 0.2 for at in range(len(osha.SCHEMES))], osha.SCHEMES, rotation=30)
            panel.set_title(f"network {number}, {osha.network(number, full=True).name}", fontsize=10)
            panel.set_ylabel("execution time [ms]")
        style.legend(figure, panels[0])
    return figure


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig11."""
    kns, torus = ([_found(data, number, voq=voq) for voq in (False, True)] for number in NUMBERS)
    told = [
        "; ".join(
            f"{osha.switches(bool(voq))}: "
            + ", ".join(f"{scheme} {ms:.3f} ms" for scheme, ms in found.items())
            for voq, found in enumerate(of)
        )
        for of in (kns, torus)
    ]
    sasha = ("SASHA-2VC", "SASHA-4VC")
    others = [scheme for scheme in osha.SCHEMES if scheme not in sasha]
    shortest = all(max(f[s] for s in sasha) < min(f[o] for o in others) for f in torus)
    ratios = [t["SASHA-4VC"] / k["SASHA-4VC"] for k, t in zip(kns, torus, strict=True)]
    return [
        hard(
            "KNS: alike for all (within 10 %)",
            told[0],
            all(max(f.values()) <= 1.1 * min(f.values()) for f in kns),
            cause=_TURNS,
        ),
        hard("torus: SASHA clearly the shortest", told[1], shortest),
        value(
            "torus over KNS with SASHA-4VC",
            "2.3 (1200 ms over 520 ms)",
            mean_interval(ratios),
            (1.6, 3.0),
            note="absolute times depend on the size of the matrix, which the paper does not tell",
            cause=_RATIO,
        ),
    ]


EXPERIMENT = Experiment(
    id="osha-fig11",
    paper=osha.PAPER,
    title="PTRANS on a KNS network and a torus",
    setup=(
        "Four jobs of 576 tasks (24 x 24) transpose a matrix of 4800 x 4800 in messages of 64 KiB with 5 us "
        "of computing between; placed in the order of the endpoints. The torus has date lines, since "
        "messages have several lengths."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
