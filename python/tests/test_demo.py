"""The demo's scenario, table and figure."""

import queue
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import tailback
from tailback import demo, demo_runs


@pytest.fixture
def line():
    return demo_runs.Line(queue.Queue(), threading.Event())


@pytest.fixture
def targets(tmp_path):
    return {scheme: tmp_path / scheme for scheme in demo_runs.SCHEMES}


def test_every_scheme_runs_and_keeps_its_result(line, targets):
    with ThreadPoolExecutor(2) as executor:
        assert demo_runs.run_schemes(targets, executor, line, threading.Event())
    for scheme, target in targets.items():
        assert f"congestion_control.kind = {scheme}" in tailback.Result.load(target).scenario


def test_a_stopped_demo_keeps_partial_results(line, targets):
    interrupted = threading.Event()
    interrupted.set()
    line.stop.set()
    with ThreadPoolExecutor(2) as executor:
        assert not demo_runs.run_schemes(targets, executor, line, interrupted)
    assert tailback.Result.load(targets["ecn"]).interrupted


def test_the_table_and_the_figure_name_every_scheme(result):
    results = dict.fromkeys(demo_runs.SCHEMES.values(), result)
    assert list(demo.table(results).columns[0].cells) == ["none", "ECN", "LHRP"]
    assert list(demo.table(results).columns[1].cells) == ["914.5 ns"] * 3
    latency, throughput = demo.draw(results).axes
    assert "[ns]" in latency.get_ylabel()
    assert "[%" in throughput.get_ylabel()
