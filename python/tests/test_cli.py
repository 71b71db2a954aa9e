"""What the commands print, and with which exit status they end."""

import errno
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import tailback
from tailback import cli

GOOD = "title = 'x'\n"
SMALL = """topology = { kind = "single-switch", endpoints = 4 }
routing = { kind = "minimal" }
traffic = [{ name = "u", pattern = "uniform", load = 0.4, message = "4 flits" }]
run = { warmup = "1 us", duration = "2 us" }
"""


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


def test_ctrl_c_outside_a_run_ends_with_1_and_a_word(command, scenario_file, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(tailback.Scenario, "check", interrupt)
    status, _, err = command("run", scenario_file(GOOD))
    assert status == 1
    assert "interrupted" in err
