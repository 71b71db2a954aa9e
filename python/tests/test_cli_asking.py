"""`tailback list`, `schema` and `describe`: what there is, and what a scenario builds."""

import json
from collections import Counter
from pathlib import Path

import pytest

import tailback

LONG = {"name": "long", "doc": "word " * 100, "parameters": []}
GOOD = "title = 'x'\n"


def test_list_shows_kinds_and_the_parameters_of_a_seam(command):
    _, out, _ = command("list")
    assert "Groups of switches." in out
    assert "routings" in out
    _, out, _ = command("list", "topologies")
    assert "required" in out
    assert "Number of groups." in out
    assert out.splitlines()[1:5] == ["Groups of switches.", "", "Paper", "More."]


def test_a_kind_is_listed_by_itself_and_what_is_like_it_suggested(command):
    _, out, _ = command("list", "dragonfly")
    assert out.splitlines()[0].strip() == "dragonfly"
    status, out, err = command("list", "topolgies")
    assert (status, out, "did you mean topologies?" in err) == (2, "", True)
    assert "did you mean dragonfly?" in command("list", "dragonflies")[2]
    assert "one of topologies, routings, or the name of a kind" in command("list", "zzzz")[2]


@pytest.mark.engine
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("lhrp", "lhrp (congestion_controls)"),
        ("lhrp+srp", "lhrp+srp (congestion_controls)"),
        ("halo3d26", "cells"),
        ("osha", "osha (presets)"),
        ("presets", "Source-adaptive: as `osha`"),
        ("nca", "least-loaded: The port of least occupancy"),
        ("tables", "steps round a ring, a part of the vector each."),
        ("tables", "random-nodes: Free endpoints in random order."),
        ("tables", 'a table: `{ path = "allocation.txt", line = 2 }`: a line of a file.'),
        ("tables", 'a rate such as "100 Gb/s"; may be left out'),
        ("job.mpi", 'eager                 a size such as "4 flits"; default 8 KiB'),
        ("job.mpi", 'barrier               a time such as "5 ns"; may be left out'),
        ("topologies", "palm-tree: Port i of group g leads to group g "),
    ],
)
def test_values_that_have_names_are_listed_with_what_they_mean(command, name, told):
    status, out, _ = command("list", name)
    assert (status, told in out) == (0, True), out
    assert " -, " not in out


@pytest.mark.engine
def test_a_near_miss_of_a_list_is_told(command):
    assert "did you mean traffic_patterns?" in command("list", "patterns")[2]
    assert "did you mean job.mpi or job.slow or job?" in command("list", "job.mpl")[2]
    assert command("list", "mpi")[1] == command("list", "job.mpi")[1]
    found = json.loads(command("list", "lhrp", "--json")[1])
    assert [member["name"] for member in found["congestion_controls"]] == ["lhrp"]


@pytest.mark.engine
@pytest.mark.parametrize(
    ("key", "seam"),
    [
        ("topology", "topologies"),
        ("switch", "switches"),
        ("routing", "routings"),
        ("pattern", "traffic_patterns"),
        ("process", "arrival_processes"),
        ("flow_control", "flow_controls"),
    ],
)
def test_kinds_are_listed_by_the_key_that_takes_them(key, seam, command):
    status, out, _ = command("list", key)
    assert (status, out) == (0, command("list", seam)[1])


@pytest.mark.engine
def test_a_parameter_is_listed_with_the_kinds_that_have_it(command):
    status, out, _ = command("list", "queue_pairs")
    assert status == 0
    assert {"traffic", "job"} <= set(out.split())
    assert out.count("queue_pairs") == 2
    assert command("list", "traffic.queue_pairs")[1].count("queue_pairs") == 1
    found = json.loads(command("list", "n_min", "--json")[1])
    assert [one["name"] for one in found["congestion_controls"][0]["parameters"]] == ["n_min"]


def test_describe_shows_channel_loads_and_bounds(command, scenario_file):
    status, out, _ = command("describe", scenario_file(GOOD), "--traffic")
    assert status == 0
    assert {"throughput", "bound"} <= set(out.split())
    assert "switch 1 port 2 (x) to switch 2" in out
    assert out.startswith("bounds\n")


def test_describe_says_that_channel_loads_of_jobs_are_not_known(command, scenario_file, monkeypatch):
    monkeypatch.setattr(tailback.Scenario, "linear_load", lambda self: {"bounds": [], "channel_loads": []})
    status, out, _ = command("describe", scenario_file(GOOD), "--traffic")
    assert (status, "jobs are not covered" in out) == (0, True)


def test_describe_leaves_empty_rows_out(command, scenario_file, monkeypatch):
    facts = {"title": "", "endpoints": 3, "queues": [], "dropped": 0, "lookahead": None}
    monkeypatch.setattr(tailback.Scenario, "describe", lambda self: facts)
    _, out, _ = command("describe", scenario_file(GOOD))
    assert [line.split() for line in out.splitlines()] == [
        ["endpoints", "3"],
        ["dropped", "0"],
        ["lookahead", "-"],
    ]


def test_describe_shows_facts_and_tables(command, scenario_file):
    status, out, _ = command("describe", scenario_file(GOOD))
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert ["endpoints", "1,056"] in lines
    assert ["zero", "load", "latency", "1.234", "us"] in lines
    assert ["memory", "estimate", "total", "21.5", "MB"] in lines
    assert {"latency", "[ns]", "vc"} <= set(out.split())


@pytest.mark.engine
@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(
    "arguments",
    [["list"], *(["list", name] for name in ("tables", "congestion-controls", "topologies")), ["describe"]],
)
def test_no_terminal_cuts_a_name_or_a_number(command, monkeypatch, width, arguments):
    if arguments == ["describe"]:
        arguments = ["describe", str(Path(__file__).parents[2] / "scenarios" / "hotspot-small.toml")]

    def words(columns):
        monkeypatch.setenv("COLUMNS", str(columns))
        words = command(*arguments)[1].split()
        return Counter(word for word in words if any(map(str.isalnum, word)))

    assert words(width) == words(1000)


def test_a_pipe_is_as_wide_as_columns_says(command, monkeypatch):
    def widest():
        return max(map(len, command("list", "topologies")[1].splitlines()))

    monkeypatch.setattr(tailback._engine, "kinds", lambda: json.dumps({"topologies": [LONG]}))
    monkeypatch.delenv("COLUMNS", raising=False)
    assert 80 < widest() <= 200
    for columns, width in (("50", 50), ("", 200), ("many", 200)):
        monkeypatch.setenv("COLUMNS", columns)
        assert width - 20 < widest() <= width


@pytest.mark.parametrize("arguments", [["schema"], ["list", "--json"], ["list", "routings", "--json"]])
def test_machine_readable_answers_are_one_object(command, arguments):
    status, out, _ = command(*arguments)
    assert status == 0
    assert isinstance(json.loads(out), dict)
