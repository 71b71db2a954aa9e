"""Sweeps: what they run, what they tell, and what is refused."""

import contextlib
import json
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from sweeping import SMALL, TEXT, Inline, run

import tailback
from tailback.cli import sweep as sweep_command
from tailback.figures import gallery
from tailback.result import POINTS
from tailback.sweeps import points, saturation, store, sweep
from tailback.sweeps.space import space

TRAFFIC_LOAD = "[[traffic]]\nload = 0.1"


def test_a_row_per_point_and_class_in_the_order_of_the_points(tmp_path):
    done, count = run(tmp_path)
    rows = done.table.to_pylist()
    assert count == 4
    assert [(r["traffic.hot.load"], r["run.seed"], r["class"]) for r in rows[:3]] == [
        (0.1, 1, "hot"),
        (0.1, 1, "victim"),
        (0.1, 2, "hot"),
    ]
    assert len(list(done.results())) == 4
    for row in rows:
        result = tailback.Result.load(tmp_path / row["directory"])
        assert row["accepted"] in result.tables["classes"]["accepted"].to_pylist()
    assert len({row["directory"] for row in rows}) == 4


def test_the_table_of_a_sweep_takes_no_other_tables_of_its_points(tmp_path, monkeypatch):
    real, read = pq.read_table, []

    def noted(file, *arguments, **keywords):
        read.append(file.name)
        return real(file, *arguments, **keywords)

    monkeypatch.setattr(pq, "read_table", noted)
    done, _ = run(tmp_path)
    assert read == ["classes.parquet"] * 4
    assert set(next(done.results()).tables) > {"classes", "series"}


def test_the_sweep_of_the_call_replaces_that_of_the_file(tmp_path):
    done, _ = run(tmp_path, over={"traffic.hot.load": [0.3]}, seeds=[5])
    assert [point.changes for point in done.points] == [{"traffic.hot.load": 0.3, "run.seed": 5}]


def test_wrong_values_are_told_before_anything_runs(tmp_path):
    with pytest.raises(tailback.InputError, match="not so"):
        run(tmp_path, over={"a": ["right", "wrong"]})
    assert not (tmp_path / POINTS).exists()


def test_a_mistake_of_some_values_tells_which(tmp_path):
    over = {"a": ["right", "wrong"], "b": ["right", {"kind": "x"}, "wrong"]}
    with pytest.raises(tailback.InputError) as raised:
        run(tmp_path, over=over)
    told = [problem.message for problem in raised.value.problems]
    assert [message.split("in the sweep's ")[1:] for message in told] == [
        ["a = wrong"],
        ["b = wrong"],
    ]
    scenario = tailback.Scenario.loads('title = "x"\n[sweep]\na = ["right", "wrong"]\n')
    problems, _ = sweep.examine(scenario)
    assert [(problem.path, problem.line) for problem in problems] == [("a", 3)]
    with pytest.raises(tailback.InputError) as raised:
        run(tmp_path, over={"a": ["wrong"], "b": [1, 2]})
    assert "sweep" not in str(raised.value), "all points have it"


@pytest.mark.engine
@pytest.mark.parametrize(("combinations", "seconds"), [(4, 1000.0), (3, 1000.0), (4, -1.0)])
@pytest.mark.parametrize("name", ["sweep", "check"])
def test_values_that_are_wrong_only_together_are_told_before_anything_is_written(
    command, scenario_file, tmp_path, monkeypatch, combinations, seconds, name
):
    """A dragonfly of 5 groups needs 4 links to others from each."""
    monkeypatch.setattr(sweep, "POINTS_MAX", combinations)
    monkeypatch.setattr(sweep, "_TOGETHER_SECONDS", seconds)
    text = SMALL.replace("groups = 9", "groups = 5").split("[sweep]")[0].replace("[[traffic]]", TRAFFIC_LOAD)
    file = scenario_file(f'{text}[sweep]\n"topology.a" = [4, 2]\n"topology.h" = [2, 1]\nseeds = 2\n')
    status, out, err = command(name, file, *(["-o", "done", "--yes"] if name == "sweep" else []))
    if name == "check" and (combinations == 3 or seconds < 0):
        assert (status, "no mistakes" in out) == (0, True), "that many are not looked through"
        return
    assert (status, "in the sweep's topology.a = 2, topology.h = 1" in err) == (2, True), err
    assert not (tmp_path / "done").exists()


