import contextlib
import errno
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import tailback
from tailback import figures, points, saturation, sweep_command, sweeps

TEXT = 'title = "net"\n[sweep]\n"traffic.hot.load" = [0.1, 0.2]\nseeds = 2\n'
TRAFFIC = """
[[traffic]]
name = "u"
pattern = "uniform"
message = "4 flits"
[run]
warmup = "1 us"
duration = "4 us"
[sweep]
"""
TRAFFIC_LOAD = "[[traffic]]\nload = 0.1"
SMALL = f"""
title = "small"
[topology]
kind = "dragonfly"
p = 2
a = 4
h = 2
groups = 9
[routing]
kind = "par"
{TRAFFIC}"traffic.u.load" = {{ from = 0.05, to = 0.5, step = 0.05 }}
"congestion_control.kind" = ["none", "lhrp"]
seeds = 2
"""


class Inline(Executor):
    """Runs what is submitted at once, in this process."""

    def __init__(self):
        self.count = 0

    def submit(self, call, /, *arguments, **keywords):
        self.count += 1
        future = Future()
        future.set_result(call(*arguments, **keywords))
        return future


def run(directory, text=TEXT, **options):
    executor = Inline()
    done = tailback.sweep(tailback.Scenario.loads(text), executor=executor, directory=directory, **options)
    return done, executor.count


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


def test_complete_points_are_not_run_again(tmp_path):
    run(tmp_path)
    done, count = run(tmp_path)
    assert (count, done.tally.reused) == (0, 4)


def test_the_table_of_a_sweep_takes_no_other_tables_of_its_points(tmp_path, monkeypatch):
    real, read = pq.read_table, []

    def noted(file, *arguments, **keywords):
        read.append(file.name)
        return real(file, *arguments, **keywords)

    monkeypatch.setattr(pq, "read_table", noted)
    done, _ = run(tmp_path)
    assert read == ["classes.parquet"] * 4
    assert set(next(done.results()).tables) > {"classes", "series"}


@pytest.mark.parametrize("damage", ["cut", "changed", "missing", "no checksums"])
def test_a_damaged_point_is_run_again(tmp_path, damage):
    done, _ = run(tmp_path)
    table = done.table
    victim = done.points[2].directory
    file = victim / ("summary.json" if damage == "changed" else "series.parquet")
    if damage == "missing":
        file.unlink()
    elif damage == "no checksums":
        (victim / points.CHECKSUMS).unlink()
    else:
        data = file.read_bytes()
        file.write_bytes(data[:100] if damage == "cut" else data.replace(b"120000", b"120001"))
    again, count = run(tmp_path)
    assert (count, again.tally.damaged) == (1, 1)
    assert again.table == table


def test_the_sweep_of_the_call_replaces_that_of_the_file(tmp_path):
    done, _ = run(tmp_path, over={"traffic.hot.load": [0.3]}, seeds=[5])
    assert [point.changes for point in done.points] == [{"traffic.hot.load": 0.3, "run.seed": 5}]


def test_wrong_values_are_told_before_anything_runs(tmp_path):
    with pytest.raises(tailback.InputError, match="not so"):
        run(tmp_path, over={"a": ["right", "wrong"]})
    assert not (tmp_path / sweeps.FOLDER).exists()


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
    problems, _ = sweeps.examine(scenario)
    assert [(problem.path, problem.line) for problem in problems] == [("a", 3)]
    with pytest.raises(tailback.InputError) as raised:
        run(tmp_path, over={"a": ["wrong"], "b": [1, 2]})
    assert "sweep" not in str(raised.value), "all points have it"


@pytest.mark.engine
@pytest.mark.parametrize("combinations", [4, 3])
@pytest.mark.parametrize("name", ["sweep", "check"])
def test_values_that_are_wrong_only_together_are_told_before_anything_is_written(
    command, scenario_file, tmp_path, monkeypatch, combinations, name
):
    """A dragonfly of 5 groups needs 4 links to others from each."""
    monkeypatch.setattr(sweeps, "POINTS_MAX", combinations)
    text = SMALL.replace("groups = 9", "groups = 5").split("[sweep]")[0].replace("[[traffic]]", TRAFFIC_LOAD)
    file = scenario_file(f'{text}[sweep]\n"topology.a" = [4, 2]\n"topology.h" = [2, 1]\nseeds = 2\n')
    status, out, err = command(name, file, *(["-o", "done", "--yes"] if name == "sweep" else []))
    if name == "check" and combinations == 3:
        assert (status, "no mistakes" in out) == (0, True), "that many are not looked through"
        return
    assert (status, "in the sweep's topology.a = 2, topology.h = 1" in err) == (2, True), err
    assert not (tmp_path / "done").exists()


