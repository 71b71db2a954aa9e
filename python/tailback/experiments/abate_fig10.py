"""abate-fig10: what late signals leave of CODES_CC's benefit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise, product

from matplotlib.figure import Figure

from tailback.experiments import abate_mix as mix
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Cause, Claim, Data, Experiment, hard, ours, value
from tailback.figures import style

_LATENCIES = (0.2, 12.8, 128.0, 1024.0)
"""In us; 128 is ours."""
CONTROLS = paper.VARIANTS[:2]
"""As published and as coded."""
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
    return paper.why_allowed(runs, _STRONG)


def _late(data: Data, control: str) -> str:
    lasted = mix.slowest(paper.one(data, control="off", latency=0.0), "strong")
    return (
        f"Signals that late come when the trees stand, and a good part of the {lasted:.0f} us that the "
        "strong incasts last is over; the paper does not say how long its jobs were. In full size, five "
        f"times as long, more is gained (docs/reports/2026-11-25-abatement-full). {why(data, control)}"
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
        cause = partial(_late, data, control)
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
    "12.8, 128 and 1024 us.",
    cases=partial(cases, mix.FIG8),
    draw=partial(draw, mix.FIG8),
    claims=claims,
)
