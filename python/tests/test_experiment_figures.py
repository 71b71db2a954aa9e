"""What the figures of experiments show of intervals, and how they are told apart."""

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba

from tailback.experiments import draw, saa_cca, saa_injection, srp_fig7, srp_fig14, srp_scale
from tailback.experiments.measure import interval_series, mean_series
from tailback.experiments.model import Data
from tailback.figures import style
from tailback.stats import Interval, mean_interval

WIDE = Interval(0.7, 0.8, 2)
WAYS = {
    "curve": lambda axes, point: draw.curve(axes, [1], [point], "x", 0),
    "dots": lambda axes, point: draw.dots(axes, ["a"], {"x": [point]}, [0]),
    "single_dots": lambda axes, point: draw.single_dots(axes, ["a"], [point], [0]),
    "grouped_bars": lambda axes, point: draw.grouped_bars(axes, ["a"], {"x": [point]}),
    "bars": lambda axes, point: draw.bars(axes, ["a"], [point], [0]),
}


def panel():
    figure, (axes,) = style.figure()
    return figure, axes


def notes(axes):
    return axes.figure.get_supxlabel()


def ends(axes):
    """Lower and upper ends of the error bars."""
    found = [part for part in axes.collections if isinstance(part, LineCollection)]
    return [tuple(segment[:, 1]) for part in found for segment in part.get_segments()]


@pytest.mark.parametrize("way", WAYS)
def test_an_interval_that_passes_zero_is_drawn_whole(way):
    _, axes = panel()
    WAYS[way](axes, WIDE)
    assert ends(axes) == [pytest.approx((-0.1, 1.5))]
    low, high = axes.get_ylim()
    assert low < -0.1
    assert high > 1.5


@pytest.mark.parametrize("way", ["curve", "dots", "single_dots"])
def test_an_interval_that_passes_zero_leaves_a_logarithmic_axis_below_without_a_cap(way):
    figure, axes = panel()
    WAYS[way](axes, WIDE)
    style.logarithmic(axes, "y")
    figure.canvas.draw()
    ((low, _),) = ends(axes)
    bottom = axes.bbox.y0
    assert 0 < axes.get_ylim()[0] < WIDE.mean
    assert axes.transData.transform((0, low))[1] < bottom
    caps = [line for line in axes.lines if line.get_marker() == "_"]
    below = [line for line in caps if axes.transData.transform((0, line.get_ydata()[0]))[1] < bottom]
    assert (len(caps), len(below)) == (2, 1)


@pytest.mark.parametrize("way", WAYS)
def test_a_single_run_has_no_error_bar(way):
    _, axes = panel()
    WAYS[way](axes, mean_interval([0.7]))
    assert ends(axes) == []


def test_bars_may_be_plain_numbers():
    _, axes = panel()
    draw.grouped_bars(axes, ["a", "b"], {"x": [1.0, 2.0], "y": [Interval(3.0, 0.5, 3), 4.0]})
    assert [bar.get_height() for bar in axes.patches] == [1, 2, 3, 4]
    assert ends(axes) == [(2.5, 3.5)]


def test_limits_that_are_given_hold_unless_an_interval_passes_them():
    _, axes = panel()
    draw.curve(axes, [1, 2], [Interval(0.5, 0.1, 2), Interval(math.nan, math.nan, 0)], "x", 0)
    draw.hold(axes, 0, 1.05)
    assert axes.get_ylim() == (0, 1.05)
    draw.curve(axes, [3], [WIDE], "y", 1)
    draw.hold(axes, 0, 1.05)
    low, high = axes.get_ylim()
    assert low < -0.1
    assert high > 1.5


def test_the_axis_of_saa_table1_holds_what_is_not_sure(monkeypatch):
    monkeypatch.setattr(saa_injection, "ratio", lambda *_: WIDE)
    data = Data([({"injection": "i", "flows": count, "buffer": 2}, None) for count in (1, 2)])
    (axes,) = saa_injection.draw(data, ["i"], [2]).axes
    assert axes.get_ylim()[0] < -0.1
    assert axes.get_ylim()[1] > 1.5


def test_a_logarithmic_axis_of_whole_decades_does_not_make_much_of_little():
    _, axes = panel()
    style.logarithmic(axes, "y")
    whole = axes.get_ylim()
    draw.whole_decades(axes)
    assert axes.get_ylim() == whole
    draw.curve(axes, [1, 2], [Interval(1.01, 2.0, 2), Interval(1.18, 0.0, 2)], "x", 0)
    draw.whole_decades(axes)
    assert axes.get_ylim() == (1, 10)


