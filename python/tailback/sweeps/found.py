"""What a search for the saturation finds: the loads that were tried, and the bracket that they make."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tailback.stats import Interval, mean_interval

LOSS_MAX = 0.03
FULL_LOAD = 1.0


@dataclass(frozen=True)
class Tried:
    """A load that was tried: what was accepted of what was offered there, over the seeds, and the verdict.

    The interval has the confidence of one look; the verdict is sure if it lies on one side of the limit. A
    load at which a run deadlocked, or held more than `run.memory`, is refused, in the second case not surely:
    `failed` says why, and the interval is not known. `latency_ns` is the mean latency of the messages, from
    their creation, over the seeds; NaN where over 1 % of them had not arrived when a run ended.
    """

    load: float
    ratio: Interval
    accepted: bool
    sure: bool
    failed: str | None = None
    latency_ns: Interval = field(default_factory=lambda: mean_interval([]))


@dataclass(frozen=True)
class Saturation:
    """Where a network saturates.

    The saturation load lies between `accepted_load`, which was accepted within 3 %, and `refused_load`,
    which was not: 0 and infinity where no load that was tried was. Each verdict rests on as many seeds as the
    confidence needed, up to the limit (`sure` tells whether all did, `sure_between` what the sure ones tell).
    `at_full_load` is what is accepted at a load of 1, wherever the search ended, over all seeds that ran
    there; where the traffic cannot offer as much, at the largest load of the search (`full_load`). It is a
    share of the injection bandwidth, as loads are; where the search went over a load `per_destination`, both
    are shares of the ejection bandwidth of the destinations. `runs` and
    `cpu_seconds` are of all runs that it rests on, whether or not they were there before.
    `tried` are the loads of the search, in its order, and `warnings` what the runs at the two ends of the
    bracket warned of.
    """

    accepted_load: float
    refused_load: float
    at_full_load: Interval
    confidence: float
    sure: bool
    runs: int
    cpu_seconds: float
    tried: tuple[Tried, ...] = ()
    warnings: tuple[str, ...] = ()
    full_load: float = FULL_LOAD
    per_destination: bool = False

    @property
    def is_bracketed(self) -> bool:
        """Whether a load was accepted and one refused."""
        return self.accepted_load > 0 and math.isfinite(self.refused_load)

    @property
    def load(self) -> float:
        """The middle of the bracket; NaN if it has but one end."""
        return (self.accepted_load + self.refused_load) / 2 if self.is_bracketed else math.nan

    @property
    def half(self) -> float:
        """Half the width of the bracket; NaN if it has but one end."""
        return (self.refused_load - self.accepted_load) / 2 if self.is_bracketed else math.nan

    @property
    def sure_between(self) -> tuple[float, float]:
        """The largest load surely accepted and the least surely refused: 0 and infinity where none was."""
        return (
            max((tried.load for tried in self.tried if tried.sure and tried.accepted), default=0.0),
            min((tried.load for tried in self.tried if tried.sure and not tried.accepted), default=math.inf),
        )

    @property
    def _is_settled(self) -> bool:
        return self.sure or self.sure_between == (self.accepted_load, self.refused_load)

    def __str__(self) -> str:
        """Both definitions in words: loads as a scenario has them, and all that arrives in percent."""
        load = "load per destination" if self.per_destination else "load"
        of = (
            "the ejection bandwidth of its destinations"
            if self.per_destination
            else "the injection bandwidth"
        )
        at_full = f"at a {load} of {self.full_load:g}"
        if math.isnan(self.at_full_load.mean):
            arrives = f"what arrives {at_full} is not known"
        else:
            arrives = f"{at_full}, {self.at_full_load.scaled(100)} % of {of} arrives"
        enough = f"accepts at least {100 * (1 - LOSS_MAX):.0f} % of what is offered"
        return f"{enough} {self._where(load)} ({self._how_sure()}); {arrives}"

    def _where(self, load: str) -> str:
        digits = max(3, 1 - math.floor(math.log10(self.half))) if self.half > 0 else 3
        if math.isinf(self.refused_load):
            return f"up to the largest {load} that was tried, {self.accepted_load:.3f}"
        if self.accepted_load == 0.0:
            return f"at no {load} that was tried, not even at {self.refused_load:.3f}"
        low, high = (f"{end:.{digits}f}" for end in (self.accepted_load, self.refused_load))
        accepted, refused = self.sure_between
        if self._is_settled or accepted == 0 or math.isinf(refused):
            return f"up to a {load} between {low} and {high}"
        return f"up to a {load} between {accepted:.3f} and {refused:.3f}, perhaps between {low} and {high}"

    def _how_sure(self) -> str:
        confidence = f"{100 * self.confidence:.6g} % confidence"
        if self._is_settled:
            return f"each verdict at {confidence}"
        accepted, refused = self.sure_between
        if accepted > 0 and math.isfinite(refused):
            return f"the first at {confidence}, the second not settled with these seeds"
        told = [f"{accepted:.3f} is accepted"] if accepted > 0 else []
        told += [f"{refused:.3f} is refused"] if math.isfinite(refused) else []
        return (
            f"not settled at {confidence} with these seeds{': only that ' * bool(told) + ' and '.join(told)}"
        )
