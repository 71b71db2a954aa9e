"""Figures of sweeps, from small tables."""

import math
from types import SimpleNamespace

import pyarrow as pa
import pytest

from tailback import InputError, curves
from tailback.figures import gallery, style
from tailback.stats import mean_interval
from tailback.sweeps.space import space


def table(**columns):
    """A sweep's table: the columns in order, those of what was measured last."""
    return pa.table(columns)


def swept_loads(**more):
    return table(
        **{
            "routing.kind": ["par", "par", "par", "par", "ugal", "ugal"],
            "traffic.a.load": [0.1, 0.1, 0.5, 0.5, 0.1, 0.5],
            "run.seed": [1, 2, 1, 2, 1, 1],
            "class": ["a"] * 6,
            "accepted": [0.1, 0.12, 0.4, 0.4, 0.1, 0.5],
            "message_latency_mean_ns": [100.0, 120.0, 300.0, None, math.nan, 500.0],
            **more,
        }
    )


def drawn(figure, panel=0):
    """The points of every line, by label."""
    axes = figure.axes[panel]
    return {
        label: [tuple(map(float, point)) for point in zip(*line.lines[0].get_data(), strict=True)]
        for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }


def test_a_line_per_combination_and_the_mean_over_seeds():
    figure = curves.measured_over(swept_loads(), "accepted")
    assert figure.axes[0].get_xlabel() == "traffic.a.load [share of injection bandwidth]"
    assert drawn(figure) == {"par": [(0.1, 11.0), (0.5, 40.0)], "ugal": [(0.1, 10.0), (0.5, 50.0)]}
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["par", "ugal"]
    assert figure.legends[0].get_title().get_text() == "routing.kind"


@pytest.mark.parametrize(("count", "angle"), [(4, 0), (12, 40)])
def test_names_in_a_row_stand_aslant_where_they_would_run_into_one_another(count, angle):
    names = [f"scheme{at:02}" for at in range(count)]
    swept = table(**{"routing.kind": names, "class": ["a"] * count}, accepted=[0.1] * count)
    labels = curves.measured_over(swept, "accepted").axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == names
    assert {label.get_rotation() for label in labels} == {angle}


def test_tables_are_told_by_their_kind():
    schemes = ['{"kind": "none"}', '{"kind": "lhrp", "threshold": "100 flits"}']
    swept = table(
        congestion_control=schemes * 2, load=[0.1, 0.1, 0.5, 0.5], **{"class": ["a"] * 4}, accepted=[0.1] * 4
    )
    assert list(drawn(curves.measured_over(swept, "accepted"))) == ["none", "lhrp threshold 100 flits"]


def test_what_is_saturated_with_one_seed_has_no_point_and_the_figure_says_so():
    figure = curves.measured_over(swept_loads(), "message_latency_mean_ns")
    lines = drawn(figure)
    assert lines["par"][0] == (0.1, 110.0)
    assert all(math.isnan(y) for y in (lines["par"][1][1], lines["ugal"][0][1]))
    assert "no point: saturated" in figure.get_supxlabel()


def test_a_line_has_a_gap_where_a_run_gave_no_result_and_the_figure_says_so():
    swept = table(
        **{
            "traffic.a.load": [0.1, 0.1, 0.5, 0.9, 0.9],
            "class": ["a", "b", None, "a", "b"],
            "accepted": [0.1, 0.1, None, 0.9, 0.8],
            "failed": [None, None, "deadlock", None, None],
        }
    )
    figure = curves.measured_over(swept, "accepted")
    for axes, last in zip(figure.axes, (90.0, 80.0), strict=True):
        where, values = axes.lines[0].get_data()
        assert where.tolist() == [0.1, 0.5, 0.9]
        assert values[[0, 2]].tolist() == pytest.approx([10.0, last])
        assert math.isnan(values[1])
    notes = figure.get_supxlabel().splitlines()
    assert notes == ["left out: 1 of 3 runs, which gave no result"]


