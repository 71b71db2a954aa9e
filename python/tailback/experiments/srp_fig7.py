"""srp-fig7: the network's response to a hot spot that sets in."""

from __future__ import annotations

import math
from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailback.experiments.draw import (
    BAND,
    Line,
    banded_line,
    mark,
    protocol_lines,
    seeds_told,
)
from tailback.experiments.measure import interval_series
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_hotspot import (
    ACCEPTED,
    LATENCY,
    ONSET_US,
    Phases,
    onset,
    phases,
    recovery_ms,
    seeds,
)
from tailback.experiments.srp_paper import PAPER, PROTOCOLS
from tailback.figures import style

_NOTE = "above without the baseline: of what is created after the onset, only the quickest ever arrive"


def cases(full: bool) -> list[Case]:
    """Every protocol under many seeds."""
    return [onset(protocol, seed, full) for protocol in PROTOCOLS for seed in seeds(full)]


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
        style.logarithmic(above, "y")
        above.set_ylabel("mean packet latency\nof the background [us]")
        for axes in (above, below):
            mark(axes, ONSET_US / 1e3)
        told = seeds_told(data, BAND, **lines[0].where)
        below.set_xlabel("simulated time [ms]")
        style.notes(figure, [told, note] if note else [told])
        below.set_ylabel("accepted throughput\n[% of injection bandwidth]")
        style.legend(figure, below)
    return figure


def _line(axes: Axes, data: Data, line: Line, column: str, scale: float) -> None:
    times, points = interval_series(data.results(**line.where), "background", column)
    looks = style.marked_line(line.number, len(times), line.kind)
    scaled = [point.scaled(scale) for point in points]
    banded_line(axes, times / 1e3, scaled, label=line.label, **looks)


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    runs = {protocol: data.results(protocol=protocol) for protocol in data.values("protocol")}
    time = {protocol: phases(own, LATENCY) for protocol, own in runs.items()}
    rate = {protocol: phases(own, ACCEPTED) for protocol, own in runs.items()}
    ecn, base = time["ecn"], rate["none"]
    recovered = {protocol: recovery_ms(own) for protocol, own in runs.items()}
    return [
        hard(
            "ECN: a latency spike, then recovery",
            f"{ecn.before / 1e3:.2f} us, peak {ecn.largest / 1e3:.1f} us, at the end {ecn.end / 1e3:.2f} us",
            ecn.largest > 2 * ecn.before and ecn.end < 1.2 * ecn.before,
        ),
        _overshoot(rate["ecn"], recovered["ecn"]),
        hard(
            "the baseline does not recover within 2 ms",
            f"throughput before {100 * base.before:.1f} %, at the end {100 * base.end:.1f} %",
            base.end < 0.8 * base.before and math.isinf(recovered["none"]),
        ),
        value(
            "ECN recovers in about",
            "1 ms",
            recovered["ecn"],
            (0.3, 2),
            "ms",
            note="until the mean latency is for good at most 20 % over that before, and the throughput at "
            "most 20 % under it; inf if that is not so when the runs end",
        ),
        no_step("SRP: no visible step", {"": (time["srp"], rate["srp"])}),
    ]


def _overshoot(rate: Phases, recovered: float) -> Claim:
    """A dip under, and after it a peak over what the throughput was before, in the later half of recovery."""
    dip = rate.least < 0.95 * rate.before and rate.least < rate.before - 3 * rate.noise
    over = rate.rebound > 1.02 * rate.before and rate.rebound > rate.before + 3 * rate.noise
    return hard(
        "ECN: a throughput dip, then an overshoot near the end of the recovery",
        f"throughput before {100 * rate.before:.1f} ± {100 * rate.noise:.1f} %, least "
        f"{100 * rate.least:.1f} %, then at most {100 * rate.rebound:.1f} %, {rate.rebound_ms:.2f} ms after "
        f"the onset; recovered after {recovered:.2f} ms",
        dip and over and recovered / 2 <= rate.rebound_ms <= recovered,
        note="± is the standard deviation of the 20 us means before; the overshoot is in the later half",
    )


def no_step(text: str, seen: Mapping[str, tuple[Phases, Phases]]) -> Claim:
    """That neither latency nor throughput shows the onset, in any of several cases by name."""
    return hard(
        f"{text} (all 20 us means: latency within 20 %, throughput within 5 %)",
        "; ".join(
            f"{name} {time.before / 1e3:.2f} us before, {time.least / 1e3:.2f} to "
            f"{time.largest / 1e3:.2f} us after; {100 * rate.before:.1f} ± {100 * rate.noise:.1f} % before, "
            f"{100 * rate.least:.1f} to {100 * rate.largest:.1f} % after".strip()
            for name, (time, rate) in seen.items()
        ),
        all(_within(time, 0.2) and _within(rate, 0.05) for time, rate in seen.values()),
    )


def _within(seen: Phases, share: float) -> bool:
    return (1 - share) * seen.before < seen.least <= seen.largest < (1 + share) * seen.before


EXPERIMENT = Experiment(
    id="srp-fig7",
    paper=PAPER,
    title="The network's response to a hot spot that sets in",
    setup="All 256 endpoints send uniformly at 40 %, to all but one; at 1 ms, 40 of them turn to that one at "
    "line rate. The background is that of the other 216. Recorded to 3 ms, in full size to 5 ms, in means of "
    "20 us over the seeds; before is from 0.5 to 1 ms.",
    cases=cases,
    draw=draw,
    claims=claims,
)
