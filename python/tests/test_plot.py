"""Every figure has labelled axes with units and tells its lines apart without colour."""

import math
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.lines import Line2D

import tailback
from tailback import pictures, plot
from tailback.figures import arrivals, gallery, latencies, style, tables
from tailback.stats import mean_interval

PLOTS = [
    "latency_over_time",
    "throughput_over_time",
    "throughput_per_destination",
    "latency_histogram",
    "latency_distribution",
    "channel_shares",
    "port_activity",
    "source_throughput",
    "switch_occupancy",
    "occupancy_over_time",
]
COUNTS = {"source_throughput": "x", "switch_occupancy": "xy", "latency_distribution": "y"}
"""Axes that count: they have a name but no unit."""
BARS = {"channel_shares", "port_activity"}
"""Figures of bars, whose vertical axis has the names of the bars."""


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.parametrize("runs", [1, 3])
def test_every_figure_has_labels_and_units(result, name, runs):
    table, draw = gallery.FIGURES[name]
    assert table in result.tables
    figure = draw(result if runs == 1 else [result] * runs)
    assert isinstance(figure, Figure)
    *_, axes = figure.axes  # the last of several panels names the axis of all
    if name in BARS:
        bars = [text.get_text().split(", ")[-1] for text in axes.get_yticklabels()]
        assert set(bars) == set(result.tables[table]["link_class"].to_pylist())
    labels = {"x": axes.get_xlabel()} | ({} if name in BARS else {"y": axes.get_ylabel()})
    for axis, label in labels.items():
        assert label
        assert axis in COUNTS.get(name, "") or re.search(r"\[(ns|us|flits|%|% of \w+ bandwidth)\]", label)


def test_lines_differ_without_colour(result):
    figure = plot.latency_over_time({"a": result, "b": result, "c": result}, traffic="victim")
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["a", "b", "c"]
    assert len({(line.get_linestyle(), line.get_marker()) for line in lines}) == 3
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b", "c"]


def test_no_line_is_dotted_as_what_is_only_a_lower_bound():
    drawn = [Line2D([], [], linestyle=dashes)._unscaled_dash_pattern[1] for dashes in style.DASHES]
    assert all(pattern is None or max(pattern[::2]) >= 3 for pattern in drawn)
    assert max(arrivals.AT_LEAST[1][::2]) <= 1


@pytest.mark.fonts
@pytest.mark.parametrize("kind", gallery.KINDS)
def test_the_same_figure_gives_the_same_bytes(result, kind, tmp_path, monkeypatch):
    bytes_of = []
    for number in range(2):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(number))  # instead of a clock
        file = tmp_path / f"{number}{kind}"
        gallery.save_as(plot.latency_over_time(result), file)
        bytes_of.append(file.read_bytes())
    assert bytes_of[0] == bytes_of[1]
    assert (kind == ".pdf") == (b"/FontFile2" in bytes_of[0])  # TrueType, whole outlines


OF_JOBS = {
    "queues": {"time_ns": [1000, 1000], "switch": [0, 1], "port": [0, 1], "flits": [5, 3]},
    "rates": {
        "endpoint": [1, 1],
        "destination": [-1, -1],
        "queue_pair": [-1, -1],
        "time_ns": [0.0, 500.0],
        "rate": [1.0, 0.1],
    },
    "ranks": {"job": ["a"], "rank": [0], "endpoint": [1], "time_ns": [9.0], "communication_ns": [5.0]},
    "phases": {"job": ["a"], "phase": [0], "start_ns": [0.0], "time_ns": [9.0], "bound_ns": [5.0]},
    "pauses": {"from": ["switch 0"], "start_ns": [0.0], "end_ns": [5.0]},
    "trees": {
        "time_ns": [0.0],
        "from": ["endpoint 1"],
        "from_port": [-1],
        "to_switch": [0],
        "to_port": [1],
        "root": ["endpoint 0"],
        "depth": [1],
        "flits": [8],
        "strangers": [2.0],
    },
    "pairs": {"class": ["hot"], "source": [0], "destination": [1], "time_ns": [0.0], "flits": [5]},
    "messages": {
        "class": ["hot"],
        "kind": ["data"],
        "flits": [4],
        "created_ns": [0.0],
        "latency_ns": [9.0],
        "zero_load_ns": [5.0],
    },
}
"""Tables that the stand-in's results lack."""


