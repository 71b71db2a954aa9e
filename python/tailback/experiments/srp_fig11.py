"""srp-fig11: how much is injected speculatively, and how much of that is dropped."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import OFFERED, Line, curves, finish, hold
from tailback.experiments.measure import packets_share
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER
from tailback.figures import style

_INJECTED = packets_share("uniform", "speculative")


def cases(full: bool) -> list[Case]:
    """SRP at every load."""
    return [
        uniform.case("srp", load, full, seed=seed)
        for load in uniform.loads(full)
        for seed in uniform.seeds(full, 2)
    ] + uniform.rules()


def draw(data: Data) -> Figure:
    """Speculative injection and drops over load."""
    with style.styled():
        figure, (axes,) = style.figure()
        curves(axes, data, _INJECTED, "load", [Line("injected speculatively", 0, {})], 100)
        curves(axes, data, uniform.DROPPED, "load", [Line("dropped", 1, {})], 100)
        hold(axes)
        return finish(figure, axes, OFFERED, "rate [% of injection bandwidth]")


def _why_fewer(data: Data, first: float, last: float) -> str:
    """The two factors of the drops where they are most, and at the largest load."""
    loads = (first, last)
    sent = [data.mean(_INJECTED, load=load).mean for load in loads]
    shares = [data.mean(uniform.DROPPED, load=load).mean / of for load, of in zip(loads, sent, strict=True)]
    return (
        f"From {first:.0%} to {last:.0%} load the share of the speculative packets that is dropped goes from "
        f"{shares[0]:.0%} to {shares[1]:.0%}, and what is sent speculatively from {100 * sent[0]:.1f} to "
        f"{100 * sent[1]:.1f} %: the drops change by {shares[1] / shares[0]:.2f} x {sent[1] / sent[0]:.2f} = "
        f"{shares[1] * sent[1] / (shares[0] * sent[0]):.2f}."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    loads, injected = data.curve(_INJECTED, "load")
    _, dropped = data.curve(uniform.DROPPED, "load")
    at, most = uniform.peak(data, _INJECTED)
    told = ", ".join(
        f"{load:.0%}: {100 * one.mean:.1f}/{100 * two.mean:.2f} %"
        for load, one, two in zip(loads, injected, dropped, strict=True)
    )
    why = partial(uniform.why_dropped, data)
    worst_at, worst = uniform.peak(data, uniform.DROPPED)
    return [
        hard(
            "speculative injection peaks at mid-load, then falls",
            f"injected/dropped, {told}",
            injected[-1].mean < 0.8 * most and min(loads) < at < max(loads),
            cause=why,
        ),
        hard(
            "drops keep growing",
            f"at the injection's peak {100 * data.mean(uniform.DROPPED, load=at).mean:.2f} %, largest "
            f"{100 * worst:.2f} % at {worst_at:.0%}, last {100 * dropped[-1].mean:.2f} %",
            all(two.mean > one.mean for one, two in pairwise(dropped)),
            cause=lambda: _why_fewer(data, worst_at, max(loads)),
        ),
        value("load of the peak", "about 50 %", 100 * at, (35, 65), "%", cause=why),
        value("bandwidth wasted at most", "below 1.5 %", 100 * worst, (0, 1.5), "%", cause=why),
    ]


EXPERIMENT = Experiment(
    id="srp-fig11",
    paper=PAPER,
    title="Speculative injection and drops",
    setup=uniform.SETUP.format("4-packet messages under SRP") + " Seeds 1 and 2 (full size: 1 to 3).",
    cases=cases,
    draw=draw,
    claims=claims,
)