def test_a_search_leaves_only_points_and_may_follow_one_of_another_engine(tmp_path, monkeypatch):
    """As in the folder of reproduced experiments, which has results of all engines."""
    searched = tailback.Scenario.loads("")
    for version in ("0.0.0", "9.9.9"):
        monkeypatch.setattr(points, "engine", lambda version=version: version)
        found = saturation.saturation(searched, "traffic.hot.load", executor=Inline(), directory=tmp_path)
        assert found.accepted_load == 1.0
        assert {path.name for path in tmp_path.iterdir()} == {POINTS}


def test_a_million_points_are_refused_without_yes(command, scenario_file):
    file = scenario_file(TEXT.replace("seeds = 2", "seeds = 1000000"))
    status, _, err = command("sweep", file)
    assert status == 2
    assert "2,000,000 points" in err
    assert "--yes" in err


def test_a_folder_is_not_taken_by_a_second_sweep_before_the_first_point_is_complete(
    command, scenario_file, tmp_path
):
    store.write_manifest(tmp_path / "there", tailback.Scenario.loads(TEXT), space({"a": [1]}))
    status, _, err = command("sweep", scenario_file(TEXT), "-o", "there")
    assert (status, "there holds an earlier sweep, or one that is under way" in err) == (2, True)


def test_the_folder_of_a_sweep_is_not_shown_as_a_result(command, tmp_path):
    (tmp_path / "swept" / POINTS).mkdir(parents=True)
    status, _, err = command("show", "swept")
    assert (status, "name one of its points" in err) == (2, True)


def test_a_file_without_a_sweep_is_not_swept_and_its_own_mistakes_come_first(command, scenario_file):
    status, _, err = command("sweep", scenario_file('title = "net"\n'))
    assert (status, "there is no [sweep] table" in err) == (2, True)
    status, _, err = command("sweep", scenario_file("a = wrong\n"))
    assert (status, "[sweep]" in err) == (2, False)


def test_the_table_of_earlier_points_is_gone_before_others_run(tmp_path):
    run(tmp_path)
    assert (tmp_path / store.TABLE).exists()
    store.write_manifest(tmp_path, tailback.Scenario.loads(TEXT), space({"a": [1]}))
    assert not (tmp_path / store.TABLE).exists()


def test_check_judges_the_sweep_too(command, scenario_file):
    status, out, _ = command("check", scenario_file(TEXT))
    assert (status, "4 points to sweep" in out) == (0, True)
    for wrong, told in (
        ("seeds = 0", "net.toml:4: error: sweep.seeds"),
        ('"run.warmup" = ["wrong"]', "run.warmup"),
    ):
        status, _, err = command("check", scenario_file(TEXT.replace("seeds = 2", wrong)))
        assert (status, told in err) == (2, True), err


def test_check_tells_of_one_point_as_of_one(command, scenario_file):
    status, out, _ = command("check", scenario_file("[sweep]\nseeds = 1\n"))
    assert (status, ", 1 point to sweep" in out) == (0, True)


def test_a_sweep_is_drawn_by_itself(command, tmp_path):
    run(tmp_path / "done")
    status, out, _ = command("plot", "done")
    assert (status, "accepted.png" in out) == (0, True)
    assert command("plot", "done", "--over", "traffic.hot.load", "-o", "figures")[0] == 0
    assert (tmp_path / "figures" / "accepted.svg").exists()
    for arguments, told in (
        (["done", "--over", "run.x"], "does not change"),
        (["done", "done/points"], "drawn by itself"),
    ):
        status, _, err = command("plot", *arguments)
        assert (status, told in err) == (2, True), err
    (tmp_path / "done" / store.TABLE).write_bytes(b"damaged")
    assert "cannot be read" in command("plot", "done")[2]


@pytest.mark.parametrize(
    ("values", "kind", "kept"),
    [
        (list(np.arange(4, 6)), "int64", [4, 5]),
        (list(np.linspace(0.1, 0.2, 2)), "double", [0.1, 0.2]),
        (np.linspace(0.1, 0.2, 2), "double", [0.1, 0.2]),
        ([np.array([4, 4]), (np.int32(8), 8)], "string", ["[4, 4]", "[8, 8]"]),
        ([0.1, "20 %", 1], "double", [0.1, 0.2, 1.0]),
        ([0.1, "auto", {"kind": "x"}], "string", ["0.1", "auto", '{"kind": "x"}']),
        ([0.1, "2 us"], "string", ["0.1", "2 us"]),
        ([1, 2**63], "uint64", [1, 2**63]),
        ([1, 2**64], "string", ["1", str(2**64)]),
    ],
)
def test_swept_values_are_in_the_table_as_what_they_are(tmp_path, values, kind, kept):
    run(tmp_path, over={"a": values}, seeds=[2**63 + 5])
    written = store.read(tmp_path).table
    assert str(written.schema.field("a").type) == kind
    assert list(dict.fromkeys(written["a"].to_pylist())) == kept
    assert set(written["run.seed"].to_pylist()) == {2**63 + 5}


