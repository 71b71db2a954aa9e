"""Each job of a scenario alone, and how much slower it is beside the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tailback.errors import mistake
from tailback.result import Result
from tailback.scenario import Scenario, Watch

MakeWatch = Callable[[str], Watch]
"""Gives what watches the run of a job, by its name."""


def compared(scenario: Scenario, result: Result, watch: MakeWatch | None = None) -> Result:
    """The result with each job's `alone_ns`, `alone_communication_ns`, `slowdown`, `communication_slowdown`.

    `alone_communication_ns` is that of the slowest rank, to which the figure of job times compares;
    `communication_slowdown` is the ratio of the means over ranks, and so not that of the slowest ranks.
    For each job the scenario is run again with nothing but that job, which keeps its endpoints: `run.only`. A
    slowdown is the time beside the others over the time alone; none if one of them did not come to its end.
    """
    jobs: dict[str, dict[str, Any]] = result.summary.get("jobs", {})
    if not jobs:
        raise mistake("there is no job to be run alone", "a [[job]] table")
    compared_jobs = {}
    for name, facts in jobs.items():
        only = scenario.replace({"run.only": [name]}).run(watch(name) if watch else None)
        compared_jobs[name] = facts | _ratios(facts, only.summary["jobs"][name])
    return replace(result, summary=result.summary | {"jobs": compared_jobs})


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
