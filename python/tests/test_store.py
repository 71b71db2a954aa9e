"""What a sweep keeps in its folder, and what is shown of one that is not complete."""

import contextlib
import json
import shutil

import pytest
from sweeping import JOBS, TEXT, Inline, run

import tailback
from tailback.cli import sweep as sweep_command
from tailback.sweeps import points, store


def test_of_a_sweep_that_is_not_complete_what_there_is_is_shown(
    command, scenario_file, tmp_path, monkeypatch
):
    monkeypatch.setattr(sweep_command, "pool", lambda _: contextlib.nullcontext(Inline()))
    file = scenario_file(TEXT)
    _, out, _ = command("sweep", file, "-o", "done", "--part", "0:3")
    assert "tailback show done prints what there is" in out
    told = "1 of 4 points are missing: the sweep is not complete"
    for name in ("show", "plot"):
        status, out, err = command(name, "done")
        assert (status, told in err, "accepted" in out, "sweep.parquet" in out) == (0, True, True, False), err
    shown = json.loads(command("show", "done", "--json")[1])
    assert (shown["points"], shown["missing"], len(shown["rows"])) == (4, 1, 6)
    part = tailback.Sweep.load(tmp_path / "done")
    assert (part.missing, part.table.num_rows, len(list(part.results()))) == (1, 6, 3)
    assert command("sweep", file, "-o", "done", "--resume")[0] == 0
    assert command("show", "done")[2] == ""
    whole = tailback.Sweep.load(tmp_path / "done")
    assert (whole.missing, whole.table) == (0, store.read(tmp_path / "done").table)


def test_a_sweep_of_python_is_read_from_its_folder_with_its_jobs_alone(tmp_path):
    over = {"a": [{"kind": "x", "b": [1, "2 us"]}, 0.5]}
    done, _ = run(tmp_path / "done", JOBS, over=over, seeds=[3], alone=True)
    (tmp_path / "done" / store.TABLE).unlink()
    assert tailback.Sweep.load(tmp_path / "done").table == done.table
    shutil.rmtree(next(iter(done.points[1].alone.values())).directory)
    part = tailback.Sweep.load(tmp_path / "done")
    slowdowns = [row["slowdown"] for row in part.table.to_pylist() if row["class"] in ("a", "b")]
    assert (part.missing, slowdowns) == (0, [2.0, 2.0, None, 2.0])


def test_a_sweep_with_its_jobs_alone_goes_on_with_them(command, scenario_file, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_command, "pool", lambda _: contextlib.nullcontext(Inline()))
    file = scenario_file(JOBS)
    assert command("sweep", file, "-o", "done", "--alone")[0] == 0
    before = store.read(tmp_path / "done").table
    _, out, _ = command("sweep", file, "-o", "done", "--resume")
    assert "other points" not in out
    assert store.read(tmp_path / "done").table == before
    assert "slowdown" in before.column_names


def test_a_sweep_of_which_nothing_is_complete_has_no_table(tmp_path):
    run(tmp_path / "done", seeds=[3])
    (tmp_path / "done" / store.TABLE).unlink()
    shutil.rmtree(tmp_path / "done" / "points")
    with pytest.raises(tailback.InputError, match="no point of the sweep is complete"):
        _ = tailback.Sweep.load(tmp_path / "done").table


def test_a_sweep_without_a_complete_point_cannot_be_shown(command, tmp_path):
    done, _ = run(tmp_path / "done")
    (tmp_path / "done" / store.TABLE).unlink()
    for point in done.points:
        shutil.rmtree(point.directory)
    assert "no point of the sweep in done is complete" in command("plot", "done")[2]
    manifest = tmp_path / "done" / store.MANIFEST
    manifest.write_text(json.dumps({"engine": points.engine()}))
    assert "does not tell what the sweep is of" in command("show", "done")[2]
    manifest.write_text(json.dumps({"engine": "another"}))
    assert "are from engine another" in command("show", "done")[2]
