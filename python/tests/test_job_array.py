"""Sweeps as job arrays: a script whose tasks run a part of the points each."""

import subprocess
import sys

import pytest
from sweeping import TEXT, TRAFFIC

from tailback import sweeps

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
    assert (tmp_path / "one" / sweeps.TABLE).read_bytes() == (tmp_path / "two" / sweeps.TABLE).read_bytes()
