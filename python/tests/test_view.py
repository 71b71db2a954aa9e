"""The page of `tailback view` shows what the tables of results hold."""

import json
import math
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pyarrow as pa
import pytest

import tailback
from tailback import view
from tailback.figures.tables import only

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


def test_the_curves_are_the_series_as_steps_over_their_bins(run):
    line = next(line for line in view.figure(run).data if line.name == "hot")
    series = run.tables["series"].to_pydict()
    own = [at for at, name in enumerate(series["class"]) if name == "hot"]
    starts = np.array([series["time_ns"][at] / 1e3 for at in own])
    for edge in (0, 1):
        assert np.allclose(line.x[edge::2], starts + edge, atol=1e-5)
        assert np.allclose(line.y[edge::2], [100 * series["accepted_per_destination"][at] for at in own])
    assert "mean of each 1 us" in view.figure(run).layout.annotations[0].text


def test_a_last_bin_that_is_cut_short_is_left_out_and_told(run):
    """Its mean would be over a time in which for a part there was no network."""
    line = next(line for line in view.figure(run).data if line.name == "hot")
    cut = replace(run, summary=run.summary | {"simulated_ns": 4300.0})
    shorter = next(line for line in view.figure(cut).data if line.name == "hot")
    assert (line.x[-1], shorter.x[-1]) == pytest.approx((5.0, 4.0), abs=1e-5)
    assert "short is left out" in words(cut)
    assert "short is left out" not in words(run)
    nothing = view.figure(replace(run, summary=run.summary | {"simulated_ns": 900.0}))
    assert [note.text for note in nothing.layout.annotations][2:] == ["no whole bin"] * 2


def test_snapshots_of_empty_queues_are_told_as_such(run):
    empty = replace(run, tables=run.tables | {"queues": run.tables["queues"].slice(0, 0)})
    assert "nothing waited at the times of the snapshots" in words(empty)
    alone = replace(empty, tables={name: table for name, table in empty.tables.items() if name != "series"})
    with pytest.raises(tailback.InputError, match="nothing waited"):
        view.figure(alone)


def with_series(run, **changes):
    """The result with columns of its time series changed."""
    series = run.tables["series"]
    columns = {name: series[name] for name in series.column_names}
    return replace(run, tables={**run.tables, "series": pa.table(columns | changes)})


def words(results):
    """The page without the figure and the scripts."""
    return re.sub("<script.*?</script>", "", view.page(results), flags=re.DOTALL)


def test_a_panel_without_data_says_so_and_invents_no_numbers(run):
    rows = run.tables["series"].num_rows
    zeros, unknown = [0] * rows, [math.nan] * rows
    silent = with_series(
        run, accepted_per_destination=zeros, created=zeros, messages=zeros, message_latency_ns=unknown
    )
    made = view.figure(silent)
    assert [note.text for note in made.layout.annotations][-2:] == ["no messages"] * 2
    assert [made.layout[f"yaxis{number}"].showticklabels for number in (2, 3)] == [False, False]
    assert not [line for line in made.data if line.type == "scatter"]
    late = view.figure(with_series(run, messages=zeros, message_latency_ns=unknown))
    assert late.layout.annotations[-1].text.startswith("no bin of whose messages")
    assert late.layout.yaxis2.showticklabels is None


def test_the_measured_window_is_shaded_where_more_is_shown(run):
    assert [(area.x0, area.x1) for area in view.figure(run).frames[0].layout.shapes[2:]] == [(0.0, 4.0)] * 2
    assert "Shaded is the measured window" in words(run)
    other = replace(run, scenario=run.scenario.replace('warmup = "0 ps"', 'warmup = "1 us"'))
    assert other.scenario != run.scenario
    assert len(view.figure([run, other]).layout.shapes) == 2
    assert "no window is shaded" in words([run, other])
    whole = replace(run, scenario=run.scenario.replace('duration = "4 us"', 'duration = "5 us"'))
    assert len(view.figure(whole).layout.shapes) == 2
    assert "window is" not in words(whole)


