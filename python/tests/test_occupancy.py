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
