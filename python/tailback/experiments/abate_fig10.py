"""abate-fig10: what late signals leave of CODES_CC's benefit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise, product
from typing import Any

from matplotlib.figure import Figure

from tailback.experiments import abate_margin as margin
from tailback.experiments import abate_mix as mix
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Cause, Claim, Data, Experiment, hard, ours, value
from tailback.figures import style

_LATENCIES = (0.2, 12.8, 128.0, 1024.0)
"""In us; 128 is ours."""
CONTROLS = paper.VARIANTS[:2]
"""As published and as coded."""
_FLOORS = (0.01, 0.001)
"""That of the code, which is judged, and a tenth."""
_SENDERS = {"same": "one incast of three iterations", "others": "three incasts, each with senders of its own"}
_UNDER = ("alone", "off", "12.8 us", "1024 us")
"""Without incast, without control, and as published with signals after so long."""
_SEEDS = (1, 2, 3)
_STRONG = "strong0"
"""The incast whose senders are looked at."""
Times = Mapping[tuple[str, str, float], float]
"""The slowest job's time in us by kind, control and latency; off at latency 0."""


def cases(counts: Mapping[str, int], full: bool) -> list[Case]:
    """The mix without control, and with it at every latency of its signals."""
    title = f"{sum(counts.values())} jobs"
    made = [
        Case({"control": "off", "latency": 0.0}, mix.scenario(f"{title}, off", counts, full), mix.cost(full))
    ]
    for control in CONTROLS:
        for latency in _LATENCIES:
            told = f"{title}, {control}, signals after {latency:g} us"
            signals = f"{latency:g} us"
            scenario = mix.scenario(told, counts, full, control, signals=signals, record="control = true")
            made.append(Case({"control": control, "latency": latency}, scenario, mix.cost(full)))
    return made


def small() -> list[Case]:
    """LAMMPS beside 99 senders on 288 endpoints, by the floor and the latency of signals."""
    load = [
        paper.job("lammps", "lammps", 128, steps=1, replicas=[2, 1, 1]),
        paper.job("incast", "incast", 100, message="640 KiB", iterations=1),
    ]
    made = [
        Case({"floor": 0.0, "after": 0.0}, paper.scenario("288 endpoints, off", margin.NETWORK, load)),
    ]
    for floor in _FLOORS:
        for latency in _LATENCIES:
            title = f"288 endpoints, floor {floor:g}, signals after {latency:g} us"
            keys: dict[str, Any] = {"control": CONTROLS[0], "floor": floor, "signals": f"{latency:g} us"}
            made.append(
                Case({"floor": floor, "after": latency}, paper.scenario(title, margin.NETWORK, load, **keys))
            )
    return made


def _again() -> list[Case]:
    """Jobs beside three bursts from the same senders, or from others each time, on 288 endpoints."""
    victims = [
        paper.job("lammps", "lammps", 128, steps=4, replicas=[2, 1, 1]),
        paper.job("pairs", "fixed-pairs", 32, message="512 KiB", iterations=32, synchronise=True),
    ]
    one = [paper.job("incast0", "incast", 40, message="1 MiB", iterations=3)]
    # A burst of 39 MiB takes 1636 us; the next job begins when it is over.
    three = [
        paper.job(f"incast{at}", "incast", 40, message="1 MiB", iterations=1, start=f"{1646 * at} us")
        for at in range(3)
    ]
    made = []
    for (senders, told), incasts in zip(_SENDERS.items(), (one, three), strict=True):
        for under in _UNDER:
            signals: dict[str, Any] = (
                {"control": CONTROLS[0], "signals": under} if under.endswith("us") else {}
            )
            run = {"run": paper.only("lammps", "pairs")} if under == "alone" else {}
            scenario = paper.scenario(
                f"288 endpoints, {told}, {under}", margin.NETWORK, victims + incasts, **signals, **run
            )
            made += [
                Case({"senders": senders, "under": under, "seed": seed}, scenario.replace({"run.seed": seed}))
                for seed in _SEEDS
            ]
    return made


def times(data: Data, kinds: Mapping[str, int]) -> Times:
    """The slowest job of every kind, by kind, control and latency."""
    steps = [("off", 0.0), *product(CONTROLS, _LATENCIES)]
    return {
        (kind, control, step): mix.slowest(paper.one(data, control=control, latency=step), kind)
        for kind in kinds
        for control, step in steps
    }


def draw(counts: Mapping[str, int], data: Data) -> Figure:
    """The slowest job of every kind, over the latency of the signals."""
    found = times(data, counts)
    with style.styled():
        figure, panels = style.figure(len(CONTROLS), height=2.4)
        for axes, control in zip(panels, CONTROLS, strict=True):
            for number, kind in enumerate(counts):
                shares = [found[kind, control, step] / found[kind, "off", 0.0] for step in _LATENCIES]
                looks = style.line(number)
                axes.plot(_LATENCIES, shares, label=kind, marker=style.MARKERS[number], **looks)
            axes.axhline(1.0, color="black", linewidth=0.8)
            style.logarithmic(axes, "x")
            axes.set_xlim(
                min(_LATENCIES) / 1.2, max(_LATENCIES) * 1.2
            )  # also where no job has come to its end
            axes.set_ylim(bottom=0)
            axes.set_title(control, fontsize=9)
            axes.set_ylabel("slowest job's time over\nthat without control")
        panels[-1].set_xlabel("latency of signals [us]")
        style.legend(figure, panels[0])
    return figure