def test_no_two_lines_look_the_same(run):
    own = only(run.tables["series"], "class", "hot")
    parts = [own.set_column(0, "class", pa.array([f"class {kind}"] * own.num_rows)) for kind in range(13)]
    many = replace(run, tables={"series": pa.concat_tables(parts)})
    for results, lines in ((many, 13), ({str(number): many for number in range(10)}, 130)):
        drawn = [line for line in view.figure(results).data if line.showlegend]
        looks = {(line.line.color, line.line.dash, line.marker.symbol) for line in drawn}
        assert len(drawn) == len(looks) == lines
        samples = re.findall(r"<svg.*?</svg>", words(results))
        assert len(samples) == len(set(samples)) == lines


def test_names_are_shown_as_they_are(run):
    """Those with signs that matplotlib or HTML reads otherwise, too."""
    series = run.tables["series"]
    named = with_series(run, **{"class": pa.array(["_a $x$ <i>"] * series.num_rows)})
    named = replace(
        named, summary=run.summary | {"classes": {"_a $x$ <i>": {"accepted": 0.5}}, "title": "$t$"}
    )
    text = words({"one $y$ & <b>": named, "two": named})
    assert "<td>_a $x$ &lt;i&gt;</td><td>one $y$ &amp; &lt;b&gt;</td>" in text
    assert "one &#36;y&#36; &amp; &lt;b&gt;, _a &#36;x&#36; &lt;i&gt;</button>" in text
    assert "<title>$t$</title>" in text
    assert "\\$" not in text
    assert "<td>$t$ (2)</td>" in words([named, named])
    assert view.figure({"one $y$": named}).layout.annotations[0].text == "one &#36;y&#36;"


def test_maps_of_many_results_stand_in_rows_that_make_the_figure_higher(run):
    made = view.figure({f"a rather long name of run number {number}": run for number in range(10)})
    boxes = []
    for number in range(1, 13):
        across, up = (made.layout[f"{axis}axis{'' if number == 1 else number}"].domain for axis in "xy")
        boxes.append((*across, *up))
    for at, one in enumerate(boxes):
        for other in boxes[at + 1 :]:
            assert one[0] >= other[1] or other[0] >= one[1] or one[2] >= other[3] or other[2] >= one[3]
    area = made.layout.height - made.layout.margin.t - made.layout.margin.b
    assert all((up - low) * area == pytest.approx(330) for _, _, low, up in boxes[:10])
    assert all((up - low) * area == pytest.approx(240) for _, _, low, up in boxes[10:])
    assert "<br>" in made.layout.annotations[0].text
    assert [(trace.xaxis, trace.yaxis) for trace in made.data[:2]] == [("x", "y"), ("x2", "y2")]


def test_the_controls_are_those_of_html_and_their_scale_is_that_of_the_curves(run):
    made, text = view.figure(run), words(run)
    assert not made.layout.sliders
    assert not made.layout.updatemenus
    assert '<button type="button" id="play">' in text
    assert '<button type="button" id="stop">' in text
    slider = re.search(r'<input type="range"[^>]*>', text)[0]
    low, high, value = (float(re.search(rf' {key}="([^"]*)"', slider)[1]) for key in ("min", "max", "value"))
    assert (low, high) == made.layout.xaxis2.range == (0.0, 5.0)
    assert value == 0.5
    assert (made.layout.margin.l, made.layout.margin.r) == (90, 130)
    assert ".controls { padding-left: 90px; padding-right: 130px; }" in text
    frames = json.loads(unescape(re.search('data-frames="([^"]*)"', slider)[1]))
    assert frames == [frame.name for frame in made.frames]


def test_the_time_of_a_single_map_is_told(run):
    first = run.tables["queues"]["time_ns"][0].as_py()
    tables = {name: only(run.tables[name], "time_ns", first) for name in ("occupancy", "queues")}
    text = words(replace(run, tables={**run.tables, **tables}))
    assert re.search(r"maps at <output[^>]*>0\.5 us</output></div>", text)
    assert "<input" not in text


def test_the_page_needs_no_network(run):
    text = view.page(run)
    assert not re.search(r"<(script|link|img)[^>]* (src|href)=", text)


@pytest.mark.parametrize(("latencies", "ticks"), [((1000.0, 9000.0), "D2"), ((1081.0, 1089.0), None)])
def test_the_axis_of_latencies_has_ticks_also_where_they_hardly_differ(run, latencies, ticks):
    series = run.tables["series"]
    known = (latencies * len(series))[: len(series)]
    made = view.figure(with_series(run, message_latency_ns=known, messages=series["created"]))
    assert made.layout.yaxis3.dtick == ticks


