"""What an experiment is: runs, a figure, and claims that are judged by what the runs measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from matplotlib.figure import Figure

from tailback.result import Result
from tailback.scenario import Scenario
from tailback.stats import CONFIDENCE, Interval, mean_interval
from tailback.sweeps.found import Saturation

Kind = Literal["hard", "value", "ours", ""]
"""Empty: not known, since what tells it cannot be judged."""
Verdict = Literal["held", "missed", "not judged"]
Measure = Callable[[Result], float]


@dataclass(frozen=True)
class Times:
    """Warm-up, measured window and drain, in us."""

    warmup: float
    duration: float
    drain: float

    @property
    def total(self) -> float:
        """Simulated time, the drain included."""
        return self.warmup + self.duration + self.drain


@dataclass(frozen=True)
class Case:
    """One run: what tells it from the others, its scenario, and the CPU seconds it may take."""

    labels: Mapping[str, Any]
    scenario: Scenario
    cost: float = 1.0
    beside: bool = False
    """Whether no claim is judged by it."""


@dataclass(frozen=True)
class Search:
    """A saturation to be found by a search over the load at `key`."""

    labels: Mapping[str, Any]
    scenario: Scenario
    key: str
    low: float
    high: float
    tolerance: float
    seeds: int
    cost: float = 10.0


@dataclass(frozen=True)
class Claim:
    """A claim of the paper beside what was measured; if missed, with the cause that measurements show."""

    text: str
    kind: Kind
    published: str
    measured: str
    verdict: Verdict
    tolerance: str = ""
    note: str = ""
    cause: str = ""


Cause = str | Callable[[], str]
"""Why a claim is missed: a function is asked only then."""


def _told(cause: Cause) -> str:
    return cause() if callable(cause) else cause


def hard(
    text: str, measured: str, held: bool | None, *, published: str = "", note: str = "", cause: Cause = ""
) -> Claim:
    """An ordering or a mechanism that must hold; not judged where what was measured does not tell (None)."""
    if held is None:
        why = (f"{measured}: this does not tell.", note, _told(cause))
        return unjudged(text, "hard", published, " ".join(part for part in why if part))
    return Claim(
        text,
        "hard",
        published,
        measured,
        "held" if held else "missed",
        "",
        note,
        "" if held else _told(cause),
    )


def value(
    text: str,
    published: str,
    measured: Interval | float,
    within: tuple[float, float],
    unit: str = "",
    *,
    note: str = "",
    cause: Cause = "",
) -> Claim:
    """A published figure; held if the measured number, or mean, lies within the tolerance."""
    low, high = within
    measured = measured if isinstance(measured, Interval) else mean_interval([measured])
    held = low <= measured.mean <= high
    told = f"{measured} {unit}".strip()
    tolerance = f"{low:g} to {high:g} {unit}".strip() if math.isfinite(low + high) else _open(low, high, unit)
    verdict: Verdict = "held" if held else "missed"
    return Claim(text, "value", published, told, verdict, tolerance, note, "" if held else _told(cause))


def ours(claim: Claim) -> Claim:
    """A claim that is not the paper's: shown beside the paper's, and counted with none of them."""
    return replace(claim, kind="ours")


def at_most(excess: Interval, margin: float = 0.0) -> bool | None:
    """Whether a mean difference is at most a margin; None where no interval tells."""
    if math.isnan(excess.half) or excess.low <= margin < excess.high:
        return None
    return excess.high <= margin


def _open(low: float, high: float, unit: str) -> str:
    return f"at least {low:g} {unit}".strip() if math.isinf(high) else f"at most {high:g} {unit}".strip()


def unjudged(text: str, kind: Kind, published: str, why: str) -> Claim:
    """A claim that this size, or the part that was run, cannot tell."""
    return Claim(text, kind, published, "", "not judged", note=why)


_NOT_SEARCHED = Saturation(0.0, math.inf, mean_interval([]), CONFIDENCE, sure=False, runs=0, cpu_seconds=0.0)


class LeftOutError(Exception):
    """What is asked for needs runs that are left out, since only a part of the experiment is wanted."""

    def __init__(self, runs: str = "runs that") -> None:
        super().__init__(f"needs {runs} are left out")


class Data:
    """The results of an experiment, or of a part of it, by their labels."""

    def __init__(
        self,
        results: Sequence[tuple[Mapping[str, Any], Result]],
        saturations: Sequence[tuple[Mapping[str, Any], Saturation]] = (),
        *,
        left_out: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """To ask for what is `left_out`, or for values of a label some of which are, is a `LeftOutError`."""
        self._results = results
        self._saturations = saturations
        self._left_out = left_out

    def results(self, **labels: Any) -> list[Result]:
        """All results with these labels: one per seed, if the labels leave nothing else open."""
        found = [result for own, result in self._results if _matches(own, labels)]
        if not found:
            self._must_not_lack(labels)
        return found

    def _must_not_lack(self, labels: Mapping[str, Any]) -> None:
        if any(_matches(own, labels) for own in self._left_out):
            told = ", ".join(f"{name}={label}" for name, label in labels.items())
            raise LeftOutError(f"runs with {told}, which")

    def values(self, label: str, **labels: Any) -> list[Any]:
        """The values of a label among the results with the others, in the order they were run."""
        found = _values(label, labels, [own for own, _ in self._results])
        if not found:
            self._must_not_lack(labels)
        lacking = [other for other in _values(label, labels, self._left_out) if other not in found]
        # Fewer seeds only make what is measured less sure.
        if lacking and label != "seed":
            raise LeftOutError(f"runs with {label}={','.join(map(str, lacking))}, which")
        return found

    def mean(self, measure: Measure, **labels: Any) -> Interval:
        """The mean over the seeds."""
        return mean_interval([measure(result) for result in self.results(**labels)])

    def curve(self, measure: Measure, along: str, **labels: Any) -> tuple[list[Any], list[Interval]]:
        """A measured quantity along a label."""
        steps = self.values(along, **labels)
        return steps, [self.mean(measure, **{**labels, along: step}) for step in steps]

    def saturation(self, **labels: Any) -> Saturation:
        """The saturation that was searched for; one that may lie anywhere, if none was."""
        found = [saturation for own, saturation in self._saturations if _matches(own, labels)]
        if not found:
            self._must_not_lack(labels)
        return found[0] if found else _NOT_SEARCHED


def _values(label: str, wanted: Mapping[str, Any], among: Sequence[Mapping[str, Any]]) -> list[Any]:
    return list(dict.fromkeys(own[label] for own in among if label in own and _matches(own, wanted)))


def _matches(own: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(key in own and own[key] == expected for key, expected in wanted.items())


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper."""

    id: str
    paper: str
    title: str
    setup: str
    cases: Callable[[bool], list[Case]]
    """Of the full size, if true, else of the reduced one."""
    draw: Callable[[Data], Figure]
    claims: Callable[[Data], list[Claim]]
    searches: Callable[[bool], list[Search]] = field(default=lambda full: [])
    part: str = ""
    """Which of the runs are wanted, if not all."""
    left_out: Callable[[bool], list[Mapping[str, Any]]] = field(default=lambda full: [])
    """The labels of the runs and searches that are not."""

    @property
    def venue(self) -> str:
        """Where and when the paper was published: what follows its title."""
        return self.paper.rpartition("”")[2].partition(", ")[2].partition(";")[0]