NAMING = "# network net.txt\n" + TEXT


def named_network(tmp_path, monkeypatch):
    """A scenario that names a file beside it, from a folder that has another file of that name."""
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "net.txt").write_text(f"network {folder}")
    (tmp_path / "there" / "s.toml").write_text(NAMING)
    monkeypatch.chdir(tmp_path / "here")
    return tailback.Scenario.load("../there/s.toml")


class Elsewhere(Inline):
    """One whose workers are in another folder."""

    def submit(self, call, /, *arguments, **keywords):
        with contextlib.chdir("/"):
            return super().submit(call, *arguments, **keywords)


@pytest.mark.parametrize("executor", [Inline, Elsewhere])
def test_files_that_a_scenario_names_are_those_beside_it_wherever_its_points_run(
    tmp_path, monkeypatch, executor
):
    scenario = named_network(tmp_path, monkeypatch)
    done = tailback.sweep(scenario, executor=executor(), directory=tmp_path / "done")
    assert all("network there" in result.scenario for result in done.results())


def test_no_result_is_kept_of_a_file_that_changed_meanwhile(tmp_path, monkeypatch):
    scenario = named_network(tmp_path, monkeypatch)

    class Changing(Inline):
        def submit(self, call, /, *arguments, **keywords):
            (tmp_path / "there" / "net.txt").write_text("another network")
            return super().submit(call, *arguments, **keywords)

    with pytest.raises(tailback.RunFailed, match="changed after the sweep began"):
        tailback.sweep(scenario, executor=Changing(), directory=tmp_path / "done")
    assert not list((tmp_path / "done").glob("points/*"))


class Killed(Executor):
    """One whose process is killed."""

    def submit(self, call, /, *arguments, **keywords):
        future = Future()
        future.set_exception(BrokenExecutor("terminated abruptly"))
        return future


def test_a_killed_process_is_told_and_loses_no_point(tmp_path):
    scenario = tailback.Scenario.loads(TEXT)
    with pytest.raises(tailback.RunFailed, match="memory"):
        tailback.sweep(scenario, executor=Killed(), directory=tmp_path)
    assert run(tmp_path)[1] == 4


class Breaking(Inline):
    """One that is broken from its third point on, as a pool is once a process was killed."""

    def submit(self, call, /, *arguments, **keywords):
        if self.count == 2:
            raise BrokenExecutor("not usable anymore")
        return super().submit(call, *arguments, **keywords)


def test_a_process_that_is_killed_while_points_are_handed_out_is_told_and_loses_no_point(tmp_path):
    with pytest.raises(tailback.RunFailed, match="memory"):
        tailback.sweep(tailback.Scenario.loads(TEXT), executor=Breaking(), directory=tmp_path)
    assert run(tmp_path)[1] == 2


@pytest.fixture
def failing(monkeypatch):
    """Has the runs of the seeds in it fail, each for its reason."""
    real, reasons = tailback.Scenario.run, {}

    def run(self, progress=None):
        seed = dict(self.overrides)["run.seed"]
        if seed in reasons:
            raise tailback.RunFailed(reasons[seed])
        return real(self, progress)

    monkeypatch.setattr(tailback.Scenario, "run", run)
    return reasons


DEADLOCK = "deadlock:\n  rank 0: send\n  rank 1: send"


def test_points_that_fail_do_not_keep_others_from_running(tmp_path, failing):
    failing["1"] = DEADLOCK
    with pytest.raises(tailback.PointsFailed, match=r"2 of 4 points(?s:.)*run.seed = 1: deadlock") as raised:
        run(tmp_path)
    done = raised.value.sweep
    assert len(list(done.results())) == 2
    failing.clear()
    assert run(tmp_path)[1] == 2


