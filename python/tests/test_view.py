"""The page of `tailback view` shows what the tables of results hold."""

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import tailback
from tailback import view

pytestmark = pytest.mark.engine

SMALL = """
title = "small <b>"
topology = { kind = "dragonfly", p = 2, a = 2, h = 1, groups = 3 }
routing = { kind = "minimal" }
run = { warmup = "0 us", duration = "4 us", drain = "1 us" }
record = { series = "1 us", occupancy = "500 ns" }

[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 5
destinations = 1
load = 0.8
"""


@pytest.fixture(scope="module")
def run():
    return tailback.Scenario.loads(SMALL).run()


def queued(run):
    """A time, a switch, a port and the flits that wait for it."""
    table = run.tables["queues"].to_pylist()
    row = max(table, key=lambda row: row["flits"])
    return row["time_ns"], row["switch"], row["port"], row["flits"]


def test_a_frame_shows_what_waits_for_every_port_then(run):
    time, switch, port, flits = queued(run)
    assert flits > 20
    figure = view.figure(run)
    frames = {frame.name: frame.data[0] for frame in figure.frames}
    assert sorted(map(float, frames)) == [500.0 * turn for turn in range(1, 11)]
    cells = frames[f"{time:g}"]
    names = np.array(figure.data[0].hovertext)
    ((row, column),) = np.argwhere(names == f"switch {switch}, port {port}")
    assert cells.customdata[row][column] == flits
    assert math.isclose(cells.z[row][column], math.log10(flits), rel_tol=1e-6)
    empty = [cells.z[at] for at in np.ndindex(names.shape) if names[at] and not cells.customdata[at]]
    assert empty
    assert max(empty) < 0
    assert np.isnan(cells.z[names == ""]).all()


def test_the_curves_are_the_series(run):
    line = next(line for line in view.figure(run).data if line.name == "hot")
    series = run.tables["series"].to_pydict()
    own = [at for at, name in enumerate(series["class"]) if name == "hot"]
    assert np.allclose(line.x, [series["time_ns"][at] / 1e3 for at in own])
    assert np.allclose(line.y, [100 * series["accepted_per_destination"][at] for at in own])


@pytest.mark.parametrize(("latencies", "ticks"), [((1000.0, 9000.0), "D2"), ((1081.0, 1089.0), None)])
def test_the_axis_of_latencies_has_ticks_also_where_they_hardly_differ(run, latencies, ticks):
    series = run.tables["series"]
    columns = {name: series[name] for name in series.column_names}
    columns["message_latency_ns"] = (latencies * len(series))[: len(series)]
    columns["messages"] = columns["created"]  # so that all are known
    made = view.figure(replace(run, tables={**run.tables, "series": pa.table(columns)}))
    assert made.layout.yaxis3.dtick == ticks


def test_of_many_cells_fewer_times_are_shown(run, monkeypatch):
    cells = np.array(view.figure(run).data[0].z).size
    monkeypatch.setattr(view, "_CELLS_MAX", 4 * cells)
    assert [float(frame.name) for frame in view.figure(run).frames] == [1000.0, 2500.0, 3500.0, 5000.0]


def test_a_result_without_a_snapshot_of_a_time_shows_no_network_then(run):
    """One that was recorded at other times, or ended before: nothing waited would be another thing."""
    shorter = tailback.Scenario.loads(SMALL).replace({"run.drain": "0 us"}).run()
    frames = view.figure({"long": run, "short": shorter}).frames
    shown = {float(frame.name): [not np.isnan(cells.z).all() for cells in frame.data] for frame in frames}
    assert shown == {500.0 * turn: [True, turn <= 8] for turn in range(1, 11)}
    assert "white has no snapshot" in view.page({"long": run, "short": shorter})
    assert "white has no snapshot" not in view.page({"long": run, "again": run})


