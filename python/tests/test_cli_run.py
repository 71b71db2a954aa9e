"""`tailback run`: what it prints and keeps, also where a run fails or is interrupted."""

import errno
import json
import pickle
from pathlib import Path

import pytest

import tailback

GOOD = "title = 'x'\n"
JOB = "[[job]]\n"


def test_a_run_prints_its_tables_and_keeps_its_result(command, scenario_file, tmp_path):
    status, out, err = command("run", scenario_file(GOOD), "-o", "here")
    assert (status, err) == (0, "")
    assert "victim" in out
    assert "1.500 us" in out
    assert "not stable" in out
    assert "not known: over 1 % of these were under way when the run ended" in out
    assert tailback.Result.load(tmp_path / "here").summary["title"] == "fake"


def test_without_o_results_are_numbered_and_none_is_replaced(command, scenario_file, tmp_path):
    for _ in range(3):
        assert command("run", scenario_file(GOOD))[0] == 0
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["net", "net-2", "net-3"]


def test_a_result_of_another_scenario_is_replaced_with_a_word(command, scenario_file):
    file = scenario_file(GOOD)
    assert command("run", file, "-o", "here")[2] == ""
    assert command("run", file, "-o", "here")[2] == ""
    told = "here holds the result of another scenario, 'fake': this one takes its place"
    assert command("run", file, "--set", "run.seed=2", "-o", "here")[2] == f"{told}\n"
    assert "run.seed = 2" in Path("here/scenario.toml").read_text()
    Path("here/summary.json").write_text("damaged")
    assert command("run", file, "-o", "here")[2] == ""
    command("run", scenario_file("stop"), "-o", "part")
    assert "another scenario" not in command("run", file, "-o", "part")[2], "it was not whole"


@pytest.mark.engine
def test_in_what_a_replaced_result_differs_is_told(command, scenario_file):
    file = scenario_file(
        "topology = { kind = 'single-switch', endpoints = 2 }\nrouting = 'minimal'\n"
        "run = { duration = '1 us', drain = '0 us' }\n[[traffic]]\npattern = 'uniform'\nload = 0.1\n"
    )
    command("run", file, "-o", "here")
    _, _, err = command("run", file, "--set", "run.warmup=1 us", "-o", "here")
    assert "this one takes its place (the scenarios differ in run.warmup (20 us, 1 us))" in err


def test_runs_at_once_without_o_keep_a_result_each(command, scenario_file, tmp_path, monkeypatch):
    real = Path.rename

    def meanwhile(self, to):
        if Path(to) == Path("results/net"):
            Path(to).mkdir(parents=True)
            (Path(to) / "of-another").touch()
        return real(self, to)

    monkeypatch.setattr(Path, "rename", meanwhile)
    status, out, _ = command("run", scenario_file(JOB), "--alone")
    assert (status, out.endswith("result in results/net-2\n")) == (0, True)
    assert [path.name for path in (tmp_path / "results" / "net").iterdir()] == ["of-another"]
    assert kept_slowdowns("results/net-2") == {"a": 2.0, "b": 2.0}
    assert len(list((tmp_path / "results").iterdir())) == 2


