"""The demo's scenario, table and figure."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow as pa
import pytest

import tailback
from tailback.demo import comparison, runs
from tailback.figures import arrivals


@pytest.fixture
def line():
    return runs.Line(queue.Queue(), threading.Event())


@pytest.fixture
def targets(tmp_path):
    return {scheme: tmp_path / scheme for scheme in runs.SCHEMES}


def test_every_scheme_runs_and_keeps_its_result(line, targets):
    with ThreadPoolExecutor(2) as executor:
        assert runs.run_schemes(targets, executor, line, threading.Event())
    for scheme, target in targets.items():
        assert f"congestion_control.kind = {scheme}" in tailback.Result.load(target).scenario


def test_a_stopped_demo_keeps_partial_results(line, targets):
    interrupted = threading.Event()
    interrupted.set()
    line.stop.set()
    with ThreadPoolExecutor(2) as executor:
        assert not runs.run_schemes(targets, executor, line, interrupted)
    assert tailback.Result.load(targets["ecn"]).interrupted


def test_the_table_and_the_figure_name_every_scheme(result):
    results = dict.fromkeys(runs.SCHEMES.values(), result)
    assert list(comparison.table(results).columns[0].cells) == ["none", "ECN", "LHRP"]
    latency, throughput = comparison.draw(results).axes
    assert "[us]" in latency.get_ylabel()
    assert "[%" in throughput.get_ylabel()


def measured(arrived):
    """A result of 120 us in which 10 victims' messages a microsecond are made and so many arrive, after 1 us.

    Those that do not are made at the end of it, and count with their age.
    """
    bins = range(120)
    means = [100.0 * arrived(time) + (10 - arrived(time)) * 100.0 * (119 - time) for time in bins]
    series = {
        "class": ["victim"] * 120 + ["hot"] * 120,
        "time_ns": [1000.0 * time for time in bins] * 2,
        "offered": [0.4] * 240,
        "accepted_per_destination": [0.5] * 240,
        "created": [10] * 240,
        "messages": [arrived(time) for time in bins] * 2,
        "message_latency_ns": means * 2,
    }
    summary = {"classes": {"all": {"dropped_packets": 7}}, "simulated_ns": 120_000.0}
    return tailback.Result("", summary, {"series": pa.table(series)})


def cells(result):
    return [next(iter(column.cells)) for column in comparison.table({"x": result}).columns[1:]]


def test_latencies_are_those_of_all_messages_where_all_have_arrived():
    assert cells(measured(lambda _: 10)) == ["1 us", "1 us", "1 us", "50.0 %", "7"]


def test_messages_that_have_not_arrived_count_with_the_age_that_they_have_at_least():
    stuck = measured(lambda time: 4 if time >= 60 else 10)
    # Six of ten wait since 61 us, 59 us before the end; later ones less.
    assert cells(stuck)[:2] == ["1 us", "over 35.8 us"]
    assert cells(stuck)[2] == f"over {(0.4 * 1 + 0.6 * 9.5):.4g} us"
    (text,) = comparison.draw({"x": stuck}).axes[0].texts
    assert "mostly do not arrive" in text.get_text()


def test_runs_of_several_seeds_have_their_mean_latency_or_what_it_is_at_least():
    every, some = measured(lambda _: 10), measured(lambda time: 8 if time >= 60 else 10)
    both = arrivals.arrivals([every, some], "victim")
    assert both.complete.tolist() == [time < 60 for time in range(120)]
    short = replace(some, tables={"series": some.tables["series"].slice(0, 100)})
    assert len(arrivals.arrivals([every, short], "victim").times) == 100, "as far as both reach"
    assert both.arrived[80] == pytest.approx(0.9)
    # A tenth waits from 81 us to the end at 120 us, all others took 1 us.
    assert both.latency[[20, 80]] == pytest.approx([1000, 0.9 * 1000 + 0.1 * 39_000])