@pytest.mark.parametrize("name", gallery.FIGURES)
def test_names_are_drawn_as_they_are(result, name, tmp_path):
    facts = {"time_ns": 9e3, "communication_ns": {"min": 1e3, "mean": 2e3, "max": 3e3}, "start_ns": 0.0}
    network = "topology = { kind = 'dragonfly', p = 1, a = 1, h = 1, groups = 2 }"
    whole = replace(
        result,
        scenario=f"{network}\npacket.flit = '64 B'\nrecord.pairs = '1 us'",
        summary=result.summary | {"jobs": {"a": facts}},
        tables=result.tables | {table: pa.table(rows) for table, rows in OF_JOBS.items()},
    )
    table, draw = gallery.FIGURES[name]
    assert table in whole.tables
    figure = draw({"$\\no$": whole, "_under": whole})
    gallery.save_as(figure, tmp_path / "a.svg")  # as mathematics the first would be an error
    told = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    told += [axes.get_title(where) for axes in figure.axes for where in ("left", "center")]
    assert any("_under" in text for text in told) or name in BARS


def test_a_label_may_be_a_number(result):
    lines = plot.latency_over_time({0.5: result, 1: result}, traffic="victim").axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["0.5", "1"]


def test_long_names_in_a_legend_are_folded(result):
    figure = plot.latency_over_time({"n" * 90: result, "b": result}, traffic="victim")
    long, short = (text.get_text() for text in figure.legends[0].get_texts())
    assert (long.split("\n"), short) == (["n" * 40, "n" * 40, "n" * 10], "b")


def with_names(names):
    """A figure of a line for each name, drawn, with where its axes and its legend are."""
    with style.styled():
        figure, (axes,) = style.figure()
        for name in names:
            axes.plot([1, 2], label=name)
        style.legend(figure, axes)
        figure.draw_without_rendering()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == names
    return figure, axes.get_window_extent(), legend


@pytest.mark.parametrize("count", [2, 16, 17, 40, 256])
@pytest.mark.parametrize("name", ["j{}", "the job that has the number {}"])
def test_every_name_of_a_legend_is_within_the_figure_and_beside_the_data(name, count):
    figure, data, legend = with_names([name.format(number) for number in range(count)])
    whole, texts = figure.bbox, [text.get_window_extent() for text in legend.get_texts()]
    assert min(text.y0 for text in texts) > 0
    assert max(text.y1 for text in texts) < whole.y1
    assert max(text.x1 for text in texts) < whole.x1
    assert min(text.x0 for text in texts) > data.x1
    assert data.width > 0.3 * whole.width


def test_a_legend_of_few_names_leaves_the_figure_as_it_is():
    for count, columns in ((16, 1), (17, 2), (40, 3)):
        figure, _, legend = with_names([f"j{number}" for number in range(count)])
        assert figure.get_figheight() == 3.6
        assert legend._ncols == columns
    assert (
        with_names([f"the job that has the number {number}" for number in range(40)])[0].get_figheight() > 8
    )


def test_a_legend_of_more_names_than_a_file_has_room_for_says_so():
    axes = style.figure()[1][0]
    for number in range(700):
        axes.plot([1, 2], label=f"j{number}")
    style.legend(axes.figure, axes)
    last = axes.figure.legends[0].get_texts()[-2:]
    assert [text.get_text() for text in last] == ["j499", "and 200 more"]


def unknown(created, messages):
    return list(tables.unknown(pa.table({"created": created, "messages": messages})))


def test_latency_has_gaps_where_over_one_percent_has_not_arrived():
    assert unknown([100] * 4 + [0], [100, 99, 98, 0, 0]) == [False, False, True, True, False]
    older = pa.table({"messages": [1, 0]})
    assert not tables.unknown(older).any(), "what it does not tell is not left out"


def test_small_bins_are_judged_with_their_neighbours():
    lost = 40
    messages = [10] * 100
    messages[lost] = 9
    assert not any(unknown([10] * 100, messages)), "1 of the 110 around it"
    messages[lost + 3] = 9
    assert np.flatnonzero(unknown([10] * 100, messages)).tolist() == list(range(lost - 2, lost + 6))
    assert unknown([3, 3, 3], [3, 3, 2]) == [True] * 3, "there are no more to judge by"


