"""Differences of points of a sweep, seed by seed."""

import json
import re

import pyarrow as pa
import pytest

from tailback import _engine
from tailback.errors import InputError
from tailback.sweeps.inner_columns import KINDS
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
    told = differences(swept(), {"kind": "none"})
    assert told.column_names == [
        "kind",
        "load",
        "run.seed",
        "class",
        "directory",
        "packets",
        "latency_ns",
        "stable",
    ]
    assert told["kind"].to_pylist() == ["lhrp"] * 6
    assert told["latency_ns"].to_pylist() == pytest.approx([2, 2, 2, 2, None, None])
    assert told["packets"].to_pylist() == [0, 0, 0, 0, 0, None]


@pytest.mark.parametrize("value", ["0.1", "0.10", "1e-1"])
def test_keys_that_change_together_are_paired_by_the_others(value):
    table = swept()
    sizes = [f"{10 * load:.0f} kB" for load in table["load"].to_pylist()]
    table = table.add_column(1, "size", [sizes])
    together = differences(table, {"load": value}, [("load", "size")])
    alone = differences(swept(), {"load": "0.1"})
    assert together.drop(["size"]).equals(alone)
    assert together["size"].to_pylist() == ["2 kB"] * 5


def test_a_number_is_compared_as_it_is_told():
    told = differences(swept(), {"load": "0.1"})
    assert told["load"].to_pylist() == [0.2] * 5
    assert told["latency_ns"].to_pylist() == pytest.approx([10, 20, 10, None, 30])


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [("size", "1", "does not change 'size'"), ("kind", "srp", "no point has srp at kind")],
)
def test_what_is_not_in_the_sweep_is_told(key, value, told):
    with pytest.raises(InputError, match=told):
        differences(swept(), {key: value})


def of_schemes(*schemes):
    """A latency for each scheme, which is ten times its number, under two loads."""
    rows = [
        {"control": scheme, "load": load, "class": "all", "latency_ns": 10 * number + load}
        for load in (1, 2)
        for number, scheme in enumerate(schemes)
    ]
    return pa.Table.from_pylist(rows)


HPCC = '{"kind": "hpcc", "eta": 0.9}'
SLOWER = '{"kind": "hpcc", "eta": 0.5}'


@pytest.mark.parametrize(
    ("key", "value", "others", "more"),
    [
        ("control.kind", "none", ["swift", HPCC], [10, 20]),
        ("control.kind", "hpcc", ["none", "swift"], [-20, -10]),
        ("control.eta", "0.9", ["none", "swift"], [-20, -10]),
    ],
)
def test_a_key_inside_of_tables_names_points_as_well(key, value, others, more):
    told = differences(of_schemes("none", "swift", HPCC), {key: value})
    assert told["control"].to_pylist() == others * 2
    assert told["latency_ns"].to_pylist() == more * 2


@pytest.mark.parametrize("axis", ["congestion_control", "congestion_control.kind"])
@pytest.mark.parametrize("key", ["congestion_control", "congestion_control.kind"])
def test_a_kind_is_named_with_or_without_its_key_whichever_is_swept(axis, key):
    schemes = of_schemes("none", "swift").rename_columns({"control": axis})
    told = differences(schemes, {key: "none"})
    assert told[axis].to_pylist() == ["swift"] * 2
    assert told["latency_ns"].to_pylist() == [10, 10]
    with pytest.raises(InputError, match="one of none, swift"):
        differences(schemes, {key: "srp"})


def test_a_text_is_a_kind_only_where_there_are_some():
    texts = of_schemes("4 flits", "8 flits").rename_columns({"control": "traffic.u.message"})
    with pytest.raises(InputError, match=r"does not change 'traffic\.u\.message\.kind'"):
        differences(texts, {"traffic.u.message.kind": "4 flits"})


@pytest.mark.engine
def test_texts_are_kinds_at_all_keys_of_scenarios_at_which_they_can_be():
    shapes = json.loads(_engine.schema())["$defs"]
    short = [name for name, shape in shapes.items() if list(shape.get("anyOf", [{}])[0]) == ["enum"]]
    assert sorted(re.sub("(?<=.)(?=[A-Z])", "_", name).lower() for name in short) == list(KINDS)


def test_a_value_inside_of_several_tables_is_refused_with_their_names():
    schemes = of_schemes("none", HPCC, SLOWER)
    with pytest.raises(InputError, match="several points have hpcc at control") as told:
        differences(schemes, {"control.kind": "hpcc"})
    assert '"control=hpcc eta 0.9", "control=hpcc eta 0.5"' in str(told.value)
    assert differences(schemes, {"control": "hpcc eta 0.5"}).num_rows == 4


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("control.eta", "1", "one of 0.9"),
        ("control.kind", "srp", "one of none, hpcc"),
        ("control.size", "1", "one of control, load, control.kind, control.eta"),
    ],
)
def test_what_is_not_inside_of_the_tables_is_told(key, value, told):
    with pytest.raises(InputError, match=told):
        differences(of_schemes("none", HPCC), {key: value})