def test_of_many_cells_fewer_times_are_shown(run, monkeypatch):
    cells = np.array(view.figure(run).data[0].z).size
    monkeypatch.setattr(view, "_CELLS_MAX", 4 * cells)
    assert [float(frame.name) for frame in view.figure(run).frames] == [1000.0, 2500.0, 3500.0, 5000.0]
    assert "Of 10 snapshots 4 are shown" in view.page(run)


def test_jobs_stand_over_the_classes():
    job = SMALL.partition("[[traffic]]")[0] + (
        '[[job]]\nname = "<it>"\nworkload = "ring-exchange"\nranks = 4\nmessage = "1 kB"\niterations = 1\n'
    )
    run = tailback.Scenario.loads(job).run()
    text = view.page(run)
    jobs, classes, latencies = re.findall("<table>.*?</table>", text, re.DOTALL)
    assert ">workload</th>" in jobs
    assert '<td>&lt;it&gt;</td><td>ring-exchange</td><td class="number">4</td>' in jobs
    assert '<th scope="col" class="number">accepted</th>' in classes
    assert '<th scope="col" class="number">p99.9</th>' in latencies
    alone = replace(run, summary=run.summary | {"jobs": {"it": {"alone_ns": 2000.0, "slowdown": 1.5}}})
    assert '<td class="number">2.000 us</td><td class="number">1.50</td>' in view.page(alone)


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
    assert not list((tmp_path / "here").rglob("*.png"))


def test_a_page_tells_what_was_interrupted(run):
    part = replace(run, summary=run.summary | {"interrupted": True})
    assert "<li>interrupted: the numbers are those" in view.page(part)
    assert "<li>a &lt;b&gt;: interrupted: the numbers" in view.page({"a <b>": part, "whole": run})
    assert "interrupted" not in view.page(run).split("<script")[0]


def test_a_page_has_the_warnings_of_its_runs(run):
    warned = replace(run, summary=run.summary | {"warnings": ["mind the <gap>"], "stable": False})
    assert "<li>mind the &lt;gap&gt;</li>" in view.page(warned)
    two = view.page({"a": run, "b": warned})
    assert "<li>b: mind the &lt;gap&gt;</li>" in two
    assert "<li>b: not stable: " in two
    assert "<li>a: mind" not in two


def test_numbers_that_a_summary_lacks_are_left_out(command, run, tmp_path):
    lacking = {"classes": {"hot": {"accepted": 0.5}, "cold": {"message_latency_ns": {"mean": 3.0}}}}
    replace(run, summary=lacking).save(tmp_path / "here")
    assert command("view", "here")[0] == 0
    text = (tmp_path / "here" / "plots" / "view.html").read_text("utf-8")
    text = text.replace(' class="number"', "")
    assert "<td>hot</td><td>-</td><td>50.0 %</td><td>-</td>" in text
    assert "<td>cold</td><td>message</td><td>3.000 ns</td><td>-</td>" in text


def test_the_page_stands_beside_the_figures_and_is_replaced_with_the_result(command, run, tmp_path):
    run.save(tmp_path / "here")
    assert command("view", "here") == (0, "here/plots/view.html\n", "")
    text = (tmp_path / "here" / "plots" / "view.html").read_text("utf-8")
    assert "small &lt;b&gt;" in text
    assert "<b>" not in text.split("<body")[1].split("<script")[0]
    run.save(tmp_path / "here")
    run.save(tmp_path / "there")
    assert command("view", "here", "there")[:2] == (0, "plots/view.html\n")
    for _ in range(2):
        assert command("view", "here", "-o", "a/page.html")[:2] == (0, "a/page.html\n")


def test_the_page_stands_still_until_somebody_plays_it(run):
    made = view.figure(run)
    (drawing,) = (part for part in view.page(run).split("<script") if "Plotly.newPlot(" in part[-200_000:])
    assert "Plotly.animate(" not in drawing
    assert float(made.layout.shapes[0].x0) == float(made.frames[0].name) / 1e3


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


def test_a_result_without_what_waits_at_ports_shows_its_curves(command, run, tmp_path):
    run.save(tmp_path / "here")
    (tmp_path / "here" / "queues.parquet").unlink()
    status, _, err = command("view", "here")
    assert (status, "no map of the queues" in err) == (0, True), err