def test_latencies_of_a_saturated_class_are_told_to_be_incomplete(result):
    note = "(hot; victim; all): messages that did not arrive are missing"
    assert note in plot.latency_histogram(result).get_supxlabel()
    figure = pictures.latency_distribution({"a": result}, traffic="hot", latency="message")
    assert "(a, hot): messages" in figure.get_supxlabel()
    assert "did not arrive" not in pictures.latency_distribution(result).get_supxlabel()


def test_a_line_has_gaps_where_nothing_is_known_and_points_that_stand_alone():
    axes = Figure().subplots()
    plot._draw_line(
        axes, tables.Line("x", None, 0, 0, None), np.arange(5.0), np.array([1.0, 2.0, np.nan, 3.0, np.nan])
    )
    line, alone = axes.lines
    assert np.isnan(line.get_ydata()[2])
    assert list(alone.get_xdata()) == [3.0]
    assert alone.get_linestyle() == "None"


def at_load(load, seed=1, latency=1500.0, *, stable=True, missing=0):
    """A run of a load and a seed, with what it tells of all classes."""
    run = tailback.Scenario.loads("").run()
    facts = {"mean": latency, "missing": missing}
    told = {"offered": load + 0.001 * seed, "packet_latency_ns": facts, "stable": stable}
    scenario = f"title = 'seed {seed}'\ntraffic.hot.load = {load}\nrun.seed = {seed}\n"
    return replace(run, scenario=scenario, summary=run.summary | {"classes": {"all": told}})


def test_latency_over_load_joins_the_runs_of_a_label():
    runs = [at_load(load) for load in (0.6, 0.2, 0.4)]
    figure = plot.latency_over_load({"none": runs, "lhrp": runs[:2]}, latency="packet")
    first, second = (line.lines[0] for line in figure.axes[0].containers)
    assert list(first.get_xdata()) == pytest.approx([20.1, 40.1, 60.1])
    assert list(second.get_xdata()) == pytest.approx([20.1, 60.1])
    assert figure.axes[0].get_xlabel() == "offered load [% of injection bandwidth]"


def test_runs_that_differ_in_the_seed_only_are_one_point_with_its_interval():
    latencies = {(0.2, 1): 900.0, (0.2, 2): 1000.0, (0.2, 3): 1100.0, (0.4, 1): 2000.0, (0.4, 2): None}
    axes = plot.latency_over_load([at_load(*at, latency) for at, latency in latencies.items()]).axes[0]
    (line,) = axes.containers
    points, _, (bars,) = line.lines
    assert points.get_xdata().tolist() == pytest.approx([20.2, 40.15])
    assert points.get_ydata().tolist() == [1000.0, pytest.approx(math.nan, nan_ok=True)]
    wanted = mean_interval([900.0, 1000.0, 1100.0])
    assert bars.get_segments()[0][:, 1].tolist() == pytest.approx([wanted.low, wanted.high])
    assert axes.get_xlabel().splitlines()[1:] == [
        "bars: 95 % confidence intervals over the seeds",
        "no point: not known, as where a network is saturated, or no messages",
    ]
    low, high = axes.get_xlim()
    assert low < 20.2 < 40.15 < high


def test_large_latencies_are_in_us():
    for latency, unit, shown in ((9_000.0, "ns", 9_000.0), (30_000.0, "us", 30.0)):
        axes = plot.latency_over_load([at_load(0.2, latency=900.0), at_load(0.4, latency=latency)]).axes[0]
        assert axes.get_ylabel() == f"mean packet latency [{unit}]"
        assert axes.containers[0].lines[0].get_ydata()[1] == pytest.approx(shown)


def test_latencies_that_grow_with_the_window_are_hollow():
    runs = [at_load(0.2), at_load(0.4, stable=False)]
    axes = plot.latency_over_load(runs).axes[0]
    _, hollow = axes.get_lines()
    assert hollow.get_markerfacecolor() == "white"
    assert list(hollow.get_xdata()) == pytest.approx([40.1])
    assert "hollow" in axes.get_xlabel()


