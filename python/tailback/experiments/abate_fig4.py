"""abate-fig4: LAMMPS beside an incast, by routing and control."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import abate_paper as paper
from tailback.experiments.draw import grouped_bars
from tailback.experiments.measure import largest, least
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.scenario import Scenario

ROUTINGS = ("minimal", "adaptive")
"""Those that are judged."""
CODES_PAR = "codes-par"
"""The paper's simulator's own adaptive routing, shown beside ours."""
_SHOWN = (*ROUTINGS, CODES_PAR)
NEAR = 1.5
"""Near the time alone: our reading."""
_SEEDS = (2, 3)
"""Beside the first, of the comparison without control."""
_SIZES = (16, 64)
"""Other buffers, KiB for each virtual channel."""
_SHORT = ("off", "as published", "as coded", "alone")
"""Adaptive routing with shorter latencies, shown beside."""


def cases(full: bool) -> list[Case]:
    """Each routing, without and with control, and LAMMPS alone."""
    load = [
        paper.job("lammps", "lammps", 2048, steps=3 if full else 1),
        paper.job("incast", "incast", 100, iterations=10 if full else 1),
    ]
    made, cost = [], 12 if full else 3
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
        plain = paper.scenario(title, paper.SMALL, load, routing=routing)
        if routing in ROUTINGS:
            made += [Case({"seeded": routing, "seed": seed}, _seeded(plain, seed), cost) for seed in _SEEDS]
    own = {case.labels["control"]: case for case in made if case.labels.get("routing") == "adaptive"}
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
    return made


def _seeded(scenario: Scenario, seed: int) -> Scenario:
    return scenario.replace({"run.seed": seed})


def _sized(title: str, load: list[str], size: int, control: str) -> Scenario:
    """With adaptive routing and other buffers for each virtual channel; CODES_CC judges by all four."""
    whole = {} if control == "off" else {"buffer": f"{4 * size} KiB"}
    made = paper.scenario(title, paper.SMALL, load, control=control, **whole)
    return made.replace({"switch.input_buffer": {"per": "vc", "size": f"{size} KiB"}})


def times(data: Data) -> dict[tuple[str, str], float]:
    """LAMMPS's time in us by routing and control."""
    return {
        (routing, control): paper.time_us(paper.one(data, routing=routing, control=control), "lammps")
        for routing in _SHOWN
        for control in data.values("control")
    }


def draw(data: Data) -> Figure:
    """Bars per routing and control."""
    found = times(data)
    bars = {control: [found[at, control] for at in _SHOWN] for control in data.values("control")}
    with style.styled():
        figure, (axes,) = style.figure()
        grouped_bars(axes, _SHOWN, bars)
        axes.set_ylabel("LAMMPS's time [us]")
        style.legend(figure, axes)
    return figure


def _why(data: Data) -> str:
    runs = {
        f"{routing} routing, {control},": run
        for routing in ("adaptive", CODES_PAR)
        for control, run in paper.variants(data, routing=routing).items()
    }
    return paper.why_allowed(runs, "incast")


def _more(data: Data) -> list[float]:
    """How much longer LAMMPS takes with adaptive routing than with minimal, without control, by seed; %."""
    found = times(data)
    pairs = [(found["adaptive", "off"], found["minimal", "off"])]
    for seed in _SEEDS:
        runs = (paper.one(data, seeded=routing, seed=seed) for routing in ("adaptive", "minimal"))
        adaptive, minimal = (paper.time_us(run, "lammps") for run in runs)
        pairs.append((adaptive, minimal))
    return [100 * (adaptive / minimal - 1) for adaptive, minimal in pairs]


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


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = times(data)
    more = _more(data)
    told = {
        routing: ", ".join(
            f"{control} {found[routing, control]:.0f} us" for control in data.values("control")
        )
        for routing in _SHOWN
    }
    theirs = f"With CODES's own adaptive routing ({CODES_PAR}), which is not judged: {told[CODES_PAR]}."
    off = {routing: found[routing, "off"] for routing in ROUTINGS}
    slowdowns = {
        control: largest(found[routing, control] / found[routing, "alone"] for routing in ROUTINGS)
        for control in paper.VARIANTS
    }
    best, note = paper.best_variant(slowdowns)
    each = ", ".join(f"{control} {slowdown:.2f}x" for control, slowdown in slowdowns.items())
    return [
        hard(
            "off: adaptive routing is worse than minimal, with every seed",
            f"{off['adaptive']:.0f} and {off['minimal']:.0f} us; longer by "
            f"{', '.join(f'{part:.1f}' for part in more)} % with {len(more)} seeds",
            least(more) > 0,
            note=(
                "There is no margin in this claim: the sign is the same, the difference small, since LAMMPS "
                "waits for the end of the incast with both. With CODES's own adaptive routing, which is not "
                f"judged: {found[CODES_PAR, 'off']:.0f} us."
            ),
        ),
        hard(
            f"on: both routings near the uncontended time (within {NEAR}x), with a variant of the scheme",
            f"{each} of the time alone (minimal: {told['minimal']}; adaptive: {told['adaptive']})",
            slowdowns[best] <= NEAR,
            note=f"{note}. {_why(data)} {theirs} {_by_buffer(data)} {_by_latency(data)}",
        ),
    ]


EXPERIMENT = Experiment(
    id="abate-fig4",
    paper=paper.PAPER,
    title="LAMMPS beside an incast",
    setup="3078 endpoints. LAMMPS on 2048 (reduced: one step), 99 ranks send 1.31 MB each to one "
    "(reduced: once), random placement. Minimal and adaptive routing (PAR, ours and as CODES defines it), "
    "without control and under CODES_CC, signals at once. Without control "
    "with two more seeds; with adaptive routing also with buffers of 16 and 64 KiB for each virtual channel, "
    "and with a fifth of all latencies.",
    cases=cases,
    draw=draw,
    claims=claims,
)
