"""abate-fig4: LAMMPS beside an incast, by routing and control."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments import abate_paper as paper
from tailback.experiments.draw import grouped_bars
from tailback.experiments.measure import largest
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.figures import style
from tailback.scenario import Scenario
from tailback.stats import mean_interval

ROUTINGS = ("minimal", "adaptive")
"""Those that are judged."""
CODES_PAR = "codes-par"
"""The paper's simulator's own adaptive routing, shown beside ours."""
_SHOWN = (*ROUTINGS, CODES_PAR)
NEAR = 1.5
"""Near the time alone: our reading."""
_SEEDS = tuple(range(1, 9))
"""They place the ranks: under CODES_CC as coded a run ends in one of two ways, by where they are."""
_SIZES = (16, 64)
"""Other buffers, KiB for each virtual channel."""
_FLOORS = (0.005, 0.001)
"""Below the code's 0.01, as published, shown beside."""
_SHORT = ("off", "as published", "as coded", "alone")
"""Adaptive routing with shorter latencies, shown beside."""


def cases(full: bool) -> list[Case]:
    """Each routing, without and with control, and LAMMPS alone."""
    load = [
        paper.job("lammps", "lammps", 2048, steps=3 if full else 1),
        paper.job("incast", "incast", 100, iterations=10 if full else 1),
    ]
    made, seeded, cost = [], [], 12 if full else 3
    for routing in _SHOWN:
        title = f"LAMMPS and incast, {routing}"
        record = 'occupancy = ["2 ms"]\ncontrol = true'
        for control in paper.CONTROLS:
            scenario = paper.scenario(
                title, paper.SMALL, load, control=control, routing=routing, record=record
            )
            made.append(Case({"routing": routing, "control": control}, scenario, cost))
        alone = paper.scenario(title, paper.SMALL, load, routing=routing, run=paper.only("lammps"))
        made.append(Case({"routing": routing, "control": "alone"}, alone, cost))
        own = {case.labels["control"]: case for case in made if case.labels["routing"] == routing}
        if routing in ROUTINGS:
            seeded += [
                Case({"seeded": routing, "control": control, "seed": seed}, _seeded(one.scenario, seed), cost)
                for control, one in own.items()
                for seed in _SEEDS
            ]
    own = {case.labels["control"]: case for case in made if case.labels["routing"] == "adaptive"}
    made += [
        Case({"short": control}, paper.shortened(own[control].scenario), own[control].cost)
        for control in _SHORT
    ]
    for size in _SIZES:
        for control in ("off", "as published", "drain margin"):
            title = f"LAMMPS and incast, adaptive, buffers of {size} KiB, {control}"
            made.append(
                Case({"buffer": size, "under": control}, _sized(title, load, size, control), cost),
            )
    for routing in ROUTINGS:
        for floor in _FLOORS:
            title = f"LAMMPS and incast, {routing}, as published, floor {floor:g}"
            scenario = paper.scenario(
                title, paper.SMALL, load, control="as published", routing=routing, record=record, floor=floor
            )
            made.append(Case({"floor": floor, "with": routing}, scenario, cost))
    return made + seeded


def _seeded(scenario: Scenario, seed: int) -> Scenario:
    return scenario.replace({"run.seed": seed})


def _sized(title: str, load: list[str], size: int, control: str) -> Scenario:
    """With adaptive routing and other buffers for each virtual channel; CODES_CC judges by all four."""
    whole = {} if control == "off" else {"buffer": f"{4 * size} KiB"}
    made = paper.scenario(title, paper.SMALL, load, control=control, **whole)
    return made.replace({"switch.input_buffer": {"per": "vc", "size": f"{size} KiB"}})


def _times(data: Data, routing: str, control: str) -> list[float]:
    """LAMMPS's time in us by seed; of one alone for the routing that is not judged."""
    if routing not in ROUTINGS:
        return [paper.time_us(paper.one(data, routing=routing, control=control), "lammps")]
    runs = (paper.one(data, seeded=routing, control=control, seed=seed) for seed in _SEEDS)
    return [paper.time_us(run, "lammps") for run in runs]


def _slowdowns(data: Data, routing: str, control: str) -> list[float]:
    """LAMMPS's time over that alone under the same seed, by seed."""
    times = (_times(data, routing, of) for of in (control, "alone"))
    return [with_it / alone for with_it, alone in zip(*times, strict=True)]


def draw(data: Data) -> Figure:
    """Bars per routing and control, medians over the seeds, which are points."""
    controls = data.values("control")
    found = {control: [_times(data, at, control) for at in _SHOWN] for control in controls}
    bars = {control: [float(np.median(own)) for own in by_routing] for control, by_routing in found.items()}
    with style.styled():
        figure, (axes,) = style.figure()
        grouped_bars(axes, _SHOWN, bars)
        for container, by_routing in zip(axes.containers, found.values(), strict=True):
            for bar, own in zip(container, by_routing, strict=True):
                middle = bar.get_x() + bar.get_width() / 2
                axes.plot([middle] * len(own), own, ".", color="black", markersize=3)
        axes.set_ylabel("LAMMPS's time [us]")
        axes.set_xlabel(f"bars: medians; points: {len(_SEEDS)} seeds ({CODES_PAR}: one)")
        style.legend(figure, axes)
    return figure


