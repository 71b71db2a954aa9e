"""`tailback plot` of one result and of several."""

import json

import pytest

GOOD = "title = 'x'\n"


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
