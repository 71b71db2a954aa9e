"""What grows from which channel, in tables, figures and on the page."""

from collections import defaultdict
from math import isnan, nan

import numpy as np
import pyarrow as pa
import pytest

import tailback
from tailback import plot, result_tables, view
from tailback.congestion_trees import CongestionTree, by_root, congestion_trees, held
from tailback.page import trees
from tailback.result import Result

NAMES = ("time_ns", "from", "from_port", "to_switch", "to_port", "root", "depth", "flits", "strangers")


def table(*rows):
    return pa.Table.from_pylist([dict(zip(NAMES, row, strict=True)) for row in rows])


UPLINK = "switch 1 port 4 (up) to switch 2"
ROWS = (
    (1000.0, "switch 1", 4, 2, 0, "endpoint 5", 1, 40, 10.0),
    (1000.0, "switch 1", 4, 2, 0, "endpoint 5", 1, 20, 2.0),  # another virtual channel
    (1000.0, "endpoint 7", -1, 1, 3, "endpoint 5", 2, 30, 6.0),
    (1000.0, "endpoint 8", -1, 1, 2, "nothing", 0, 0, nan),
    (1000.0, "endpoint 9", -1, 6, 2, "circle", 0, 9, nan),
)


def test_a_channel_counts_once_in_a_tree_and_what_hangs_on_nothing_does_not():
    assert congestion_trees(held(table(*ROWS))) == [
        CongestionTree("endpoint 5", 1000.0, endpoints=1, channels=1, depth=2, flits=90, strangers=18),
        CongestionTree("circle", 1000.0, endpoints=1, channels=0, depth=0, flits=0, strangers=0),
    ]


def test_it_is_told_how_often_a_root_is_held_itself():
    behind = (1000.0, "endpoint 6", -1, 1, 4, UPLINK, 1, 30, nan)
    later = (2000.0, "switch 1", 4, 2, 0, "endpoint 5", 1, 20, 2.0)
    other = (1000.0, "switch 11", 4, 2, 1, "endpoint 5", 1, 20, 2.0)
    roots = {tree.root: tree.held_itself for tree in by_root(held(table(*ROWS, behind, later, other)))}
    assert roots == {"endpoint 5": 0, UPLINK: 2, "circle": 0}


def test_the_largest_are_shown_and_a_run_without_trees_has_none():
    later = [(2000.0, *row[1:]) for row in ROWS[:1]]
    runs = {"a": Result("", {}, {"trees": table(*ROWS, *later)}), "b": Result("", {}, {})}
    shown = result_tables.tree_table(runs)
    rows = list(zip(*(column.cells for column in shown.columns), strict=True))
    of_endpoint = ("endpoint 5", "a", "2", "1", "1", "2", "21.5 %", "0", "1 us", "2 us")
    assert rows == [of_endpoint, ("circle", "a", "1", "1", "0", "0", "not known", "0", "1 us", "1 us")]
    assert result_tables.tree_table({"": runs["b"]}) is None
    assert isnan(by_root(held(table(*ROWS)))[1].strangers)


def test_the_figure_shows_all_trees_of_a_time_together():
    occupancy = pa.table({"time_ns": [1000.0, 2000.0], "switch": [1, 1], "flits": [90, 0]})
    # One that is in two trees counts once.
    second = (1000.0, "switch 1", 4, 2, 0, "endpoint 6", 1, 10, 0.0)
    run = Result("", {}, {"trees": table(*ROWS, second), "occupancy": occupancy})
    lines = [axes.get_lines()[0].get_ydata() for axes in plot.trees_over_time(run).axes]
    assert [line.tolist() for line in lines[:2]] == [[2, 0], [1, 0]]
    np.testing.assert_equal(lines[2], [18.0, nan])


def test_a_run_without_trees_is_drawn_at_nothing_and_one_that_recorded_none_is_not():
    occupancy = pa.table({"time_ns": [1000.0, 2000.0], "switch": [1, 1], "flits": [90, 0]})
    runs = {
        "a": Result("", {}, {"trees": table(*ROWS), "occupancy": occupancy}),
        "best": Result("", {}, {"trees": table(*ROWS).slice(0, 0), "occupancy": occupancy}),
        "other": Result("", {}, {"occupancy": occupancy}),
    }
    for axes in plot.trees_over_time(runs).axes[:2]:
        lines = {line.get_label(): line.get_ydata().tolist() for line in axes.get_lines()}
        assert list(lines) == ["a", "best"]
        assert lines["best"] == [0, 0]


HOT = """
topology = { kind = "dragonfly", p = 2, a = 2, h = 1, groups = 3 }
routing = "minimal"
run = { warmup = "0 us", duration = "8 us", drain = "0 us" }
record = { occupancy = "1 us", trees = true }
switch = { kind = "cioq", input_buffer = "2 packets" }
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 8
destinations = [0]
load = 0.8
"""


@pytest.mark.engine
def test_the_page_marks_channels_and_endpoints_where_they_are_on_the_map():
    run = tailback.Scenario.loads(HOT).run()
    rows = [row for row in held(run.tables["trees"]) if row.time_ns == 8000.0]
    assert {row.is_of_endpoint for row in rows} == {True, False}
    figure = view.figure(run)
    (frame,) = (frame for frame in figure.frames if frame.name == "8000")
    names = np.array(figure.data[0].hovertext)
    cells, marks = frame.data
    found = {
        (str(names[int(y), int(x)]), symbol == 100)
        for y, x, symbol in zip(marks.y, marks.x, marks.marker.symbol, strict=False)
    }
    told = defaultdict(set)
    for row in rows:
        ends = (row.switch, row.port) if row.is_of_endpoint else (int(row.sender.split()[1]), row.sender_port)
        told["switch {}, port {}".format(*ends), row.is_of_endpoint].add(row.root)
    assert found == set(told)
    for (name, _), roots in told.items():
        ((line, column),) = np.argwhere(names == name)
        assert all(f"held by {root}, " in cells.text[line][column] for root in roots)
    assert sum(bool(text) for line in cells.text for text in line) == len(told)
    page = view.page(run)
    assert "A dot marks a channel" in page
    assert "●</span>&nbsp;endpoint 0" in page
    without = tailback.Scenario.loads(HOT.replace(", trees = true", "")).run()
    assert "A dot marks a channel" not in view.page(without)


def test_a_root_has_one_colour_whatever_the_result():
    other = [(*row[:5], "endpoint 6", *row[6:]) for row in ROWS[:3]]
    runs = {
        "a": Result("", {}, {"trees": table(*ROWS)}),
        "b": Result("", {}, {"trees": table(*other, *other, ROWS[0])}),
        "c": Result("", {}, {}),
    }
    assert list(trees.colours(runs)) == ["endpoint 5", "endpoint 6", "circle"]
    assert len(set(trees.colours(runs).values())) == 3
