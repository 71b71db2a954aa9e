"""lhrp-fig6: what a hot spot that sets in does to the traffic of all others, over time."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.draw import LABELS, finish, look
from tailback.experiments.lhrp_paper import PAPER, Times, protocols, scenario, uniform_cost
from tailback.experiments.measure import mean_series, series
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, unjudged, value
from tailback.result import Result
from tailback.stats import Interval, mean_interval

_COLUMN = "message_latency_ns"
_ONSET_US = 20.0
_SETTLED_US = 40.0
"""From here on the rise of a scheme that prevents congestion is measured: its first round trips are over."""
_TRAFFIC = """
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 60
destinations = 4
load = 0.5
message = "4 flits"
start = "20 us"

[[traffic]]
name = "victim"
pattern = "uniform"
endpoints = "rest"
load = 0.4
message = "4 flits"
"""


def cases(full: bool) -> list[Case]:
    """Every protocol under several seeds."""
    span = Times(10, 990 if full else 290, 20)
    return [
        Case(
            {"protocol": protocol, "seed": seed},
            scenario(
                f"60:4 hot spot joins 40 % uniform, {protocol}", protocol, _TRAFFIC, span, seed, series="2 us"
            ),
            uniform_cost(0.45, 4, span),
        )
        for protocol in protocols()
        if protocol not in ("srp", "lhrp+srp")
        for seed in range(1, 11 if full else 2)
    ]


def draw(data: Data) -> Figure:
    """Mean message latency of the victims over time, a line per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        for protocol in data.values("protocol"):
            times, means = mean_series(data.results(protocol=protocol), "victim", _COLUMN)
            number = look(protocol)
            axes.plot(times, means / 1e3, label=LABELS[protocol], **style.marked_line(number, len(times)))
        axes.set_yscale("log")
        axes.axvline(_ONSET_US, color="#777777", linewidth=0.8)
        finish(
            figure,
            axes,
            "simulated time [us]",
            "mean message latency\nof the victims [us]",
            "by the time of creation; grey: the hot spot sets in",
        )
    return figure


def _before(result: Result) -> float:
    times, means = series(result, "victim", _COLUMN)
    return float(np.nanmean(means[(times >= 10) & (times < _ONSET_US)]))


def _rise(result: Result) -> float:
    """Mean of the settled part less that before, ns; without the last 20 us, whose slowest are missing."""
    times, means = series(result, "victim", _COLUMN)
    part = (times >= _SETTLED_US) & (times < times.max() - 20)
    return float(np.nanmean(means[part])) - _before(result)


def _late(result: Result) -> float:
    times, means = series(result, "victim", _COLUMN)
    part = (times >= times.max() - 60) & (times < times.max() - 20)
    return float(np.nanmean(means[part])) - _before(result)


def _peak(result: Result) -> float:
    times, means = series(result, "victim", _COLUMN)
    return float(np.nanmax(means[times >= _ONSET_US])) - _before(result)


def _recovery(data: Data) -> Interval:
    """Time from the onset until ECN's mean is for good within 10 % of that before, us; NaN if never."""
    times, means = mean_series(data.results(protocol="ecn"), "victim", _COLUMN)
    before = float(np.nanmean(means[(times >= 10) & (times < _ONSET_US)]))
    shown = times < times.max() - 20
    high = times[shown & (means > 1.1 * before)]
    last = float(high.max()) if high.size else _ONSET_US
    if last >= times[shown].max() - 10:
        return Interval(math.nan, math.nan, 1)
    return Interval(last - _ONSET_US, math.nan, len(data.results(protocol="ecn")))


def claims(data: Data) -> list[Claim]:
    """Those of claims table row lhrp-fig6."""
    rises = {
        p: mean_interval([_rise(result) for result in data.results(protocol=p)])
        for p in data.values("protocol")
    }
    late = {p: mean_interval([_late(result) for result in data.results(protocol=p)]) for p in rises}
    peaks = {p: mean_interval([_peak(result) for result in data.results(protocol=p)]) for p in rises}
    recovery = _recovery(data)
    found = [
        hard(
            "the baseline's victims suffer much and lastingly",
            f"mean rise {rises['none']} ns, at the end {late['none']} ns",
            rises["none"].mean > 500 and late["none"].mean > 500,
        ),
        hard(
            "ECN: a spike, then recovery",
            f"peak {peaks['ecn']} ns over the latency before, at the end {late['ecn']} ns",
            peaks["ecn"].mean > 200 and late["ecn"].mean < peaks["ecn"].mean / 2,
        ),
        hard(
            "LHRP far below ECN",
            f"rises: LHRP {rises['lhrp']}, ECN {rises['ecn']} ns",
            rises["lhrp"].mean < rises["ecn"].mean / 2,
        ),
        value("LHRP's rise", "below 50 ns", rises["lhrp"], (-math.inf, 50), "ns"),
        value(
            "ECN is back to normal after",
            "several hundred us",
            recovery,
            (100, 1000),
            "us",
            note="back to normal: for good within 10 % of the latency before",
        ),
    ]
    if "smsrp" not in rises:
        return [*found, unjudged("SMSRP's rise", "value", "below 50 ns", "this engine has no smsrp")]
    found.append(value("SMSRP's rise", "below 50 ns", rises["smsrp"], (-math.inf, 50), "ns"))
    ordered = rises["lhrp"].low <= rises["smsrp"].high and rises["smsrp"].mean < rises["ecn"].mean / 2
    return [*found, hard("LHRP at most SMSRP, both far below ECN", f"SMSRP {rises['smsrp']} ns", ordered)]


EXPERIMENT = Experiment(
    id="lhrp-fig6",
    paper=PAPER,
    title="Victims of a hot spot that sets in",
    setup="992 endpoints send uniformly at 40 %; at 20 us, 60 of the others start to send to 4, 7.5 times "
    "what those can take.",
    cases=cases,
    draw=draw,
    claims=claims,
)