def test_a_mean_is_of_the_seeds_that_gave_results():
    swept = table(
        **{
            "traffic.a.load": [0.1, 0.1, 0.1, 0.5, 0.5, 0.5],
            "run.seed": [1, 2, 3] * 2,
            "class": ["a", "a", None] * 2,
            "accepted": [0.1, 0.102, None, 0.3, 0.302, None],
            "failed": [None, None, "deadlock"] * 2,
        }
    )
    axes = curves.measured_over(swept, "accepted").axes[0]
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([10.1, 30.1])
    assert axes.figure.get_supxlabel().splitlines() == [
        "bars: 95 % confidence intervals over the seeds",
        "left out: 2 of 6 runs, which gave no result",
    ]


def test_jobs_that_did_not_end_have_no_points_and_the_figure_says_so():
    times = {"communication_max_ns": [1000.0, None], "time_ns": pa.nulls(2)}
    swept = table(**{"job.a.ranks": [2, 4], "class": ["a"] * 2}, **times)
    notes = curves.measured_over(swept, "communication_max_ns").get_supxlabel().splitlines()
    assert notes == ["no point: a job that did not end, or no messages"]
    with pytest.raises(InputError, match=r"known of no point.*run.duration"):
        curves.measured_over(swept, "time_ns")


def test_a_panel_per_class_of_which_something_is_known_without_that_of_all():
    both = table(
        **{
            "link.global": ["1 us", "1 us", "1 us", "10 us", "10 us", "10 us"],
            "class": ["hot", "victim", "all"] * 2,
            "accepted": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
            "message_latency_mean_ns": [None, 3.0, 4.0, None, 5.0, 6.0],
        }
    )
    figure = curves.measured_over(both, "accepted")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["hot", "victim"]
    assert figure.axes[1].get_xlabel() == "link.global [us]"
    assert figure.axes[1].lines[0].get_data()[0].tolist() == [1.0, 10.0]
    figure = curves.measured_over(both, "message_latency_mean_ns")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["victim"]


def test_what_is_known_of_all_together_alone_is_drawn_of_all():
    jobs = table(
        **{
            "job.j.ranks": [2, 2, 2, 4, 4, 4],
            "class": ["one", "two", "all"] * 2,
            "message_latency_p99_ns": [None, None, 4.0, None, None, 6.0],
        }
    )
    figure = curves.measured_over(jobs, "message_latency_p99_ns")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["all"]
    assert figure.axes[0].lines[0].get_data()[1].tolist() == [4.0, 6.0]


def test_a_sweep_of_jobs_beside_their_runs_alone_shows_the_slowdown(tmp_path):
    jobs = swept_loads(accepted=[None] * 6, slowdown=[1.5, 1.7, 2.0, 2.2, 1.0, 1.1])
    assert "slowdown.png" in {file.name for file in gallery.draw_sweep(jobs, tmp_path)}
    figure = curves.measured_over(jobs, "slowdown", over="traffic.a.load")
    assert figure.axes[0].get_ylabel() == "time of the job over\nthat of the job alone"


def test_words_stand_in_a_row_and_are_not_joined():
    figure = curves.measured_over(swept_loads(), "accepted", over="routing.kind")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["par", "ugal"]
    assert axes.lines[0].get_linestyle() == "None"


def test_a_key_that_was_not_swept_is_refused_and_so_is_a_sweep_of_seeds():
    with pytest.raises(InputError, match=r"one of routing.kind, traffic.a.load"):
        curves.measured_over(swept_loads(), "accepted", over="run.only")
    with pytest.raises(InputError, match="a point is their mean"):
        curves.measured_over(swept_loads(), "accepted", over="run.seed")
    seeds = table(**{"run.seed": [1, 2], "class": ["a", "a"], "accepted": [0.1, 0.2]})
    with pytest.raises(InputError, match="the seed alone"):
        curves.measured_over(seeds, "accepted")


def test_figures_of_what_is_known_only(tmp_path):
    unknown = pa.array([None] * 6, pa.float64())
    whole = swept_loads(
        accepted_per_destination=[0.1] * 6,
        message_latency_p99_ns=[200.0] * 6,
        message_latency_mean_ns=unknown,
    )
    names = {file.name for file in gallery.draw_sweep(whole, tmp_path)}
    assert names == {
        f"{name}.{kind}"
        for name in ("accepted", "accepted_per_destination", "message_latency_p99")
        for kind in ("png", "svg", "pdf")
    }