def test_latencies_that_are_lower_bounds_or_may_not_be_stable_are_marked():
    axes = plot.latency_over_load([at_load(0.2, missing=3), at_load(0.4, stable=None)]).axes[0]
    _, half, arrow = axes.get_lines()
    assert (half.get_fillstyle(), list(half.get_xdata())) == ("top", pytest.approx([40.1]))
    assert (arrow.get_marker(), list(arrow.get_xdata())) == ("^", pytest.approx([20.1]))
    assert "arrows up: at least" in axes.get_xlabel()
    assert "half hollow" in axes.get_xlabel()
    unknown = plot.latency_over_load([at_load(0.2, stable=None), at_load(0.4, stable=None)])
    assert unknown.axes[0].get_xlabel() == "offered load [% of injection bandwidth]"


def test_a_histogram_adds_up(result):
    patch = plot.latency_histogram(result).axes[0].patches[0]
    assert sum(patch.get_data().values) == pytest.approx(100)


@pytest.mark.parametrize("draw", [plot.latency_histogram, pictures.latency_distribution])
def test_of_several_runs_each_class_has_a_panel_of_its_latencies(result, draw):
    result = with_column(result, "histograms", "class", ["hot"] * 3 + ["victim"] * 3)
    figure = draw({"a": result, "b": result}, traffic=None, latency="message")
    assert [axes.get_title("left") for axes in figure.axes] == ["hot", "victim"]
    assert [len(axes.patches) for axes in figure.axes] == [2, 2]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]
    assert len(draw(result, traffic=None, latency="message").axes) == 1
    assert len(draw({"a": result, "b": result}, traffic="hot", latency="message").axes) == 1


@pytest.mark.parametrize("draw", [plot.latency_histogram, pictures.latency_distribution])
def test_latencies_of_any_size_are_in_a_histogram(result, draw):
    """As on channels of 1 ns, and behind a hot spot of seconds."""
    low = [0.0, 3.0, 10.0, 1e3, 5e9]
    rows = {"class": ["all"] * 5, "latency": ["network"] * 5, "low_ns": low, "high_ns": low, "count": [2] * 5}
    whole = tailback.Result(result.scenario, result.summary, {"histograms": pa.table(rows)})
    (patch,) = draw(whole, traffic="all", latency="network").axes[0].patches
    shares = patch.get_data().values
    assert (shares[shares > 0] / shares.sum()).tolist() == pytest.approx([0.2] * 5)
    edges = patch.get_data().edges
    assert edges[0] <= 1e-6
    assert edges[-2] <= 5e6 < edges[-1], "in us"


def test_a_missing_table_is_named_with_the_remedy(result):
    bare = tailback.Result(result.scenario, result.summary, {})
    with pytest.raises(tailback.InputError, match=r"series.*\[record\]"):
        plot.latency_over_time(bare)


@pytest.mark.parametrize("nothing", [None, 3, "x", [], {}, [3], {"a": 3}])
@pytest.mark.parametrize("name", gallery.FIGURES)
def test_what_is_no_result_is_a_mistake(nothing, name):
    with pytest.raises(tailback.InputError, match="there is no result to draw"):
        gallery.FIGURES[name][1](nothing)


@pytest.mark.parametrize("nothing", [None, [], {}, {"a": 3}, {"a": []}])
def test_a_curve_over_load_of_no_result_is_a_mistake(nothing):
    with pytest.raises(tailback.InputError, match="there is no result to draw"):
        plot.latency_over_load(nothing)


def test_an_unknown_latency_or_class_is_answered_with_those_there_are(result):
    for draw in (plot.latency_over_time, plot.latency_histogram, plot.latency_over_load):
        with pytest.raises(tailback.InputError, match="one of: message, packet, network"):
            draw(result, latency="slowest")
    with pytest.raises(tailback.InputError, match="one of: hot, victim"):
        plot.latency_over_load(result, traffic="cold")


