"""srp-fig12: the time-to-wait of speculative packets and how many are dropped."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import over_load, value_lines
from tailback.experiments.model import Case, Cause, Claim, Data, Experiment, Measure, hard, value
from tailback.experiments.srp_paper import PAPER

_WAITS = (0.65, 1.3, 2.6)
"""In us; the paper prints 0.6."""
_SHALLOW, _AT = "1 packet", 0.85
"""An output queue that tells what its size does, and the load at which it is tried."""


def cases(full: bool) -> list[Case]:
    """SRP at every load with every time-to-wait."""
    return [
        uniform.case("srp", load, full, changes={"time_to_wait": f"{wait} us"}, seed=seed, wait=wait)
        for wait in _WAITS
        for load in uniform.loads(full, uniform.FEWER_LOADS)
        for seed in uniform.seeds(full)
    ] + [*map(_shallow, _WAITS), *uniform.rules()]


def _shallow(wait: float) -> Case:
    """A short run with output queues of one packet for each virtual channel instead of four."""
    changes = {"time_to_wait": f"{wait} us"}
    made = uniform.case("srp", _AT, False, changes=changes)
    return replace(
        made,
        labels={"shallow": wait, "seed": 1},
        scenario=made.scenario.replace({"switch.output_buffer": _SHALLOW}),
    )


def draw(data: Data) -> Figure:
    """Drop rate over load, a line per time-to-wait."""
    return over_load(data, uniform.DROPPED, value_lines(data, "wait", "TTW {} us"), uniform.DROP_RATE)


def halving(
    data: Data, label: str, values: tuple[float, ...], what: str, unit: str, why: Cause
) -> list[Claim]:
    """Larger values, fewer drops at the peak, and each doubling halves the peak; `why` if not."""
    measure = uniform.DROPPED
    peaks = {each: 100 * uniform.peak(data, measure, **{label: each})[1] for each in values}
    told = ", ".join(f"{each:g}{unit}: {peak:.3f} %" for each, peak in peaks.items())
    falling = all(peaks[two] < peaks[one] for one, two in pairwise(values))
    found = f"peaks: {told}; by load, in %: {_by_load(data, measure, label, values)}"
    return [hard(f"the larger {what}, the fewer drops at the peak over loads", found, falling, cause=why)] + [
        value(
            f"peak at {two:g}{unit} over that at {one:g}{unit}",
            "about 1/2",
            peaks[two] / peaks[one] if peaks[one] else float("nan"),
            (0.35, 0.65),
            cause=why,
        )
        for one, two in pairwise(values)
    ]


def _by_load(data: Data, measure: Measure, label: str, values: tuple[float, ...]) -> str:
    def at(load: float) -> str:
        drops = (100 * data.mean(measure, load=load, **{label: each}).mean for each in values)
        return f"{load:.0%} " + "/".join(f"{drop:.2f}" for drop in drops)

    return ", ".join(map(at, data.values("load", **{label: values[0]})))


def _why(data: Data) -> str:
    """What becomes of the dependence with shorter output queues."""
    deep, shallow = (
        "/".join(f"{100 * data.mean(uniform.DROPPED, **labels).mean:.2f}" for labels in each)
        for each in ([{"wait": w, "load": _AT} for w in _WAITS], [{"shallow": w} for w in _WAITS])
    )
    times = "/".join(f"{wait:g}" for wait in _WAITS)
    return (
        f"What a packet waits in output queues is no time-to-wait. With {_SHALLOW} of output queue for each "
        f"virtual channel instead of the paper's four, which is not judged, {shallow} % are dropped at "
        f"{_AT:.0%} load with {times} us, where {deep} % are with four. {uniform.why_dropped(data)}"
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    return halving(data, "wait", _WAITS, "time-to-wait", " us", partial(_why, data))


EXPERIMENT = Experiment(
    id="srp-fig12",
    paper=PAPER,
    title="Drops by time-to-wait",
    setup=uniform.SETUP.format("4-packet messages under SRP") + " Seed 1 (full size: 1 to 3).",
    cases=cases,
    draw=draw,
    claims=claims,
)
