"""Each job of a scenario alone, and how much slower it is beside the others."""

from __future__ import annotations

import tomllib
import warnings
from dataclasses import replace
from typing import Any

from tailback.errors import Interrupted, RunFailed, mistake
from tailback.result import Result
from tailback.scenario import Scenario, Watch

ONLY = "run.only"
"""The key of the jobs that a run has, if not all."""


_SLOW = ("endpoint.slow", "link.slow")


def compared(scenario: Scenario, result: Result, name: str, watch: Watch | None = None) -> Result:
    """The result with what a run of the job alone tells of it, which this runs."""
    return beside(result, only(scenario, name).run(watch), name)


def all_compared(scenario: Scenario, result: Result, watch: Watch | None = None) -> Result:
    """The result with what runs of each job alone tell of it; of one that gives no result, a warning."""
    for name in jobs(scenario) if not result.interrupted else ():
        try:
            by_itself = only(scenario, name).run(watch)
            if by_itself.interrupted:
                warnings.warn(f"the run of {name} alone was stopped", stacklevel=3)
                break
            result = beside(result, by_itself, name)
        except RunFailed as failure:
            warnings.warn(f"the run of {name} alone gave no result: {failure}", stacklevel=3)
        except Interrupted as stopped:
            raise Interrupted(result) from stopped
    return result


def only(scenario: Scenario, name: str) -> Scenario:
    """The scenario with nothing but one job, which keeps its endpoints; no endpoint and no link is slow."""
    return scenario.replace({ONLY: [name], **{key: [] for key in _SLOW}})


def jobs(scenario: Scenario) -> list[str]:
    """The names of a scenario's jobs that run."""
    tables = tomllib.loads(scenario.complete())
    only = tables.get("run", {}).get("only")
    return [job["name"] for job in tables.get("job", []) if only is None or job["name"] in only]


def beside(result: Result, only: Result, name: str) -> Result:
    """The result with the job's `alone_ns`, `alone_communication_ns`, `slowdown`, `communication_slowdown`.

    `alone_communication_ns` is the largest of a rank, to which the figure of their communication compares;
    `communication_slowdown` is the ratio of the means over ranks, and so not that of the largest.
    A slowdown is the time beside the others over the time alone; none if one of them did not come to its end.
    """
    jobs = dict(result.summary["jobs"])
    jobs[name] = jobs[name] | _ratios(jobs[name], only.summary["jobs"][name])
    return replace(result, summary=result.summary | {"jobs": jobs})


def demand_jobs(scenario: Scenario) -> None:
    """Raises `InputError` if a scenario, which is right otherwise, has no job that could be run alone."""
    try:
        has_jobs = "job" in tomllib.loads(scenario.text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return  # it is for the engine to judge
    if not has_jobs and not any(key.partition(".")[0] == "job" for key, _ in scenario.overrides):
        raise mistake("there is no job to be run alone", "a [[job]] table")


def _ratios(beside: dict[str, Any], alone: dict[str, Any]) -> dict[str, Any]:
    return {
        "alone_ns": alone["time_ns"],
        "alone_communication_ns": alone["communication_ns"]["max"] if alone["time_ns"] else None,
        "slowdown": _ratio(beside["time_ns"], alone["time_ns"]),
        "communication_slowdown": _ratio(
            beside["communication_ns"]["mean"], alone["communication_ns"]["mean"]
        )
        if alone["time_ns"] and beside["time_ns"]
        else None,
    }


def _ratio(beside: float | None, alone: float | None) -> float | None:
    return beside / alone if beside and alone else None
