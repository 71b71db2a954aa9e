"""What is told and drawn of pauses, where the flow control has senders stop and go on."""

from dataclasses import replace
from math import isnan, nan

import pyarrow as pa
import pytest

import tailback
from tailback import plot, result_tables
from tailback.cli import sweep_shown
from tailback.result import Result

RUN = """
topology = { kind = "single-switch", endpoints = 4 }
routing = "minimal"
link = { flow_control = { kind = "pfc", xoff = "24 flits" } }
switch = { kind = "cioq", output_buffer = "1 packet" }
traffic = [{ name = "hot", pattern = "hotspot", sources = 3, destinations = 1, load = 1.0 }]
run = { warmup = "0 us", duration = "20 us", drain = "0 us" }
record = { pauses = true }
"""


def test_pauses_over_time_are_counted_apart_for_endpoints_and_switches(result):
    pauses = {
        "from": ["endpoint 3", "switch 0", "endpoint 5", "endpoint 5"],
        "start_ns": [1000.0, 1500.0, 2000.0, 4000.0],
        "end_ns": [3000.0, nan, 2500.0, nan],
    }
    summary = {**result.summary, "simulated_ns": 5000.0}
    run = replace(result, summary=summary, tables={"pauses": pa.table(pauses)})
    figure = plot.pauses_over_time(run)
    (of_endpoints,), (of_switches,) = (axes.get_lines() for axes in figure.axes)
    times = of_endpoints.get_xdata()
    assert (len(times), times[0], times[-1]) == (200, pytest.approx(0.0125), pytest.approx(4.9875))

    def paused(line, *times):
        return [line.get_ydata()[int(time / 5 * 200)] for time in times]

    assert paused(of_endpoints, 0.5, 1.5, 2.25, 2.75, 3.5, 4.5) == pytest.approx([0, 1, 2, 1, 0, 1])
    assert paused(of_switches, 1.4, 1.6, 4.9) == pytest.approx([0, 1, 1])
    # As long as all pauses together.
    for line in (of_endpoints, of_switches):
        assert line.get_ydata().sum() * 5 / 200 == pytest.approx(3.5)


def test_a_run_without_pauses_is_drawn_at_none_where_there_could_be_some(result):
    pauses = pa.table({"from": ["endpoint 3"], "start_ns": [1000.0], "end_ns": [3000.0]})
    tables = {"a": {"pauses": pauses}, "best": {"pauses": pauses.slice(0, 0)}, "credits": {}}
    figure = plot.pauses_over_time({name: replace(result, tables=own) for name, own in tables.items()})
    for axes in figure.axes:
        lines = {line.get_label(): line.get_ydata() for line in axes.get_lines()}
        assert list(lines) == ["a", "best"]
        assert not lines["best"].any()


def test_pauses_are_told_by_kind_of_channel_and_run_where_there_are_some():
    facts = {"count": 1234, "channels": 9, "channels_paused": 5, "time_share": 0.25, "time_share_max": 0.9}
    pausing = {"pauses": {"injection": facts}}
    runs = {"a": Result("", {}, {}), "b": Result("", pausing, {})}
    table = result_tables.pause_table({label: run.summary for label, run in runs.items()})
    cells = [cell for column in table.columns for cell in column.cells]
    assert cells == ["injection", "b", "1,234", "5 of 9", "25.0 %", "90.0 %"]
    assert result_tables.pause_table({"a": {}}) is None


@pytest.mark.engine
def test_the_summary_tells_of_the_pauses_of_the_table():
    result = tailback.Scenario.loads(RUN).run()
    injection = result.summary["pauses"]["injection"]
    table = result.tables["pauses"]
    assert injection["count"] == table.num_rows > 10
    ends = [20_000.0 if isnan(end) else end for end in table["end_ns"].to_pylist()]
    # One class has pauses here, so none of a channel overlap.
    paused = sum(ends) - sum(table["start_ns"].to_pylist())
    assert paused / 4 / 20_000 == pytest.approx(injection["time_share"], rel=1e-12)
    assert (injection["channels"], injection["channels_paused"]) == (4, len(set(table["from"].to_pylist())))
    assert injection["time_share"] < injection["time_share_max"] <= 1
    assert set(table["traffic_class"].to_pylist()) == {"data"}


def test_a_sweep_tells_how_long_endpoints_are_paused_where_they_can_be():
    key = "link.flow_control"
    rows = [
        {key: kind, "class": "hot", "accepted": 0.5, "injection_paused": paused, "stable": True}
        for kind, paused in (("credits", None), ("pfc", 0.25))
    ]
    (table,) = (one for one in sweep_shown.shown(pa.Table.from_pylist(rows)) if not isinstance(one, str))
    told = {column.header: list(column.cells) for column in table.columns}
    assert told["endpoints paused [%]"] == ["-", "25"]
    without = pa.Table.from_pylist([row | {"injection_paused": None} for row in rows])
    (table,) = (one for one in sweep_shown.shown(without) if not isinstance(one, str))
    assert "endpoints paused [%]" not in [column.header for column in table.columns]