@pytest.mark.parametrize("nobody", ["nobody", 3])
def test_an_unknown_class_is_a_mistake(result, nobody):
    with pytest.raises(tailback.InputError, match=str(nobody)):
        plot.throughput_over_time(result, traffic=nobody)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (900, 4800, ["1,000", "2,000", "3,000", "4,000"]),
        (3, 80_000, ["10", "100", "1,000", "10,000"]),
        (0.05, 1.02, ["0.1", "1"]),
        (2e5, 3e9, [rf"$\mathdefault{{10^{{{power}}}}}$" for power in range(6, 10)]),
    ],
)
def test_logarithmic_axes_have_labels_of_one_kind(low, high, shown):
    with style.styled():
        figure, (axes,) = style.figure()
        style.logarithmic(axes, "y")
        axes.set_ylim(low, high)
        figure.draw_without_rendering()
    labels = axes.yaxis.get_ticklabels(which="both")
    inside = [text for text in labels if low <= text.get_position()[1] <= high and text.get_text()]
    assert [text.get_text() for text in sorted(inside, key=lambda text: text.get_position()[1])] == shown


def test_the_logarithmic_axes_of_all_figures_have_these_labels():
    folder = Path(style.__file__).parent
    own = {folder / "style.py", folder / "demo.py"}
    for file in set(folder.rglob("*.py")) - own:
        assert 'scale("log")' not in file.read_text("utf-8"), file


def of_classes(result, *names):
    """The result with the series of a class under other names."""
    series = result.tables["series"]
    own = tables.only(series, "class", "hot")
    place = series.column_names.index("class")
    parts = [own.set_column(place, "class", pa.array([name] * own.num_rows)) for name in names]
    return tailback.Result(result.scenario, result.summary, {"series": pa.concat_tables(parts)})


def names_of(figure):
    return [line.get_label() for line in figure.axes[0].get_lines()]


def test_the_sum_of_one_class_is_not_drawn_beside_it(result):
    one, two = of_classes(result, "hot", "all"), of_classes(result, "hot", "victim", "all")
    assert names_of(plot.throughput_over_time(one)) == ["hot"]
    assert names_of(plot.throughput_over_time(two)) == ["hot", "victim", "all"]
    assert names_of(plot.throughput_over_time(one, traffic="all")) == ["all"]


@pytest.mark.parametrize(("runs", "classes"), [(3, 2), (7, 7), (9, 8), (1, 9), (20, 1)])
def test_no_two_lines_of_runs_and_classes_look_alike(result, runs, classes):
    names = [f"class {number}" for number in range(classes)]
    one = of_classes(result, *names)
    lines = plot.throughput_over_time({f"run {n}": one for n in range(runs)}).axes[0].get_lines()
    looks = [(line.get_color(), str(line._unscaled_dash_pattern), line.get_marker()) for line in lines]
    assert len(looks) == len(set(looks)) == runs * classes
    if runs > 1 and classes > 1:
        assert len({colour for colour, _, _ in looks[:classes]}) == 1, "of one run"
        assert looks[0][1:] == looks[classes][1:], "of one class"


def test_several_classes_can_be_chosen(result):
    three = of_classes(result, "a", "b", "c")
    drawn = {"x": three, "y": three}
    assert names_of(plot.throughput_over_time(drawn, traffic=["a", "c"])) == ["x, a", "x, c", "y, a", "y, c"]
    assert names_of(plot.throughput_over_time(drawn, traffic=["b"])) == ["x", "y"]
    with pytest.raises(tailback.InputError, match="no traffic class 'd'"):
        plot.throughput_over_time(drawn, traffic=["a", "d"])


def test_the_measured_window_is_shaded(result):
    def of(run):
        return tailback.Result(f"[run]\n{run}", result.summary, result.tables)

    window = of('warmup = "20 us"\nduration = "0.05 ms"')
    other = of('warmup = "20 us"\nduration = "60 us"')
    for drawn, shaded in (
        (window, [(20, 70)]),
        ([window, window], [(20, 70)]),
        (of('warmup = "20 us"\nduration = "1 s"'), [(20, 120)]),
        ([window, other], []),
        (of('warmup = "0 us"\nduration = "120 us"'), []),
        (of('warmup = "3 cycles"\nduration = "1 us"'), []),
        (result, []),
    ):
        for figure in (plot.latency_over_time(drawn), plot.throughput_over_time(drawn)):
            (axes,) = figure.axes
            assert [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in axes.patches] == shaded
            assert ("shaded" in figure.get_supxlabel()) == bool(shaded)