@pytest.mark.parametrize("damage", ["topology = ", "a" * 50, "title = 3", '[topology]\nkind = "dragonfly"'])
@pytest.mark.parametrize("name", ["view", "plot"])
def test_a_damaged_scenario_is_told_with_the_remedy(command, run, tmp_path, damage, name):
    run.save(tmp_path / "here")
    (tmp_path / "here" / "scenario.toml").write_text(damage)
    status, _, err = command(name, "here")
    assert (status, "the scenario of the result 'small <b>' is damaged" in err) == (2, True), err
    assert "run the scenario again" in err


def test_a_page_tells_what_was_interrupted(run):
    part = replace(run, summary=run.summary | {"interrupted": True})
    assert "Interrupted: the numbers are those" in view.page(part)
    assert "Interrupted (a &lt;b&gt;): the numbers" in view.page({"a <b>": part, "whole": run})
    assert "Interrupted" not in view.page(run).split("<script")[0]


def test_numbers_that_a_summary_lacks_are_left_out(command, run, tmp_path):
    lacking = {"classes": {"hot": {"accepted": 0.5}, "cold": {"message_latency_ns": {"mean": 3.0}}}}
    replace(run, summary=lacking).save(tmp_path / "here")
    assert command("view", "here")[0] == 0
    text = (tmp_path / "here" / "plots" / "view.html").read_text("utf-8")
    assert "<td>hot</td><td>-</td><td>50.0 %</td><td>-</td><td></td><td></td>" in text
    assert "<td>cold</td><td>-</td><td>-</td><td>-</td><td>3 ns</td><td></td>" in text


def test_the_page_stands_beside_the_figures_and_is_replaced_with_the_result(command, run, tmp_path):
    run.save(tmp_path / "here")
    assert command("view", "here") == (0, "here/plots/view.html\n", "")
    text = (tmp_path / "here" / "plots" / "view.html").read_text("utf-8")
    assert "small &lt;b&gt;" in text
    assert "<b>" not in text.split("<body>")[1].split("<script")[0]
    run.save(tmp_path / "here")
    run.save(tmp_path / "there")
    assert command("view", "here", "there")[:2] == (0, "plots/view.html\n")
    for _ in range(2):
        assert command("view", "here", "-o", "a/page.html")[:2] == (0, "a/page.html\n")


def test_the_page_stands_still_until_somebody_plays_it(run):
    made = view.figure(run)
    assert "Plotly.animate(" not in view.page(run).split("</script>")[-2]
    assert float(made.layout.shapes[0].x0) == float(made.frames[0].name) / 1e3
    (slider,) = made.layout.sliders
    assert slider.pad.l > 100, "beside the buttons, which are so wide at any width of the page"


def test_a_result_without_snapshots_is_told_on_the_page_and_by_the_command(command, run, tmp_path):
    run.save(tmp_path / "mapped")
    bare = tailback.Scenario.loads(SMALL).replace({"record": {"series": "1 us"}}).run()
    bare.save(tmp_path / "bare")
    for folders, of in (((), "no map of the queues: "), (("mapped",), "no map of the queues of bare: ")):
        status, _, err = command("view", *folders, "bare", "-o", "page.html")
        assert (status, err.startswith(of), "occupancy" in err) == (0, True, True)
        assert f"N{of[1:]}" in (tmp_path / "page.html").read_text("utf-8")
    assert command("view", "mapped")[2] == ""


def test_only_an_earlier_page_is_replaced(command, run, tmp_path):
    run.save(tmp_path / "here")
    (tmp_path / "notes.txt").write_text("mine")
    status, _, err = command("view", "here", "-o", "notes.txt")
    assert (status, "notes.txt exists and is no page of HTML" in err) == (2, True)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_result_without_times_is_a_mistake(command, tmp_path):
    tailback.Scenario.loads(SMALL).replace({"record": {}}).run().save(tmp_path / "here")
    status, _, told = command("view", "here")
    assert status == 2
    assert "occupancy" in told