def test_points_that_fail_are_told_with_all_that_is_known(tmp_path, failing):
    failing["1"] = DEADLOCK
    with pytest.raises(tailback.PointsFailed) as raised:
        run(tmp_path, over={"traffic.hot.load": [0.1]}, seeds=2)
    assert str(raised.value).split("\n") == [
        "1 of 2 points gave no result:",
        "  traffic.hot.load = 0.1, run.seed = 1: deadlock:",
        "    rank 0: send",
        "    rank 1: send",
    ]
    failing |= {str(seed): DEADLOCK for seed in range(1, 13)}
    with pytest.raises(tailback.PointsFailed) as raised:
        run(tmp_path, over={}, seeds=13)
    told = str(raised.value).split("\n")
    assert told[1 + 3 * 10 :] == [
        "  run.seed = 11: deadlock: …",
        "  run.seed = 12: deadlock: …",
        "  The column 'failed' of the sweep's table has the whole reasons.",
    ]


def test_a_point_that_failed_has_a_row_and_the_table_is_the_same_whoever_wrote_it(tmp_path, failing):
    failing["1"] = DEADLOCK
    tables = []
    for folder in ("at once", "by and by", "at once"):
        if folder == "by and by":
            failing["2"] = "not yet"
            with pytest.raises(tailback.PointsFailed, match="4 of 4"):
                run(tmp_path / folder)
            del failing["2"]
        with pytest.raises(tailback.PointsFailed):
            run(tmp_path / folder)
        tables.append((tmp_path / folder / sweeps.TABLE).read_bytes())
    assert tables[0] == tables[1] == tables[2]
    rows = sweeps.table_of([tmp_path / "at once"]).to_pylist()
    assert [(r["traffic.hot.load"], r["run.seed"], r["class"], r["failed"]) for r in rows[:3]] == [
        (0.1, 1, None, DEADLOCK),
        (0.1, 2, "hot", None),
        (0.1, 2, "victim", None),
    ]
    assert list(rows[0])[-1] == "failed"
    failing.clear()
    assert "failed" not in run(tmp_path / "at once")[0].table.column_names


def test_what_is_complete_of_a_sweep_is_drawn_and_what_is_missing_told(
    command, scenario_file, failing, monkeypatch, tmp_path
):
    monkeypatch.setattr(sweep_command, "pool", lambda _: contextlib.nullcontext(Inline()))
    failing["2"] = DEADLOCK
    status, out, err = command("sweep", scenario_file(TEXT.replace("seeds = 2", "seeds = 3")), "-o", "done")
    assert status == 1
    assert "6 points: 6 run in 0 CPU seconds, 2 gave no result" in out
    assert "tailback plot done draws it" in out
    assert "2 of 6 points gave no result:\n  traffic.hot.load = 0.1, run.seed = 2: deadlock" in err
    status, out, err = command("plot", "done")
    assert (status, "accepted.png" in out) == (0, True)
    assert "2 of 6 points gave no result:\n  traffic.hot.load = 0.1, run.seed = 2: deadlock" in err
    assert "    rank 1: send" in err
    failing |= {"1": DEADLOCK, "3": DEADLOCK}
    status, out, err = command("sweep", scenario_file(TEXT.replace("seeds = 2", "seeds = 3")), "-o", "none")
    assert (status, "draws it" in out) == (1, False)
    status, _, err = command("plot", "none")
    assert (status, "6 of 6 points gave no result" in err, "nothing was measured" in err) == (2, True, True)


def test_results_of_another_engine_are_refused(tmp_path, monkeypatch):
    run(tmp_path)
    monkeypatch.setattr(points, "engine", lambda: "9.9.9")
    with pytest.raises(tailback.InputError, match=r"from engine 0.*this is 9\.9\.9"):
        run(tmp_path)


def test_a_search_leaves_only_points_and_may_follow_one_of_another_engine(tmp_path, monkeypatch):
    """As in the folder of reproduced experiments, which has results of all engines."""
    searched = tailback.Scenario.loads("")
    for version in ("0.0.0", "9.9.9"):
        monkeypatch.setattr(points, "engine", lambda version=version: version)
        found = saturation.saturation(searched, "traffic.hot.load", executor=Inline(), directory=tmp_path)
        assert found.accepted_load == 1.0
        assert {path.name for path in tmp_path.iterdir()} == {sweeps.FOLDER}


