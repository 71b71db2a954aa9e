"""srp-fig7: the network's response to a hot spot that sets in."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.draw import LABELS, finish, look
from tailback.experiments.lhrp_paper import Times
from tailback.experiments.measure import mean_series
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, unjudged, value
from tailback.experiments.srp_paper import PAPER, cost, kinds, nodes, scenario
from tailback.scenario import Scenario
from tailback.stats import Interval

_ONSET_US, _END_US = 1000, 3500
_LATENCY, _ACCEPTED = "packet_latency_ns", "accepted"


def traffic(senders: int, seed: int) -> str:
    """All send uniformly at 40 % until 1 ms; then the senders turn to the hot endpoint, the others go on."""
    hot, sending, rest = nodes(senders, seed)
    return f"""
[[traffic]]
name = "background"
pattern = "uniform"
endpoints = {sorted([hot, *rest])}
load = 0.4
message = "8 packets"

[[traffic]]
name = "before"
pattern = "uniform"
endpoints = {sending}
load = 0.4
message = "8 packets"
stop = "{_ONSET_US} us"

[[traffic]]
name = "hot"
pattern = "hotspot"
sources = {sending}
destinations = [{hot}]
load = 1.0
message = "8 packets"
start = "{_ONSET_US} us"
share = true
"""


def cases(full: bool) -> list[Case]:
    """Every protocol under many seeds."""
    span = Times(200, _END_US - 200, 0)
    return [
        Case(
            {"protocol": protocol, "seed": seed},
            scenario(
                f"hot spot sets in, {protocol}",
                protocol,
                traffic(40, seed),
                span,
                seed,
                record='series = "20 us"',
            ),
            cost(0.4, span),
        )
        for protocol in kinds()
        for seed in range(1, 101 if full else 11)
    ]


def _scenario(protocol: str, seed: int, span: Times) -> Scenario:
    title = f"hot spot sets in, {protocol}"
    return scenario(title, protocol, traffic(40, seed), span, seed, record='series = "20 us"')


def draw(data: Data) -> Figure:
    """Latency and throughput of the background over time."""
    with style.styled():
        figure, (above, below) = style.figure(2, height=2.4)
        for protocol in data.values("protocol"):
            results = data.results(protocol=protocol)
            times, latency = mean_series(results, "background", _LATENCY)
            _, accepted = mean_series(results, "background", _ACCEPTED)
            looks = style.marked_line(look(protocol), len(times))
            above.plot(times / 1e3, latency / 1e3, label=LABELS[protocol], **looks)
            below.plot(times / 1e3, 100 * accepted, **looks)
        above.set_yscale("log")
        above.set_ylabel("mean packet latency\nof the background [us]")
        for axes in (above, below):
            axes.axvline(_ONSET_US / 1e3, color="#777777", linewidth=0.8)
        finish(figure, below, "simulated time [ms]", "accepted throughput\n[% of injection bandwidth]")
        style.legend(figure, above)
    return figure


def _phases(data: Data, protocol: str, column: str) -> tuple[float, float, float, float]:
    """Mean before the onset, largest and smallest after it, and mean of the end."""
    times, values = mean_series(data.results(protocol=protocol), "background", column)
    shown = times < times.max() - 60
    before = float(np.nanmean(values[(times >= 500) & (times < _ONSET_US)]))
    after = values[shown & (times >= _ONSET_US)]
    return before, float(np.nanmax(after)), float(np.nanmin(after)), float(np.nanmean(after[-20:]))


def _recovery(data: Data) -> float:
    times, values = mean_series(data.results(protocol="ecn"), "background", _LATENCY)
    before = _phases(data, "ecn", _LATENCY)[0]
    shown = times < times.max() - 60
    high = times[shown & (values > 1.2 * before) & (times >= _ONSET_US)]
    return float(high.max() - _ONSET_US) / 1e3 if high.size else 0.0


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-fig7."""
    ecn, ecn_rate = _phases(data, "ecn", _LATENCY), _phases(data, "ecn", _ACCEPTED)
    base = _phases(data, "none", _ACCEPTED)
    told = f"before {ecn[0] / 1e3:.2f} us, peak {ecn[1] / 1e3:.1f} us, at the end {ecn[3] / 1e3:.2f} us"
    rates = [f"{100 * rate:.1f} %" for rate in ecn_rate]
    dip = f"throughput before {rates[0]}, least {rates[2]}, largest {rates[1]}"
    found = [
        hard("ECN: a latency spike, then recovery", told, ecn[1] > 2 * ecn[0] and ecn[3] < 1.2 * ecn[0]),
        hard(
            "ECN: a throughput dip, then an overshoot",
            dip,
            ecn_rate[2] < 0.95 * ecn_rate[0] and ecn_rate[1] > 1.02 * ecn_rate[0],
        ),
        hard(
            "the baseline does not recover within 2 ms",
            f"throughput before {100 * base[0]:.1f} %, at the end {100 * base[3]:.1f} %",
            base[3] < 0.8 * base[0],
        ),
        value(
            "ECN recovers in about",
            "1 ms",
            Interval(_recovery(data), math.nan, 10),
            (0.3, 2),
            "ms",
            note="until the mean is for good within 20 % of that before",
        ),
    ]
    if not data.has(protocol="srp"):
        return [*found, unjudged("SRP: no visible step", "hard", "", "this engine has no srp")]
    srp = _phases(data, "srp", _LATENCY)
    step = f"before {srp[0] / 1e3:.2f} us, largest after {srp[1] / 1e3:.2f} us"
    return [*found, hard("SRP: no visible step", step, srp[1] < 1.2 * srp[0])]


EXPERIMENT = Experiment(
    id="srp-fig7",
    paper=PAPER,
    title="The network's response to a hot spot that sets in",
    setup="All 256 endpoints send uniformly at 40 %; at 1 ms, 40 of them turn to one at line rate.",
    cases=cases,
    draw=draw,
    claims=claims,
)
