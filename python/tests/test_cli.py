"""What the commands print, and with which exit status they end."""

import errno
import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tailback
from tailback import cli, console

LONG = {"name": "long", "doc": "word " * 100, "parameters": []}
GOOD = "title = 'x'\n"
JOB = "[[job]]\n"
SMALL = """topology = { kind = "single-switch", endpoints = 4 }
routing = { kind = "minimal" }
traffic = [{ name = "u", pattern = "uniform", load = 0.4, message = "4 flits" }]
run = { warmup = "1 us", duration = "2 us" }
"""


def test_a_run_prints_its_tables_and_keeps_its_result(command, scenario_file, tmp_path):
    status, out, err = command("run", scenario_file(GOOD), "-o", "here")
    assert (status, err) == (0, "")
    assert "victim" in out
    assert "1.500 us" in out
    assert "not stable" in out
    assert "saturated" in out
    assert tailback.Result.load(tmp_path / "here").summary["title"] == "fake"


def test_without_o_results_are_numbered_and_none_is_replaced(command, scenario_file, tmp_path):
    for _ in range(3):
        assert command("run", scenario_file(GOOD))[0] == 0
    assert sorted(path.name for path in (tmp_path / "results").iterdir()) == ["net", "net-2", "net-3"]


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


def test_mistakes_are_shown_all_at_once_with_line_mark_and_remedy(command, scenario_file, tmp_path):
    (tmp_path / "file").touch()
    path = scenario_file("a = 1\n\tb = wrong\nc = wrong\n")
    status, out, err = command("run", path, "-o", "file", "--set", "run.seed=wrong")
    assert (status, out) == (2, "")
    assert f"{path}:2:6: error: traffic.hot.load: this is wrong\n" in err
    assert "    2 |     b = wrong\n      |         ^\n  help: make it right\n" in err
    assert f"{path}:3:5: error" in err
    assert "--set run.seed: error: run.seed: not so" in err
    assert "file is a file" in err


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("run.see", "--set run.see: "),
        ("run.s", "--set run.s: "),
        ("run.s.1", "--set run.s: "),
        ("run.seed", "net: "),
        ("", "net: "),
    ],
)
def test_a_mistake_is_blamed_on_the_change_of_that_key(path, place):
    scenario = tailback.Scenario("", (("run.see", "1"), ("run.s", "3")), "net")
    assert console._place(tailback.Problem("wrong", path), scenario) == place


def test_control_characters_of_a_file_do_not_reach_the_terminal(command, scenario_file):
    _, _, err = command("check", scenario_file("a = 'wrong \x1b[2J'\n"))
    assert "\x1b" not in err


def test_check_tells_of_parameters_that_do_nothing_on_this_network(command, scenario_file):
    status, out, _ = command("check", scenario_file(f"{GOOD}\n# told threshold: out of reach\n"))
    assert (status, out.splitlines()[-1]) == (0, "warning: threshold: out of reach")
    _, out, _ = command("check", scenario_file(f"{GOOD}\n# told threshold: out of reach\n"), "--json")
    assert json.loads(out) == {"problems": [], "warnings": ["threshold: out of reach"]}


def test_check_tells_mistakes_by_its_exit_status(command, scenario_file):
    assert command("check", scenario_file(GOOD))[0] == 0
    assert command("check", scenario_file("wrong"))[0] == 2
    status, out, _ = command("check", scenario_file("wrong"), "--json")
    assert status == 2
    assert json.loads(out)["problems"][0]["line"] == 1
    status, out, _ = command("check", "nowhere.toml", "--json")
    assert (status, "nowhere.toml" in json.loads(out)["problems"][0]["message"]) == (2, True)


def test_of_very_many_mistakes_the_first_are_printed(command, scenario_file):
    file = scenario_file("wrong\n" * 1234)
    _, _, err = command("check", file)
    assert err.count("error: ") == 100
    assert err.endswith("\nand 1,134 more mistakes; tailback check --json prints all\n")
    assert len(json.loads(command("check", file, "--json")[1])["problems"]) == 1234


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"a\0b", "binary"), (b"a = 1\n\xff\xfe", "UTF-8 (line 2)"), (b"#" * (17 << 20), "too large")],
)
@pytest.mark.parametrize("name", ["run", "check", "describe"])
def test_a_file_that_is_no_text_is_named_as_such(command, scenario_file, content, words, name):
    status, out, err = command(name, scenario_file(content))
    assert (status, out) == (2, "")
    assert words in err


