"""The tables of results, alone and side by side."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest

from tailback import console, result_tables
from tailback.result import Result


def results(summaries):
    """Results without tables, by their names."""
    return {label: Result("", summary, {}) for label, summary in summaries.items()}


def test_slowdowns_are_told_by_length_where_a_class_has_several():
    def run(rows):
        keys = ("class", "flits_from", "flits_to", "messages", "mean", "p50", "p99", "p999", "max")
        table = pa.Table.from_pylist([dict(zip(keys, row, strict=True)) for row in rows])
        return Result("", {"classes": {"u": {}}}, {"slowdowns": table})

    short, long = ("u", 4, 4, 1234, 1.5, 1.25, 3.0, float("nan"), 9.0), ("u", 16, 31, 7, 2.0, 2.0, *[4.0] * 3)
    one, two = run([short, ("all", *short[1:])]), run([short, long, ("all", *short[1:])])
    assert result_tables.slowdown_table({"one": one}) is None
    table = result_tables.slowdown_table({"one": one, "two": two})
    assert [list(column.cells) for column in table.columns[:5]] == [
        ["u", "u", "u"],
        ["4", "4", "16 to 31"],
        ["one", "two", "two"],
        ["1,234", "1,234", "7"],
        ["1.50", "1.50", "2.00"],
    ]
    assert list(table.columns[7].cells)[:2] == ["-", "-"]


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
    summary = {"simulated_ns": 20e6, "jobs": {"train": job}, "classes": {}}
    (table,) = result_tables.results_tables(results({"run": summary}))
    return {str(column.header): str(next(iter(column.cells))) for column in table.columns}


def test_a_job_that_did_not_end_is_told_to_have_taken_more_than_it_had():
    unfinished = _cells({"unfinished_ranks": 64, "time_ns": None, "slowdown": None})
    assert (unfinished["time"], unfinished["slowdown"]) == ("> 19.00 ms", "> 9.50")
    assert unfinished["unfinished ranks"] == "64"
    ended = _cells({"unfinished_ranks": 0, "time_ns": 3e6, "slowdown": 1.5})
    assert (ended["time"], ended["slowdown"]) == ("3.000 ms", "1.50")


@pytest.mark.parametrize(
    ("damage", "column", "cell"),
    [
        ({"communication_ns": None}, "mean communication", "-"),
        ({"phases": None}, "phases", "-"),
        ({"phases": {"phases": 3, "phase_time_ns": 7, "bound_ns": None}}, "mean phase", "-"),
        ({"start_ns": "soon", "time_ns": None}, "time", "-"),
        ({"alone_ns": "long", "time_ns": None, "slowdown": None}, "slowdown", "-"),
        ({"workload": "\x1b[31mred"}, "workload", "\N{REPLACEMENT CHARACTER}[31mred"),
    ],
)
def test_facts_that_are_none_are_dashes(damage, column, cell):
    assert _cells(damage)[column] == cell


def test_numbers_are_whole_however_narrow_the_terminal_is(command, scenario_file, monkeypatch):
    command("run", scenario_file("title = 'x'\n"), "-o", "a")
    wide = command("show", "a")
    monkeypatch.setattr(console, "_FILE_WIDTH", 20)
    assert command("show", "a") == wide


def test_side_by_side_every_class_has_a_row_for_each_run_that_has_it():
    of_two = {"hot": {"offered": 0.5}, "victim": {"offered": 0.4, "message_latency_ns": {"mean": 1234.0}}}
    runs = {"none": {"classes": of_two, "stable": False}, "[LHRP]": {"classes": {"victim": {"offered": 0.3}}}}
    traffic, latencies, *remarks = result_tables.shown(results(runs))
    assert [list(column.cells) for column in traffic.columns[:3]] == [
        ["hot", "victim", "victim"],
        ["none", "none", "[LHRP]"],
        ["50.0 %", "40.0 %", "30.0 %"],
    ]
    mean = next(column for column in latencies.columns if column.header == "mean")
    assert list(mean.cells)[7] == "1.234 us"
    assert [told.split(":")[0] for told in remarks] == ["none"]
    assert "not stable" in remarks[0]


@pytest.mark.parametrize(
    ("accepted", "word"), [(0.4, "saturated"), (0.48, "saturated"), (0.49, "not known"), (None, "not known")]
)
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_latency_without_numbers_is_of_a_network_that_is_saturated_or_only_not_known_yet(
    accepted, word, interrupted
):
    lacking = {"mean": None, "saturated": True}
    facts = {"offered": 0.5, "accepted": accepted, "packet_latency_ns": lacking}
    summary = {"classes": {"u": facts}, "interrupted": interrupted}
    _, latencies, *remarks = result_tables.shown(results({"run": summary}))
    assert list(latencies.columns[2].cells) == ["-", word, "-"]
    assert [told for told in remarks if told.startswith(f"{word}: ")]
    assert not [told for told in remarks if word == "not known" and told.startswith("saturated")]


@pytest.mark.parametrize(("missing", "shown"), [(0, "1.234 us"), (3, "≥ 1.234 us")])
def test_a_mean_that_counts_what_had_not_arrived_is_a_lower_bound(missing, shown):
    facts = {"packet_latency_ns": {"mean": 1234.0, "missing": missing}, "network_latency_ns": {"mean": 9.0}}
    summary = {"simulated_ns": 1e6, "classes": {"hot": facts}}
    _, table, *_ = result_tables.results_tables(results({"run": summary}))
    means = dict(zip(*(map(str, table.columns[at].cells) for at in (1, 2)), strict=True))
    assert (means["packet"], means["network"]) == (shown, "9.000 ns")
    assert any("≥" in told for told in result_tables.run_remarks(summary)) == bool(missing)


def test_the_tail_of_a_latency_is_shown_as_far_as_it_is_known():
    times = {"mean": 1.0, "p50": 2.0, "p95": 3.0, "p99": 4.0, "p999": 5.0, "max": 6.0}
    _, latencies, *_ = result_tables.shown(
        results({"run": {"classes": {"u": {"message_latency_ns": times}}}})
    )
    assert [str(column.header) for column in latencies.columns[2:]] == ["mean", "p50", "p99", "p99.9", "max"]
    cells = [list(column.cells)[2] for column in latencies.columns[2:]]
    assert cells == ["1.000 ns", "2.000 ns", "4.000 ns", "5.000 ns", "6.000 ns"]


def test_results_are_shown_alone_as_after_their_run_and_side_by_side(command, scenario_file):
    file = scenario_file("title = 'x'\n")
    _, after_run, _ = command("run", file, "-o", "a")
    command("run", file, "-o", "b")
    status, out, _ = command("show", "a")
    assert (status, f"{out}result in a\n") == (0, after_run)
    status, out, _ = command("show", "a", "b")
    assert (status, "result" in out) == (0, True)
    status, out, _ = command("show", "a", "b", "--json")
    assert (status, sorted(json.loads(out))) == (0, ["a", "b"])
    assert command("show", "c")[0] == 2