def test_the_command_draws_chosen_classes(command, result, tmp_path):
    result.save(tmp_path / "here")
    status, out, _ = command("plot", "here", "--traffic", "victim", "-o", "drawn")
    assert status == 0
    assert "drawn/latency_over_time.png" in out.splitlines()
    assert "drawn/port_activity.png" in out.splitlines(), "classes are not told apart"
    assert "source_throughput" not in out, "nothing is known of the class"
    status, _, err = command("plot", "here", "--traffic", "cold")
    assert (status, "one of: hot, victim, all" in err) == (2, True)


def test_a_column_of_a_result_that_holds_no_numbers_is_told_as_damaged():
    with pytest.raises(tailback.InputError, match="its column 'offered' holds no numbers"):
        tables.numbers(pa.table({"offered": ["many"]}), "offered")


def with_column(result, name, column, values):
    whole = result.tables[name]
    at = whole.column_names.index(column)
    return replace(result, tables={**result.tables, name: whole.set_column(at, column, pa.array(values))})


def arriving(result, created, messages):
    """The result with so many messages created in the bins of each class, and so many of them arriving."""
    for name, values in (("created", created), ("messages", messages)):
        result = with_column(result, "series", name, values * 2)
    missing = [one - other for one, other in zip(created, messages, strict=True)]
    for latency in ("message", "packet", "network"):
        result = with_column(result, "series", f"{latency}_latency_missing", missing * 2)
    return result


def test_a_latency_that_is_not_known_yet_is_a_gap_and_told(result):
    late = arriving(result, [5] * 120, [5] * 80 + [0] * 40)
    late = with_column(late, "series", "packet_latency_ns", [7.0] * 240)
    figure = plot.latency_over_time(late, traffic="hot", latency="packet")
    values = figure.axes[0].get_lines()[0].get_ydata()
    assert np.isnan(values[100:]).all()
    assert (values[2:60] == 7.0).all()
    assert "not drawn" in figure.get_supxlabel()
    assert "not drawn" not in plot.latency_over_time(result).get_supxlabel()


def test_a_message_latency_that_is_not_known_yet_is_dotted_where_most_have_arrived(result):
    late = arriving(result, [100] * 120, [100] * 60 + [80] * 30 + [20] * 30)
    figure = plot.latency_over_time(late, traffic="hot")
    line, least = (line.get_ydata() for line in figure.axes[0].get_lines())
    assert np.isnan(line[60:]).all()
    assert np.flatnonzero(np.isfinite(least)).tolist() == list(range(59, 90))
    assert least[70] == pytest.approx(900 + 70)
    assert figure.axes[0].get_ylabel() == "mean message latency [ns]"
    assert "dotted: at least" in figure.get_supxlabel()
    assert "not drawn" in figure.get_supxlabel()
    assert "dotted" in plot.latency_over_time(late, traffic="hot", latency="packet").get_supxlabel()
    # All messages have arrived of those that were created then, but not all packets that were sent then.
    late = with_column(result, "series", "network_latency_missing", [0] * 100 + [1] * 140)
    assert np.isnan(
        plot.latency_over_time(late, traffic="hot", latency="network")
        .axes[0]
        .get_lines()[0]
        .get_ydata()[100:]
    ).all()


@pytest.mark.parametrize("end", [15_200.0, 18_744.0])
def test_no_lower_bound_is_drawn_past_the_end_of_the_run(result, end):
    rows = {
        "class": ["u"] * 4,
        "time_ns": [0.0, 5000.0, 10_000.0, 15_000.0],
        "created": [1000, 1000, 1000, 100],
        "messages": [1000, 1000, 690, 0],
        "message_latency_ns": [300.0, 900.0, 1000.0, math.nan],
        "message_latency_missing": [0, 0, 310, 100],
    }
    cut = replace(result, summary=result.summary | {"simulated_ns": end}, tables={"series": pa.table(rows)})
    figure = plot.latency_over_time(cut)
    axes = figure.axes[0]
    line, least = axes.get_lines()[:2]
    assert least.get_ydata()[1:3] == pytest.approx([900, 1000])
    # In the last bin none had arrived, and they may be of no age.
    assert np.isnan([line.get_ydata()[3], least.get_ydata()[3]]).all()
    assert axes.dataLim.x1 == pytest.approx(min(end / 1e3, 17.5))
    told = arrivals.arrivals([cut], "u")
    assert told.times[3] == pytest.approx((15 + end / 1e3) / 2)
    assert told.latency[2:] == pytest.approx([1000, 0])


