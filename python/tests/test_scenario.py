"""Scenarios from Python: changes, progress, interruption."""

import math
import re
import sys
import tomllib
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tailback
from tailback import scenario as scenarios


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("5 ns", "5 ns"),
        (0.7, "0.7"),
        (3, "3"),
        (True, "true"),
        (np.float64(0.25), "0.25"),
        (["1 us", 2], '["1 us", 2]'),
        (np.array([1, 2]), "[1, 2]"),
        ({"a": np.array([0.5])}, '{"a" = [0.5]}'),
        (["a\x7f", math.inf], '["a\\u007f", inf]'),
        ({"sample": 3, "µ": "x"}, '{"sample" = 3, "µ" = "x"}'),
    ],
)
def test_a_changed_value_is_written_as_toml(value, text):
    assert tailback.Scenario.loads("").replace({"a.b": value}).overrides == (("a.b", text),)


@pytest.mark.engine
@pytest.mark.parametrize("name", ["hotspot-small", "jobs", "training"])
def test_a_scenario_of_tables_is_that_of_their_file(name):
    path = Path(__file__).parents[2] / "scenarios" / f"{name}.toml"
    scenario = tailback.Scenario.from_dict(tomllib.loads(path.read_text()))
    assert scenario.complete() == tailback.Scenario.load(path).complete()


@pytest.mark.engine
def test_mistakes_of_tables_have_no_lines_of_a_text_that_nobody_has_seen():
    tables = {"topology": {"kind": "single-switch", "endpoints": 4}, "routing": {"kind": "minimal"}}
    scenario = tailback.Scenario.from_dict({**tables, "runn": {}, "packet": {"flit": "3 x"}})
    found = scenario.check()
    assert {problem.path for problem in found} >= {"runn", "packet.flit"}
    assert {(problem.line, problem.column) for problem in found} == {(None, None)}
    with pytest.raises(tailback.InputError) as raised:
        scenario.run()
    assert "line" not in str(raised.value)
    assert [problem.line for problem in tailback.Scenario.loads("runn = {}").check() if problem.line] != []


def test_a_value_that_toml_cannot_hold_is_a_mistake():
    with pytest.raises(tailback.InputError, match="type object"):
        tailback.Scenario.loads("").replace({"a": object()})


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: tailback.Scenario.loads(b"x"), "a scenario is text, not a value of type bytes"),
        (lambda: tailback.Scenario.load(None), "from a path, not from a value of type NoneType"),
        (lambda: tailback.sweep("s.toml"), "a scenario is expected, not a value of type str"),
        (
            lambda: tailback.sweep(tailback.Scenario.loads(""), {}, 4),
            "an executor is expected, not a value of type int",
        ),
        (
            lambda: tailback.sweep(tailback.Scenario.loads(""), {}, ThreadPoolExecutor),
            "an executor is expected, not a value of type type",
        ),
        (lambda: tailback.saturation("s.toml", "a"), "a scenario is expected"),
        (lambda: tailback.Scenario.from_dict("a = 1"), "a dict of its tables, not a value of type str"),
    ],
)
def test_what_is_of_another_type_is_a_mistake(call, told):
    with pytest.raises(tailback.InputError, match=told):
        call()


