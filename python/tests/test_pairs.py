"""What pairs got through, as the figure of them over time draws it."""

import numpy as np
import pyarrow as pa
import pytest

import tailback
from tailback import plot
from tailback.errors import InputError

SCENARIO = "packet.flit = '100 B'\n[record]\npairs = '1.1 us'\n"
"""The stand-in's channels carry a bit in a ns, so that 125 B, of which a bin of 1 us is, are 1.25 flits."""
FULL = 1.25


def run(rows, end=4000.0):
    """A result whose pairs got flits through: class, source, destination, when in us, how many."""
    columns = dict(
        zip(("class", "source", "destination", "time_ns", "flits"), zip(*rows, strict=True), strict=True)
    )
    columns["time_ns"] = [1000.0 * at for at in columns["time_ns"]]
    summary = {"simulated_ns": end, "classes": {"a": {}, "b": {}}}
    return tailback.Result(SCENARIO, summary, {"pairs": pa.table(columns)})


def drawn(axes):
    return {line.get_label(): line.get_ydata() * FULL / 100 for line in axes.get_lines()}


def test_a_bin_without_flits_is_zero_and_a_last_one_that_is_cut_short_left_out():
    (axes,) = plot.pair_throughput(
        run([("a", 0, 2, 1, 5), ("a", 0, 2, 3, 1), ("a", 1, 2, 0, 2)], 3900.0)
    ).axes
    assert axes.get_lines()[0].get_xdata().tolist() == [0.5, 1.5, 2.5], "as wide as rows tell: 1 us"
    told = drawn(axes)
    assert told["0 to 2"].tolist() == pytest.approx([0, 5, 0])
    assert told["1 to 2"].tolist() == pytest.approx([2, 0, 0])


def test_a_pair_is_of_all_classes_or_of_those_that_are_asked_for():
    both = run([("a", 0, 2, 0, 5), ("b", 0, 2, 0, 1), ("b", 1, 2, 0, 2), ("a", 0, 2, 1, 1)])
    told = drawn(plot.pair_throughput(both).axes[0])
    assert (told["0 to 2"][0], told["1 to 2"][0]) == pytest.approx((6, 2))
    (axes,) = plot.pair_throughput(both, traffic="a").axes
    assert list(drawn(axes)) == ["0 to 2"]
    assert axes.get_title("left") == "a"
    with pytest.raises(InputError, match="holds no traffic class 'c'"):
        plot.pair_throughput(both, traffic="c")


def test_of_many_pairs_the_busiest_are_shown_first_those_of_low_numbers():
    figure = plot.pair_throughput(run([("a", source, 20, 0, 5 + (source == 15)) for source in range(16)]))
    assert list(drawn(figure.axes[0])) == [f"{source} to 20" for source in (*range(9), 15)]
    assert figure.get_supxlabel() == "not shown: 6 pairs with less in all"


def test_each_of_several_runs_has_a_panel_and_a_pair_one_look():
    figure = plot.pair_throughput(
        {"x": run([("a", 0, 2, 0, 8)]), "y": run([("a", 0, 2, 0, 1), ("a", 1, 2, 0, 4)])}
    )
    assert [axes.get_title("left") for axes in figure.axes] == ["x", "y"]
    (of_x, starved), (of_y, _) = (axes.get_lines() for axes in figure.axes)
    assert of_x.get_color() == of_y.get_color()
    assert not np.any(starved.get_ydata())
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["0 to 2", "1 to 2"]


def test_a_scenario_that_does_not_tell_the_bins_is_a_mistake():
    plain = run([("a", 0, 2, 0, 8)])
    damaged = tailback.Result("packet.flit = '100 B'\n", plain.summary, plain.tables)
    with pytest.raises(InputError, match="does not tell bandwidth and bins"):
        plot.pair_throughput(damaged)