def bars_of(figure):
    """The lower and the upper end of each bar, and the notes under the axis."""
    segments = figure.axes[0].containers[0].lines[2][0].get_segments()
    return [list(map(float, bar[:, 1])) for bar in segments], figure.get_supxlabel().splitlines()


def test_error_bars_are_the_interval_over_the_seeds():
    swept = swept_loads(accepted=[0.1, 0.102, 0.4, 0.4, 0.1, 0.5])
    bars, notes = bars_of(curves.measured_over(swept, "accepted"))
    wanted = mean_interval([0.1, 0.102]).scaled(100)
    assert bars[0] == pytest.approx([wanted.low, wanted.high])
    assert notes == ["bars: 95 % confidence intervals over the seeds"]


def test_an_interval_is_cut_where_nothing_can_be_and_the_figure_says_so():
    values = [100.0, 1400.0, 650.0]
    swept = table(load=[0.1] * 3, **{"run.seed": [1, 2, 3], "class": ["a"] * 3}, time_ns=values)
    wanted = mean_interval(values)
    assert wanted.low < 0
    bars, notes = bars_of(curves.measured_over(swept, "time_ns"))
    assert bars == [pytest.approx([0.0, wanted.high / 1e3])]
    assert notes[1] == "arrows down: the interval is cut at 0"
    swept = swept.rename_columns({"time_ns": "message_latency_p99_ns"})
    figure = curves.measured_over(swept, "message_latency_p99_ns")
    bars, notes = bars_of(figure)
    assert bars == [pytest.approx([wanted.mean / 10, wanted.high])]
    assert notes[1] == "arrows down: the interval is cut at a tenth of the mean"
    assert figure.axes[0].get_ylim()[0] < wanted.mean / 10


def test_what_can_be_negative_is_drawn_below_zero_and_its_interval_is_not_cut():
    for values in ([-0.03, 0.01, -0.01], [0.0, 0.03, 0.01]):
        seeds = {"run.seed": [1, 2, 3], "class": ["a"] * 3}
        figure = curves.measured_over(table(load=[0.1] * 3, **seeds, backlog_growth=values), "backlog_growth")
        wanted = mean_interval(values)
        bars, notes = bars_of(figure)
        assert bars == [pytest.approx([wanted.low, wanted.high])]
        assert figure.axes[0].get_ylim()[0] < wanted.low < 0
        assert notes == ["bars: 95 % confidence intervals over the seeds"]


def test_no_interval_of_an_index_is_over_its_largest_value():
    swept = table(load=[0.1] * 2, **{"run.seed": [1, 2], "class": ["a"] * 2}, fairness=[0.9, 1.0])
    bars, _ = bars_of(curves.measured_over(swept, "fairness"))
    assert bars == [pytest.approx([mean_interval([0.9, 1.0]).low, 1.0])]


def test_points_of_runs_that_are_not_stable_are_hollow():
    swept = swept_loads(stable=[True, False, True, True, True, True])
    axes = curves.measured_over(swept, "message_latency_mean_ns").axes[0]
    hollow = [line for line in axes.get_lines() if line.get_markerfacecolor() == "white"]
    assert [line.get_xdata().tolist() for line in hollow] == [[0.1]]
    assert "hollow" in axes.figure.get_supxlabel()
    assert "hollow" not in curves.measured_over(swept, "accepted").get_supxlabel()


def marked(axes, which):
    """Where the points are that have a mark."""
    return [line.get_xdata().tolist() for line in axes.get_lines() if which(line)]


def test_a_point_of_which_it_is_not_to_be_told_whether_it_is_stable_is_half_hollow():
    def half(line):
        return line.get_fillstyle() == "top"

    column = "message_latency_mean_ns"
    for states, where in (([True, None, True], [[0.1]]), ([False, None, True], []), ([None] * 3, [])):
        stable = [*states[:2], *states[2:] * 2, *states[2:] * 2]
        axes = curves.measured_over(swept_loads(stable=stable), column).axes[0]
        assert marked(axes, half) == where
        assert ("half hollow: not to be told" in axes.figure.get_supxlabel()) == bool(where)
    assert not marked(curves.measured_over(swept_loads(stable=[None] * 5 + [True]), "accepted").axes[0], half)


