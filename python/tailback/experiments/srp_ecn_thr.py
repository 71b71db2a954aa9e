"""srp-ecn-thr: the threshold of ECN, for a hot spot that sets in and for uniform traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import FREE, Line, look
from tailback.experiments.measure import accepted
from tailback.experiments.model import Case, Claim, Data, Experiment, Measure, hard
from tailback.experiments.srp_fig7 import over_time
from tailback.experiments.srp_hotspot import BIN_US, LATENCY, SENDERS, onset, phases, recovery_ms, seeds
from tailback.experiments.srp_paper import PACKET_FLITS, PACKET_NS, PAPER
from tailback.stats import mean_interval

_THRESHOLDS = {50: "256 flits", 90: "461 flits"}
_NUMBERS = {50: FREE, 90: look("ecn")}
"""Of the lines: 90 % is usual."""
_MESSAGES = ("4 packets", "16 packets", "64 packets")


def cases(full: bool) -> list[Case]:
    """The onset under both thresholds, and uniform traffic at full load."""
    made = []
    for share, threshold in _THRESHOLDS.items():
        changes = {"threshold": threshold}
        made += [onset("ecn", seed, full, changes=changes, threshold=share) for seed in seeds(full)]
        made += [
            uniform.case("ecn", 1.0, full, message, changes=changes, seed=seed, threshold=share, size=message)
            for message in _MESSAGES
            for seed in uniform.seeds(full, 3)
        ]
    return made


def draw(data: Data) -> Figure:
    """The background over time, a line per threshold."""
    lines = [
        Line(f"ECN, threshold {share} %", number, {"threshold": share, "senders": 40})
        for share, number in _NUMBERS.items()
    ]
    return over_time(data, lines)


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    sooner = _differences(data, lambda result: recovery_ms([result]), senders=40)
    peaks = _differences(data, lambda result: phases([result], LATENCY).largest / 1e3, senders=40)
    benign = {
        size: [100 * less for less in _differences(data, accepted("uniform"), size=size)]
        for size in _MESSAGES
    }
    low, high = _THRESHOLDS
    times = {share: recovery_ms(data.results(threshold=share, senders=40)) for share in _THRESHOLDS}
    return [
        hard(
            "the lower threshold reacts faster (interval below 0, and no seed against it)",
            f"recovery at {low} % less that at {high} %: {_signs(sooner, 'ms')}; of the mean over the seeds, "
            f"{times[low]:.2f} and {times[high]:.2f} ms; peak latency: {_signs(peaks, 'us')}",
            _less(sooner),
            cause=lambda: _why(sooner),
        ),
        hard(
            "the lower threshold saturates earlier under uniform traffic (likewise, with every message size)",
            f"accepted at full load, at {low} % less that at {high} %: "
            + "; ".join(f"{size} {_signs(less, 'points')}" for size, less in benign.items()),
            all(map(_less, benign.values())),
            cause=lambda: _unclear(benign),
        ),
    ]


def _differences(data: Data, measure: Measure, **labels: Any) -> list[float]:
    """What the lower threshold adds, by seed."""
    low, high = (data.results(threshold=share, **labels) for share in _THRESHOLDS)
    return [measure(one) - measure(two) for one, two in zip(low, high, strict=True)]


def _signs(differences: list[float], unit: str) -> str:
    less = sum(each < 0 for each in differences)
    more = sum(each > 0 for each in differences)
    signs = f"less under {less} and more under {more} of {len(differences)} seeds"
    return f"{mean_interval(differences)} {unit}, {signs}"


def _less(differences: list[float]) -> bool:
    """Whether the interval lies below 0 and no seed has the other sign; times are told apart by a bin."""
    return mean_interval(differences).high < 0 and max(differences) <= 0


def _unclear(benign: Mapping[str, list[float]]) -> str:
    """Of which message sizes the seeds tell no difference."""
    sizes = ", ".join(size for size, less in benign.items() if not _less(less))
    return (
        f"With messages of {sizes} these seeds do not tell the thresholds apart: the interval reaches past "
        "0, or a seed has the other sign."
    )


def _why(sooner: list[float]) -> str:
    """Why a threshold matters little to the onset, and whether the seeds tell a difference."""
    found = mean_interval(sooner)
    flits = [int(text.split()[0]) for text in _THRESHOLDS.values()]
    apart = flits[1] - flits[0]
    filled = apart * PACKET_NS / PACKET_FLITS / (SENDERS - 1)
    seen = "does not hold 0" if found.high < 0 or found.low > 0 else "holds 0"
    return (
        f"The interval over the seeds {seen}. The thresholds are {apart} flits apart, which what {SENDERS} "
        f"senders send too much fills in {filled:.0f} ns, and the bins are of {BIN_US} us. What takes time "
        "is that a source hears of its packets only as they leave, one in "
        f"{PACKET_NS:.0f} ns for all {SENDERS}, while the tree is full with either threshold."
    )


EXPERIMENT = Experiment(
    id="srp-ecn-thr",
    paper=PAPER,
    title="The threshold of ECN",
    setup="As srp-fig7, times and seeds too, and uniform traffic at full load, measured after 0.5 ms, for 1 "
    "ms (full size: 4.5 ms), under seeds 1 to 3; with thresholds of 50 and 90 % of an input buffer.",
    cases=cases,
    draw=draw,
    claims=claims,
)
