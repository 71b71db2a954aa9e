"""The saturation throughput by bisection, with a stated confidence.

The largest offered load that is accepted within 3 % (Jiang, Dennison and Dally, SC 2015), and what is
accepted at full offered load (Jiang, Becker, Michelogiannakis and Dally, HPCA 2012): the two differ where a
network collapses.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailback.errors import InputError, mistake
from tailback.scenario import Scenario
from tailback.stats import CONFIDENCE, Interval, mean_interval
from tailback.sweeps import measured
from tailback.workers import pool

LOSS_MAX = 0.03
FULL_LOAD = 1.0
TOLERANCE_MIN = 1e-6


@dataclass(frozen=True)
class Tried:
    """A load that was tried: what was accepted of what was offered there, over the seeds, and the verdict.

    The interval has the confidence of one look; the verdict is sure if it lies on one side of the limit.
    """

    load: float
    ratio: Interval
    accepted: bool
    sure: bool


@dataclass(frozen=True)
class Saturation:
    """Where a network saturates.

    The saturation load lies between `accepted_load`, which was accepted within 3 %, and `refused_load`,
    which was not: 0 and infinity where no load that was tried was. Each verdict rests on as many seeds as the
    confidence needed, up to the limit (`sure` tells whether all did). `at_full_load` is what is accepted of a
    load of 1, wherever the search ended. `runs` and `cpu_seconds` are of all runs that it rests on, whether
    or not they were there before. `tried` are the loads of the search, in its order, and `warnings` what the
    runs at the two ends of the bracket warned of.
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

    def __str__(self) -> str:
        """Both definitions in words."""
        confidence = f"{100 * self.confidence:.6g} % confidence"
        how_sure = confidence if self.sure else f"with fewer seeds than {confidence} takes"
        digits = max(3, 1 - math.floor(math.log10(self.half))) if self.half > 0 else 3
        where = f"{self.load:.{digits}f} ± {self.half:.{digits}f}"
        if math.isinf(self.refused_load):
            where = f"{self.accepted_load:.3f} at least, the largest that was tried,"
        elif self.accepted_load == 0.0:
            where = f"less than {self.refused_load:.3f}, the least that was tried,"
        return (
            f"accepts at least {100 * (1 - LOSS_MAX):.0f} % of what is offered up to a load of "
            f"{where} of the injection bandwidth ({how_sure}), and {self.at_full_load} at full load"
        )


def saturation(
    scenario: Scenario,
    key: str,
    *,
    low: float = 0.05,
    high: float = 1.0,
    tolerance: float = 0.01,
    confidence: float = CONFIDENCE,
    seeds: int = 5,
    traffic: str = "all",
    executor: Executor | None = None,
    directory: str | Path = "results/saturation",
    progress: Callable[[Tried], object] | None = None,
) -> Saturation:
    """Finds the saturation throughput of a scenario over the load at `key`, such as "traffic.uniform.load".

    Bisects until the bracket is no wider than `tolerance`. At each load two seeds are run, then one more at
    a time until the confidence interval of accepted / offered lies on one side of 0.97, or `seeds` are used
    up. `confidence` is that of the verdict at a load, however often it was looked at: each look has its part
    of the error (Bonferroni). What is accepted at full load is measured at a load of 1, whether or not that
    is in the bracket. `progress` is told of each load when its verdict is there.
    """
    if not 0 < low < high < math.inf:
        raise mistake(f"a saturation cannot lie between {low} and {high}", "give 0 < low < high")
    if seeds < 1 or not 0 < confidence < 1 or not TOLERANCE_MIN <= tolerance < math.inf:
        raise mistake(
            f"seeds is at least 1, confidence between 0 and 1, tolerance at least {TOLERANCE_MIN:g}"
        )
    for load in (low, high, FULL_LOAD):
        problems = scenario.replace({key: load}).check()
        if problems:
            raise InputError(problems)
    _demand_class(scenario.replace({key: low}), traffic)
    with nullcontext(executor) if executor is not None else pool(min(seeds, os.cpu_count() or 1)) as shared:
        judge = _Judge(scenario, key, confidence, seeds, traffic, shared, Path(directory), progress)
        return _bisect(judge, low, high, tolerance)