def test_what_is_inside_of_swept_tables_has_columns_too(tmp_path):
    values = [{"kind": "x", "deep": {"a": 1}}, {"kind": "y", "threshold": "4 flits"}, "z", '{"no json']
    run(tmp_path, over={"c": values, "n": [{"k": 1}, {"k": "20 %"}]}, seeds=1)
    written = store.read(tmp_path).table
    rows = [row for row in written.to_pylist() if row["class"] == "hot"][::2]
    assert written.column_names[:3] == ["c", "n", "run.seed"]
    assert written.column_names[-4:] == ["c.kind", "c.deep.a", "c.threshold", "n.k"]
    assert [json.loads(row["c"]) if "}" in row["c"] else row["c"] for row in rows] == values
    inside = [(row["c.kind"], row["c.deep.a"], row["c.threshold"]) for row in rows]
    texts = [("z", None, None), ('{"no json', None, None)]
    assert inside == [("x", 1, None), ("y", None, "4 flits"), *texts], "a text is a kind"
    assert written["n.k"].to_pylist()[1::2][:2] == [1.0, 0.2]


def test_seeds_may_be_of_numpy(tmp_path):
    assert run(tmp_path, over={"a": [1]}, seeds=np.arange(3))[0].table["run.seed"].unique().to_pylist() == [
        0,
        1,
        2,
    ]


def test_a_damaged_sweep_is_told_with_the_remedy(command, tmp_path):
    done, _ = run(tmp_path / "done")
    table = done.table
    at = table.column_names.index("accepted")
    pq.write_table(
        table.set_column(at, "accepted", [["many"] * table.num_rows]), tmp_path / "done/sweep.parquet"
    )
    status, _, err = command("plot", "done")
    assert (status, "its column 'accepted' holds no numbers" in err) == (2, True), err
    (tmp_path / "done" / store.MANIFEST).write_text("[" * 100_000)
    (done.points[0].directory / points.CHECKSUMS).write_text("[" * 100_000)
    with pytest.raises(tailback.InputError, match=r"sweep.json is damaged"):
        run(tmp_path / "done")
    (tmp_path / "done" / store.MANIFEST).unlink()
    assert run(tmp_path / "done")[1] == 1


def test_a_part_of_a_finished_sweep_leaves_its_table_whole(command, scenario_file, tmp_path):
    file = scenario_file(TEXT)
    run(tmp_path / "done")
    table = tmp_path / "done" / store.TABLE
    before = table.read_bytes()
    part = ("-o", "done", "--resume", "--part", "0:2")
    assert command("sweep", file, *part)[0] == 0
    assert table.read_bytes() == before
    more = scenario_file(TEXT.replace("seeds = 2", "seeds = 1"), "other.toml")
    assert command("sweep", more, "-o", "done", "--resume", "--part", "0:1")[0] == 0
    assert table.read_bytes() != before, "it is of the points of the file as it is now"
    grown = scenario_file(TEXT.replace("seeds = 2", "seeds = 3"), "grown.toml")
    assert command("sweep", grown, "-o", "done", "--resume", "--part", "0:1")[0] == 0
    assert not table.exists()


@pytest.mark.parametrize("change", ["traffic.hot.load=0.5", "run.seed=7", "traffic.hot.load.x=1"])
@pytest.mark.parametrize("name", ["sweep", "check"])
def test_a_change_that_the_sweep_replaces_is_refused(command, scenario_file, name, change):
    status, _, err = command(name, scenario_file(TEXT), "--set", change)
    assert status == 2
    assert f"--set {change.split('=')[0]}: error: " in err
    assert "the [sweep] table changes it too" in err


