"""srp-fig14: an impulse: all endpoints send one message to the same one at the same time."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments.draw import BAND, banded_line, finish, look, mark, seeds_told
from tailback.experiments.measure import interval_series, mean_series
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard, value
from tailback.experiments.srp_paper import ENDPOINTS, PAPER, cost, nodes, scenario
from tailback.figures import style

_ONSET_US, _END_US, _BIN_US = 1000, 1500, 2
_SOON_US = 20
"""A dip that begins later is a bin that is low by chance."""


def cases(full: bool) -> list[Case]:
    """SRP under several seeds."""
    return [_case(seed) for seed in range(1, 41 if full else 11)]


def _case(seed: int) -> Case:
    span = Times(200, _END_US - 200, 0)
    hot = nodes(0, seed)[0]
    others = [endpoint for endpoint in range(ENDPOINTS) if endpoint != hot]
    traffic = f"""
[[traffic]]
name = "uniform"
pattern = "uniform"
load = 0.4
message = "8 packets"
share = true

[[traffic]]
name = "impulse"
pattern = "hotspot"
sources = {others}
destinations = [{hot}]
process = "one-shot"
message = "8 packets"
start = "{_ONSET_US} us"
share = true
"""
    record = f'series = "{_BIN_US} us"'
    made = scenario("impulse, srp", "srp", traffic, span, seed, record=record)
    return Case({"protocol": "srp", "seed": seed}, made, cost(0.4, span))


def draw(data: Data) -> Figure:
    """Accepted uniform traffic over time."""
    with style.styled():
        figure, (axes,) = style.figure()
        times, accepted = interval_series(data.results(), "uniform", "accepted")
        shown = np.flatnonzero((times >= _ONSET_US - 100) & (times < _ONSET_US + 300))
        points = [accepted[at].scaled(100) for at in shown]
        banded_line(axes, times[shown], points, label="SRP", **style.line(look("srp"), 0))
        mark(axes, _ONSET_US, "the impulse")
        return finish(
            figure,
            axes,
            "simulated time [us]",
            "accepted uniform traffic\n[% of injection bandwidth]",
            f"{seeds_told(data, BAND)}; the vertical axis does not begin at 0",
        )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    times, accepted = mean_series(data.results(), "uniform", "accepted")
    calm = accepted[(times >= 400) & (times < _ONSET_US)]
    before, noise = float(calm.mean()), float(calm.std())
    after = (times >= _ONSET_US) & (times < _END_US - 20)
    low = times[after & (accepted < before - 3 * noise)]
    first = [time for at, time in enumerate(low) if time - low[0] == _BIN_US * at]
    soon = bool(low.size) and low[0] < _ONSET_US + _SOON_US
    length = float(len(first) * _BIN_US) if soon else 0.0
    least = float(accepted[after].min())
    late = accepted[after][-50:]
    told = (
        f"before {100 * before:.1f} ± {100 * noise:.1f} %, least {100 * least:.1f} %, "
        f"last 100 us {100 * float(np.mean(late)):.1f} %"
    )
    back = abs(float(np.mean(late)) - before) < noise
    return [
        hard(
            f"a short dip (begun within {_SOON_US} us), then back to normal",
            told + (f"; first low at {low[0] - _ONSET_US:g} us" if low.size else "; none is low"),
            soon and back,
        ),
        value(
            "the dip lasts",
            "several us",
            length,
            (1, 30),
            "us",
            note=f"bins of {_BIN_US} us below the mean before by three standard deviations of such bins",
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-fig14",
    paper=PAPER,
    title="Response to an impulse",
    setup="All 256 endpoints send uniformly at 40 %; at 1 ms, 255 of them each send an 8-packet message to "
    "the same endpoint. Recorded to 1.5 ms in means of 2 us over the seeds; before is from 0.4 to 1 ms.",
    cases=cases,
    draw=draw,
    claims=claims,
)
