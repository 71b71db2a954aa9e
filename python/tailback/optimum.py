"""The shortest time a phase of flows could take over any routes: a linear programme."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.optimize import linprog
from scipy.sparse import coo_array

from tailback.errors import mistake
from tailback.result import Result
from tailback.scenario import Scenario

VARIABLES_MAX = 300_000
"""Largest programme that is solved: about a minute."""


@dataclass(frozen=True)
class Network:
    """Channels as arrays: from, to, bits per ns; switches first, endpoints behind them."""

    switches: int
    start: np.ndarray[Any, Any]
    end: np.ndarray[Any, Any]
    capacity: np.ndarray[Any, Any]

    @classmethod
    def of(cls, channels: Sequence[Sequence[float]], switches: int) -> Network:
        """From what the engine tells."""
        table = np.array(channels, dtype=float)
        return cls(switches, table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2])

    @property
    def inner(self) -> np.ndarray[Any, Any]:
        """The channels between switches."""
        return np.flatnonzero((self.start < self.switches) & (self.end < self.switches))


def phase_optimum(network: Network, flows: Sequence[Sequence[int]]) -> float:
    """The least time in ns by which all flows can have crossed the network, each split over any ways.

    Minimise W such that for every destination switch what enters a switch leaves it, and no channel has more
    than W times its capacity. A lower bound for routes that keep a flow together.
    """
    if not flows:
        return 0.0
    own, demand = _endpoint_bound(network, flows), _demand(network, flows)
    if not demand:
        return own
    return max(own, _least_load(network, network.inner, sorted(demand), demand))


def _demand(network: Network, flows: Sequence[Sequence[int]]) -> dict[int, dict[int, float]]:
    """Bits by destination switch and source switch; raises `InputError` if the programme is too large."""
    hosts = network.start >= network.switches
    home = dict(zip(network.start[hosts].tolist(), network.end[hosts].tolist(), strict=True))
    demand: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for source, destination, size in flows:
        first, last = home[network.switches + source], home[network.switches + destination]
        if first != last:
            demand[last][first] += size * 8
    variables = len(demand) * len(network.inner)
    if variables > VARIABLES_MAX:
        raise mistake(
            f"the linear programme would have {variables:,} variables, over {VARIABLES_MAX:,}",
            "a smaller network",
        )
    return demand


def _endpoint_bound(network: Network, flows: Sequence[Sequence[int]]) -> float:
    """What the channels of the endpoints need."""
    sent: dict[tuple[int, bool], float] = defaultdict(float)
    for source, destination, size in flows:
        sent[network.switches + source, True] += size * 8
        sent[network.switches + destination, False] += size * 8
    bound = 0.0
    for start, end, capacity in zip(network.start, network.end, network.capacity, strict=True):
        inject = start >= network.switches
        if inject or end >= network.switches:
            bound = max(bound, sent[int(start if inject else end), bool(inject)] / float(capacity))
    return bound


def _least_load(
    network: Network, inner: np.ndarray[Any, Any], targets: list[int], demand: dict[int, dict[int, float]]
) -> float:
    """Over the channels between switches; variables: the flow of each target on each channel, then W."""
    count, number = len(inner), len(targets)
    start, end = network.start[inner], network.end[inner]
    offsets = np.repeat(np.arange(number), count)
    columns = np.arange(number * count)
    # Conservation at every switch for every target; the row of the target itself follows from the others.
    rows = np.concatenate([offsets * network.switches + np.tile(node, number) for node in (start, end)])
    signs = np.concatenate([np.ones(number * count), -np.ones(number * count)])
    keep = rows % network.switches != np.repeat(np.array(targets), count)[np.concatenate([columns, columns])]
    shape = (number * network.switches, number * count + 1)
    balance = coo_array((signs[keep], (rows[keep], np.tile(columns, 2)[keep])), shape=shape).tocsr()
    supply = np.zeros(shape[0])
    for place, target in enumerate(targets):
        for switch, bits in demand[target].items():
            supply[place * network.switches + switch] = bits
    unit = max(bits for of in demand.values() for bits in of.values())
    load = coo_array(
        (
            np.concatenate([np.ones(number * count), -network.capacity[inner]]),
            (
                np.concatenate([np.tile(np.arange(count), number), np.arange(count)]),
                np.concatenate([columns, np.full(count, number * count)]),
            ),
        ),
        shape=(count, number * count + 1),
    ).tocsr()
    goal = np.zeros(number * count + 1)
    goal[-1] = 1.0
    found = linprog(goal, A_ub=load, b_ub=np.zeros(count), A_eq=balance, b_eq=supply / unit, method="highs")
    if not found.success:
        raise mistake(f"the linear programme has no solution: {found.message}", "a connected network")
    return float(found.fun) * unit


@dataclass(frozen=True)
class Phases:
    """What is to be solved: the flows of every phase of the jobs, by job, on a network."""

    network: Network
    flows: Mapping[str, Sequence[Sequence[Sequence[int]]]]


def phases(scenario: Scenario) -> Phases:
    """The phases of a scenario; raises `InputError` if it has none, or one that is too large to be solved."""
    told = scenario.channels()
    if not told["jobs"]:
        raise mistake("the scenario has no job in phases", 'workload = "phases"')
    found = Phases(
        Network.of(told["channels"], int(told["switches"])),
        {job["job"]: job["phases"] for job in told["jobs"]},
    )
    for of_job in found.flows.values():
        for flows in of_job:
            _demand(found.network, flows)
    return found


def solved(asked: Phases) -> dict[str, list[float]]:
    """For every job in phases, the optimum of each of its phases in ns."""
    return {
        job: [phase_optimum(asked.network, flows) for flows in of_job] for job, of_job in asked.flows.items()
    }


def optima(scenario: Scenario) -> dict[str, list[float]]:
    """What `solved` tells of all phases of a scenario."""
    return solved(phases(scenario))


def beside(result: Result, best: Mapping[str, Sequence[float]]) -> Result:
    """The result with what `optima` found: `optimum_ns` in the table `phases` and of each job's phases.

    The summary has `min`, `mean` and `max` of the phases that have ended, as of their times and bounds, and
    `time_over_optimum`, as the engine tells `time_over_bound`. Jobs that `run.only` leaves out have neither.
    """
    if "phases" not in result.tables:
        return result
    rows = result.tables["phases"].select(["job", "phase", "time_ns"]).to_pylist()
    column = [best[row["job"]][row["phase"]] for row in rows]
    jobs = dict(result.summary["jobs"])
    for name in [name for name in best if name in jobs]:
        ended = [
            (row["time_ns"], best[name][row["phase"]])
            for row in rows
            if row["job"] == name and math.isfinite(row["time_ns"])
        ]
        told = {
            "optimum_ns": _spread([least for _, least in ended]),
            "time_over_optimum": _spread([time / least for time, least in ended if least > 0]),
        }
        jobs[name] = jobs[name] | {"phases": jobs[name]["phases"] | told}
    phases = result.tables["phases"].append_column("optimum_ns", pa.array(column, pa.float64()))
    summary = result.summary | {"jobs": jobs}
    return replace(result, summary=summary, tables={**result.tables, "phases": phases})


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"min": min(values), "mean": fmean(values), "max": max(values)} if values else {}