def test_a_change_that_the_sweep_replaces_by_another_name_is_refused(command, scenario_file):
    text = f'[[traffic]]\nname = "hot"\n{TEXT.split(chr(10), 1)[1]}'
    for key in ("traffic.0.load", "traffic.'hot'.load"):
        status, _, err = command("sweep", scenario_file(text), "--set", f"{key}=0.7")
        assert (status, "the [sweep] table changes it too" in err) == (2, True), err
    numbered = scenario_file(text.replace("traffic.hot", "traffic.0"))
    status, _, err = command("check", numbered, "--set", "traffic.hot.load=0.7")
    assert (status, "--set traffic.hot.load: error" in err) == (2, True), err
    assert command("check", scenario_file(text), "--set", "traffic.1.load=0.7")[0] == 0


@pytest.mark.engine
def test_kinds_as_texts_can_be_swept_beside_what_is_in_their_tables(command, scenario_file):
    swept = '"traffic.u.load" = [0.1]\nqueueing = ["dbbm", "voqsw"]\n"queueing.queues" = [2, 4]\n'
    text = SMALL[: SMALL.index("[sweep]")] + f"[sweep]\n{swept}"
    status, out, err = command("sweep", scenario_file(text), "-o", "here")
    assert (status, "4 points" in out) == (0, True), err


@pytest.mark.parametrize(
    ("swept", "told"),
    [
        ('"a.b" = [1, 2]\na = [{ c = 1 }]', "sweep.a: the key sets what 'a.b' sets"),
        ('a = [{ c = 1 }, { b = 1 }]\n"a.b" = [1, 2]', "sweep.a.b: values of 'a' set this too"),
        ('a = [1]\n"a.b" = [1, 2]', "sweep.a.b: values of 'a' set this too"),
        ('a = ["x"]\n"a.kind" = ["y"]', "sweep.a.kind: values of 'a' set this too"),
        ('"traffic.0.load" = [1]\n"traffic.u.load" = [2]', "sweep.traffic.u.load: the key sets what"),
        ('"traffic.traffic1.x" = [1]\n"traffic.1" = [{ x = 2 }]', "sweep.traffic.1: the key sets what"),
        ('"a.\'b\'" = [1]\n"a.b" = [2]', "sweep.a.b: the key sets what"),
        ('zip = { "run.seed" = [1], a = [2] }\nrun = [{ seed = 3 }]', "sweep.run: the key sets what"),
    ],
)
@pytest.mark.parametrize("name", ["sweep", "check"])
def test_keys_that_set_what_others_set_are_refused_with_their_line(command, scenario_file, swept, told, name):
    file = scenario_file(f'[[traffic]]\nname = "u"\n[[traffic]]\n[sweep]\n{swept}\n')
    status, _, err = command(name, file)
    assert (status, f"error: {told}" in err) == (2, True), err
    assert "zip" in swept or re.search(r"net\.toml:6: error", err), err


def test_keys_of_one_table_may_be_swept_beside_each_other(tmp_path):
    over = {"a": [{"c": 1}, {"c": 2}], "a.b": [1], "ab": [3], "run": [{"duration": "1 us"}]}
    assert run(tmp_path, over=over, seeds=2)[1] == 4
    with pytest.raises(tailback.InputError, match=r"sets what .a\.b. sets"):
        run(tmp_path, over={"a.b": [1], "a": [{"c": 1}]})


def test_points_that_are_one_scenario_are_told(tmp_path):
    done, count = run(tmp_path, over={"a": [1, "1", 2]}, seeds=[1])
    first, second, *_ = sweep_command.remarks(done)
    assert (count, first.startswith("2 points: 2 run")) == (2, True)
    same = "a = 1, run.seed = 1"
    assert second == f"not counted: 1 with the scenario of another, such as ({same}), which is ({same})"


def test_in_a_file_there_is_a_line_of_progress_now_and_then(command, scenario_file, monkeypatch):
    monkeypatch.setattr(sweep_command, "pool", lambda _: contextlib.nullcontext(Inline()))
    assert command("sweep", scenario_file(TEXT), "-o", "short")[2] == ""
    monkeypatch.setattr(sweep_command, "_EVERY_S", 0.0)
    lines = command("sweep", scenario_file(TEXT), "-o", "long")[2].splitlines()
    assert lines[0] == "0 of 4 points"
    assert "3 of 4 points, 0:00 left" in lines