def in_turn_or_divided():
    """Runs under several queue pairs, as they are and with messages divided, which change together."""
    rows = [
        {
            "pairs": pairs,
            "split": split,
            "run.seed": seed,
            "class": "all",
            "time": 10.0 * pairs + split + seed,
        }
        for pairs, split in ((1, False), (4, False), (4, True))
        for seed in (1, 2)
    ]
    names = ("pairs", "split", "run.seed", "class", "time")
    return pa.table({name: [row[name] for row in rows] for name in names})


def test_points_are_compared_with_those_that_have_several_values():
    zipped = [("pairs", "split")]
    table = in_turn_or_divided()
    told = differences(table, {"pairs": "4", "split": "false"}, zipped)
    assert told["time"].to_pylist() == [-30.0, -30.0, 1.0, 1.0]
    # What changes together with a key tells points apart where others have it too.
    told = differences(table, {"split": "false"}, zipped)
    assert (told["time"].to_pylist(), told["pairs"].to_pylist()) == ([1.0, 1.0], [4, 4])
    told = differences(table, {"pairs": "4"}, zipped)
    assert (told["time"].to_pylist(), told["split"].to_pylist()) == ([-30.0, -30.0], [False, False])
    with pytest.raises(InputError, match="no point has maybe at split"):
        differences(table, {"split": "maybe"}, zipped)


def test_of_several_points_with_a_value_one_has_to_be_named():
    rows = [{"a": a, "b": b, "class": "all", "time": 1.0} for a, b in ((1, "x"), (1, "y"), (2, "z"))]
    table = pa.table({name: [row[name] for row in rows] for name in ("a", "b", "class", "time")})
    with pytest.raises(InputError, match=r'several points have 1 at a.*add one of "b=x", "b=y"'):
        differences(table, {"a": "1"}, [("a", "b")])
    assert differences(table, {"a": "1", "b": "x"}, [("a", "b")])["time"].to_pylist() == [0.0, 0.0]


def lacking(*missing, **more):
    """A point for each number of messages that had not arrived, under loads of 0, 1, ….

    Each is 10 ns slower than the last.
    """
    count = len(missing)
    return pa.table(
        {
            "load": list(range(count)),
            "class": ["a"] * count,
            "message_latency_mean_ns": [10.0 * load for load in range(count)],
            "message_latency_mean_ci95_ns": [1.0] * count,
            "accepted_ci95": [0.1] * count,
            "message_latency_missing": list(missing),
            **more,
        }
    )


def test_two_lower_bounds_have_no_difference_and_what_lacks_of_both_is_told():
    told = differences(lacking(3, 0, 3, 5), {"load": "0"})
    assert told["message_latency_mean_ns"].to_pylist() == [10.0, None, None]
    assert told["message_latency_missing"].to_pylist() == [0, 3, 5]
    assert told["message_latency_missing_base"].to_pylist() == [3, 3, 3]
    assert not [name for name in told.column_names if "ci95" in name]


def test_a_difference_is_stable_if_both_runs_are():
    told = differences(lacking(0, 0, 0, 0, stable=[True, True, None, False]), {"load": "0"})
    assert told["stable"].to_pylist() == [True, None, False]
    told = differences(lacking(0, 0, 0, 0, stable=[False, True, None, False]), {"load": "0"})
    assert told["stable"].to_pylist() == [False] * 3


def test_what_a_job_did_not_end_within_is_compared_with_what_another_took():
    times = {"time_ns": [5.0, None, 9.0], "time_over_ns": [None, 20.0, None]}
    told = differences(lacking(0, 0, 0, **times), {"load": "0"})
    assert told["time_over_ns"].to_pylist() == [15.0, None]
    told = differences(
        lacking(0, 0, 0, time_ns=[None, None, 9.0], time_over_ns=[30.0, 20.0, None]), {"load": "0"}
    )
    assert told["time_over_ns"].to_pylist() == [None, None]


def test_points_without_their_like_are_not_compared():
    table = in_turn_or_divided().filter([True, False, False, True, False, False])
    with pytest.raises(InputError, match="no other point has its like with 1 at pairs"):
        differences(table, {"pairs": "1"}, [("pairs", "split")])
    # Seeds that change together with a key are no like of each other.
    rows = [{"a": seed, "run.seed": seed, "class": "all", "time": 1.0} for seed in (1, 2)]
    table = pa.table({name: [row[name] for row in rows] for name in ("a", "run.seed", "class", "time")})
    with pytest.raises(InputError, match="no other point has its like"):
        differences(table, {"a": "1"}, [("a", "run.seed")])
