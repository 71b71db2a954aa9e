"""What waits in switches, as figures of several runs and many snapshots draw it."""

from dataclasses import replace

import pyarrow as pa

from tailback import plot


def test_snapshots_that_are_shown_are_common_to_all_runs_with_the_fullest_among_them(result):
    def with_times(times, fullest):
        rows = {"time_ns": times, "switch": [0] * len(times), "flits": [9 * (at == fullest) for at in times]}
        return replace(result, tables={"occupancy": pa.table(rows)})

    def shown(*runs):
        legend = plot.switch_occupancy(list(runs)).legends[0]
        return [text.get_text() for text in legend.get_texts()]

    times = [1000 * at for at in range(1, 21)]
    assert shown(with_times(times, 1000)) == ["1 us", "6 us", "10 us", "13 us", "16 us", "20 us"]
    even = ["3 us", "6 us", "9 us", "12 us", "15 us", "18 us"]
    assert shown(with_times(times, 0), with_times(times[:18], 0)) == even
    assert shown(with_times(times, 20_000), with_times(times[:18], 0)) == even, "20 us is of one run only"


def test_each_of_several_runs_has_a_panel_of_its_queues_and_each_time_one_look(result):
    def at(*times):
        queued = {"time_ns": [*times], "switch": [0] * len(times), "flits": [times[0] / 100] * len(times)}
        return replace(result, tables={"occupancy": pa.table(queued)})

    figure = plot.switch_occupancy({"a": at(1000, 3000), "b": at(2000, 3000)})
    assert [axes.get_title("left") for axes in figure.axes] == ["a", "b"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["1 us", "3 us", "2 us"]
    (_, of_a), (_, of_b) = (axes.get_lines() for axes in figure.axes)
    assert of_a.get_color() == of_b.get_color()
    assert {axes.get_ylim() for axes in figure.axes} == {(0, 21)}


def test_what_waits_over_time_is_zero_where_a_sample_has_no_row(result):
    held = {"time_ns": [1000, 1000, 2000, 2000, 3000], "switch": [0, 1, 0, 1, 0], "flits": [5, 1, 0, 0, 4]}
    waiting = {"time_ns": [1000, 1000, 3000], "switch": [0, 0, 0], "port": [0, 1, 0], "flits": [2, 3, 4]}
    run = replace(result, tables={"occupancy": pa.table(held), "queues": pa.table(waiting)})
    lines = [axes.get_lines()[0] for axes in plot.occupancy_over_time(run).axes]
    assert [line.get_ydata().tolist() for line in lines] == [[5, 0, 4], [3, 0, 2], [3, 0, 4]]
    assert [line.get_xdata().tolist() for line in lines] == [[1, 2, 3]] * 3


def test_what_waits_over_time_has_a_line_per_run_and_no_ports_where_none_were_recorded(result):
    figure = plot.occupancy_over_time({"a": result, "b": result})
    names = [axes.get_ylabel().split("\n")[0] for axes in figure.axes]
    assert names == ["fullest switch", "mean of switches"]
    assert [[line.get_label() for line in axes.get_lines()] for axes in figure.axes] == [["a", "b"]] * 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", "b"]
