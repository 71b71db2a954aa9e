"""`tailback plot` of one result and of several."""

import json

import pytest

GOOD = "title = 'x'\n"


def test_plot_draws_into_the_result(command, scenario_file, tmp_path):
    command("run", scenario_file("stop"), "-o", "here")
    status, out, err = command("plot", "here")
    assert (status, "interrupted" in err) == (0, True)
    assert (tmp_path / "here" / "plots" / "latency_over_time.svg").stat().st_size > 0
    assert len(out.splitlines()) == 33
    assert command("run", scenario_file(GOOD), "-o", "here")[0] == 0


def test_plot_compares_results_and_tells_what_is_odd_about_them(command, scenario_file, tmp_path):
    for folder in ("ours", "theirs"):
        command("run", scenario_file(GOOD), "-o", folder)
    command("run", scenario_file("stop"), "-o", "part")
    summary = tmp_path / "theirs" / "summary.json"
    summary.write_text(json.dumps(json.loads(summary.read_text()) | {"version": "0.0.9"}))
    status, _, err = command("plot", "ours", "theirs", "part", "-o", "drawn")
    assert status == 0
    assert (tmp_path / "drawn" / "port_activity.png").exists()
    interrupted, version = sorted(err.splitlines())
    assert interrupted == "part was interrupted: its numbers are those of the part that was simulated"
    assert version.startswith("theirs is of Tailback 0.0.9, this is ")


@pytest.mark.parametrize("folder", ["missing", "empty", "broken"])
def test_plot_of_what_is_no_result_is_a_mistake(command, tmp_path, folder):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    for name in ("scenario.toml", "summary.json", "series.parquet"):
        (tmp_path / "broken" / name).write_text("{}")
    status, _, err = command("plot", folder)
    assert status == 2
    assert folder in err