def test_a_million_points_are_refused_without_yes(command, scenario_file):
    file = scenario_file(TEXT.replace("seeds = 2", "seeds = 1000000"))
    status, _, err = command("sweep", file)
    assert status == 2
    assert "2,000,000 points" in err
    assert "--yes" in err


def test_a_file_without_a_sweep_is_not_swept_and_its_own_mistakes_come_first(command, scenario_file):
    status, _, err = command("sweep", scenario_file('title = "net"\n'))
    assert (status, "there is no [sweep] table" in err) == (2, True)
    status, _, err = command("sweep", scenario_file("a = wrong\n"))
    assert (status, "[sweep]" in err) == (2, False)


def test_the_table_of_earlier_points_is_gone_before_others_run(tmp_path):
    run(tmp_path)
    assert (tmp_path / sweeps.TABLE).exists()
    sweeps.write_manifest(tmp_path)
    assert not (tmp_path / sweeps.TABLE).exists()


def test_check_judges_the_sweep_too(command, scenario_file):
    status, out, _ = command("check", scenario_file(TEXT))
    assert (status, "4 points to sweep" in out) == (0, True)
    for wrong, told in (
        ("seeds = 0", "net.toml:4: error: sweep.seeds"),
        ('"run.warmup" = ["wrong"]', "run.warmup"),
    ):
        status, _, err = command("check", scenario_file(TEXT.replace("seeds = 2", wrong)))
        assert (status, told in err) == (2, True), err


def test_a_finished_sweep_is_drawn_by_itself_and_an_unfinished_one_is_not(command, tmp_path):
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
    (tmp_path / "done" / sweeps.TABLE).write_bytes(b"damaged")
    assert "cannot be read" in command("plot", "done")[2]
    (tmp_path / "done" / sweeps.TABLE).unlink()
    assert "not complete" in command("plot", "done")[2]


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
    written = sweeps.table_of([tmp_path])
    assert str(written.schema.field("a").type) == kind
    assert list(dict.fromkeys(written["a"].to_pylist())) == kept
    assert set(written["run.seed"].to_pylist()) == {2**63 + 5}


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
    (tmp_path / "done" / sweeps.MANIFEST).write_text("[" * 100_000)
    (done.points[0].directory / points.CHECKSUMS).write_text("[" * 100_000)
    with pytest.raises(tailback.InputError, match=r"sweep.json is damaged"):
        run(tmp_path / "done")
    (tmp_path / "done" / sweeps.MANIFEST).unlink()
    assert run(tmp_path / "done")[1] == 1


def test_a_part_of_a_finished_sweep_leaves_its_table_whole(command, scenario_file, tmp_path):
    file = scenario_file(TEXT)
    run(tmp_path / "done")
    table = tmp_path / "done" / sweeps.TABLE
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


