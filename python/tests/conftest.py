"""Puts a stand-in for the engine under the package, so that its own tests are quick and need no build.

Tests of the whole, engine included, are in `test_whole.py`; they start the command in a process of its own.
"""

import sys

import fake_engine
import pytest

sys.modules["tailback._engine"] = fake_engine

import tailback  # noqa: E402
from tailback import cli  # noqa: E402


@pytest.fixture
def scenario_file(tmp_path):
    """Writes a scenario file and returns its path."""

    def write(content, name="net.toml"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, "utf-8")
        return str(path)

    return write


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """Runs `tailback …` in an empty folder; returns exit status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TAILBACK_DEBUG", raising=False)

    def call(*arguments):
        status = cli.main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return status, captured.out, captured.err

    return call


@pytest.fixture
def result():
    return tailback.Scenario.loads("title = 'x'\n").run()
