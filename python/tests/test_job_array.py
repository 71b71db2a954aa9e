"""Sweeps as job arrays: a script whose tasks run a part of the points each."""

import subprocess
import sys

import pytest
from sweeping import TEXT, TRAFFIC

from tailback.sweeps import store

NAMED = f"""
title = "of a file"
[topology]
kind = "file"
path = "net.txt"
[routing]
kind = "shortest"
deadlock = "hops"
{TRAFFIC}"traffic.u.load" = {{ from = 0.1, to = 0.3, step = 0.1 }}
"""


def test_a_job_array_packs_points_into_tasks(command, scenario_file, tmp_path):
    status, out, _ = command("sweep", scenario_file(TEXT), "--slurm", "3", "-o", "array")
    script = (tmp_path / "array" / "sweep.sh").read_text()
    assert status == 0
    assert "sweep.sh" in out
    assert "--array=0-1" in script
    assert (tmp_path / "array" / "scenario.toml").read_text() == TEXT


def test_a_job_array_takes_the_files_along_that_its_scenario_names(command, scenario_file, tmp_path):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "ring.txt").write_text("ring")
    file = scenario_file("# network nets/ring.txt\n" + TEXT)
    assert command("sweep", file, "--slurm", "3", "-o", "array")[0] == 0
    assert (tmp_path / "array" / "nets" / "ring.txt").read_text() == "ring"
    assert command("sweep", file, "--slurm", "3", "-o", ".")[0] == 0, "the files are there already"
    whole = scenario_file(f"# network {tmp_path}/nets/ring.txt\n" + TEXT, "whole.toml")
    assert command("sweep", whole, "--slurm", "3", "-o", "other")[0] == 0
    (tmp_path / "below").mkdir()
    above = scenario_file("# network ../nets/ring.txt\n" + TEXT, "below/above.toml")
    status, _, err = command("sweep", above, "--slurm", "3", "-o", "refused")
    assert (status, "outside of the scenario's folder" in err) == (2, True)
    assert not (tmp_path / "refused").exists()


@pytest.mark.parametrize("mine", ["scenario.toml", "sweep.sh", "nets/ring.txt"])
def test_a_job_array_replaces_no_file_of_somebody_else(command, scenario_file, tmp_path, mine):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "ring.txt").write_text("ring")
    file = scenario_file("# network nets/ring.txt\n" + TEXT)
    (tmp_path / "there" / "nets").mkdir(parents=True)
    (tmp_path / "there" / mine).write_text("#!/bin/sh\n# mine")
    status, _, err = command("sweep", file, "--slurm", "3", "-o", "there")
    assert (status, f"there/{mine} exists and is no" in err.replace("exists, and", "exists and")) == (2, True)
    assert (tmp_path / "there" / mine).read_text() == "#!/bin/sh\n# mine"
    assert len([path for path in (tmp_path / "there").rglob("*") if path.is_file()]) == 1


def test_a_job_array_takes_the_place_of_an_earlier_one(command, scenario_file, tmp_path):
    (tmp_path / "ring.txt").write_text("ring")
    text = "# network ring.txt\n" + TEXT
    assert command("sweep", scenario_file(text), "--slurm", "3", "-o", "there")[0] == 0
    (tmp_path / "ring.txt").write_text("another ring")
    assert command("sweep", scenario_file(text + "# more\n"), "--slurm", "2", "-o", "there")[0] == 0
    assert (tmp_path / "there" / "ring.txt").read_text() == "another ring"
    assert (tmp_path / "there" / "scenario.toml").read_text() == text + "# more\n"
    assert "--array=0-1" in (tmp_path / "there" / "sweep.sh").read_text()


@pytest.mark.parametrize("name", ["sweep.sh", "scenario.toml", "sweep.json", "points/net.txt"])
def test_a_file_of_a_name_that_a_job_array_needs_is_refused(command, scenario_file, tmp_path, name):
    (tmp_path / "points").mkdir()
    (tmp_path / name).write_text("ring")
    file = scenario_file(f"# network {name}\n" + TEXT)
    status, _, err = command("sweep", file, "--slurm", "3", "-o", "there")
    assert (status, f"{name} has the name of what the sweep itself writes" in err) == (2, True)
    assert not (tmp_path / "there").exists()


@pytest.mark.engine
def test_a_job_array_gives_the_table_of_a_sweep(tmp_path, monkeypatch):
    (tmp_path / "net.txt").write_text("a, s0\nb, s0\nc, s1\nd, s1\ns0, s1\n")
    (tmp_path / "s.toml").write_text(NAMED)
    call = [sys.executable, "-m", "tailback", "sweep"]
    subprocess.run([*call, str(tmp_path / "s.toml"), "-o", str(tmp_path / "one")], check=True)
    subprocess.run([*call, str(tmp_path / "s.toml"), "-o", str(tmp_path / "two"), "--slurm", "2"], check=True)
    script = str(tmp_path / "two" / "sweep.sh")
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)
    refused = subprocess.run([script], check=False, capture_output=True, text=True)
    assert (refused.returncode, "submit this script" in refused.stderr) == (2, True), "it would be task 0"
    for task in range(2):
        monkeypatch.setenv("SLURM_ARRAY_TASK_ID", str(task))
        done = subprocess.run([script], check=True, capture_output=True, text=True)
        assert "--resume without --part writes the merged table" in done.stdout
    file = str(tmp_path / "two" / "scenario.toml")
    subprocess.run([*call, file, "-o", str(tmp_path / "two"), "--resume"], check=True)
    assert (tmp_path / "one" / store.TABLE).read_bytes() == (tmp_path / "two" / store.TABLE).read_bytes()