def test_a_mean_without_what_had_not_arrived_has_an_arrow_up():
    missing = {"message_latency_missing": [0, 2, 0, 0, 0, 1], "message_latency_p99_ns": [200.0] * 6}
    axes = curves.measured_over(swept_loads(**missing), "message_latency_mean_ns").axes[0]

    def arrow(line):
        return line.get_marker() == "^" and line.get_linestyle() == "None"

    assert marked(axes, arrow) == [[0.1], [0.5]]
    # It stands over the end of the interval.
    first, second = (line.get_ydata().tolist() for line in axes.get_lines() if arrow(line))
    assert (first, second) == ([pytest.approx(mean_interval([100.0, 120.0]).high)], [500.0])
    assert "arrows up: at least" in axes.figure.get_supxlabel()
    # Quantiles count what had not arrived as the longest.
    assert (
        "arrows" not in curves.measured_over(swept_loads(**missing), "message_latency_p99_ns").get_supxlabel()
    )


def test_keys_that_change_together_are_one_line():
    swept = table(**{"topology.a": [4, 8], "topology.h": [2, 4], "class": ["a"] * 2, "accepted": [0.1, 0.2]})
    (line,) = curves.measured_over(swept, "accepted", over="topology.a").axes[0].containers
    assert line.lines[0].get_xdata().tolist() == [4, 8]


def test_values_with_units_stand_in_their_order_in_one_unit():
    swept = table(
        **{"link.global": ["10 us", "100 ns", "1 us"], "class": ["a"] * 3, "time_ns": [4e3, 2e3, 3e3]}
    )
    axes = curves.measured_over(swept, "time_ns").axes[0]
    where, values = axes.lines[0].get_data()
    assert (where.tolist(), values.tolist()) == ([pytest.approx(0.1), 1.0, 10.0], [2.0, 3.0, 4.0])
    assert (axes.get_xscale(), axes.get_ylim()[0]) == ("log", 0.0)
    assert axes.get_xlabel() == "link.global [us]"


def test_times_of_jobs_are_drawn_in_us():
    swept = table(**{"k": [1, 2], "class": ["a"] * 2, "communication_max_ns": [2e3, 3e3]})
    assert curves.measured_over(swept, "communication_max_ns").axes[0].lines[0].get_ydata().tolist() == [
        2.0,
        3.0,
    ]


