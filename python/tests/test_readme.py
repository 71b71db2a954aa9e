"""What the README shows works as printed."""

import re
import shlex
from pathlib import Path

import pytest

import tailback

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def samples(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.fixture
def beside_scenarios(tmp_path, monkeypatch):
    """An empty folder with the scenarios in it."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_scenario_has_no_mistakes():
    text, jobs = samples("toml")
    assert tailback.Scenario.loads(text).check() == []
    assert tailback.Scenario.loads(text + jobs).check() == []


def test_the_python_sample_runs(beside_scenarios, capsys):
    (program,) = samples("python")
    exec(compile(program, "README.md", "exec"), {})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["none", "ECN", "LHRP"]
    assert (beside_scenarios / "latency.png").stat().st_size > 0


def test_the_commands_run(command, beside_scenarios):
    commands = [shlex.split(line, comments=True) for text in samples("sh") for line in text.splitlines()]
    ours = [words[1:] for words in commands if words[0] == ".venv/bin/tailback"]
    assert len(ours) == 7
    short = [part for key in ("warmup", "duration", "drain") for part in ("--set", f"run.{key}=1 us")]
    for words in ours:
        assert command(*words, *(short if words[0] == "sweep" else []))[::2] == (0, "")
    assert (beside_scenarios / "results" / "plots" / "latency_over_time.png").exists()
    assert (beside_scenarios / "results" / "sweep" / "plots" / "accepted.png").exists()


def test_every_command_of_the_table_is_one(command):
    _, text, _ = command("--help")
    names = re.findall(r"^\| `tailback (\w+)", README, re.MULTILINE)
    assert len(names) > 10
    for name in names:
        assert re.search(rf"^  {name} ", text, re.MULTILINE), f"no line of {name}"


def test_every_function_that_draws_results_is_named():
    for module in (tailback.plot, tailback.pictures):
        for name in module.__all__:
            assert f"`{name}`" in README