def series(accepted, traffic="background"):
    """A run with a time series about the onset."""
    times = np.linspace(0, 2e6, len(accepted))
    columns = {"time_ns": times, "packet_latency_ns": 2e3 * np.array(accepted), "accepted": accepted}
    return SimpleNamespace(tables={"series": pa.table({"class": [traffic] * len(accepted), **columns})})


def test_the_interval_of_a_bin_is_over_the_runs_that_know_it():
    runs = [series([0.4, 0.3, math.nan]), series([0.2, math.nan, math.nan])]
    _, points = interval_series(runs, "background", "accepted")
    assert points[0] == mean_interval([0.4, 0.2])
    assert math.isnan(points[1].half)
    _, means = mean_series(runs, "background", "accepted")
    np.testing.assert_allclose([point.mean for point in points], means)


def test_means_over_time_have_bands_and_tell_of_how_many_seeds_and_when_the_hot_spot_begins():
    runs = [series([0.4, 0.3, 0.5]), series([0.2, 0.3, 0.4])]
    data = Data([({"protocol": "ecn", "seed": seed}, run) for seed, run in enumerate(runs)])
    for axes in srp_fig7.draw(data).axes:
        (band,) = (part for part in axes.collections if isinstance(part, PolyCollection))
        line = next(line for line in axes.lines if line.get_label() == "ECN")
        assert band.get_paths()[0].vertices[:, 1].max() > max(line.get_ydata())
        assert "hot spot begins" in axes.get_legend_handles_labels()[1]
    assert "means of 2 seeds, bands: 95 % intervals" in notes(axes)


def test_a_single_run_over_time_is_called_one_seed():
    data = Data([({"protocol": "srp", "seed": 1}, series([0.4] * 50, "uniform"))])
    (axes,) = srp_fig14.draw(data).axes
    assert "one seed" in notes(axes)
    assert "the impulse" in axes.get_legend_handles_labels()[1]


def test_every_variant_of_a_protocol_has_its_colour_and_its_interval(monkeypatch):
    monkeypatch.setattr(srp_scale, "_ACCEPTED", lambda result: result)
    variants = [name for name, _, _ in srp_scale._VARIANTS]
    data = Data([({"variant": name, "seed": at}, 0.5 + 0.1 * at) for name in variants for at in (0, 1)])
    (axes,) = srp_scale.draw(data).axes
    colours = [style.bar(draw.look("none"))["color"], *[style.bar(draw.look("srp"))["color"]] * 4]
    assert [bar.get_facecolor() for bar in axes.patches] == [pytest.approx(to_rgba(c)) for c in colours]
    assert len(ends(axes)) == len(variants)


def test_a_series_is_drawn_at_the_middles_of_its_bins():
    data = Data([({"protocol": "srp", "seed": 1}, series([0.4] * 101, "uniform"))])
    (axes,) = srp_fig14.draw(data).axes
    # Bins of 20 us: the first that is shown begins at 900.
    assert axes.lines[0].get_xdata()[0] == pytest.approx(910)


def test_error_bars_are_explained_and_what_is_shown_is_described():
    with style.styled():
        figure, (axes,) = style.figure()
        draw.curve(axes, [1, 2], [Interval(1.0, 0.1, 3), Interval(2.0, 0.1, 3)], "one", 0)
        draw.curve(axes, [1, 2], [Interval(1.0, 0.1, 3), Interval(2.0, 0.1, 3)], "two", 1)
        draw.finish(figure, axes, "load [%]", "latency [us]", "hollow: so and so")
        draw.explained(figure)
        draw.explained(figure)
    assert figure.get_supxlabel().splitlines() == [
        "hollow: so and so",
        "error bars: 95 % confidence intervals",
    ]
    assert draw.described(figure) == "latency [us] over load [%]; of one, two"


def test_the_legend_of_saa_cca_shows_the_fills_that_are_drawn(monkeypatch):
    def legend(**points):
        monkeypatch.setattr(saa_cca, "measured", lambda _, name: points[name])
        figure = saa_cca.draw(SimpleNamespace(values=lambda _: list(points)))
        (axes,) = figure.axes
        handles, labels = axes.get_legend_handles_labels()
        return {label: handle.get_markerfacecolor() for handle, label in zip(handles, labels, strict=True)}

    hollow, full = (1.0, 3.0, 2.0), (1.0, 2.0, 3.0)
    assert legend(SAA=hollow) == {"SAA": "white", "hollow: its victims": "white"}
    both = legend(SAA=hollow, all=full)
    assert list(both) == ["SAA", "marks all", "full: all-to-one", "hollow: its victims"]
    assert [both["SAA"], both["marks all"]] == ["white", style.COLOURS[1]]
