"""A search for the saturation throughput, with a stated confidence.

The largest offered load that is accepted within 3 % (Jiang, Dennison and Dally, SC 2015), and what is
accepted at full offered load (Jiang, Becker, Michelogiannakis and Dally, HPCA 2012): the two differ where a
network collapses.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tailback.errors import InputError, PointsFailed, Problem, is_deadlock, mistake
from tailback.files import folder
from tailback.scenario import Scenario, demand_scenario
from tailback.stats import CONFIDENCE, Interval, mean_interval
from tailback.sweeps.bracket import Bracket
from tailback.sweeps.found import FULL_LOAD, LOSS_MAX, Saturation, Tried
from tailback.sweeps.places import replaced
from tailback.sweeps.space import SEED
from tailback.sweeps.sweep import demand_executor, measured
from tailback.sweeps.workers import cores, pool
from tailback.words import named

LOADS = ("load", "load_per_destination")
"""Keys of a class of traffic that may be searched."""
TOLERANCE_MIN = 1e-6


def saturation(
    scenario: Scenario,
    key: str,
    *,
    low: float = 0.05,
    high: float = 1.0,
    tolerance: float = 0.01,
    confidence: float = CONFIDENCE,
    seeds: int = 5,
    traffic: str | None = None,
    executor: Executor | None = None,
    directory: str | Path = "results/saturation",
    begun: Callable[[str], object] | None = None,
    progress: Callable[[Tried], object] | None = None,
) -> Saturation:
    """Finds the saturation throughput of a scenario over the load at `key`, such as "traffic.uniform.load".

    Of a hot spot the key may be its `load_per_destination`, which is full where its destinations are.
    What must be accepted is the class `traffic`, or "all"; by default the class of that load. Goes on until
    the bracket is no wider than `tolerance`, by what refused loads tell and by bisection (`Bracket`). At each
    load two seeds are run, then one more at a time until the confidence interval of accepted / offered lies
    on one side of 0.97, or `seeds` are used up. Runs of few messages may agree by chance: the interval is no
    narrower than their own ones of what they leave behind give.
    `confidence` is that of the verdict at a load, however often it was looked at: each look has its part of
    the error (Bonferroni). What is accepted at full load is measured at a load of 1, whether or not that is
    in the bracket, and at `high` if the traffic cannot offer 1. `begun` is told the class that is judged when
    nothing is wrong, before anything runs; `progress` of each load when its verdict is there.
    Raises `InputError` with what is wrong with the scenario or the limits, and `PointsFailed` where a run
    failed for another reason than its load, and at `low` for any.
    """
    demand_scenario(scenario)
    demand_executor(executor)
    directory = folder(directory)
    _refuse_limits(low, high, tolerance, confidence, seeds)
    if lost := replaced(scenario, [key, SEED]):
        raise InputError(
            Problem("the search sets it itself", path=name, help="leave it out") for name in lost
        )
    for name, load in (("low", low), ("high", high)):
        problems = scenario.replace({key: load}).check()
        if any(problem.path != key for problem in problems):
            raise InputError(problems)
        if problems:
            told = problems[0]
            remedy = f"{told.help} (--{name})" if told.help else f"give another --{name}"
            raise mistake(f"{name} cannot be {load:g}: {told.message}", remedy)
    full_load = high if scenario.replace({key: FULL_LOAD}).check() else FULL_LOAD
    of_load = class_of(scenario.replace({key: low}), key)
    traffic = _demand_class(scenario.replace({key: low}), traffic or of_load or "all")
    if begun is not None:
        begun(traffic)
    with nullcontext(executor) if executor is not None else pool(min(seeds, cores())) as shared:
        judge = _Judge(scenario, key, confidence, seeds, traffic, shared, directory, progress, low)
        judge.per_destination = traffic == of_load and key.endswith(LOADS[1])
        return _search(judge, Bracket(low, high, tolerance), full_load)


def _refuse_limits(low: float, high: float, tolerance: float, confidence: float, seeds: int) -> None:
    if not all(_is_number(value) for value in (low, high, tolerance, confidence)):
        raise mistake("low, high, tolerance and confidence are numbers", "such as tolerance=0.01")
    if not isinstance(seeds, int) or isinstance(seeds, bool):
        raise mistake(f"seeds is a whole number, not {named(seeds)}", "how many there are at most at a load")
    if not 0 < low < high < math.inf:
        raise mistake(f"a saturation cannot lie between {low} and {high}", "give 0 < low < high")
    if seeds < 1:
        raise mistake(f"{seeds} seeds give no result", "seeds is at least 1")
    if not 0 < confidence < 1:
        raise mistake(f"a confidence of {confidence} is none", "it lies between 0 and 1, such as 0.95")
    if not TOLERANCE_MIN <= tolerance < math.inf:
        raise mistake(f"a tolerance of {tolerance} cannot be reached", f"it is at least {TOLERANCE_MIN:g}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def class_of(scenario: Scenario, key: str) -> str | None:
    """The class of traffic whose load a key is; none if it is something else."""
    ((*parts,),) = scenario.places([key])
    if len(parts) != 3 or parts[0] != "traffic" or parts[2] not in LOADS or not parts[1].isdecimal():
        return None
    name: str = tomllib.loads(scenario.complete())["traffic"][int(parts[1])]["name"]
    return name


def _demand_class(scenario: Scenario, traffic: str) -> str:
    """Before anything runs: the class whose traffic is judged is one of the scenario's."""
    tables = tomllib.loads(scenario.complete())
    names = [table["name"] for table in tables.get("traffic", [])]
    if traffic not in ("all", *names):
        raise mistake(f"there is no traffic class {traffic!r}", f"one of {', '.join([*names, 'all'])}")
    return traffic