@pytest.mark.parametrize("place", [[], ["-o", "here"], ["-o", "here", "--json"]])
def test_a_result_for_which_there_is_no_room_is_shown(command, scenario_file, monkeypatch, place, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tailback.result.write_parquet", full)
    status, out, err = command("run", scenario_file(GOOD), *place)
    folder = "here" if place else "results/net"
    told = f"the output folder {tmp_path}/{folder} cannot be written: No space left on device"
    assert (status, err) == (1, f"the result is not kept: {told}\n")
    assert "victim" in out
    assert "result in" not in out
    assert not (tmp_path / folder).exists()


def test_a_result_for_which_there_is_room_again_is_kept_after_all(command, scenario_file, monkeypatch):
    real, tries = tailback.Result.write_files, []

    def full_once(self, directory):
        tries.append(directory)
        if len(tries) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(self, directory)

    monkeypatch.setattr(tailback.Result, "write_files", full_once)
    status, out, err = command("run", scenario_file(JOB), "--alone")
    assert (status, err, out.endswith("result in results/net\n")) == (0, "", True)
    assert kept_slowdowns("results/net") == {"a": 2.0, "b": 2.0}


def test_alone_runs_each_job_by_itself_and_tells_how_much_slower_it_is(command, scenario_file):
    _, out, _ = command("run", scenario_file(JOB))
    assert "ring-exchange" in out
    assert "mean communication" in out
    assert "slowdown" not in out
    status, out, _ = command("run", scenario_file(JOB), "--alone", "--json")
    jobs = json.loads(out)["jobs"]
    assert status == 0
    assert {name: (job["alone_ns"], job["slowdown"]) for name, job in jobs.items()} == {
        "a": (1e6, 2.0),
        "b": (1e6, 2.0),
    }
    _, out, _ = command("run", scenario_file(JOB), "--alone")
    assert "slowdown" in out


@pytest.fixture
def alone(monkeypatch):
    """Has each job's run alone raise what is noted for it; lists what ran: "" for the run of all jobs."""
    real, raised, ran = tailback.Scenario.run, {}, []

    def run(self, progress=None):
        name = dict(self.overrides).get("run.only", "").strip('"[]')
        ran.append(name)
        if name in raised:
            raise raised[name]
        return real(self, progress)

    monkeypatch.setattr(tailback.Scenario, "run", run)
    return raised, ran


def kept_slowdowns(folder):
    jobs = tailback.Result.load(folder).summary["jobs"]
    return {name: job.get("slowdown") for name, job in jobs.items()}


def test_an_interrupt_of_the_runs_alone_keeps_what_ran_before(command, scenario_file, result, alone):
    raised, ran = alone
    raised["b"] = tailback.Interrupted(result)
    status, out, err = command("run", scenario_file(JOB), "--alone", "-o", "here")
    assert (status, err) == (1, "not in the result: the run of b alone: interrupted\n")
    assert "ring-exchange" in out
    assert kept_slowdowns("here") == {"a": 2.0, "b": None}
    raised["a"] = KeyboardInterrupt()
    status, out, err = command("run", scenario_file(JOB), "--alone", "--json")
    assert (status, "the run of a alone, the run of b alone: interrupted" in err) == (1, True)
    assert "slowdown" not in json.loads(out)["jobs"]["a"]
    assert ran == ["", "a", "b", "", "a"]


def test_a_failed_run_alone_is_told_and_costs_only_its_own_numbers(command, scenario_file, alone):
    raised, _ = alone
    raised["a"] = tailback.RunFailed("deadlock:\n  rank 0 waits")
    status, out, err = command("run", scenario_file(JOB), "--alone", "-o", "here")
    assert (status, err) == (1, "not in the result: the run of a alone: deadlock:\n  rank 0 waits\n")
    assert "slowdown" in out
    assert kept_slowdowns("here") == {"a": None, "b": 2.0}


def test_a_result_is_kept_before_more_is_run_for_it(command, scenario_file, tmp_path, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    monkeypatch.setattr("tailback.alone.compared", killed)
    with pytest.raises(Killed):
        command("run", scenario_file(JOB), "--alone", "-o", "here")
    assert kept_slowdowns(tmp_path / "here") == {"a": None, "b": None}


def test_an_interrupted_run_is_not_followed_by_more(command, scenario_file, alone):
    status, _, err = command("run", scenario_file("[[job]] # stop\n"), "--alone")
    assert status == 1
    assert "the result is partial" in err
    assert "not in the result: the run of a alone, the run of b alone" in err
    assert alone[1] == [""]


def test_without_a_job_nothing_is_run_for_alone(command, scenario_file, alone):
    status, _, err = command("run", scenario_file(GOOD), "--alone")
    assert (status, "there is no job" in err, alone[1]) == (2, True, [])


@pytest.mark.parametrize(
    ("stop", "told"),
    [(KeyboardInterrupt(), "interrupted"), (tailback.RunFailed("no solution"), "no solution")],
)
def test_a_result_is_kept_whatever_becomes_of_the_optimum(
    command, scenario_file, monkeypatch, alone, stop, told
):
    from tailback import optimum

    def solved(_):
        raise stop

    monkeypatch.setattr(optimum, "phases", lambda scenario: scenario)
    monkeypatch.setattr(optimum, "solved", solved)
    status, out, err = command("run", scenario_file(GOOD), "--optimum", "-o", "here")
    assert (status, err) == (1, f"not in the result: the optimum: {told}\n")
    assert "victim" in out
    assert tailback.Result.load("here").summary["title"] == "fake"


def test_an_optimum_that_cannot_be_solved_is_refused_before_the_run(
    command, scenario_file, monkeypatch, alone
):
    from tailback import optimum

    def refused(_):
        raise tailback.errors.mistake("too large")

    monkeypatch.setattr(optimum, "phases", refused)
    status, _, err = command("run", scenario_file(GOOD), "--optimum")
    assert (status, "too large" in err, alone[1]) == (2, True, [])


def test_json_is_one_object_and_writes_nothing_unasked(command, scenario_file, tmp_path):
    status, out, _ = command("run", scenario_file(GOOD), "--json", "--set", "title=other")
    summary = json.loads(out)
    assert status == 0
    assert summary["title"] == "other"
    assert {"version", "interrupted", "classes"} <= set(summary)
    assert not (tmp_path / "results").exists()


def test_a_failed_run_tells_why_and_writes_nothing(command, scenario_file, tmp_path):
    status, out, err = command("run", scenario_file("fail"), "-o", "here")
    assert (status, out) == (1, "")
    assert "deadlock: switch 3" in err
    assert not (tmp_path / "here").exists()


def test_a_failed_run_keeps_what_it_measured_and_says_so(command, scenario_file, tmp_path):
    status, out, err = command("run", scenario_file("jam"), "-o", "here")
    assert (status, out) == (1, "")
    assert err.endswith("deadlock: switch 5 waits for switch 6\nwhat was measured until then is in here\n")
    kept = tailback.Result.load(tmp_path / "here")
    assert kept.interrupted
    assert kept.summary["failure"] == "deadlock: switch 5 waits for switch 6"
    # It takes the place of no other.
    assert command("run", scenario_file("jam"), "-o", "here")[2].endswith("is in here-2\n")
    status, out, err = command("run", scenario_file("jam"), "--json")
    assert (status, out) == (1, "")
    assert err.endswith("what was measured until then is kept with -o\n")
    status, out, err = command("show", "here")
    assert status == 0
    assert "here failed: its numbers are those of the part that was simulated" in err
    assert "the run failed (deadlock: switch 5 waits for switch 6): the numbers are those" in " ".join(
        out.split()
    )


def test_a_failed_run_whose_result_cannot_be_kept_tells_both(command, scenario_file, monkeypatch):
    def save(result, folder):
        raise tailback.errors.NotKept("the disk is full")

    monkeypatch.setattr(tailback.Result, "save", save)
    _, _, err = command("run", scenario_file("jam"), "-o", "here")
    assert err.endswith("waits for switch 6\nwhat was measured until then is not kept: the disk is full\n")


def test_a_failure_comes_from_another_process_without_its_result():
    failure = tailback.RunFailed("deadlock", object())
    again = pickle.loads(pickle.dumps(failure))
    assert (str(again), again.result) == ("deadlock", None)


def test_an_interrupted_run_keeps_what_it_measured_and_says_so(command, scenario_file, tmp_path):
    status, out, err = command("run", scenario_file("stop"), "-o", "here")
    assert status == 1
    assert "interrupted" in err
    assert "interrupted" in out
    assert tailback.Result.load(tmp_path / "here").interrupted


def test_an_interrupted_run_takes_the_place_of_no_other(command, scenario_file, tmp_path):
    assert command("run", scenario_file(GOOD), "-o", "here")[0] == 0
    status, out, _ = command("run", scenario_file("stop"), "-o", "here")
    assert (status, "result in here-2" in out) == (1, True), out
    assert not tailback.Result.load(tmp_path / "here").interrupted
    assert tailback.Result.load(tmp_path / "here-2").interrupted