def test_a_sweep_that_can_start_no_processes_leaves_nothing(tmp_path, monkeypatch):
    script = types.ModuleType("__main__")
    script.__file__ = "<stdin>"
    monkeypatch.setitem(sys.modules, "__main__", script)
    with pytest.raises(tailback.InputError, match="have to read it"):
        tailback.sweep(tailback.Scenario.loads(""), {"run.seed": [1, 2]}, directory=tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


def test_replace_leaves_the_scenario_as_it_was():
    scenario = tailback.Scenario.loads("")
    assert scenario.replace({"a": 1}).replace({"b": 2}).overrides == (("a", "1"), ("b", "2"))
    assert scenario.overrides == ()


def test_progress_is_reported_and_may_stop_the_run():
    seen = []
    result = tailback.Scenario.loads("").run(seen.append)
    assert not result.interrupted
    assert seen[-1] == tailback.Progress(3000.0, 3000.0, 3000)
    assert tailback.Scenario.loads("").run(lambda _: False).interrupted


def test_an_interrupt_carries_the_partial_result():
    with pytest.raises(tailback.Interrupted) as stop:
        tailback.Scenario.loads("stop").run()
    assert stop.value.result.interrupted


def test_every_mistake_is_raised_at_once():
    with pytest.raises(tailback.InputError) as error:
        tailback.Scenario.loads("wrong\nwrong").run()
    assert [problem.line for problem in error.value.problems] == [1, 2]
    assert "line 2: traffic.hot.load: this is wrong (make it right)" in str(error.value)


def test_a_failed_run_raises_its_reason():
    with pytest.raises(tailback.RunFailed, match="deadlock"):
        tailback.Scenario.loads("fail").run()


def test_a_byte_order_mark_is_no_part_of_a_scenario(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbftitle = 'x'")
    assert scenarios.Scenario.load(tmp_path / "a.toml").text == "title = 'x'"


def test_the_network_a_scenario_names_is_read_from_beside_it(scenario_file):
    scenario_file('h0 "s"\n\x7f\n', "ring.txt")
    scenario = tailback.Scenario.load(scenario_file("# network ring.txt\n"))
    assert scenario.complete().endswith('# topology.text = "h0 \\"s\\"\\n\\u007f\\n"\n')


def test_a_network_that_cannot_be_read_is_a_mistake(scenario_file):
    scenario = tailback.Scenario.load(scenario_file("# network none.txt\n"))
    assert "none.txt cannot be read" in str(tailback.InputError(scenario.check()))
    scenario_file(b"a\0b", "none.txt")
    with pytest.raises(tailback.InputError, match="binary file, not a network"):
        scenario.run()


_ONE_SWITCH = "topology = { kind = 'single-switch', endpoints = 4 }\nrouting.kind = 'minimal'\n"


@pytest.mark.engine
@pytest.mark.parametrize(
    ("keys", "held"),
    [
        ("workload = 'phases'\nranks = 4\nflows = 'list'\npath = 'none.txt'", "flow list"),
        ("workload = 'vef'\npath = 'none.txt'", "trace"),
        ("workload = 'goal'\npath = 'none.txt'", "trace"),
        ("workload = 'phases'\nranks = 4\nplacement = { path = 'none.txt' }", "placement"),
        ("workload = 'chakra'\nranks = 4\npath = 'none.txt'", "trace"),
        ("workload = 'chakra'\nranks = 1\ndata.0 = 'AA=='\ngroups = { path = 'none.txt' }", "process group"),
    ],
)
def test_a_file_of_a_job_that_cannot_be_read_is_the_only_mistake_of_it(scenario_file, keys, held):
    path = scenario_file(f"{_ONE_SWITCH}[[job]]\nname = 'it'\n{keys}\n")
    (problem,) = tailback.Scenario.load(path).check()
    assert (problem.path.rpartition(".")[2], problem.help) == ("path", f"name a {held} file")
    assert re.search(r"none\.txt(\.0\.et)? cannot be read: No such file or directory$", problem.message)


@pytest.mark.engine
@pytest.mark.parametrize("key", ["job.0.path", "job.it.path"])
def test_a_change_that_names_a_file_that_is_not_there_is_one_mistake(scenario_file, key):
    path = scenario_file(f"{_ONE_SWITCH}[[job]]\nname = 'it'\nworkload = 'chakra'\nranks = 3\n")
    (problem,) = tailback.Scenario.load(path).replace({key: "none"}).check()
    assert problem.message.endswith("none.0.et cannot be read: No such file or directory")


@pytest.mark.engine
def test_the_files_of_all_ranks_of_a_trace_are_read(tmp_path, scenario_file):
    for rank in range(2):
        (tmp_path / f"t.{rank}.et").write_bytes(b"\x07\x0a\x050.0.4\x04\x18\x04\x38\x03")
    job = "[[job]]\nname = 'it'\nworkload = 'chakra'\nranks = 2\npath = 't'\n"
    path = scenario_file(f"{_ONE_SWITCH}{job}[run]\nduration = '1 ms'\n")
    # A node of 3 us in each.
    result = tailback.Scenario.load(path).run()
    assert result.summary["jobs"]["it"]["time_ns"] == 3000.0
    assert "H4sI" in result.scenario, "what a result keeps is compressed"
    assert result.summary["warnings"] == []
    fewer = tailback.Scenario.load(path).replace({"job.it.ranks": 1}).run()
    assert fewer.summary["warnings"] == ["job.0.ranks: 1 file of the trace ran, but t.1.et is there too"]
    result.save(tmp_path / "kept")
    again = tailback.Scenario.load(tmp_path / "kept" / "scenario.toml").replace({"job.it.ranks": 1})
    told = again.check()
    assert [problem.message for problem in told] == ["the job has 1 ranks"]


def test_the_scenario_of_a_result_may_be_as_long_as_the_traces_it_keeps(tmp_path):
    for name in ("a", "kept"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scenario.toml").write_text("#" * (17 << 20))
    (tmp_path / "kept" / "summary.json").write_text("{}")
    assert len(tailback.Scenario.load(tmp_path / "kept" / "scenario.toml").text) == 17 << 20
    with pytest.raises(tailback.InputError, match="too large"):
        tailback.Scenario.load(tmp_path / "a" / "scenario.toml")


def test_a_binary_trace_that_is_taken_for_text_is_told_its_format(tmp_path):
    goal, other = tmp_path / "bt.goal", tmp_path / "bt.other"
    goal.write_bytes((4223).to_bytes(8, "little") + bytes(20))
    other.write_bytes(bytes(28))
    for path, what, remedy in (
        (goal, "trace", 'format = "binary"'),
        (other, "trace", "a trace is a text file"),
        (goal, "placement", "a placement is a text file"),
    ):
        with pytest.raises(tailback.InputError) as raised:
            scenarios._contents("job.0.text", path, what)
        (problem,) = raised.value.problems
        assert problem.help.endswith(remedy)


@pytest.mark.parametrize("changes", [None, 3, "run.seed=2", {3: 4}])
def test_changes_that_are_not_by_key_are_a_mistake(changes):
    with pytest.raises(tailback.InputError, match="not by dotted key"):
        tailback.Scenario.loads("").replace(changes)


def test_a_scenario_is_shown_on_one_line(scenario_file):
    path = scenario_file("title = 'hot'\n" + "# long\n" * 99)
    scenario = tailback.Scenario.load(path)
    assert repr(scenario) == f"<Scenario 'hot', {path}>"
    assert repr(scenario.replace({"run.seed": 2})) == f"<Scenario 'hot', {path}, 1 change>"
    assert repr(scenario.replace({"title": "x", "run.seed": 2})) == f"<Scenario 'x', {path}, 2 changes>"
    assert repr(tailback.Scenario.loads("title = ")) == "<Scenario from text>"