def test_results_of_points_before_the_file_was_changed_are_told_and_can_be_removed(
    command, scenario_file, tmp_path, monkeypatch
):
    monkeypatch.setattr(sweep_command, "pool", lambda _: contextlib.nullcontext(Inline()))
    assert command("sweep", scenario_file(TEXT), "-o", "done")[2] == ""
    less = scenario_file(TEXT.replace("0.1, ", ""))
    for name in ("a b", "0" * 24, "0123456789abcdef01234567"):  # the first is of somebody else
        (tmp_path / "done" / POINTS / name).mkdir()
    _, _, err = command("sweep", less, "-o", "done", "--resume")
    assert err.startswith("4 folders in done/points are of other points"), err
    subprocess.run(err.split("to remove: ")[1], shell=True, check=True)
    status, out, err = command("sweep", less, "-o", "done", "--resume")
    assert (status, err, "2 points: 0 run" in out) == (0, "", True)
    assert len(list((tmp_path / "done" / POINTS).glob("[!.]*"))) == 3
    assert not (tmp_path / "done" / "other-points.txt").exists()


def test_one_is_not_told_as_if_it_were_several(tmp_path):
    one = {"over": {"a": [1]}, "seeds": [1]}
    done, _ = run(tmp_path, **one)
    assert sweep_command.remarks(done)[0].startswith("1 point: 1 run in")
    (done.points[0].directory / points.CHECKSUMS).unlink()
    assert "1 damaged result was run again" in sweep_command.remarks(run(tmp_path, **one)[0])
    assert sweep_command.remarks(run(tmp_path, **one)[0])[0].endswith(", 1 was complete")


def test_a_sweep_of_the_call_may_replace_a_change(tmp_path):
    scenario = tailback.Scenario.loads(TEXT).replace({"traffic.hot.load": 0.5})
    over = {"traffic.hot.load": [0.1]}
    done = tailback.sweep(scenario, over, executor=Inline(), directory=tmp_path)
    assert [row["accepted"] for row in done.table.to_pylist()][:1] == [0.1]


def test_a_folder_that_cannot_hold_a_sweep_is_told_before_anything_runs(command, scenario_file, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / POINTS).touch()
    for folder, told in (("there", "points is a file"), (os.fsdecode(b"bad\xff"), "not text in UTF-8")):
        for option in ([], ["--resume"], ["--slurm", "2"]):
            status, _, err = command("sweep", scenario_file(TEXT), "-o", folder, *option)
            assert (status, told in err) == (2, True), err
        with pytest.raises(tailback.InputError, match=told):
            run(tmp_path / folder)
    assert not (tmp_path / os.fsdecode(b"bad\xff")).exists()


@pytest.mark.parametrize("part", ["x", "1", "3:2", "1:x"])
def test_a_nonsense_part_is_refused(command, scenario_file, part):
    status, _, err = command("sweep", scenario_file(TEXT), "--part", part)
    assert status == 2
    assert "FROM:TO" in err


@pytest.mark.parametrize("option", [[], ["--resume"], ["--slurm", "2"]])
def test_the_result_of_a_run_is_not_swept_into(command, scenario_file, tmp_path, option):
    assert command("run", scenario_file('title = "x"\n', "x.toml"), "-o", "there")[0] == 0
    before = sorted((tmp_path / "there").iterdir())
    status, _, err = command("sweep", scenario_file(TEXT), "-o", "there", *option)
    assert (status, "holds the result of a run" in err) == (2, True), err
    with pytest.raises(tailback.InputError, match="holds the result of a run"):
        run(tmp_path / "there")
    assert sorted((tmp_path / "there").iterdir()) == before


def test_a_part_lies_within_the_sweep_and_is_not_of_a_job_array(command, scenario_file, tmp_path):
    file = scenario_file(TEXT)
    for arguments, told in (
        (["--part", "4:5"], "the sweep has 4 points"),
        (["--part", "0:1", "--slurm", "3"], "not kept in a job array"),
    ):
        status, _, err = command("sweep", file, "-o", "none", *arguments)
        assert (status, told in err) == (2, True), err
    assert not (tmp_path / "none").exists()


