"""Points of a sweep: kept, damaged, failed, killed, and run again."""

import contextlib
import errno
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path

import pytest
from sweeping import JOBS, SMALL, TEXT, Inline, run

import tailback
from tailback.cli import sweep as sweep_command
from tailback.result import POINTS
from tailback.sweeps import points, store

NAMING = "# network net.txt\n" + TEXT


def test_complete_points_are_not_run_again(tmp_path):
    run(tmp_path)
    done, count = run(tmp_path)
    assert (count, done.tally.reused) == (0, 4)


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


def test_results_are_where_the_sweep_is_wherever_its_points_run(tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()

    class There(Inline):
        def submit(self, call, /, *arguments, **keywords):
            with contextlib.chdir(tmp_path / "there"):
                return super().submit(call, *arguments, **keywords)

    monkeypatch.chdir(tmp_path)
    done = tailback.sweep(tailback.Scenario.loads(TEXT), executor=There(), directory="done")
    assert len(list(done.results())) == 4
    assert not list((tmp_path / "there").iterdir())


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


@pytest.mark.engine
def test_a_script_from_standard_input_is_told_to_be_put_into_a_file(tmp_path):
    script = "from tailback.sweeps.workers import pool\nwith pool(1):\n    print('started')\n"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

    def of_python(*arguments, **options):
        call = [sys.executable, *arguments]
        return subprocess.run(call, capture_output=True, text=True, env=environment, timeout=60, **options)

    refused = of_python("-", input=script)
    assert (refused.returncode, "put the script into a file" in refused.stderr) == (1, True)
    (tmp_path / "script.py").write_text(script)
    for arguments in (["-c", script], [str(tmp_path / "script.py")]):
        assert of_python(*arguments).stdout == "started\n"


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


def test_what_is_raised_comes_whole_from_another_process(tmp_path, result, failing):
    failing["1"] = DEADLOCK
    with pytest.raises(tailback.PointsFailed) as raised:
        run(tmp_path)
    come = pickle.loads(pickle.dumps(raised.value))
    assert (str(come), come.sweep.failed) == (str(raised.value), raised.value.sweep.failed)
    assert pickle.loads(pickle.dumps(tailback.Interrupted(result))).result.summary == result.summary
    problems = (tailback.Problem("wrong", path="a"),)
    assert pickle.loads(pickle.dumps(tailback.InputError(problems))).problems == problems


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


def test_a_sweep_that_is_read_knows_why_points_failed(tmp_path, failing):
    failing["1"] = DEADLOCK
    with pytest.raises(tailback.PointsFailed) as raised:
        run(tmp_path / "done")
    done = raised.value.sweep
    for table in (True, False):
        if not table:
            (tmp_path / "done" / store.TABLE).unlink()
        read = tailback.Sweep.load(tmp_path / "done")
        assert (read.table, dict(read.failed), read.missing) == (done.table, dict(done.failed), 0)
        assert len(list(read.results())) == len(done.points) - len(done.failed)


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
        tables.append((tmp_path / folder / store.TABLE).read_bytes())
    assert tables[0] == tables[1] == tables[2]
    rows = store.read(tmp_path / "at once").table.to_pylist()
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


def slowdowns(table):
    return [(row["class"], row["slowdown"]) for row in table.to_pylist() if row["class"] in ("a", "b")]


def test_each_job_of_each_point_is_run_alone_and_once(tmp_path, failing):
    done, count = run(tmp_path, JOBS, alone=True)
    assert (count, slowdowns(done.table)) == (12, [("a", 2.0), ("b", 2.0)] * 4)
    assert next(done.results()).summary["jobs"]["a"]["slowdown"] == 2.0
    assert sweep_command.remarks(done)[0].startswith("12 points, with the jobs alone: 12 run in")
    assert run(tmp_path, JOBS, alone=True)[1] == 0
    assert "slowdown" not in run(tmp_path, JOBS)[0].table.column_names
    with pytest.raises(tailback.InputError, match="there is no job"):
        run(tmp_path, alone=True)


def test_a_job_that_fails_alone_has_no_slowdown_and_costs_nothing_else(tmp_path, monkeypatch):
    real = tailback.Scenario.run

    def run_one(self, progress=None):
        if dict(self.overrides).get("run.only") == '["a"]':
            raise tailback.RunFailed(DEADLOCK)
        return real(self, progress)

    monkeypatch.setattr(tailback.Scenario, "run", run_one)
    with pytest.raises(
        tailback.PointsFailed, match=r"4 of 12 points(?s:.)*run.only = \['a'\]: dead"
    ) as raised:
        run(tmp_path, JOBS, alone=True)
    assert slowdowns(raised.value.sweep.table) == [("a", None), ("b", 2.0)] * 4


def test_the_command_runs_jobs_alone_in_a_job_array_too(command, scenario_file, monkeypatch, tmp_path):
    monkeypatch.setattr(sweep_command, "pool", lambda _: contextlib.nullcontext(Inline()))
    status, out, err = command("sweep", scenario_file(JOBS), "-o", "done", "--alone")
    assert (status, err, "12 points" in out) == (0, "", True)
    assert command("sweep", scenario_file(JOBS), "-o", "done", "--alone", "--resume", "--part", "0:1")[0] == 0
    assert "slowdown" in store.read(tmp_path / "done").table.column_names
    assert command("sweep", scenario_file(JOBS), "-o", "array", "--alone", "--slurm", "2")[0] == 0
    assert "--yes --alone" in (tmp_path / "array" / "sweep.sh").read_text()
    assert command("sweep", scenario_file(TEXT), "-o", "none", "--alone")[0] == 2


def test_results_of_another_engine_are_refused(tmp_path, monkeypatch):
    run(tmp_path)
    monkeypatch.setattr(points, "engine", lambda: "9.9.9")
    with pytest.raises(tailback.InputError, match=r"from engine 0.*this is 9\.9\.9"):
        run(tmp_path)


def test_a_result_that_cannot_be_kept_is_told_and_loses_no_other(tmp_path, monkeypatch):
    real = points._write_synced

    def full(file, text):
        if len(list((tmp_path / POINTS).glob("[!.]*"))) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, text)

    with monkeypatch.context() as patched:
        patched.setattr(points, "_write_synced", full)
        with pytest.raises(tailback.NotKept, match=r"cannot be kept in .*points: No space left"):
            run(tmp_path)
    assert run(tmp_path)[1] == 2