def test_throughput_is_in_percent_and_by_destination_if_asked(result):
    for per, base in ((False, 10.0), (True, 20.0)):
        (line,) = plot.throughput_over_time(result, traffic="hot", per_destination=per).axes[0].get_lines()
        assert line.get_ydata()[:3].tolist() == pytest.approx([base, base + 0.1, base + 0.2])


def test_a_class_looks_alike_whatever_comes_first_in_a_table(result):
    table = result.tables["sources"]
    rows = {"class": ["victim", "hot"], "endpoint": [1, 2], "accepted": [0.1, 0.2]}
    mixed = replace(result, tables={"sources": pa.table(rows)})
    lines = plot.source_throughput(mixed).axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["hot", "victim"]
    assert table.column_names == list(rows)


def test_sources_and_switches_are_sorted_and_times_evenly_chosen(result):
    (line,) = plot.source_throughput(result).axes[0].get_lines()
    assert line.get_ydata().tolist() == pytest.approx([10, 20, 30])
    times = [1000 * at for at in range(1, 9) for _ in range(2)]
    occupancy = pa.table({"time_ns": times, "switch": [0, 1] * 8, "flits": [1, 5] * 8})
    lines = plot.switch_occupancy(replace(result, tables={"occupancy": occupancy})).axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["1 us", "2 us", "4 us", "5 us", "6 us", "8 us"]
    assert lines[0].get_ydata().tolist() == [5, 1]


def test_bars_stand_one_behind_the_other_in_percent(result):
    bars = plot.port_activity(result).axes[0].patches
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [
        (0, 10),
        (0, 20),
        (10, 20),
        (20, 20),
        (30, 70),
        (40, 60),
    ]
    shares = plot.channel_shares(result).axes[0].patches
    assert [(bar.get_x(), bar.get_width()) for bar in shares] == [(0, 40), (40, 10)]


def test_a_latency_is_counted_in_the_bin_of_its_middle():
    rows = {"low_ns": [100.0], "high_ns": [127.0], "count": [4]}
    edges, counts = latencies.log_bins(pa.table(rows))
    assert edges[0] <= 113.5 < edges[1]
    assert counts.tolist() == [4]


def test_latencies_of_a_few_whole_values_leave_no_gaps_between_bins():
    # 2,000 of each whole ns, and a few between; then one a decade up.
    low = [4.0, 4.5, 5.0, 5.5, 6.0, 7.0, 8.0, 9.0, 10.0, 100.0]
    few = [4.5, 5.5, 100.0]
    rows = pa.table({"low_ns": low, "high_ns": low, "count": [2 if at in few else 2000 for at in low]})
    _, counts = latencies.log_bins(rows, latencies.bins_per_decade(rows))
    first = counts[: int(np.flatnonzero(counts >= 2000).max()) + 1]
    assert first.min() >= 2000
    _, fine = latencies.log_bins(rows)
    assert fine[: int(np.flatnonzero(fine >= 2000).max()) + 1].min() < 2000
    smooth = pa.table(
        {"low_ns": np.arange(500.0, 900.0), "high_ns": np.arange(500.0, 900.0), "count": [9] * 400}
    )
    assert latencies.bins_per_decade(smooth) == 20


def without(result, table):
    return replace(result, tables={name: one for name, one in result.tables.items() if name != table})


def test_a_run_has_its_look_whatever_others_have(result):
    runs = {"a": without(result, "series"), "b": result, "c": result}
    (b, c) = plot.throughput_over_time(runs, traffic="victim").axes[0].get_lines()
    assert [b.get_color(), c.get_color()] == [style.COLOURS[1], style.COLOURS[2]]
    with pytest.raises(tailback.InputError, match="no table 'series'"):
        plot.throughput_over_time({"a": runs["a"]})


def test_a_chosen_class_is_named(result):
    for draw in (plot.latency_over_time, plot.throughput_over_time):
        assert draw({"a": result, "b": result}, traffic="victim").axes[0].get_title("left") == "victim"