@pytest.mark.engine
def test_a_sweep_of_jobs_tells_their_times_packets_or_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scenario = tailback.Scenario.loads(
        """
        topology = { kind = "k-ary-n-tree", k = 2, n = 2 }
        link = { bandwidth = "10 Gb/s" }
        routing = { kind = "nca", up = "deterministic" }
        switch = { kind = "shared-buffer" }

        [[job]]
        name = "app"
        workload = "phases"
        ranks = 4
        flows = "permutations"
        permutations = 1
        size = "4 packets"
        phases = 2
        """
    )
    table = tailback.sweep(scenario, {"run.model": ["packets", "fluid"]}, Inline()).table.to_pylist()
    own = {row["run.model"]: row for row in table if row["class"] == "app"}
    assert set(own) == {"packets", "fluid"}
    assert own["fluid"]["accepted"] is None
    for row in own.values():
        assert row["time_ns"] > row["phase_time_mean_ns"] > 0
        assert row["time_over_bound_mean"] >= 1
    files = gallery.draw_sweep(store.read(Path("results/sweep")).table, tmp_path / "plots")
    assert {"time.png", "phase_time_mean.png"} <= {file.name for file in files}


def test_a_job_that_did_not_end_has_no_times(result):
    ended = {"time_ns": 5.0, "communication_ns": {"min": 1.0, "mean": 2.0, "max": 3.0}, "start_ns": 2.0}
    jobs = {"done": ended, "cut off": ended | {"time_ns": None}}
    summary = result.summary | {"jobs": jobs, "simulated_ns": 10.0}
    done, cut_off = points.class_rows(replace(result, summary=summary))[-2:]
    assert done == {
        "class": "done",
        "time_ns": 5.0,
        "communication_mean_ns": 2.0,
        "communication_max_ns": 3.0,
    }
    assert cut_off == dict.fromkeys(done) | {"class": "cut off", "time_over_ns": 8.0}
    jobs["cut off"]["alone_ns"] = 4.0
    *_, cut_off = points.class_rows(replace(result, summary=summary))
    assert cut_off["slowdown_over"] == 2.0


@pytest.mark.engine
def test_what_the_runs_of_a_sweep_warn_of_is_told_once_with_how_many_points(command, scenario_file):
    text = """
    topology = { kind = "fat-tree", levels = 2, arity = 4 }
    routing = { kind = "nca" }
    traffic = [{ name = "u", pattern = "uniform", load = 0.1, message = "4 flits" }]
    run = { warmup = "10 us", duration = "20 us" }
    [sweep]
    congestion_control = [{ kind = "none" }, { kind = "lhrp", threshold = "9999 flits" }]
    seeds = 2
    """
    status, out, _ = command("sweep", scenario_file(text), "-o", "kept")
    assert status == 0
    (line,) = [line for line in out.splitlines() if line.startswith("warning")]
    assert line.startswith("warning (2 of 4 points): congestion_control.threshold: 9999 flits, but a switch")
    table = pq.read_table("kept/sweep.parquet").to_pylist()
    warned = {row["congestion_control.kind"]: row["warnings"] for row in table}
    assert warned["none"] is None
    assert warned["lhrp"].startswith("congestion_control.threshold: ")


def test_the_cpu_time_of_all_points_is_told(tmp_path):
    assert run(tmp_path)[0].tally.cpu_seconds > 0


def test_a_value_that_is_wrong_in_every_point_is_told_once_and_no_other(tmp_path):
    with pytest.raises(tailback.InputError) as raised:
        run(tmp_path, over={"a": ["wrong", "right"], "b": [1, 2]})
    assert [p.message.split("in the sweep's ")[1] for p in raised.value.problems] == ["a = wrong"]


def test_all_warnings_of_a_run_stand_in_its_rows(tmp_path, monkeypatch):
    real = tailback.Scenario.run

    def warned(self, progress=None):
        made = real(self, progress)
        return replace(made, summary=made.summary | {"warnings": ["one", "two"]})

    monkeypatch.setattr(tailback.Scenario, "run", warned)
    assert run(tmp_path)[0].table["warnings"].to_pylist()[0] == "one\ntwo"


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["none", "dcqcn"], "is without its cnp_interval = .4 us."),
        ([{"kind": "dcqcn", "kmin": "5 kB"}], "is without its cnp_interval = .4 us."),
        (["none", "hpcc"], None),
        ([{"kind": "dcqcn", "cnp_interval": "50 us"}], None),
    ],
)
def test_a_table_of_the_same_kind_drops_nothing_of_the_file(values, told):
    text = '[congestion_control]\nkind = "dcqcn"\ncnp_interval = "4 us"\n[[traffic]]\nname = "u"\n'
    scenario = tailback.Scenario.loads(text)
    if told is None:
        sweep.split(scenario, {"congestion_control": values})
        return
    with pytest.raises(tailback.InputError, match=told):
        sweep.split(scenario, {"congestion_control": values})
