"""What is printed of a sweep."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sweeping import run

from tailback.cli import sweep_shown
from tailback.sweeps import store


@pytest.fixture
def swept(tmp_path):
    values = [{"kind": "ecn", "threshold": "4 flits"}, "none"]
    run(tmp_path / "done", over={"a": values}, seeds=2)
    return tmp_path / "done" / store.TABLE


def test_a_sweep_is_shown_with_a_row_per_point_and_the_mean_over_its_seeds(command, swept):
    status, out, err = command("show", "done")
    assert (status, err) == (0, "")
    lines = [line.strip("│┃ ") for line in out.splitlines()]
    assert [line.strip() for line in lines if line in ("hot", "victim")] == ["hot", "victim"]
    assert sum("ecn threshold 4 flits" in line for line in lines) == 2
    assert [line.split("│")[1].strip() for line in lines if "none" in line] == ["10 ± 0", "40 ± 0"]
    assert "means over 2 seeds" in out
    assert "directory" in lines[-1]


def test_a_run_that_is_two_points_counts_once(command, tmp_path):
    run(tmp_path / "alike", over={"a": [1, "1", 2]}, seeds=[1])
    assert pq.read_table(tmp_path / "alike" / store.TABLE)["a"].to_pylist() == [1.0, 1.0, 2.0, 2.0]
    status, out, _ = command("show", "alike")
    assert (status, "±" in out) == (0, False)


def test_a_sweep_is_shown_as_one_object(command, swept):
    table = pq.read_table(swept)
    at = table.column_names.index("accepted")
    pq.write_table(table.set_column(at, "accepted", [[float("nan")] * table.num_rows]), swept)
    _, out, _ = command("show", "done", "--json")
    rows = json.loads(out)["rows"]
    assert len(rows) == 8
    assert {row["accepted"] for row in rows} == {None}


def test_points_are_shown_against_those_with_a_value(command, swept):
    status, out, err = command("show", "done", "--against", "a = none")
    assert (status, err) == (0, "")
    assert "what points have more than those with a = none, seed by seed" in out
    lines = [line.split("│") for line in out.splitlines() if "ecn threshold" in line]
    assert [line[2].strip() for line in lines] == ["0 ± 0", "0 ± 0"]
    status, out, _ = command("show", "done", "--against", "a=none", "--json")
    assert {row["accepted"] for row in json.loads(out)["rows"]} == {0.0}


def test_points_of_keys_that_change_together_are_shown_against_one_of_them(command, tmp_path):
    run(tmp_path / "zipped", over={"zip": {"a": [1, 2, 3], "b": ["x", "y", "z"]}}, seeds=2)
    status, out, err = command("show", "zipped", "--against", "a=1", "--json")
    assert (status, err) == (0, "")
    rows = json.loads(out)["rows"]
    assert {(row["a"], row["b"]) for row in rows} == {(2, "y"), (3, "z")}
    assert {row["accepted"] for row in rows} == {0.0}
    status, _, err = command("show", "zipped", "--against", "a=1", "--against", "a=2")
    assert (status, "a is given twice" in err) == (2, True)
    # Only what is compared with others asks what changes together: a table can be shown without.
    (tmp_path / "zipped" / store.MANIFEST).write_text("{}")
    assert command("show", "zipped")[0] == 0
    status, _, err = command("show", "zipped", "--against", "a=1")
    assert (status, "is damaged" in err) == (2, True)


@pytest.mark.parametrize(
    ("against", "told"),
    [("a", "'a' names no value"), ("b=1", "does not change 'b'"), ("a=lhrp", "no point has lhrp at a")],
)
def test_what_a_sweep_is_not_shown_against(command, swept, against, told):
    status, _, err = command("show", "done", "--against", against)
    assert (status, told in err) == (2, True)


def test_a_job_that_did_not_end_takes_longer_than_that(command, swept):
    table = pq.read_table(swept)
    rows = range(table.num_rows)
    times = {"time_ns": [1e3 if row // 4 else None for row in rows], "time_over_ns": [5e3] * len(rows)}
    for name, values in times.items():
        table = table.append_column(name, [values])
    pq.write_table(table, swept)
    _, out, _ = command("show", "done")
    assert out.count("> 5 ") == 2
    assert ">: of a job that did not end in all runs, and takes longer than that" in out


def test_a_mean_without_what_had_not_arrived_is_a_lower_bound(command, swept):
    table = pq.read_table(swept)
    table = table.append_column("message_latency_mean_ns", [[5.0] * table.num_rows])
    pq.write_table(table, swept)
    assert "≥" not in command("show", "done")[1]
    missing = [int(row == 0) for row in range(table.num_rows)]
    pq.write_table(table.append_column("message_latency_missing", [missing]), swept)
    _, out, _ = command("show", "done")
    assert (out.count("≥ "), "≥: what had not arrived" in out) == (1, True)


@pytest.mark.parametrize(
    ("missing", "shown"),
    [
        (((0, 0), (0, 0)), "5.000 ± 0"),
        (((0, 3), (0, 0)), "≥ 5.000 ± 0"),
        (((0, 0), (4, 0)), "≤ 5.000 ± 0"),
        (((0, 3), (0, 3)), "not known"),
        (((2, 3), (3, 3)), "not known"),
        (((3, 0), (0, 3)), "not known"),  # one seed is a lower bound, the other an upper one
    ],
)
def test_a_difference_of_latencies_is_a_bound_if_one_of_them_is(command, tmp_path, missing, shown):
    run(tmp_path / "done", over={"a": [1, 2]}, seeds=2)
    file = tmp_path / "done" / store.TABLE
    table = pq.read_table(file)
    column = {2: missing[0], 1: missing[1]}
    rows = [(row["a"], row["run.seed"]) for row in table.to_pylist()]
    table = table.append_column("message_latency_mean_ns", [[5.0 * a for a, _ in rows]])
    table = table.append_column("message_latency_missing", [[column[a][seed - 1] for a, seed in rows]])
    pq.write_table(table, file)
    _, out, _ = command("show", "done", "--against", "a=1")
    cells = [cell.strip() for line in out.splitlines() for cell in line.split("│")]
    assert (cells.count(shown.replace(".000", "")), "messages of both" in out) == (2, shown == "not known")
    assert ("≥: " in out) == ("≤: so" in out) == (shown[0] in "≥≤")


def test_a_difference_from_what_is_not_stable_is_marked_so(command, swept):
    table = pq.read_table(swept)
    at = table.column_names.index("stable")
    states = [row["a"] != "none" for row in table.to_pylist()]
    pq.write_table(table.set_column(at, "stable", [states]), swept)
    out = command("show", "done", "--against", "a=none")[1]
    lines = [line for line in out.splitlines() if "ecn threshold" in line]
    assert [line.split("│")[-2].strip() for line in lines] == ["no"] * 2


def test_what_may_not_be_stable_is_told(command, swept):
    table = pq.read_table(swept)
    at = table.column_names.index("stable")
    classes = table["class"].to_pylist()
    for states, told in (([None], False), ([True, None], True), ([True, False, None], True)):
        column = [states[row // 2 % len(states)] for row in range(len(classes))]
        pq.write_table(table.set_column(at, "stable", [column]), swept)
        _, out, _ = command("show", "done")
        assert ("stable" in out, "?: not to be told" in out) == (told, told)


def test_points_that_gave_no_result_are_told_and_not_shown(command, swept):
    table = pq.read_table(swept)
    gone = table.slice(0, 1).to_pylist()[0] | {"class": None, "failed": "deadlock"}
    pq.write_table(table.from_pylist([gone, *table.to_pylist()[2:]], None), swept)
    status, out, err = command("show", "done")
    assert (status, "run.seed = 1: deadlock" in err, "hot" in out) == (0, True, True)


def test_where_no_sweep_can_be_shown_its_points_are_pointed_to(command, swept):
    status, _, err = command("view", "done")
    assert (status, "the column directory of sweep.parquet says which is which" in err) == (2, True)
    swept.rename(swept.with_name("kept"))  # a search for a saturation leaves no table
    status, _, err = command("view", "done")
    assert (status, "the folders in done/points" in err, "sweep.parquet" in err) == (2, True, False)
    swept.with_name("kept").rename(swept)
    status, _, err = command("show", "done", "done/points")
    assert (status, "shown or drawn by itself" in err) == (2, True)


def test_differences_from_points_without_a_result_are_told_as_such():
    row = {"traffic.load": 0.1, "class": "all", "directory": "points/0", "accepted": None}
    table = pa.Table.from_pylist([row, row | {"traffic.load": 0.2, "accepted": 0.1}])
    for compared in (False, True):
        *_, told = (
            one for one in sweep_shown.shown(table, whole=False, compared=compared) if isinstance(one, str)
        )
        assert told.startswith("not known: ")
        assert ("the point compared with has no result" in told) == compared
