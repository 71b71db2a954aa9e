"""abate-fig3: how fast CODES_CC throttles an incast and lets go of it."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tailback import pictures
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.figures import style
from tailback.result import Result
from tailback.scenario import Scenario

_SENDERS = 99
_MESSAGE = 1_310_720
_AT_ONCE = 0.01
"""Of the time that the target needs for the incast: our reading of "at once"."""


def _scenario(title: str, control: str, full: bool, **keys: int) -> Scenario:
    iterations = {"iterations": _iterations(full), **keys}
    load = [paper.job("aggressor", "periodic-aggressor", 2048, **iterations)]
    return paper.scenario(title, paper.SMALL, load, control=control, record="control = true")


def _iterations(full: bool) -> int:
    return 5 if full else 1


def cases(full: bool) -> list[Case]:
    """The three variants; and the step of LAMMPS before the incast, without control, to learn its end."""
    before = _scenario("The step before the incast", "off", full, periods=0)
    return [
        *paper.cases(
            "Periodic aggressor", lambda title, control: _scenario(title, control, full), 15, paper.VARIANTS
        ),
        Case({"part": "before", "iterations": _iterations(full)}, before, 5),
    ]


def _entered(data: Data) -> tuple[float, float]:
    """When the first of the senders came to the incast, and when rank 0 did, in us."""
    ranks = paper.one(data, part="before").tables["ranks"].to_pylist()
    ends = {row["rank"]: row["time_ns"] / 1e3 for row in ranks if row["rank"] < _SENDERS}
    return min(ends.values()), ends[0]


def _rank0(result: Result) -> tuple[np.ndarray, np.ndarray]:
    ranks = result.tables["ranks"]
    endpoint = ranks["endpoint"].to_pylist()[ranks["rank"].to_pylist().index(0)]
    return pictures.rate_steps(result.tables["rates"], endpoint, float(result.summary["simulated_ns"]) / 1e3)


def draw(data: Data) -> Figure:
    """The allowed rate of rank 0 over time."""
    with style.styled():
        figure, (axes,) = style.figure()
        for number, control in enumerate(data.values("control")):
            times, rates = _rank0(paper.one(data, control=control))
            axes.plot(times, 100 * rates, drawstyle="steps-post", label=control, **style.line(number))
        style.logarithmic(axes, "y")
        axes.set_xlabel("simulated time [us]")
        axes.set_ylabel("allowed injection rate of rank 0\n[% of the channel]")
        style.legend(figure, axes)
    return figure


def _throttle(result: Result) -> tuple[float, float, float, float]:
    """When the rate is first and last under 2 % (us), its mean (geometric, %) between, and the last rate."""
    times, rates = _rank0(result)
    low = np.flatnonzero(rates < 0.02)
    if not len(low):
        return float("nan"), float("nan"), float("nan"), float(rates[-1])
    first, last = low[0], low[-1]
    spans = np.diff(times)[first : last + 1]
    mean = np.exp((np.log(rates[first : first + len(spans)]) * spans).sum() / max(spans.sum(), 1e-9))
    return times[first], times[min(last + 1, len(times) - 1)], 100 * float(mean), float(rates[-1])


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = {control: _throttle(paper.one(data, control=control)) for control in data.values("control")}
    told = "; ".join(
        f"{control}: from {first:.0f} to {last:.0f} us, {end:.2g} of the rate at the end"
        for control, (first, last, _, end) in found.items()
    )
    first, last, mean, end = found["as published"]
    (iterations,) = data.values("iterations", part="before")
    needs = iterations * _SENDERS * _MESSAGE / paper.BANDWIDTH / 1e3
    begins, own = _entered(data)
    late, lasting = first - begins, last - begins - needs
    return [
        hard("rank 0 is throttled in the incast and restored after it", told, last > first and end == 1),
        hard(
            f"as published: throttled at once, restored after (both within {100 * _AT_ONCE:g} % of the "
            "incast's time)",
            f"throttled {late:.1f} us after the first sender came to the incast, let go {lasting:.1f} us "
            f"after its earliest end; {100 * _AT_ONCE:g} % are {_AT_ONCE * needs:.0f} us",
            0 <= late <= _AT_ONCE * needs and 0 <= lasting <= _AT_ONCE * needs,
            note=(
                "In a run that ends with the first step of LAMMPS, and is the same until then, the first "
                f"sender is done at {begins:.1f} us and rank 0 at {own:.1f} us. The end of the incast is not "
                f"recorded: its target needs {needs:.0f} us for the data, and it cannot end sooner than that."
            ),
        ),
        value(
            "allowed rate while throttled (as published)",
            "about 1/100",
            mean,
            (0.5, 2),
            "% of line rate",
        ),
    ]


EXPERIMENT = Experiment(
    id="abate-fig3",
    paper=paper.PAPER,
    title="An incast throttled and let go",
    setup="3078 endpoints, PAR. 2048 ranks do a step of LAMMPS, the first 99 send 1.31 MB each to the "
    "next (reduced: once, full: 5 "
    "times), all do another step. CODES_CC, signals at once. Once more only the step before the incast, "
    "to learn when it begins.",
    cases=cases,
    draw=draw,
    claims=claims,
)
