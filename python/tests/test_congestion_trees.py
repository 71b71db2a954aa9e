"""What grows from which channel, in tables, figures and on the page."""

from math import isnan, nan

import numpy as np
import pyarrow as pa
import pytest

import tailback
from tailback import plot, result_tables, view
from tailback.congestion_trees import CongestionTree, by_root, congestion_trees, held
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


def test_a_channel_counts_once_and_what_hangs_on_nothing_does_not():
    assert congestion_trees(table(*ROWS)) == [
        CongestionTree("endpoint 5", 1000.0, endpoints=1, channels=1, depth=2, flits=90, strangers=18),
        CongestionTree("circle", 1000.0, endpoints=1, channels=0, depth=0, flits=0, strangers=0),
    ]


def behind(time, root):
    return (time, "endpoint 7", -1, 1, 3, root, 1, 30, nan)


@pytest.mark.parametrize(
    ("held_at", "root_at", "lasts"), [(1, 2, "endpoint 5"), (1, 3, UPLINK), (0, 1, UPLINK)]
)
def test_what_hangs_on_a_channel_that_is_held_again_and_again_counts_with_what_that_hangs_on(
    held_at, root_at, lasts
):
    of_uplink = [(float(at), *ROWS[0][1:]) for at in range(held_at)]
    rows = table(*of_uplink, *(behind(float(held_at + at), UPLINK) for at in range(root_at)))
    assert {row.root for row in held(rows) if row.is_of_endpoint} == {lasts}


def test_channels_that_hang_on_each_other_in_turn_have_a_root_all_the_same():
    back = "switch 2 port 1 (up) to switch 1"
    rows = table(
        (1.0, "switch 1", 4, 2, 0, back, 1, 10, nan),
        (2.0, "switch 2", 1, 1, 4, UPLINK, 1, 10, nan),
    )
    assert {row.root for row in held(rows)} <= {back, UPLINK}


def test_the_largest_are_shown_and_a_run_without_trees_has_none():
    later = [(2000.0, *row[1:]) for row in ROWS[:1]]
    runs = {"a": Result("", {}, {"trees": table(*ROWS, *later)}), "b": Result("", {}, {})}
    shown = result_tables.tree_table(runs)
    rows = list(zip(*(column.cells for column in shown.columns), strict=True))
    of_endpoint = ("endpoint 5", "a", "2", "1", "1", "2", "21.5 %", "1 us", "2 us")
    assert rows == [of_endpoint, ("circle", "a", "1", "1", "0", "0", "not known", "1 us", "1 us")]
    assert result_tables.tree_table({"": runs["b"]}) is None
    assert isnan(by_root(congestion_trees(table(*ROWS)))[1].strangers)


def test_the_figure_shows_all_trees_of_a_time_together():
    occupancy = pa.table({"time_ns": [1000.0, 2000.0], "switch": [1, 1], "flits": [90, 0]})
    run = Result("", {}, {"trees": table(*ROWS), "occupancy": occupancy})
    lines = [axes.get_lines()[0].get_ydata() for axes in plot.trees_over_time(run).axes]
    assert [line.tolist() for line in lines[:2]] == [[2, 0], [1, 0]]
    np.testing.assert_equal(lines[2], [20.0, nan])


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
    marks = frame.data[1]
    places = zip(marks.y, marks.x, marks.marker.symbol, marks.customdata, strict=True)
    found = {(str(names[y, x]), symbol, root) for y, x, symbol, (root, _) in places}
    expected = set()
    for row in rows:
        place = (
            (row.switch, row.port) if row.is_of_endpoint else (int(row.sender.split()[1]), row.sender_port)
        )
        symbol = "circle-open" if row.is_of_endpoint else "circle"
        expected.add(("switch {}, port {}".format(*place), symbol, row.root))
    assert found == expected
    assert "endpoint 0" in {root for *_, root in found}
    page = view.page(run)
    assert "A dot marks a channel" in page
    assert "A dot marks a channel" not in view.page(
        tailback.Scenario.loads(HOT.replace(", trees = true", "")).run()
    )
