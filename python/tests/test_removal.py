"""Keys that are taken out of a scenario."""

import tomllib
from pathlib import Path

import pytest

import tailback

TEXT = """title = "x"
[topology]
kind = "dragonfly"  # of groups
dims = [
  4,
  # [link]
  4,
]
[[traffic]]
name = "hot"
load = 0.5
process = { kind = "on-off", burst = "8 flits", peak = 0.7 }
[[traffic]]
name = "a b"
load = 0.1
[traffic.process]
kind = "bernoulli"
[link.bandwidth]
host = "1 Gb/s"
[run]
mpi.eager = 1
seed = 2
mpi.delay = 2
"""


def without(key):
    """What the scenario holds without a key, and its text with the lines that are left where they were."""
    scenario = tailback.Scenario.loads(TEXT).replace({key: None})
    assert scenario.overrides == ()
    was, now = TEXT.split("\n"), scenario.text.split("\n")
    assert len(now) == len(was)
    assert all(new in (old, "") for new, old in zip(now, was, strict=True))
    return tomllib.loads(scenario.text)


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("title", lambda found: found.pop("title")),
        ("topology.dims", lambda found: found["topology"].pop("dims")),
        ("topology", lambda found: found.pop("topology")),
        ("traffic.hot.load", lambda found: found["traffic"][0].pop("load")),
        ("traffic.hot", lambda found: found["traffic"].pop(0)),
        ('traffic."a b".load', lambda found: found["traffic"][1].pop("load")),
        ("traffic.1.process", lambda found: found["traffic"][1].pop("process")),
        ("link.bandwidth.host", lambda found: found["link"]["bandwidth"].pop("host")),
        ("run.mpi.delay", lambda found: found["run"]["mpi"].pop("delay")),
    ],
)
def test_a_key_is_taken_out_and_all_other_lines_keep_their_numbers(key, left):
    expected = tomllib.loads(TEXT)
    left(expected)
    assert without(key) == expected


def test_what_stands_in_braces_or_apart_is_taken_out_by_a_change_of_its_table():
    scenario = tailback.Scenario.loads(TEXT).replace({"run.seed": 3, "traffic.hot.process.peak": None})
    burst = '{"kind" = "on-off", "burst" = "8 flits"}'
    assert scenario.overrides == (("traffic.0.process", burst), ("run.seed", "3"))
    scenario = tailback.Scenario.loads(TEXT).replace({"run.mpi": None})
    assert scenario.overrides == (("run", '{"seed" = 2}'),)


def test_changes_of_a_key_go_with_it_and_may_come_again():
    scenario = tailback.Scenario.loads(TEXT).replace({"run.seed": 5, "traffic.hot.load": 0.9})
    assert scenario.replace({"traffic.0.load": None}).overrides == (("run.seed", "5"),)
    added = scenario.replace({"run.threads": 2})
    assert added.replace({"run.threads": None}) == scenario
    assert scenario.replace({"run.seed": None}).replace({"run.seed": 1}).overrides[-1] == ("run.seed", "1")


def test_a_key_that_is_not_there_cannot_be_taken_out(command, scenario_file):
    with pytest.raises(tailback.InputError, match=r"run\.sed: the scenario does not set it"):
        tailback.Scenario.loads(TEXT).replace({"run.sed": None})
    with pytest.raises(tailback.InputError):
        tailback.Scenario.loads("a = [wrong").replace({"a": None})
    with pytest.raises(tailback.InputError, match="does not stand in one piece"):
        tailback.Scenario.loads("a.b = 1\nc = 2\na.d = 3\n").replace({"a": None})
    status, _, err = command("check", scenario_file(TEXT), "--set", "run.sed=")
    assert (status, "run.sed: the scenario does not set it" in err) == (2, True)
    assert command("check", scenario_file(TEXT), "--set", "run.seed=")[0] == 0


@pytest.mark.engine
def test_a_file_is_changed_to_a_kind_that_does_not_know_its_keys(command):
    file = str(Path(__file__).parents[2] / "scenarios" / "phases.toml")
    kind = ["job.app.workload=alltoall", "job.app.message=1 kB", "congestion_control=none"]
    gone = [f"job.app.{key}=" for key in ("flows", "permutations", "size", "phases")]
    for changes, status in ((kind, 2), ([*kind, *gone], 0)):
        words = [word for change in changes for word in ("--set", change)]
        assert command("check", file, *words)[0] == status