def _search(judge: _Judge, bracket: Bracket, full_load: float) -> Saturation:
    load: float | None = full_load
    if not bracket.low <= full_load <= bracket.high:
        judge.run(full_load)
        bracket.guess = judge.enough_for(full_load)
        load = bracket.next()
    while load is not None:
        if judge.accepts(load):
            bracket.accept(load)
        else:
            bracket.refuse(load, judge.enough_for(load))
        load = bracket.next()
    low, high = bracket.low, bracket.high
    return Saturation(
        low,
        high,
        judge.throughput(full_load),
        judge.confidence,
        judge.sure,
        len(judge.summaries),
        judge.cpu_seconds,
        tuple(judge.tried),
        tuple(judge.warnings(low) + judge.warnings(high)),
        full_load,
        judge.per_destination,
    )


def _latency(ran: list[dict[str, Any]], confidence: float) -> Interval:
    means = [facts["message_latency_ns"]["mean"] for facts in ran]
    return mean_interval([math.nan if mean is None else mean for mean in means], confidence)


def _own_half(ran: list[dict[str, Any]]) -> float:
    """Half of the interval of the mean that the runs themselves give; NaN if one of them gives none."""
    halves = [facts["backlog_growth_ci95"] for facts in ran]
    return math.nan if None in halves else math.hypot(*halves) / len(halves)


def _is_of_load(why: str) -> bool:
    """Whether a run failed for what its load does: it deadlocked, or held more than the scenario allows."""
    return is_deadlock(why) or "over the limit" in why


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
    low: float = 0.0
    """The least load, which must give results."""
    per_destination: bool = False
    """Whether what arrives at full load is told as a share of the bandwidth of the destinations."""
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

    def run(self, load: float) -> None:
        with suppress(PointsFailed):
            self._facts(load, min(2, self.seeds))

    def throughput(self, load: float) -> Interval:
        """What was accepted at a load, over all seeds that ran there."""
        ran = [summary for (at, _), summary in self.summaries.items() if at == load]
        of = "accepted_per_destination" if self.per_destination else "accepted"
        accepted = [float(summary["classes"][self.traffic][of]) for summary in ran]
        return mean_interval(accepted or [math.nan], self.confidence)

    def enough_for(self, load: float) -> float:
        """The largest load that what is accepted at this one would be enough for; NaN if nothing is known."""
        of_all = [
            summary["classes"][self.traffic] for (at, _), summary in self.summaries.items() if at == load
        ]
        ratios = [facts["accepted"] / facts["offered"] for facts in of_all]
        return load * mean_interval(ratios or [math.nan]).mean / (1 - LOSS_MAX)

    def accepts(self, load: float) -> bool:
        try:
            tried = self._look(load)
        except PointsFailed as failure:
            reasons = failure.sweep.failed.values()
            if load == self.low or not all(map(_is_of_load, reasons)):
                raise
            why = next(iter(reasons)).split("\n")[0]
            sure = any(map(is_deadlock, reasons))
            tried = Tried(load, mean_interval([]), accepted=False, sure=sure, failed=why)
        self.tried.append(tried)
        if self.progress is not None:
            self.progress(tried)
        return tried.accepted

    def _look(self, load: float) -> Tried:
        count = min(2, self.seeds)
        looks = self.seeds - count + 1
        while True:
            ran = self._facts(load, count)
            ratios = [facts["accepted"] / facts["offered"] for facts in ran]
            interval = mean_interval(ratios, 1 - (1 - self.confidence) / looks)
            own = _own_half(ran)
            interval = replace(interval, half=max(interval.half, own))
            clear = not math.isnan(interval.half + own) and not interval.low < 1 - LOSS_MAX <= interval.high
            if clear or count >= self.seeds:
                accepted = interval.mean >= 1 - LOSS_MAX
                return Tried(load, interval, accepted, clear, latency_ns=_latency(ran, self.confidence))
            count += 1

    def _facts(self, load: float, seeds: int) -> list[dict[str, Any]]:
        over = {self.key: [round(load, 9)]}
        done = measured(self.scenario, over, self.executor, seeds, directory=self.directory)
        summaries = [result.summary for result in done.results()]
        self.summaries |= {(load, seed): summary for seed, summary in enumerate(summaries)}
        facts = [summary["classes"][self.traffic] for summary in summaries]
        if not all(of_run["offered"] > 0 for of_run in facts):
            raise mistake(f"{self.traffic!r} offered nothing at a load of {load:g}", "a longer run.duration")
        return facts
