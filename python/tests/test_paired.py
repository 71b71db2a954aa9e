"""Differences of points of a sweep, seed by seed."""

import pyarrow as pa
import pytest

from tailback.errors import InputError
from tailback.sweeps.paired import differences


def swept():
    """Two schemes, two loads and three seeds, of which one point gave no result and one no latency."""
    rows = []
    for scheme, more in (("none", 0.0), ("lhrp", 2.0)):
        for load in (0.1, 0.2):
            for seed in (1, 2, 3):
                where = {"kind": scheme, "load": load, "run.seed": seed}
                if (scheme, load, seed) == ("none", 0.2, 3):
                    rows.append({**where, "class": None, "failed": "it deadlocked"})
                    continue
                latency = None if (scheme, load, seed) == ("lhrp", 0.2, 2) else 100 * load * seed + more
                told = {"packets": 10 * seed, "latency_ns": latency, "stable": True, "directory": "points/p"}
                rows.append({**where, "class": "all", **told})
    names = ("kind", "load", "run.seed", "class", "packets", "latency_ns", "stable", "directory", "failed")
    return pa.table({name: [row.get(name) for row in rows] for name in names})


def test_each_seed_is_compared_with_itself():
    told = differences(swept(), "kind", "none")
    assert told.column_names == ["kind", "load", "run.seed", "class", "directory", "packets", "latency_ns"]
    assert told["kind"].to_pylist() == ["lhrp"] * 6
    assert told["latency_ns"].to_pylist() == pytest.approx([2, 2, 2, 2, None, None])
    assert told["packets"].to_pylist() == [0, 0, 0, 0, 0, None]


def test_a_number_is_compared_as_it_is_told():
    told = differences(swept(), "load", "0.1")
    assert told["load"].to_pylist() == [0.2] * 5
    assert told["latency_ns"].to_pylist() == pytest.approx([10, 20, 10, None, 30])


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [("size", "1", "does not change 'size'"), ("kind", "srp", "no point has srp at kind")],
)
def test_what_is_not_in_the_sweep_is_told(key, value, told):
    with pytest.raises(InputError, match=told):
        differences(swept(), key, value)