def _why(data: Data) -> str:
    runs = {
        f"{routing} routing, {control},": run
        for routing in ("adaptive", CODES_PAR)
        for control, run in paper.variants(data, routing=routing).items()
    }
    return paper.why_allowed(runs, "incast")


def _told(data: Data, control: str) -> str:
    """Slowdowns over all seeds, of both routings."""
    each = [slowdown for routing in ROUTINGS for slowdown in _slowdowns(data, routing, control)]
    near = sum(slowdown <= NEAR for slowdown in each)
    return f"{control} {min(each):.2f} to {max(each):.2f}x, {near} of {len(each)} runs near"


def _by_buffer(data: Data) -> str:
    told = []
    for size in _SIZES:
        runs = {control: paper.one(data, buffer=size, under=control) for control in data.values("under")}
        each = ", ".join(f"{control} {paper.time_us(run, 'lammps'):.0f} us" for control, run in runs.items())
        told.append(f"{size} KiB: {each}")
    return f"With other buffers for each virtual channel, adaptive routing, {'; '.join(told)}."


def _by_latency(data: Data) -> str:
    runs = {control: paper.one(data, short=control) for control in _SHORT}
    each = ", ".join(f"{control} {paper.time_us(run, 'lammps'):.0f} us" for control, run in runs.items())
    return (
        "The paper gives no latencies: ours decide how much each sender has under way. With "
        f"{paper.SHORT}, adaptive routing: {each}."
    )


def _by_floor(data: Data) -> str:
    """What LAMMPS takes by the floor, and what the senders were allowed early with the least."""
    told = []
    for routing in ROUTINGS:
        runs = {0.01: paper.one(data, routing=routing, control="as published")}
        runs |= {floor: paper.one(data, floor=floor, **{"with": routing}) for floor in _FLOORS}
        each = ", ".join(f"{paper.time_us(run, 'lammps'):.0f} us ({floor:g})" for floor, run in runs.items())
        lasted = paper.time_us(runs[_FLOORS[-1]], "incast")
        share, _ = paper.allowed(runs[_FLOORS[-1]], "incast", (0.1 * lasted, 0.3 * lasted))
        told.append(
            f"{routing} routing {each}, and in the second and third tenth of the incast's {lasted:.0f} us "
            f"its senders were allowed {share:.3f} of the channel with the last"
        )
    return (
        f"{paper.floor_told(99)} The paper gives none. As published LAMMPS takes, by the floor (0.01 is "
        f"judged), {'; '.join(told)}."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    off = {routing: _times(data, routing, "off") for routing in ROUTINGS}
    more = [100 * (one / other - 1) for one, other in zip(off["adaptive"], off["minimal"], strict=True)]
    means = {
        control: {routing: mean_interval(_slowdowns(data, routing, control)) for routing in ROUTINGS}
        for control in paper.VARIANTS
    }
    slowdowns = {control: largest(one.mean for one in own.values()) for control, own in means.items()}
    best, note = paper.best_variant(slowdowns)
    each = "; ".join(
        f"{control} {', '.join(f'{one}x {routing}' for routing, one in own.items())}"
        for control, own in means.items()
    )
    theirs = ", ".join(
        f"{control} {_times(data, CODES_PAR, control)[0]:.0f} us" for control in data.values("control")
    )
    return [
        hard(
            "off: adaptive routing is worse than minimal, in the mean over the seeds",
            f"longer by {mean_interval(more)} %",
            mean_interval(more).low > 0,
            note=(
                "The difference is small, since LAMMPS waits for the end of the incast with both. By seed: "
                f"{', '.join(f'{part:.1f}' for part in more)} %."
            ),
        ),
        hard(
            f"on: both routings near the uncontended time (within {NEAR}x), with a variant of the scheme",
            f"mean over the seeds: {each}; {'; '.join(_told(data, one) for one in means)}",
            slowdowns[best] <= NEAR,
            note=(
                f"{note}. {_TWO_WAYS} {_why(data)} With CODES's own adaptive routing ({CODES_PAR}), which is "
                f"not judged, and one seed: {theirs}. {_by_floor(data)} {paper.MONITORED} {_by_buffer(data)} "
                f"{_by_latency(data)}"
            ),
        ),
    ]


_TWO_WAYS = (
    "As coded, a run ends in one of two ways. A sender may send at the rate at which its packets arrived of "
    "late, but at least at 0.01 of the channel. While packets wait in the tree, the target's channel is full "
    "and of each of the 99 it takes 0.0101 in the mean, now more, now less. Who is over that is allowed "
    "more, the others still 0.01, which is over 1 in all: the tree stays for as long as the incast. Where it "
    "drains before, each keeps to 0.01, 0.99 in all, and LAMMPS goes on. Where the ranks are decides."
)


EXPERIMENT = Experiment(
    id="abate-fig4",
    paper=paper.PAPER,
    title="LAMMPS beside an incast",
    setup="3078 endpoints. LAMMPS on 2048 (reduced: one step), 99 ranks send 1.31 MB each to one "
    "(reduced: once), random placement. Minimal and adaptive routing (PAR, ours and as CODES defines it), "
    "without control and under CODES_CC, signals at once; minimal and ours with eight seeds, which place the "
    "ranks. With adaptive routing and the first seed also with buffers of 16 and 64 KiB for each virtual "
    "channel, with a fifth of all latencies, and as published with floors of 0.005 and 0.001 (and minimal "
    "routing too).",
    cases=cases,
    draw=draw,
    claims=claims,
)
