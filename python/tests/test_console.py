"""Tests of the tables of a terminal."""

from __future__ import annotations

from typing import Any

from tailback import console


def _cells(facts: dict[str, Any]) -> dict[str, str]:
    """A job's cells by their columns, of a run of 20 ms."""
    job = {
        "workload": "allreduce",
        "ranks": 64,
        "start_ns": 1e6,
        "alone_ns": 2e6,
        "communication_ns": {},
        **facts,
    }
    (table, *_) = console.results_tables({"simulated_ns": 20e6, "jobs": {"train": job}, "classes": {}})
    return {str(column.header): str(next(iter(column.cells))) for column in table.columns}


def test_a_job_that_did_not_end_is_told_to_have_taken_more_than_it_had():
    unfinished = _cells({"unfinished_ranks": 64, "time_ns": None, "slowdown": None})
    assert (unfinished["time"], unfinished["slowdown"]) == ("> 19.00 ms", "> 9.50")
    assert unfinished["unfinished ranks"] == "64"
    ended = _cells({"unfinished_ranks": 0, "time_ns": 3e6, "slowdown": 1.5})
    assert (ended["time"], ended["slowdown"]) == ("3.000 ms", "1.50")
