"""What the README and the page about sweeps show works as printed."""

import re
import shlex
from pathlib import Path

import pytest

import tailback

pytestmark = pytest.mark.engine

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SWEEPS = (ROOT / "docs" / "sweeps.md").read_text("utf-8")


def samples(language, page=README):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.fixture
def beside_scenarios(tmp_path, monkeypatch):
    """An empty folder with the scenarios in it."""
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_scenario_has_no_mistakes():
    text, sweep, jobs = samples("toml")
    (varied,) = samples("toml", SWEEPS)
    for more in ("", sweep, jobs, varied):
        assert tailback.Scenario.loads(text + more).check() == []


def test_the_python_sample_runs(beside_scenarios, capsys):
    (program,) = samples("python")
    exec(compile(program, "README.md", "exec"), {})
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["none", "ECN", "LHRP"]
    assert (beside_scenarios / "latency.png").stat().st_size > 0


def test_the_commands_run(command, beside_scenarios):
    lines = [line for page in (README, SWEEPS) for text in samples("sh", page) for line in text.splitlines()]
    commands = [shlex.split(line, comments=True) for line in dict.fromkeys(lines)]
    ours = [words[1:] for words in commands if words[0] == ".venv/bin/tailback"]
    assert len(ours) == 8
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