def of_series(result, starts, accepted, end):
    rows = {name: [0] * len(starts) for name in result.tables["series"].column_names}
    rows |= {"class": ["a"] * len(starts), "time_ns": starts, "accepted": accepted}
    tables = result.tables | {"series": pa.table(rows)}
    return replace(result, tables=tables, summary=result.summary | {"simulated_ns": end})


def test_a_bin_is_drawn_over_its_time_and_one_that_the_end_cuts_short_is_not(result):
    for end, shown in [(3000.0, [0.5, 1.5, 2.5]), (2999.0, [0.5, 1.5]), (None, [0.5, 1.5, 2.5])]:
        one = of_series(result, [0.0, 1000.0, 2000.0], [0.1, 0.2, 0.3], end)
        (line,) = plot.throughput_over_time(one).axes[0].get_lines()
        assert list(line.get_xdata()) == shown
        assert line.get_drawstyle() == "steps-mid"


def test_where_there_are_no_messages_the_figure_says_so(result):
    one = of_series(result, [0.0, 1000.0], [0.0, 0.0], 2000.0)
    series = one.tables["series"].set_column(
        one.tables["series"].column_names.index("message_latency_ns"),
        "message_latency_ns",
        pa.array([math.nan] * 2),
    )
    figure = plot.latency_over_time(replace(one, tables=one.tables | {"series": series}))
    assert "no messages" in figure.get_supxlabel()


def test_the_names_of_bars_stay_where_nothing_was_sent(result):
    shares = result.tables["shares"]
    none = pa.table({"link_class": ["local", "global"], "kind": ["data"] * 2, "share": [0.0, 0.0]})
    axes = plot.channel_shares(replace(result, tables=result.tables | {"shares": none})).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["local", "global"]
    only = shares.filter(pa.compute.equal(shares["kind"], "data"))
    axes = plot.channel_shares(replace(result, tables=result.tables | {"shares": only})).axes[0]
    assert axes.get_xlabel().startswith("data: ")


def test_kinds_of_lines_beyond_the_dashes_are_thinner():
    looks = [str(style.outline(0, kind)) for kind in range(14)]
    assert len(set(looks)) == 14


def test_what_figures_cannot_use_is_told(result):
    for wrong, told in [
        (lambda: plot.latency_over_time(one for one in [result]), "give a list"),
        (lambda: plot.latency_over_load([result], traffic=["u"]), "is no traffic class"),
        (lambda: pictures.latency_distribution(result, latency="nope"), "there is no latency 'nope'"),
        (lambda: pictures.phase_times(result), "only runs with jobs of phases have it"),
        (lambda: pictures.job_times(result), "there are no jobs to draw"),
    ]:
        with pytest.raises(tailback.InputError, match=told):
            wrong()


def test_a_figure_for_a_column_of_a_paper_is_narrow_and_has_its_legend_above(result):
    with style.width(3.3):
        figure = plot.throughput_over_time({"a": result, "b": result})
    (legend,) = figure.legends
    figure.draw_without_rendering()
    (axes,) = figure.axes
    assert figure.get_figwidth() == 3.3
    assert legend.get_window_extent().y0 >= axes.get_window_extent().y1
    assert legend.get_window_extent().x1 <= figure.bbox.width
    assert axes.xaxis.label.get_fontsize() < 9
    assert plot.throughput_over_time(result).get_figwidth() == 7.2


def test_names_of_axes_have_room_in_a_narrow_figure():
    with style.width(3.3), style.styled():
        figure, panels = style.figure(3, height=2.2)
        for axes in panels:
            axes.plot([0, 1], label="a")
            axes.set_ylabel("share of the messages of all classes [%]")
        style.legend(figure, panels)
        figure.draw_without_rendering()
    for above, below in pairwise(panels):
        upper, lower = (axes.yaxis.label.get_window_extent() for axes in (above, below))
        assert upper.y0 > lower.y1


def test_the_command_draws_figures_of_a_width(command, result, tmp_path):
    result.save(tmp_path / "here")
    assert command("plot", "here", "--width", "3.3")[0] == 0
    assert imread(tmp_path / "here" / "plots" / "throughput_over_time.png").shape[1] == 3.3 * 160
    assert command("plot", "here", "--width", "1")[0] == 2