def _demand_class(scenario: Scenario, traffic: str) -> None:
    """Before anything runs: the class whose traffic is judged is one of the scenario's."""
    tables = tomllib.loads(scenario.complete())
    names = [table["name"] for table in tables.get("traffic", [])]
    if traffic not in ("all", *names):
        raise mistake(f"there is no traffic class {traffic!r}", f"one of {', '.join([*names, 'all'])}")


def _bisect(judge: _Judge, low: float, high: float, tolerance: float) -> Saturation:
    full = judge.throughput(FULL_LOAD)
    if judge.accepts(high):
        low, high = high, math.inf
    elif not judge.accepts(low):
        low, high = 0.0, low
    else:
        while high - low > tolerance * (1 + 1e-9):
            middle = (low + high) / 2
            low, high = (middle, high) if judge.accepts(middle) else (low, middle)
    return Saturation(
        low,
        high,
        full,
        judge.confidence,
        judge.sure,
        len(judge.summaries),
        judge.cpu_seconds,
        tuple(judge.tried),
        tuple(judge.warnings(low) + judge.warnings(high)),
    )


@dataclass
class _Judge:
    """Runs a load under as many seeds as the verdict needs."""

    scenario: Scenario
    key: str
    confidence: float
    seeds: int
    traffic: str
    executor: Executor
    directory: Path
    progress: Callable[[Tried], object] | None
    tried: list[Tried] = field(default_factory=list)
    summaries: dict[tuple[float, int], dict[str, Any]] = field(default_factory=dict)
    """Of the runs, by load and seed."""

    @property
    def sure(self) -> bool:
        return all(tried.sure for tried in self.tried)

    @property
    def cpu_seconds(self) -> float:
        return sum(float(summary.get("cpu_seconds", 0.0)) for summary in self.summaries.values())

    def warnings(self, load: float) -> list[str]:
        """What the runs at a load warned of, the first seed's words where seeds differ in numbers only."""
        told: dict[str, str] = {}
        for (at, _), summary in self.summaries.items():
            for warning in (summary.get("warnings") or ()) if at == load else ():
                told.setdefault(re.sub(r"\d+", "", warning), f"at a load of {load:g}: {warning}")
        return list(told.values())

    def throughput(self, load: float) -> Interval:
        accepted = [float(facts["accepted"]) for facts in self._facts(load, min(2, self.seeds))]
        return mean_interval(accepted, self.confidence)

    def accepts(self, load: float) -> bool:
        count = min(2, self.seeds)
        looks = self.seeds - count + 1
        while True:
            ratios = [facts["accepted"] / facts["offered"] for facts in self._facts(load, count)]
            interval = mean_interval(ratios, 1 - (1 - self.confidence) / looks)
            clear = not math.isnan(interval.half) and not interval.low < 1 - LOSS_MAX <= interval.high
            if clear or count >= self.seeds:
                self.tried.append(Tried(load, interval, interval.mean >= 1 - LOSS_MAX, clear))
                if self.progress is not None:
                    self.progress(self.tried[-1])
                return self.tried[-1].accepted
            count += 1

    def _facts(self, load: float, seeds: int) -> list[dict[str, float]]:
        over = {self.key: [round(load, 9)]}
        done = measured(self.scenario, over, self.executor, seeds, directory=self.directory)
        summaries = [result.summary for result in done.results()]
        self.summaries |= {(load, seed): summary for seed, summary in enumerate(summaries)}
        facts = [summary["classes"][self.traffic] for summary in summaries]
        if not all(of_run["offered"] > 0 for of_run in facts):
            raise mistake(f"{self.traffic!r} offered nothing at a load of {load:g}", "a longer run.duration")
        return facts