@pytest.mark.parametrize("path", ["missing.toml", ".", "", "x" * 5000, "a\0b", "missing/net.toml"])
def test_a_file_that_cannot_be_read_is_a_mistake(command, path):
    status, out, err = command("run", path)
    assert (status, out) == (2, "")
    assert "error: " in err


@pytest.mark.parametrize(
    "folder", ["/proc/here", "file/below", "file", "full", "\0", "x" * 300, os.fsdecode(b"\xff")]
)
def test_an_output_folder_that_cannot_be_written_is_found_before_the_run(
    command, scenario_file, tmp_path, folder
):
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    status, _, err = command("run", scenario_file("fail"), "-o", folder)
    assert status == 2
    assert "output folder" in err
    assert (tmp_path / "full" / "thesis.tex").exists()


@pytest.mark.parametrize("place", ["x" * 300, "loop", "loop/below", "file/below"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["show"],
        ["plot"],
        ["view"],
        ["ptrans"],
        ["sweep", "net.toml", "-o"],
        ["sweep", "net.toml", "--slurm", "2", "-o"],
        ["saturation", "net.toml", "-o"],
        ["reproduce", "saa-cost", "-o"],
        ["demo", "-o"],
        ["plot", "result", "-o"],
        ["view", "result", "-o"],
    ],
    ids=" ".join,
)
@pytest.mark.engine
def test_a_place_that_cannot_be_is_a_mistake(command, scenario_file, tmp_path, arguments, place):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").touch()
    scenario_file(SMALL + '[sweep]\n"traffic.u.load" = [0.1, 0.2]\n')
    tailback.Scenario.loads(SMALL).run().save("result")
    status, out, err = command(*arguments, place)
    assert (status, out, "error: " in err, "failed" in err) == (2, "", True, False), err
    assert {path.name for path in tmp_path.iterdir()} == {"loop", "file", "net.toml", "result"}


def test_a_folder_that_may_not_be_read_is_a_mistake(command, monkeypatch):
    def refuse(self):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "exists", refuse)
    told = "error: mine/sweep.json: Permission denied\n  help: name another place\n"
    assert command("show", "mine") == (2, "", told)


@pytest.mark.parametrize("name", ["run", "sweep", "saturation", "reproduce", "plot", "view", "trace", "demo"])
def test_an_empty_place_for_output_is_not_the_current_folder(command, scenario_file, tmp_path, name):
    arguments = [] if name in ("reproduce", "demo") else [scenario_file(GOOD)]
    status, _, err = command(name, *arguments, "-o", "")
    assert (status, "it is empty" in err) == (2, True), err
    assert {path.name for path in tmp_path.iterdir()} <= {"net.toml"}


def test_a_change_without_a_value_is_a_mistake(command, scenario_file):
    status, _, err = command("run", scenario_file(GOOD), "--set", "load", "--set", "=3")
    assert status == 2
    assert err.count("key=value") == 2


def test_a_failed_run_tells_why_and_writes_nothing(command, scenario_file, tmp_path):
    status, out, err = command("run", scenario_file("fail"), "-o", "here")
    assert (status, out) == (1, "")
    assert "deadlock: switch 3" in err
    assert not (tmp_path / "here").exists()


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


def test_an_error_of_tailback_itself_shows_no_traceback(command, scenario_file):
    status, _, err = command("run", scenario_file("crash"))
    assert status == 1
    assert "ZeroDivisionError: a bug" in err


