"""Tests of the Python side run over a stand-in for the engine: quick, and it fails on demand.

Tests marked `engine` use the real one; they are skipped where the extension is not built.
"""

import math
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import fake_engine
import pytest

PACKAGES = [*sys.path, str(Path(__file__).parents[1])]
BUILT = any(PathFinder.find_spec("_engine", [f"{folder}/tailback"]) for folder in PACKAGES)
if not BUILT:
    sys.modules["tailback._engine"] = fake_engine

import tailback  # noqa: E402
from tailback import _engine, cli  # noqa: E402
from tailback.cli import sweep as sweep_command  # noqa: E402
from tailback.figures import style  # noqa: E402
from tailback.sweeps import points  # noqa: E402

STOOD_IN = (
    "EngineError",
    "channels",
    "check",
    "complete",
    "describe",
    "files",
    "kinds",
    "load",
    "run",
    "remarks",
    "schema",
    "version",
)


@pytest.fixture(autouse=True)
def engine(request, monkeypatch):
    points.engine.cache_clear()  # it tells one engine from another
    if request.node.get_closest_marker("engine") is None:
        for name in STOOD_IN:
            monkeypatch.setattr(_engine, name, getattr(fake_engine, name))
    elif not BUILT:
        pytest.skip("the engine is not built")


@pytest.fixture(autouse=True)
def fonts(request, monkeypatch):
    """To cut a font to a figure's letters takes longer than to draw it: tests marked `fonts` alone do."""
    if request.node.get_closest_marker("fonts") is None:
        monkeypatch.setitem(style._SETTINGS, "pdf.fonttype", 3)


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
    for name in ("TAILBACK_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    # However slow the machine, a sweep writes no line of progress unless a test asks for it.
    monkeypatch.setattr(sweep_command, "_EVERY_S", math.inf)

    def call(*arguments):
        status = cli.main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return status, captured.out, captured.err

    return call


@pytest.fixture
def result():
    return tailback.Scenario.loads("title = 'x'\n").run()
