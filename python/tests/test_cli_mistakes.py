"""A user's mistakes are told with their place and remedy, whatever the command."""

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tailback
from tailback import console

GOOD = "title = 'x'\n"
SMALL = """topology = { kind = "single-switch", endpoints = 4 }
routing = { kind = "minimal" }
traffic = [{ name = "u", pattern = "uniform", load = 0.4, message = "4 flits" }]
run = { warmup = "1 us", duration = "2 us" }
"""


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
        ("foo", "--set foo.bar: "),
        ("run.seed", "net: "),
        ("", "net: "),
    ],
)
def test_a_mistake_is_blamed_on_the_change_of_that_key(path, place):
    scenario = tailback.Scenario("", (("run.see", "1"), ("run.s", "3"), ("foo.bar", "1")), "net")
    assert console._place(tailback.Problem("wrong", path), scenario) == (place, path)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("foo.bar=1", "--set foo.bar: error: foo: unknown key"),
        ("link.bandwith.host=1", "--set link.bandwith.host: error: link.bandwith: unknown key"),
        ("traffic.uniform=3", "--set traffic.uniform: error: traffic.uniform: expected a table"),
        ("traffic.0.lod=3", "--set traffic.0.lod: error: traffic.0.lod: unknown key"),
    ],
)
def test_what_a_change_brings_in_is_blamed_on_it_and_called_as_it_calls_it(command, change, told):
    file = str(Path(__file__).parents[2] / "scenarios" / "uniform.toml")
    status, _, err = command("check", file, "--set", change)
    assert (status, err.startswith(told)) == (2, True), err


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


@pytest.mark.parametrize("name", ["run", "describe"])
def test_a_table_that_only_sweeps_use_is_told(command, scenario_file, name):
    told = "the [sweep] table is not used; tailback sweep runs its points"
    for text, is_told in [("title = 'x'\n", False), ("title = 'x'\n[sweep]\nseeds = 2\n", True)]:
        status, _, err = command(name, scenario_file(text))
        assert (status, told in err) == (0, is_told), err


@pytest.mark.engine
def test_a_line_that_holds_a_whole_trace_is_shown_by_its_beginning(command, scenario_file):
    line = f"x = '{'A' * 5000}'"
    _, _, err = command("check", scenario_file(f"topology.kind = 'single-switch'\n{line}\n"))
    assert "x = 'AAA" in err
    assert "A" * 1000 not in err.replace("\n", "")