def test_a_combination_looks_alike_in_all_panels_and_has_one_place_in_the_legend():
    names = {"only a": "a", "both": "ab", "only b": "b"}
    rows = [(scheme, load, member) for load in (0.1, 0.5) for scheme, of in names.items() for member in of]
    schemes, loads, members = zip(*rows, strict=True)
    swept = table(scheme=schemes, load=loads, **{"class": members}, accepted=[0.1] * len(rows))
    figure = curves.measured_over(swept, "accepted")
    colours = [
        {
            label: line.lines[0].get_color()
            for line, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        for axes in figure.axes
    ]
    assert [list(panel) for panel in colours] == [["only a", "both"], ["both", "only b"]]
    assert colours[0]["both"] == colours[1]["both"]
    assert len(set((colours[0] | colours[1]).values())) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == list(names)


def test_values_that_grow_by_about_a_factor_are_on_a_logarithmic_axis():
    for values, scale in [
        ((1, 2, 5, 10, 20, 50, 100), "log"),
        ((1, 2, 3, 4, 5, 6, 50), "linear"),
        ((1, 2, 3), "linear"),
        ((1, 4, 5), "linear"),
        ((0.1, 0.3, 0.5, 0.9), "linear"),
        ((4, 5, 7), "linear"),
    ]:
        swept = table(key=values, **{"class": ["a"] * len(values)}, accepted=[0.1] * len(values))
        assert curves.measured_over(swept, "accepted").axes[0].get_xscale() == scale, values


def test_each_of_a_few_values_on_a_logarithmic_axis_has_a_tick():
    swept = table(key=[4, 8, 16], **{"class": ["a"] * 3}, accepted=[0.1] * 3)
    figure = curves.measured_over(swept, "accepted")
    figure.draw_without_rendering()
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["4", "8", "16"]
    assert figure.axes[0].get_xticklabels(minor=True) == []


def test_what_was_not_recorded_is_asked_for_by_its_key():
    for column, key in (("fairness", "sources"), ("message_slowdown_p99", "messages")):
        with pytest.raises(InputError, match=rf"\[record\] {key} = true"):
            curves.measured_over(swept_loads(), column)
    with pytest.raises(InputError, match=r"such as accepted, message_latency_mean_ns\)"):
        curves.measured_over(swept_loads(), "colour")


@pytest.mark.parametrize(
    ("first", "last", "points"), [(1, 4, 3), (0.1, 0.8, 4), ("1 flits", "16 flits", 4), ("2 us", "5 us", 4)]
)
def test_a_logarithmic_range_has_a_logarithmic_axis(first, last, points):
    scales = {}
    for log in (True, False):
        spread = space({"key": {"from": first, "to": last, "points": points, "log": log}}).points()
        values = [point["key"] for point in spread]
        swept = table(key=values, **{"class": ["a"] * points}, accepted=[0.1] * points)
        scales[curves.measured_over(swept, "accepted").axes[0].get_xscale()] = log
    assert scales == {"log": True, "linear": False}


def test_many_keys_leave_room_for_the_data():
    keys = ["congestion_control.kind", "congestion_control.coalesce_after", "switch.input_buffer.size"]
    values = [(kind, after, size) for kind in ("none", "lhrp") for after in (1, 3) for size in ("1 B", "2 B")]
    columns = {key: [value[at] for value in values] * 2 for at, key in enumerate(keys)}
    loads = [0.1] * len(values) + [0.2] * len(values)
    swept = table(**columns, load=loads, **{"class": ["a"] * len(loads)}, accepted=loads)
    figure = curves.measured_over(swept, "accepted", "load")
    figure.draw_without_rendering()
    title = figure.legends[0].get_title().get_text().splitlines()
    assert title == [keys[0], "congestion_control.", "coalesce_after", keys[2]]
    assert figure.axes[0].get_window_extent().width > 0.5 * figure.bbox.width


def test_large_latencies_are_drawn_in_us():
    swept = table(k=[1, 2], **{"class": ["a"] * 2}, message_latency_mean_ns=[2e3, 3e4])
    axes = curves.measured_over(swept, "message_latency_mean_ns").axes[0]
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([2.0, 30.0])
    assert axes.get_ylabel() == "mean message latency [us]"


def test_latencies_that_differ_little_look_alike():
    swept = table(key=[1, 2], **{"class": ["a"] * 2}, message_latency_mean_ns=[100.0, 101.0])
    low, high = curves.measured_over(swept, "message_latency_mean_ns").axes[0].get_ylim()
    assert high / low == pytest.approx(2)


def test_of_two_other_keys_the_first_has_colours_and_the_second_dashes():
    combinations = [(scheme, size) for scheme in ("none", "lhrp", "srp") for size in (4, 24)]
    swept = table(
        **{
            "kind": [scheme for scheme, _ in combinations for _ in range(3)],
            "size": [size for _, size in combinations for _ in range(3)],
            "load": [0.1, 0.2, 0.3] * 6,
            "class": ["a"] * 18,
            "accepted": [0.1, 0.2, 0.3] * 5 + [None] * 3,
        }
    )
    lines, labels = curves.measured_over(swept, "accepted", "load").axes[0].get_legend_handles_labels()
    looks = {label: line.lines[0] for line, label in zip(lines, labels, strict=True)}
    assert looks["none, 4"].get_color() == looks["none, 24"].get_color() != looks["lhrp, 4"].get_color()
    assert looks["none, 4"].get_linestyle() == looks["lhrp, 4"].get_linestyle()
    assert looks["none, 4"].get_marker() != looks["none, 24"].get_marker()
    assert "srp, 24 (no point)" in looks


def test_a_sweep_is_drawn_as_its_table_is_and_anything_else_is_a_mistake():
    sweep = SimpleNamespace(table=swept_loads())
    assert drawn(curves.measured_over(sweep, "accepted")) == drawn(
        curves.measured_over(swept_loads(), "accepted")
    )
    with pytest.raises(InputError, match="is no sweep"):
        curves.measured_over([swept_loads()], "accepted")


def test_a_narrow_figure_with_many_notes_has_room_for_its_data():
    swept = swept_loads(stable=[True, False, True, True, True, True])
    with style.width(3.3):
        figure = curves.measured_over(swept, "message_latency_mean_ns")
        figure.canvas.draw()
    assert len(figure.get_supxlabel().splitlines()) > 2
    assert figure.axes[0].get_window_extent().height / figure.dpi > 1.2


def test_a_line_without_a_point_in_one_panel_only_has_one_name():
    names = ["none", "lhrp"]
    swept = table(
        **{
            "kind": names * 4,
            "load": [0.1, 0.1, 0.2, 0.2] * 2,
            "run.seed": [1] * 8,
            "class": ["a"] * 4 + ["b"] * 4,
            "time_ns": [None, 2.0, None, 3.0, 1.0, 2.0, 3.0, 4.0],
        }
    )
    figure = curves.measured_over(swept, "time_ns")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == names


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("packet_latency_p999_ns", "99.9th percentile of\npacket latency [ns]"),
        ("network_latency_max_ns", "largest network latency [ns]"),
        ("message_slowdown_mean", "mean message slowdown"),
    ],
)
def test_any_latency_is_drawn_as_one(column, name):
    told = {
        column: [100.0, 120.0, 300.0, 310.0, 150.0, 500.0],
        "stable": [True, False, True, True, True, True],
    }
    axes = curves.measured_over(swept_loads(**told), column).axes[0]
    assert (axes.get_ylabel(), axes.get_yscale()) == (name, "log")
    assert "hollow" in axes.figure.get_supxlabel()


