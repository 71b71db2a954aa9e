"""srp-fig7: the network's response to a hot spot that sets in."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.draw import Line, protocol_lines
from tailback.experiments.measure import mean_series
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_hotspot import ACCEPTED, LATENCY, ONSET_US, onset, phases, recovery_ms
from tailback.experiments.srp_paper import PAPER, kinds
from tailback.stats import Interval

_NOTE = "above without the baseline: of what is created after the onset, only the quickest ever arrive"


def cases(full: bool) -> list[Case]:
    """Every protocol under many seeds."""
    return [onset(protocol, seed, full) for protocol in kinds() for seed in range(1, 101 if full else 11)]


def draw(data: Data) -> Figure:
    """Latency and throughput of the background over time."""
    return over_time(data, protocol_lines(data), _NOTE)


def over_time(data: Data, lines: list[Line], note: str = "") -> Figure:
    """Latency and throughput of the background over time, a line per protocol or parameter."""
    with style.styled():
        figure, (above, below) = style.figure(2, height=2.4)
        for line in lines:
            if line.where.get("protocol") != "none":
                _line(above, data, line, LATENCY, 1e-3)
            _line(below, data, line, ACCEPTED, 100)
        above.set_yscale("log")
        above.set_ylabel("mean packet latency\nof the background [us]")
        for axes in (above, below):
            axes.axvline(ONSET_US / 1e3, color="#777777", linewidth=0.8)
        below.set_xlabel("simulated time [ms]" + (f"\n{note}" if note else ""))
        below.set_ylabel("accepted throughput\n[% of injection bandwidth]")
        style.legend(figure, below)
    return figure


def _line(axes: Axes, data: Data, line: Line, column: str, scale: float) -> None:
    times, values = mean_series(data.results(**line.where), "background", column)
    axes.plot(times / 1e3, scale * values, label=line.label, **style.marked_line(line.number, len(times)))


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-fig7."""
    of = {protocol: phases(data.results(protocol=protocol), LATENCY) for protocol in data.values("protocol")}
    rate = {protocol: phases(data.results(protocol=protocol), ACCEPTED) for protocol in of}
    ecn, srp = of["ecn"], of["srp"]
    told = f"{ecn.before / 1e3:.2f} us, peak {ecn.largest / 1e3:.1f} us, at the end {ecn.end / 1e3:.2f} us"
    shares = f"{100 * rate['ecn'].before:.1f} %, least {100 * rate['ecn'].least:.1f} %"
    overshoot = rate["ecn"].largest > 1.02 * rate["ecn"].before
    dip = rate["ecn"].least < 0.95 * rate["ecn"].before
    base = rate["none"]
    return [
        hard(
            "ECN: a latency spike, then recovery",
            told,
            ecn.largest > 2 * ecn.before and ecn.end < 1.2 * ecn.before,
        ),
        hard(
            "ECN: a throughput dip, then an overshoot",
            f"throughput before {shares}, largest {100 * rate['ecn'].largest:.1f} %",
            dip and overshoot,
        ),
        hard(
            "the baseline does not recover within 2 ms",
            f"throughput before {100 * base.before:.1f} %, at the end {100 * base.end:.1f} %",
            base.end < 0.8 * base.before,
        ),
        value(
            "ECN recovers in about",
            "1 ms",
            Interval(recovery_ms(data, protocol="ecn"), math.nan, len(data.results(protocol="ecn"))),
            (0.3, 2),
            "ms",
            note="until the mean is for good within 20 % of that before",
        ),
        hard(
            "SRP: no visible step (largest 20 us mean within 20 %)",
            f"before {srp.before / 1e3:.2f} us, largest after {srp.largest / 1e3:.2f} us",
            srp.largest < 1.2 * srp.before,
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-fig7",
    paper=PAPER,
    title="The network's response to a hot spot that sets in",
    setup="All 256 endpoints send uniformly at 40 %, to all but one; at 1 ms, 40 of them turn to that one at "
    "line rate.",
    cases=cases,
    draw=draw,
    claims=claims,
)