@pytest.mark.engine
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["list"], ["schema"], ["--version"]])
def test_output_for_which_there_is_no_room_is_no_bug_of_tailback(arguments, unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with Path("/dev/full").open("w") as full:
        call = [sys.executable, "-m", "tailback", *arguments]
        done = subprocess.run(call, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        silent = subprocess.run(call, stdout=full, stderr=full, check=False)
    told = "error: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr, silent.returncode) == (1, told, 1)


@pytest.mark.engine
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_output_keeps_no_command_from_its_work(tmp_path, closed):
    (tmp_path / "s.toml").write_text(SMALL)
    python = f"{shlex.quote(sys.executable)} -m tailback"
    for arguments in ("list topologies", "run s.toml -o here"):
        call = f"{python} {arguments} {closed}"
        done = subprocess.run(call, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert tailback.Result.load(tmp_path / "here").summary["classes"]
    call = f"{python} check none {closed}"
    wrong = subprocess.run(call, shell=True, cwd=tmp_path, capture_output=True, check=False)
    assert wrong.returncode == 2


def test_a_full_disk_is_told_with_its_place_and_a_reader_that_has_enough_is_not(command, monkeypatch):
    raised = OSError(errno.EDQUOT, "Disk quota exceeded", "full-disk")

    def fail(*_):
        raise raised

    monkeypatch.setattr(tailback._engine, "schema", fail)
    assert command("schema") == (1, "", "error: full-disk: Disk quota exceeded\n")
    raised = BrokenPipeError(errno.EPIPE, "Broken pipe")
    assert command("schema") == (1, "", "")


def test_debugging_shows_where_an_error_comes_from(scenario_file, monkeypatch):
    monkeypatch.setenv("TAILBACK_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        cli.main(["run", scenario_file("crash"), "--json"])


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run"], ["run", "x", "--nonsense"], ["list", "nonsense"]]
)
def test_wrong_usage_ends_with_2(command, arguments):
    assert command(*arguments)[0] == 2


def test_the_help_ends_with_what_the_exit_status_says(command):
    _, text, _ = command("--help")
    assert " ".join(text.split()).endswith("points of a sweep gave no result; 2 the input is wrong.")


def test_list_shows_kinds_and_the_parameters_of_a_seam(command):
    _, out, _ = command("list")
    assert "Groups of switches." in out
    assert "routings" in out
    _, out, _ = command("list", "topologies")
    assert "required" in out
    assert "Number of groups." in out
    assert out.splitlines()[1:5] == ["Groups of switches.", "", "Paper", "More."]


def test_describe_shows_channel_loads_and_bounds(command, scenario_file):
    status, out, _ = command("describe", scenario_file(GOOD), "--traffic")
    assert status == 0
    assert {"throughput", "bound"} <= set(out.split())
    assert "switch 1 port 2 (x) to switch 2" in out
    assert out.startswith("bounds\n")


def test_describe_says_that_channel_loads_of_jobs_are_not_known(command, scenario_file, monkeypatch):
    monkeypatch.setattr(tailback.Scenario, "linear_load", lambda self: {"bounds": [], "channel_loads": []})
    status, out, _ = command("describe", scenario_file(GOOD), "--traffic")
    assert (status, "jobs are not covered" in out) == (0, True)


def test_describe_leaves_empty_rows_out(command, scenario_file, monkeypatch):
    facts = {"title": "", "endpoints": 3, "queues": [], "dropped": 0, "lookahead": None}
    monkeypatch.setattr(tailback.Scenario, "describe", lambda self: facts)
    _, out, _ = command("describe", scenario_file(GOOD))
    assert [line.split() for line in out.splitlines()] == [
        ["endpoints", "3"],
        ["dropped", "0"],
        ["lookahead", "-"],
    ]


def test_describe_shows_facts_and_tables(command, scenario_file):
    status, out, _ = command("describe", scenario_file(GOOD))
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["endpoints", "1,056"] in lines
    assert ["zero", "load", "latency", "1.234", "us"] in lines
    assert ["memory", "estimate", "total", "21.5", "MB"] in lines
    assert {"latency", "[ns]", "vc"} <= set(out.split())


@pytest.mark.engine
@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "arguments",
    [["list"], *(["list", name] for name in ("tables", "congestion-controls", "topologies")), ["describe"]],
)
def test_no_terminal_cuts_a_name_or_a_number(command, monkeypatch, width, arguments):
    if arguments == ["describe"]:
        arguments = ["describe", str(Path(__file__).parents[2] / "scenarios" / "hotspot-small.toml")]

    def words(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        return Counter(command(*arguments)[1].split())

    assert words(width) == words(1000)


def test_a_pipe_is_as_wide_as_columns_says(command, monkeypatch):
    def widest():
        return max(map(len, command("list", "topologies")[1].splitlines()))

    monkeypatch.setattr(tailback._engine, "kinds", lambda: json.dumps({"topologies": [LONG]}))
    monkeypatch.delenv("COLUMNS", raising=False)
    assert 80 < widest() <= 200
    for columns, width in (("50", 50), ("", 200), ("many", 200)):
        monkeypatch.setenv("COLUMNS", columns)
        assert width - 20 < widest() <= width


@pytest.mark.parametrize("arguments", [["schema"], ["list", "--json"], ["list", "routings", "--json"]])
def test_machine_readable_answers_are_one_object(command, arguments):
    status, out, _ = command(*arguments)
    assert status == 0
    assert isinstance(json.loads(out), dict)


def test_plot_draws_into_the_result(command, scenario_file, tmp_path):
    command("run", scenario_file(GOOD), "-o", "here")
    status, out, _ = command("plot", "here")
    assert status == 0
    assert (tmp_path / "here" / "plots" / "latency_over_time.svg").stat().st_size > 0
    assert len(out.splitlines()) == 30
    assert command("run", scenario_file(GOOD), "-o", "here")[0] == 0


def test_plot_compares_results(command, scenario_file, tmp_path):
    for name in ("a", "b"):
        command("run", scenario_file(GOOD), "-o", name)
    status, _, _ = command("plot", "a", "b", "-o", "both")
    assert status == 0
    assert (tmp_path / "both" / "port_activity.png").exists()


def test_a_result_of_another_version_is_drawn_and_named(command, scenario_file, tmp_path):
    for folder in ("ours", "theirs"):
        command("run", scenario_file(GOOD), "-o", folder)
    summary = tmp_path / "theirs" / "summary.json"
    summary.write_text(json.dumps(json.loads(summary.read_text()) | {"version": "0.0.9"}))
    status, _, err = command("plot", "ours", "theirs", "-o", "drawn")
    assert status == 0
    assert (tmp_path / "drawn" / "port_activity.png").exists()
    told = [line for line in err.splitlines() if "of Tailback" in line]
    assert len(told) == 1
    assert told[0].startswith("theirs is of Tailback 0.0.9, this is ")


def test_plot_tells_what_was_interrupted(command, scenario_file):
    command("run", scenario_file(GOOD), "-o", "whole")
    command("run", scenario_file("stop"), "-o", "part")
    _, _, err = command("plot", "whole", "part", "-o", "drawn")
    assert err == "part was interrupted: its numbers are those of the part that was simulated\n"
    assert "interrupted" in command("plot", "part")[2]


@pytest.mark.parametrize("folder", ["missing", "empty", "broken"])
def test_plot_of_what_is_no_result_is_a_mistake(command, tmp_path, folder):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    for name in ("scenario.toml", "summary.json", "series.parquet"):
        (tmp_path / "broken" / name).write_text("{}")
    status, _, err = command("plot", folder)
    assert status == 2
    assert folder in err


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.binary(max_size=200), change=st.text(max_size=20))
def test_no_garbage_leads_to_a_traceback(command, scenario_file, data, change):
    file = scenario_file(data, "garbage.toml")
    for name in ("run", "check", "describe"):
        assert command(name, file, "--set", change, "--json")[0] in (0, 1, 2)


def test_text_that_is_not_utf8_on_the_command_line_is_a_mistake(command, scenario_file):
    status, _, err = command("run", scenario_file(GOOD), "--set", "title=" + os.fsdecode(b"\xff"))
    assert status == 2
    assert "UTF-8" in err


def test_ctrl_c_outside_a_run_ends_with_1_and_a_word(command, scenario_file, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tailback.Scenario, "check", interrupt)
    status, _, err = command("run", scenario_file(GOOD))
    assert status == 1
    assert "interrupted" in err


@pytest.mark.parametrize("name", ["run", "describe"])
def test_a_table_that_only_sweeps_use_is_told(command, scenario_file, name):
    told = "the [sweep] table is not used; tailback sweep runs its points"
    for text, is_told in [("title = 'x'\n", False), ("title = 'x'\n[sweep]\nseeds = 2\n", True)]:
        status, _, err = command(name, scenario_file(text))
        assert (status, told in err) == (0, is_told), err