@pytest.mark.parametrize(
    ("swept", "told"),
    [
        ('"a.b" = [1, 2]\na = [{ c = 1 }]', "sweep.a: the key sets what 'a.b' sets"),
        ('a = [{ c = 1 }, { b = 1 }]\n"a.b" = [1, 2]', "sweep.a.b: values of 'a' set this too"),
        ('a = ["x"]\n"a.b" = [1, 2]', "sweep.a.b: values of 'a' set this too"),
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


def test_a_sweep_of_the_call_may_replace_a_change(tmp_path):
    scenario = tailback.Scenario.loads(TEXT).replace({"traffic.hot.load": 0.5})
    over = {"traffic.hot.load": [0.1]}
    done = tailback.sweep(scenario, over, executor=Inline(), directory=tmp_path)
    assert [row["accepted"] for row in done.table.to_pylist()][:1] == [0.1]


def test_a_folder_that_cannot_hold_a_sweep_is_told_before_anything_runs(command, scenario_file, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / sweeps.FOLDER).touch()
    for folder, told in (("there", "points is a file"), (os.fsdecode(b"bad\xff"), "not text in UTF-8")):
        for option in ([], ["--resume"], ["--slurm", "2"]):
            status, _, err = command("sweep", scenario_file(TEXT), "-o", folder, *option)
            assert (status, told in err) == (2, True), err
        with pytest.raises(tailback.InputError, match=told):
            run(tmp_path / folder)
    assert not (tmp_path / os.fsdecode(b"bad\xff")).exists()


def test_a_result_that_cannot_be_kept_is_told_and_loses_no_other(tmp_path, monkeypatch):
    real = points._write_synced

    def full(file, text):
        if len(list((tmp_path / sweeps.FOLDER).glob("[!.]*"))) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, text)

    with monkeypatch.context() as patched:
        patched.setattr(points, "_write_synced", full)
        with pytest.raises(tailback.InputError, match=r"cannot be kept in .*points: No space left"):
            run(tmp_path)
    assert run(tmp_path)[1] == 2


def test_a_point_that_another_process_puts_in_its_place_meanwhile_stays(tmp_path, monkeypatch):
    done, _ = run(tmp_path / "here")
    point = done.points[0]
    kept, target = shutil.copytree(point.directory, tmp_path / "kept"), point.directory
    (target / points.CHECKSUMS).unlink()
    real = Path.rename

    def rename(self, to):
        if self == target:  # the damaged one
            shutil.rmtree(target)
        if to == target:
            shutil.copytree(kept, target)
        return real(self, to)

    monkeypatch.setattr(Path, "rename", rename)
    assert not points.run(point.scenario, point.name, target.parent).error
    assert points.is_complete(target)


def test_what_was_cut_off_is_removed_but_not_what_is_being_written(tmp_path, monkeypatch):
    left = tmp_path / sweeps.FOLDER / points.UNDER_WAY / "cut-off"
    left.mkdir(parents=True)
    points.clean(tmp_path / sweeps.FOLDER)
    assert not left.exists()
    real = points._written

    def meanwhile(result, fresh):
        points.clean(tmp_path / sweeps.FOLDER)
        return real(result, fresh)

    monkeypatch.setattr(points, "_written", meanwhile)
    assert run(tmp_path)[1] == 4
    points.clean(tmp_path / "nothing")


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
@pytest.mark.slow
def test_a_sweep_of_forty_points_killed_three_times_gives_the_same_bytes(tmp_path):
    (tmp_path / "s.toml").write_text(SMALL)
    call = [sys.executable, "-m", "tailback", "sweep", str(tmp_path / "s.toml"), "--workers", "2", "-o"]
    subprocess.run([*call, str(tmp_path / "whole")], check=True)
    randomness = random.Random(1)
    folder = tmp_path / "killed" / sweeps.FOLDER
    for count in sorted(randomness.sample(range(3, 36), 3)):
        process = subprocess.Popen([*call, str(tmp_path / "killed"), "--resume"])
        while process.poll() is None and len(_kept(folder)) < count:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(1.0)
    before = _kept(folder)
    assert len(before) < 40
    done = subprocess.run(
        [*call, str(tmp_path / "killed"), "--resume"], check=True, capture_output=True, text=True
    )
    assert f"{40 - len(before)} run" in done.stdout
    assert (tmp_path / "whole" / sweeps.TABLE).read_bytes() == (
        tmp_path / "killed" / sweeps.TABLE
    ).read_bytes()
    assert all(json.loads((folder / name / points.CHECKSUMS).read_text()) for name in _kept(folder))


def _kept(folder):
    return [path.name for path in folder.glob("[!.]*")]


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
    files = figures.draw_sweep(sweeps.table_of(["results/sweep"]), tmp_path / "plots")
    assert {"time.png", "phase_time_mean.png"} <= {file.name for file in files}


def test_a_job_that_did_not_end_has_no_times(result):
    ended = {"time_ns": 5.0, "communication_ns": {"min": 1.0, "mean": 2.0, "max": 3.0}}
    jobs = {"done": ended, "cut off": ended | {"time_ns": None}}
    done, cut_off = points.class_rows(replace(result, summary=result.summary | {"jobs": jobs}))[-2:]
    assert done == {
        "class": "done",
        "time_ns": 5.0,
        "communication_mean_ns": 2.0,
        "communication_max_ns": 3.0,
    }
    assert cut_off == dict.fromkeys(done) | {"class": "cut off"}
