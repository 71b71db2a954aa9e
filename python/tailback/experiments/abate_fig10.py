"""abate-fig10: what late signals leave of CODES_CC's benefit."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import abate_mix as mix
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.stats import Interval

_LATENCIES = (0.2, 12.8, 128.0, 1024.0)
"""In us; 128 is ours."""


def cases(counts: Mapping[str, int], full: bool) -> list[Case]:
    """The mix without control, and with it at every latency of its signals."""
    title = f"{sum(counts.values())} jobs"
    made = [Case({"latency": "off"}, mix.scenario(f"{title}, off", counts, full), 120)]
    for latency in _LATENCIES:
        told = f"{title}, signals after {latency:g} us"
        scenario = mix.scenario(told, counts, full, "as published", signals=f"{latency:g} us")
        made.append(Case({"latency": latency}, scenario, 120))
    return made


def times(data: Data, kinds: Mapping[str, int]) -> dict[tuple[str, float | str], float]:
    """The slowest job of every kind, by kind and latency."""
    steps = ("off", *_LATENCIES)
    return {
        (kind, step): mix.slowest(paper.one(data, latency=step), kind) for kind in kinds for step in steps
    }


def draw(counts: Mapping[str, int], data: Data) -> Figure:
    """The slowest job of every kind, over the latency of the signals."""
    found = times(data, counts)
    with style.styled():
        figure, (axes,) = style.figure()
        for number, kind in enumerate(counts):
            looks = style.line(number)
            shares = [found[kind, step] / found[kind, "off"] for step in _LATENCIES]
            axes.plot(_LATENCIES, shares, label=kind, marker=style.MARKERS[number], **looks)
        axes.axhline(1.0, color="black", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("latency of signals [us]")
        axes.set_ylabel("slowest job's time over\nthat without control")
        style.legend(figure, axes)
    return figure


def trend(found: Mapping[tuple[str, float | str], float], victims: list[str]) -> Claim:
    """The later the signals, the slower."""
    told = "; ".join(
        f"{kind}: off {found[kind, 'off']:.0f} us, "
        + ", ".join(f"{step:g} us {found[kind, step]:.0f} us" for step in _LATENCIES)
        for kind in victims
    )
    rising = all(
        found[kind, two] >= 0.97 * found[kind, one] for kind in victims for one, two in pairwise(_LATENCIES)
    )
    gain = all(found[kind, _LATENCIES[0]] < found[kind, "off"] for kind in victims)
    return hard("the later the signals come, the smaller the benefit (within 3 %)", told, rising and gain)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row abate-fig10."""
    found = times(data, mix.FIG8)
    last = _LATENCIES[-1]

    def better(kind: str) -> Interval:
        return Interval(found[kind, "off"] / found[kind, last], 0.0, 1)

    return [
        trend(found, ["lammps", "pairs"]),
        value("fixed pairs with signals after 1024 us", "2-3x better", better("pairs"), (1.5, 4), "x"),
        value("LAMMPS with signals after 1024 us", "3-4x better", better("lammps"), (2.5, 5), "x"),
    ]


EXPERIMENT = Experiment(
    id="abate-fig10",
    paper=paper.PAPER,
    title="Late signals",
    setup="The jobs of abate-fig8 under CODES_CC as published, with signals that take 0.2, 12.8, 128 and "
    "1024 us.",
    cases=partial(cases, mix.FIG8),
    draw=partial(draw, mix.FIG8),
    claims=claims,
)