def test_a_full_disk_ends_a_sweep_with_1_and_the_word_that_it_can_go_on(
    command, scenario_file, tmp_path, monkeypatch
):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sweep_command, "pool", lambda _: contextlib.nullcontext(Inline()))
    monkeypatch.setattr("tailback.result.write_parquet", full)
    told = f"a result cannot be kept in {tmp_path}/done/points: No space left on device"
    kept = "complete points are kept, and it can go on from there"
    assert command("sweep", scenario_file(TEXT), "-o", "done") == (1, "", f"error: {told}; {kept}\n")


def test_a_table_that_cannot_be_written_leaves_nothing_of_it(tmp_path, monkeypatch):
    def full(_, file):
        file.write_bytes(b"a part")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(store, "write_parquet", full)
    with pytest.raises(tailback.NotKept, match=r"output folder .* cannot be written: No space left"):
        run(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {POINTS, store.MANIFEST}


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
    left = tmp_path / POINTS / points.UNDER_WAY / "cut-off"
    left.mkdir(parents=True)
    points.clean(tmp_path / POINTS)
    assert not left.exists()
    real = points._written

    def meanwhile(result, fresh):
        points.clean(tmp_path / POINTS)
        return real(result, fresh)

    monkeypatch.setattr(points, "_written", meanwhile)
    assert run(tmp_path)[1] == 4
    points.clean(tmp_path / "nothing")


@pytest.mark.engine
@pytest.mark.slow
def test_a_sweep_of_forty_points_killed_three_times_gives_the_same_bytes(tmp_path):
    (tmp_path / "s.toml").write_text(SMALL)
    call = [sys.executable, "-m", "tailback", "sweep", str(tmp_path / "s.toml"), "--workers", "2", "-o"]
    subprocess.run([*call, str(tmp_path / "whole")], check=True)
    randomness = random.Random(1)
    folder = tmp_path / "killed" / POINTS
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
    assert (tmp_path / "whole" / store.TABLE).read_bytes() == (tmp_path / "killed" / store.TABLE).read_bytes()
    assert all(json.loads((folder / name / points.CHECKSUMS).read_text()) for name in _kept(folder))


def _kept(folder):
    return [path.name for path in folder.glob("[!.]*")]


def test_a_sweep_is_not_finished_without_its_runs_alone(tmp_path):
    done, _ = run(tmp_path, JOBS, alone=True)
    assert store.is_finished(tmp_path, iter(done.points))
    shutil.rmtree(done.points[0].alone["a"].directory)
    assert not store.is_finished(tmp_path, iter(done.points))


def test_what_no_error_of_ours_is_costs_its_point_alone(tmp_path, monkeypatch):
    real = tailback.Scenario.run

    def run_one(self, progress=None):
        if dict(self.overrides)["run.seed"] == "1":
            raise MemoryError
        return real(self, progress)

    monkeypatch.setattr(tailback.Scenario, "run", run_one)
    with pytest.raises(tailback.PointsFailed, match=r"2 of 4 points(?s:.)*MemoryError"):
        run(tmp_path)


def test_jobs_that_do_not_run_are_not_run_alone(tmp_path):
    text = JOBS.replace("[sweep]", '[run]\nonly = ["b"]\n[sweep]')
    done, _ = run(tmp_path, text, alone=True)
    assert [list(point.alone) for point in done.points] == [["b"]] * 4


@pytest.mark.engine
def test_a_run_under_two_spellings_of_a_value_counts_once(tmp_path):
    text = SMALL.split("[sweep]")[0]
    over = {"run.duration": ["2 us", "2000 ns"], "traffic.u.load": [0.1]}
    done, count = run(tmp_path, text, over=over, seeds=2)
    rows = [(row["run.duration"], row["run.seed"]) for row in done.table.to_pylist() if row["class"] == "u"]
    assert (count, rows) == (2, [("2 us", 1), ("2 us", 2)])


def test_the_points_of_a_sweep_hold_no_other_sweep(command, scenario_file, monkeypatch):
    monkeypatch.setattr(sweep_command, "pool", lambda _: contextlib.nullcontext(Inline()))
    assert command("sweep", scenario_file(TEXT), "-o", "one")[0] == 0
    status, _, err = command("sweep", scenario_file(TEXT), "-o", "one/points", "--resume")
    assert (status, "holds the points of another sweep" in err) == (2, True), err
