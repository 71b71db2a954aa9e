"""srp-fig11: how much is injected speculatively, and how much of that is dropped."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import OFFERED, Line, curves, finish
from tailback.experiments.measure import packets_share
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER
from tailback.stats import mean_interval

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
        axes.set_ylim(bottom=0)
        return finish(figure, axes, OFFERED, "rate [% of injection bandwidth]")


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-fig11."""
    loads, injected = data.curve(_INJECTED, "load")
    _, dropped = data.curve(uniform.DROPPED, "load")
    at, most = uniform.peak(data, _INJECTED)
    told = ", ".join(
        f"{load:.0%}: {100 * one.mean:.1f}/{100 * two.mean:.2f} %"
        for load, one, two in zip(loads, injected, dropped, strict=True)
    )
    late = [point.mean for load, point in zip(loads, dropped, strict=True) if load >= at]
    why = uniform.why_dropped(data)
    worst_at, worst = uniform.peak(data, uniform.DROPPED)
    return [
        hard(
            "speculative injection peaks at mid-load, then falls",
            f"injected/dropped, {told}",
            injected[-1].mean < 0.8 * most and at < max(loads),
            cause=why,
        ),
        hard(
            "drops go on growing past that peak",
            f"largest at {worst_at:.0%}; at the peak {100 * late[0]:.2f} %",
            worst_at > at and max(late) > 1.5 * late[0],
            cause=why,
        ),
        value("load of the peak", "about 50 %", mean_interval([100 * at]), (35, 65), "%", cause=why),
        value(
            "bandwidth wasted at most", "below 1.5 %", mean_interval([100 * worst]), (0, 1.5), "%", cause=why
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-fig11",
    paper=PAPER,
    title="Speculative injection and drops",
    setup=uniform.SETUP.format("4-packet messages under SRP"),
    cases=cases,
    draw=draw,
    claims=claims,
)