def trend(found: Times, victims: list[str], control: str, why: Cause) -> Claim:
    """The later the signals, the slower."""
    told = "; ".join(
        f"{kind}: off {found[kind, 'off', 0.0]:.0f} us, "
        + ", ".join(f"{step:g} us {found[kind, control, step]:.0f} us" for step in _LATENCIES)
        for kind in victims
    )
    rising = all(
        found[kind, control, two] >= 0.97 * found[kind, control, one]
        for kind in victims
        for one, two in pairwise(_LATENCIES)
    )
    shrinks = all(
        found[kind, control, _LATENCIES[-1]] >= 1.05 * found[kind, control, _LATENCIES[0]] for kind in victims
    )
    gain = all(found[kind, control, _LATENCIES[0]] < found[kind, "off", 0.0] for kind in victims)
    text = (
        f"{control}: the later the signals come, the smaller the benefit (steps within 3 %, over 5 % in all)"
    )
    return hard(text, told, rising and shrinks and gain, cause=why)


def why(data: Data, control: str) -> str:
    """What the senders of a strong incast were allowed, by the latency of the signals."""
    runs = {
        f"signals after {latency:g} us": paper.one(data, control=control, latency=latency)
        for latency in _LATENCIES
    }
    return f"{paper.why_allowed(runs, _STRONG)} {_by_floor(data)} {paper.MONITORED}"


def _by_floor(data: Data) -> str:
    def told(floor: float) -> str:
        each = [
            paper.time_us(paper.one(data, floor=floor, after=latency), "lammps") for latency in _LATENCIES
        ]
        return f"{floor:g}: {', '.join(f'{time:.0f}' for time in each)} us"

    off = paper.time_us(paper.one(data, floor=0.0, after=0.0), "lammps")
    return (
        f"{paper.floor_told(99)} On 288 endpoints LAMMPS beside such an incast takes, as published, with "
        f"signals after {', '.join(f'{latency:g}' for latency in _LATENCIES)} us and a floor of "
        f"{'; of '.join(told(floor) for floor in _FLOORS)} (off {off:.0f} us)."
    )


def _late(data: Data) -> str:
    def told(senders: str) -> str:
        each = (
            f"{under} "
            + ", ".join(
                f"{paper.time_us(paper.one(data, senders=senders, under=under, seed=seed), 'lammps'):.0f}"
                for seed in _SEEDS
            )
            for under in _UNDER
        )
        return f"beside {_SENDERS[senders]} ({'; '.join(each)} us)"

    iterations = paper.one(data, control="off", latency=0.0).tables["iterations"].to_pylist()
    count = sum(row["job"] == _STRONG for row in iterations)
    return (
        "Signals that late come when the trees stand. They let go late too: senders begin their next "
        "iteration throttled, so that its tree does not form as it did. On 288 endpoints (ours) LAMMPS "
        "takes, under seeds 1 to 3, as published by the latency of signals, "
        f"{' and '.join(told(senders) for senders in _SENDERS)}. So the benefit depends on how many "
        "iterations an incast has and how long they are, which the paper does not give; here a strong one "
        f"has {count}."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = times(data, mix.FIG8)
    last = _LATENCIES[-1]

    def better(kind: str, control: str) -> float:
        return found[kind, "off", 0.0] / found[kind, control, last]

    made = []
    for control in CONTROLS:
        late = f"{control}, signals after 1024 us"
        own = partial(why, data, control)
        cause = partial(_late, data)
        judged = [
            trend(found, ["lammps", "pairs"], control, own),
            value(
                f"{late}: fixed pairs", "2-3x better", better("pairs", control), (1.5, 4), "x", cause=cause
            ),
            value(f"{late}: LAMMPS", "3-4x better", better("lammps", control), (2.5, 5), "x", cause=cause),
        ]
        made += of_the_paper(judged, control)
    return made


def of_the_paper(judged: list[Claim], control: str) -> list[Claim]:
    """The claims under a variant of the scheme: the paper's are of the scheme that it describes."""
    return judged if control == CONTROLS[0] else [ours(claim) for claim in judged]


EXPERIMENT = Experiment(
    id="abate-fig10",
    paper=paper.PAPER,
    title="Late signals",
    setup="The jobs of abate-fig8 under CODES_CC, as published and as coded, with signals that take 0.2, "
    "12.8, 128 and 1024 us. On 288 endpoints, unjudged: LAMMPS beside 99 senders with floors of 0.01 and "
    "0.001, and beside three bursts from the same senders and from others each time.",
    cases=lambda full: [*cases(mix.FIG8, full), *small(), *_again()],
    draw=partial(draw, mix.FIG8),
    claims=claims,
)
