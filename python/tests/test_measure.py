"""What experiments measure of results, and how runs of several seeds come together."""

import math
from types import SimpleNamespace

import pyarrow as pa
import pytest

from tailback.experiments import measure
from tailback.experiments.model import Data, Times, value


def test_every_measure_is_of_the_class_and_the_kind_asked_for():
    latency = {"mean": None, "saturated": True}
    facts = {
        "accepted": 0.4,
        "accepted_per_destination": 0.9,
        "offered": 0.5,
        "packets": 10,
        "dropped_packets": 2,
        "network_latency_ns": latency,
        "packet_latency_ns": {"mean": 5.0, "saturated": False},
    }
    rows = {
        "class": ["a", "a", "a", "b"],
        "latency": ["network", "network", "packet", "network"],
        "low_ns": [10.0, 20.0, 900.0, 900.0],
        "high_ns": [12.0, 22.0, 900.0, 900.0],
        "count": [3, 1, 50, 50],
    }
    one = SimpleNamespace(
        summary={
            "classes": {"a": facts},
            "channel_shares": {"local": {"data": 0.6, "ack": 0.2}, "global": {"data": 0.1, "ack": 0.0}},
            "injection_shares": {"data": 0.3},
            "ejection_shares": {"data": 0.7, "ack": 0.1},
        },
        tables={"histograms": pa.table(rows)},
    )
    assert measure.accepted("a")(one) == 0.4
    assert math.isnan(measure.latency("a")(one))
    assert measure.latency("a", "packet")(one) == measure.delivered_latency("a", "packet")(one) == 5.0
    assert measure.delivered_latency("a")(one) == pytest.approx((3 * 11 + 21) / 4)
    assert (measure.is_saturated("a")(one), measure.is_saturated("a", "packet")(one)) == (1.0, 0.0)
    assert measure.packets_share("a", "dropped")(one) == pytest.approx(0.1)
    assert measure.per_packet("a", "dropped")(one) == pytest.approx(0.2)
    assert measure.utilisation({"local": 3, "global": 1})(one) == pytest.approx((3 * 0.8 + 0.1) / 4)
    assert measure.utilisation({"local": 1, "ejection": 1}, ["data"])(one) == pytest.approx(0.65)


def test_a_mean_series_is_of_the_runs_that_know_a_value_and_as_long_as_the_shortest():
    def of(values):
        return SimpleNamespace(
            tables={
                "series": pa.table(
                    {
                        "class": ["a"] * len(values),
                        "time_ns": [1e3 * at for at in range(len(values))],
                        "x": values,
                    }
                )
            }
        )

    times, values = measure.mean_series([of([1.0, math.nan, 5.0]), of([3.0, 4.0])], "a", "x")
    assert (times.tolist(), values.tolist()) == ([0.0, 1.0], [2.0, 4.0])


def test_curves_are_of_the_labels_asked_for_with_all_their_seeds():
    assert value("x", "1", 2.0, (0.5, math.inf), "us").tolerance == "at least 0.5 us"
    assert value("x", "1", 2.0, (-math.inf, 5), "us").tolerance == "at most 5 us"
    assert Times(1, 2, 3).total == 6
    runs = [
        ({"kind": kind, "load": load, "seed": seed}, base + load + seed)
        for kind, base in (("x", 0), ("y", 100))
        for load in (10, 20)
        for seed in (1, 2, 6)
    ]
    steps, means = Data(runs).curve(float, "load", kind="y")
    assert (steps, [mean.mean for mean in means], means[0].values) == ([10, 20], [113, 123], 3)
