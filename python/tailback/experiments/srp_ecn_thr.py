"""srp-ecn-thr: the threshold of ECN, for a hot spot that sets in and for uniform traffic."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import Line
from tailback.experiments.measure import accepted
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.srp_fig7 import over_time
from tailback.experiments.srp_hotspot import LATENCY, onset, phases, recovery_ms
from tailback.experiments.srp_paper import PAPER

_THRESHOLDS = {50: "256 flits", 90: "461 flits"}
_MESSAGES = ("4 packets", "16 packets", "64 packets")
_WHY = (
    "The thresholds are 205 flits apart, which what 40 senders send too much fills in 205 x 6.4 ns / 39 = "
    "34 ns. What takes time is that a source hears of its packets only as they leave, one in 205 ns for all "
    "40, while the tree is full with either threshold."
)


def cases(full: bool) -> list[Case]:
    """The onset under both thresholds, and uniform traffic at full load."""
    made = []
    for share, threshold in _THRESHOLDS.items():
        changes = {"threshold": threshold}
        made += [
            onset("ecn", seed, full, changes=changes, threshold=share) for seed in range(1, 21 if full else 5)
        ]
        made += [
            uniform.case("ecn", 1.0, full, message, changes=changes, seed=seed, threshold=share, size=message)
            for message in _MESSAGES
            for seed in uniform.seeds(full)
        ]
    return made


def draw(data: Data) -> Figure:
    """The background over time, a line per threshold."""
    lines = [
        Line(f"threshold {share} %", number, {"threshold": share, "senders": 40})
        for number, share in enumerate(_THRESHOLDS)
    ]
    return over_time(data, lines)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-ecn-thr."""
    times = {share: recovery_ms(data, threshold=share, senders=40) for share in _THRESHOLDS}
    peaks = {
        share: phases(data.results(threshold=share, senders=40), LATENCY).largest for share in _THRESHOLDS
    }
    benign = {
        (share, message): data.mean(accepted("uniform"), threshold=share, size=message).scaled(100)
        for share in _THRESHOLDS
        for message in _MESSAGES
    }
    told = "; ".join(f"{message}: {benign[50, message]} and {benign[90, message]} %" for message in _MESSAGES)
    return [
        hard(
            "the lower threshold reacts faster",
            f"recovery {times[50]:.2f} and {times[90]:.2f} ms, peak latency {peaks[50] / 1e3:.1f} and "
            f"{peaks[90] / 1e3:.1f} us, at 50 and 90 %",
            times[50] < times[90],
            cause=_WHY,
        ),
        hard(
            "the lower threshold saturates earlier under uniform traffic",
            f"accepted at full load, at 50 and 90 %: {told}",
            all(benign[50, message].mean < benign[90, message].mean for message in _MESSAGES),
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-ecn-thr",
    paper=PAPER,
    title="The threshold of ECN",
    setup="As srp-fig7, and uniform traffic at full load, with thresholds of 50 and 90 % of an input buffer.",
    cases=cases,
    draw=draw,
    claims=claims,
)
