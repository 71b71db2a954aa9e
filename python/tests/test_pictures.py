"""Pictures show what is in the tables: here of an incast that is throttled beside pairs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tailback
from tailback import pictures, style

SCENARIO = Path(__file__).parents[2] / "scenarios" / "abatement.toml"
pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def throttled():
    return tailback.Scenario.load(SCENARIO).replace({"record.ports": True}).run()


def test_every_port_between_switches_is_a_point_of_the_triangle(throttled):
    (axes,) = pictures.port_ternary(throttled).axes
    points = [line for line in axes.get_lines() if line.get_label() in ("local", "global")]
    assert [len(line.get_xdata()) for line in points] == [36 * 3, 36 * 2]
    assert all((line.get_ydata() >= 0).all() and (line.get_ydata() < 0.87).all() for line in points)


def test_points_of_one_class_of_links_hide_none_of_another(throttled):
    figure = pictures.port_ternary(throttled)
    local, above = (line for line in figure.axes[0].get_lines() if line.get_label() in ("local", "global"))
    assert local.get_markerfacecolor() == above.get_markerfacecolor() == "none"
    assert local.get_markersize() > above.get_markersize()
    assert "those to endpoints are not shown" in figure.get_supxlabel()


def test_any_number_of_link_classes_has_markers(throttled):
    classes = [f"links of {number} ns" for number in range(30)]
    times = {f"{state}_ns": [1.0] * len(classes) for state in ("idle", "active", "stalled")}
    ports = pa.table({"link_class": classes, **times})
    (axes,) = pictures.port_ternary(replace(throttled, tables={"ports": ports})).axes
    shown = [line for line in axes.get_lines() if line.get_label() in classes]
    assert len({(line.get_color(), line.get_marker()) for line in shown}) == len(classes)


def test_the_map_shows_all_that_waits(throttled):
    axes, _ = pictures.occupancy_map(throttled).axes
    (image,) = axes.get_images()
    shown = np.asarray(image.get_array().filled(0))
    assert shown[shown >= 1].sum() == sum(throttled.tables["queues"]["flits"].to_pylist())
    assert (shown == 0.5).sum() + (shown >= 1).sum() == 36 * 7


def test_a_run_in_which_nothing_waits_has_an_empty_map(throttled):
    empty = replace(throttled, tables=throttled.tables | {"queues": throttled.tables["queues"].slice(0, 0)})
    panels = pictures.occupancy_map({"a": throttled, "b": empty}).axes
    (image,) = next(axes for axes in panels if axes.get_title().startswith("b,")).get_images()
    assert (np.asarray(image.get_array().compressed()) == 0.5).all()


def test_all_senders_of_the_incast_are_throttled_at_some_time(throttled):
    above, below = pictures.allowed_rate(throttled).axes
    assert below.get_lines()[0].get_ydata().max() == 15
    assert below.get_lines()[0].get_ydata()[-1] == 0
    rates = np.concatenate([line.get_ydata() for line in above.get_lines()])
    assert rates.min() == 0, "a pause"
    assert rates[rates > 0].min() == pytest.approx(1 / 15, rel=0.1)
    assert 0 < above.get_ylim()[0] < 1 / 15


def test_throttled_endpoints_are_counted_in_whole_numbers(throttled):
    figure = pictures.allowed_rate(throttled)
    figure.draw_without_rendering()  # ticks depend on the place that there is
    assert all(tick == round(tick) for tick in figure.axes[1].get_yticks())


def test_every_job_has_a_bar_for_every_run(throttled):
    for draw, told in (
        (pictures.job_times, "time of the job [us]"),
        (pictures.job_communication, "largest communication time of a rank [us]"),
    ):
        (axes,) = draw({"a": throttled, "b": throttled}).axes
        assert len(axes.patches) == 4
        assert axes.get_xlabel() == told
        assert [text.get_text() for text in axes.figure.legends[0].get_texts()] == ["a", "b"]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["pairs", "incast"]


def test_a_job_has_its_time_beside_that_alone(throttled):
    jobs = {name: facts | {"alone_ns": 2e4} for name, facts in throttled.summary["jobs"].items()}
    result = replace(throttled, summary=throttled.summary | {"jobs": jobs})
    (axes,) = pictures.job_times(result).axes
    assert [bar.get_width() for bar in axes.patches] == [jobs[name]["time_ns"] / 1e3 for name in jobs]
    assert [list(line.get_xdata()) for line in axes.lines] == [[20.0, 20.0]] * 2
    assert axes.get_xlabel() == "time of the job [us]\nblack: alone"


def test_long_names_of_jobs_leave_room_for_the_bars(throttled):
    (facts, *_) = throttled.summary["jobs"].values()
    jobs = {"a job with a very long name, as some have " * 2: facts}
    figure = pictures.job_times(replace(throttled, summary=throttled.summary | {"jobs": jobs}))
    figure.draw_without_rendering()
    assert figure.axes[0].get_window_extent().width > 0.5 * figure.bbox.width


def test_a_job_that_did_not_end_is_drawn_as_such(throttled):
    jobs = dict(throttled.summary["jobs"])
    jobs["incast"] = jobs["incast"] | {"time_ns": None}
    cut_off = replace(throttled, summary=throttled.summary | {"jobs": jobs})
    (axes,) = pictures.job_times({"a": throttled, "b": cut_off}).axes
    assert "did not end" not in pictures.job_times(throttled).axes[0].get_xlabel()
    assert axes.get_xlabel().endswith("not done: a job that did not end, until the end of the run")
    assert [text.get_text() for text in axes.texts] == ["not done"]
    *ended, pale = axes.patches
    assert pale.get_alpha() < 1
    assert pale.get_width() == axes.texts[0].xy[0]
    assert not any(bar.get_alpha() for bar in ended)
    jobs["incast"] |= {"start_ns": 1e9}  # it would have started after the end
    (axes,) = pictures.job_times(replace(throttled, summary=throttled.summary | {"jobs": jobs})).axes
    assert axes.patches[-1].get_width() == 0.0


def test_the_distribution_holds_every_packet(throttled):
    (axes,) = pictures.latency_distribution(throttled).axes
    packets = throttled.summary["classes"]["all"]["packets"]
    assert axes.patches[0].get_data().values.sum() == packets


def test_snapshots_of_an_empty_network_are_shown_too(throttled):
    queues, times = throttled.tables["queues"], [0.0, 1000.0]
    switches = pa.table({"time_ns": times, "switch": [0, 0], "flits": [0, 5]})
    waiting = pa.table({"time_ns": [1000.0], "switch": [0], "port": [1], "flits": [5]})
    assert set(waiting.column_names) <= set(queues.column_names)
    tables = throttled.tables | {"occupancy": switches, "queues": waiting}
    figure = pictures.occupancy_map(replace(throttled, tables=tables))
    assert [axes.get_title() for axes in figure.axes[:2]] == ["0 us", "1 us"]
    empty, full = (np.ma.filled(axes.images[0].get_array(), 0) for axes in figure.axes[:2])
    assert (empty.max(), full.max()) == (0.5, 5)


def test_the_map_has_a_column_per_run_and_says_what_a_block_is(throttled):
    figure = pictures.occupancy_map({"a": throttled, "b": throttled})
    titles = [axes.get_title() for axes in figure.axes if axes.images]
    assert {title.split(",")[0] for title in titles} == {"a", "b"}
    left = {
        title[0]: axes.get_subplotspec().colspan.start for axes in figure.axes if (title := axes.get_title())
    }
    assert left == {"a": 0, "b": 1}
    assert figure.get_supxlabel().startswith("a block per group, each under its number and its switches;")


def snapshots(topology, routing, waiting, times=(1000.0,)):
    """A result of a network, of whose ports some have flits waiting at the given times."""
    scenario = (
        f"topology = {topology}\nrouting = {{ kind = '{routing}' }}\n"
        "[[traffic]]\nname = 'all'\npattern = 'uniform'\nload = 0.1\nmessage = '1 flit'\n"
    )
    rows = [(time, switch, port, 5) for time in times for switch, port in waiting]
    queues = dict(zip(("time_ns", "switch", "port", "flits"), zip(*rows, strict=True), strict=True))
    occupancy = {"time_ns": times, "switch": [0] * len(times), "flits": [5] * len(times)}
    tables = {"queues": pa.table(queues), "occupancy": pa.table(occupancy)}
    return tailback.Result(scenario, {"classes": {}}, tables)


def names_of(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_blocks_of_the_map_are_those_of_the_network_and_have_their_numbers():
    lines = pictures.occupancy_map(snapshots("{ kind = 'kns', k = 4, n = 2 }", "dor", [(0, 1)]))
    assert names_of(lines) == [f"block {at}: switches {6 * at} to {6 * at + 5}" for at in range(4)]
    tree = pictures.occupancy_map(snapshots("{ kind = 'k-ary-n-tree', k = 2, n = 3 }", "nca", [(0, 1)]))
    assert names_of(tree)[0] == "block 0: switches 0, 1, 4, 5, 8, 10"
    group = "{ kind = 'dragonfly', p = 2, a = 4, h = 2, groups = 9 }"
    assert names_of(pictures.occupancy_map(snapshots(group, "minimal", [(9, 1)])))[2].startswith("group 2:")


def test_the_map_has_every_port_also_where_none_but_the_first_has_flits():
    shape = "{ kind = 'kns', k = 4, n = 2 }"
    (image,) = pictures.occupancy_map(snapshots(shape, "dor", [(7, 0)])).axes[0].get_images()
    cells = np.ma.filled(image.get_array(), np.nan)
    assert (cells == 0.5).sum() + 1 == 16 * 3 + 8 * 4, "16 switches of endpoints, 8 that join them"
    assert (cells == 5).sum() == 1


def test_a_network_of_many_blocks_has_a_map_without_their_names():
    shape = "{ kind = 'dragonfly', p = 1, a = 2, h = 300, groups = 601 }"
    figure = pictures.occupancy_map(snapshots(shape, "minimal", [(0, 0)]))
    assert names_of(figure) == []
    assert "in the order of their numbers" in figure.get_supxlabel()


def test_of_several_runs_the_map_has_three_times_each():
    run = snapshots("{ kind = 'torus', dims = [4, 4] }", "dor", [(0, 0)], [1e3 * at for at in range(1, 8)])
    figure = pictures.occupancy_map({"a": run, "b": run})
    titles = [axes.get_title() for axes in figure.axes if axes.images]
    assert sorted(titles) == [f"{label}, {at} us" for label in "ab" for at in (2, 4, 7)]
    assert "not shown: 4 further snapshots" in figure.get_supxlabel()
    assert figure.get_figwidth() < 12
    assert sum(bool(axes.images) for axes in pictures.occupancy_map(run).axes) == 6


def test_without_snapshots_the_map_says_what_to_record(throttled):
    tables = {name: one for name, one in throttled.tables.items() if name not in ("occupancy", "queues")}
    with pytest.raises(tailback.InputError, match=r"\[record\] occupancy"):
        pictures.occupancy_map(replace(throttled, tables=tables))
    with pytest.raises(tailback.InputError, match="is damaged"):
        pictures.occupancy_map(replace(throttled, scenario="[topology]\nkind = 'dragonfly'\n"))


@pytest.mark.parametrize(
    ("to", "pairs", "told"),
    [
        ([], [], "allowed"),
        ([-1], [-1], "allowed"),
        ([-1, 0], [-1, 0], "least rate allowed\ntowards a destination"),
        ([0, 0], [0, 1], "least rate allowed\nof a queue pair"),
    ],
)
def test_of_several_rates_the_least_is_drawn_and_said_to_be(throttled, to, pairs, told):
    one = {
        "endpoint": [0] * len(to),
        "destination": to,
        "queue_pair": pairs,
        "time_ns": [1.0] * len(to),
        "rate": [0.5] * len(to),
    }
    rates = pa.table(one, schema=throttled.tables["rates"].schema)
    above, _ = pictures.allowed_rate(replace(throttled, tables={"rates": rates})).axes
    assert above.get_ylabel().startswith(told)


def test_a_run_has_one_colour_in_both_panels_of_allowed_rates(throttled):
    empty = replace(throttled, tables=throttled.tables | {"rates": throttled.tables["rates"].slice(0, 0)})
    above, below = pictures.allowed_rate({"none": empty, "a": throttled, "b": throttled}).axes
    assert [line.get_color() for line in below.get_lines()] == list(style.COLOURS[:3])
    assert below.get_lines()[0].get_ydata().tolist() == [0, 0]
    (of_none,) = (line for line in above.get_lines() if line.get_label() == "none, always 1")
    assert of_none.get_ydata().tolist() == [1.0, 1.0]
    of_a = [line for line in above.get_lines() if line.get_label().startswith("a,")]
    assert len(of_a) > 1
    assert {line.get_color() for line in of_a} == {style.COLOURS[1]}