def test_a_sweep_is_drawn_of_some_classes(tmp_path):
    swept = swept_loads(**{"class": ["a", "b", "a", "b", "a", None]})
    assert curves.of_traffic(swept, ["a"])["class"].to_pylist() == ["a", "a", "a", None]
    files = gallery.draw_sweep(swept, tmp_path, traffic=["b"])
    assert {file.stem for file in files} == {"accepted", "message_latency_mean"}
    with pytest.raises(InputError, match="there is no traffic class or job 'c'"):
        gallery.draw_sweep(swept, tmp_path, traffic=["c"])


def test_no_interval_reaches_over_all_that_there_is():
    figure = curves.measured_over(swept_loads(accepted=[0.8, 1.0, 0.4, 0.4, 0.1, 0.5]), "accepted")
    (bar,) = (line for line in figure.axes[0].containers if line.get_label() == "par")
    assert max(point[1] for segment in bar.lines[2][0].get_segments() for point in segment) == pytest.approx(
        100
    )


def test_at_a_word_lines_stand_side_by_side():
    figure = curves.measured_over(swept_loads(), "accepted", over="routing.kind")
    places = [[point[0] for point in points] for points in drawn(figure).values()]
    assert [list(map(round, of)) for of in places] == [[0, 1], [0, 1]]
    assert len({at for of in places for at in of}) == 4


def test_what_is_of_the_whole_network_is_drawn_once():
    loads = [0.1, 0.5] * 3
    classes = ["a", "a", "b", "b", "all", "all"]
    swept = table(**{"traffic.a.load": loads, "class": classes}, endpoints_held=[0.0, 0.25] * 3)
    figure = curves.measured_over(swept, "endpoints_held")
    assert [axes.get_title(loc="left") for axes in figure.axes] == [""]
    assert figure.axes[0].get_lines()[0].get_ydata().tolist() == [0.0, 25.0]
    with pytest.raises(InputError, match=r"\[record\] trees = true"):
        curves.measured_over(swept, "strangers")
    known = swept.append_column("strangers", pa.array([None, 0.5] * 3))
    figure = curves.measured_over(known, "strangers")
    assert "no point: no tree grew from an endpoint" in figure.get_supxlabel()
