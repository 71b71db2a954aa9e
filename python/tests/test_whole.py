"""The whole, engine included: determinism, interruption, and no panic on any input."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tailback
from tailback.demo import runs

pytestmark = pytest.mark.engine

SMALL = """title = "small"
[topology]
kind = "dragonfly"
p = 2
a = 4
h = 2
groups = 9
[link]
host = "5 ns"
local = "50 ns"
global = "1 us"
[routing]
kind = "par"
[congestion_control]
kind = "lhrp"
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 12
destinations = 2
load = 0.5
message = "4 flits"
start = "2 us"
[[traffic]]
name = "victim"
pattern = "uniform"
endpoints = "rest"
load = 0.4
message = "4 flits"
[run]
warmup = "5 us"
duration = "10 us"
[record]
series = "1 us"
ports = true
"""
JUNK = ["", "0", "-1", "1e30", "nan", "true", "[]", "{}", '"µ"']
JUNK += ['"5 KB"', '"5 furlongs"', '"100 Gb/s"', '"-3 ns"', '"1e400 ns"', '"99999999999 ms"']
LINES = SMALL.splitlines()
UNIFORM = Path(__file__).parents[2] / "scenarios" / "uniform.toml"


def broken_lines():
    """A line of the scenario left out, doubled, moved, cut, misspelt, or given another value."""
    numbers = st.integers(0, len(LINES) - 1)
    values = st.sampled_from(JUNK) | st.floats().map(repr) | st.integers().map(str)
    return st.one_of(
        st.tuples(st.just("drop"), numbers, st.none()),
        st.tuples(st.just("double"), numbers, st.none()),
        st.tuples(st.just("move"), numbers, numbers),
        st.tuples(st.just("cut"), numbers, st.integers(0, 20)),
        st.tuples(st.just("value"), numbers, values),
        st.tuples(st.just("insert"), numbers, st.text(max_size=20)),
    )


def values(table):
    """The values of a table as text, in which a missing value (NaN) equals another."""
    return repr(table.to_pydict())


def mutate(lines, change):
    kind, number, extra = change
    line = lines[number]
    replacement = {
        "drop": list,
        "double": lambda: [line, line],
        "move": lambda: [LINES[extra]],
        "cut": lambda: [line[:extra]],
        "value": lambda: [f"{line.partition('=')[0]}= {extra}"],
        "insert": lambda: [line, extra],
    }[kind]()
    return [*lines[:number], *replacement, *lines[number + 1 :]]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(broken_lines(), min_size=1, max_size=3))
def test_no_mutated_scenario_makes_the_engine_panic(changes):
    lines = LINES
    for kind, number, extra in changes:
        lines = mutate(lines, (kind, min(number, len(lines) - 1), extra))
    text = "\n".join(lines)
    for problem in tailback.Scenario.loads(text).check():
        assert problem.message
        assert problem.line is None or 1 <= problem.line <= text.count("\n") + 1


def test_the_example_scenarios_have_no_mistakes():
    for scheme in runs.SCHEMES:
        assert runs.scenario(scheme).check() == []


def test_a_completed_scenario_is_a_scenario_and_gives_the_same_tables():
    scenario = tailback.Scenario.loads(SMALL)
    complete = scenario.complete()
    assert tailback.Scenario.loads(complete).complete() == complete
    first, second = scenario.run().tables, tailback.Scenario.loads(complete).run().tables
    for name in ("classes", "ports"):
        assert values(first[name]) == values(second[name])


@pytest.mark.parametrize("changes", [{}, {"run.threads": 2}, {"run.partitions": 3}])
def test_tables_are_the_same_bytes_for_any_number_of_threads(tmp_path, changes):
    scenario = tailback.Scenario.loads(SMALL)
    scenario.run().save(tmp_path / "one")
    scenario.replace(changes).run().save(tmp_path / "other")
    files = sorted(path.name for path in (tmp_path / "one").glob("*.parquet"))
    assert {"classes.parquet", "series.parquet", "ports.parquet"} <= set(files)
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "other" / file).read_bytes()


def test_the_summary_has_what_it_promises(command, scenario_file):
    status, out, _ = command("run", scenario_file(SMALL), "--json")
    summary = json.loads(out)
    assert status == 0
    assert {
        *("title", "seed", "version", "simulated_ns", "cpu_seconds", "packet_hops", "events"),
        *("peak_rss_bytes", "stable", "classes"),
    } <= set(summary)
    assert set(summary["classes"]) == {"hot", "victim", "all"}
    for facts in summary["classes"].values():
        assert {
            *("offered", "accepted", "accepted_per_destination", "messages", "packets", "unfinished"),
            *("hops_mean", "dropped_packets", "resent_packets", "ejection_shares"),
            *("packet_latency_ns", "network_latency_ns", "message_latency_ns"),
        } <= set(facts) | set(summary)


def test_mistakes_name_the_line(command, scenario_file):
    text = SMALL.replace("groups = 9", "groups = 10").replace("load = 0.4", "load = 1.4\nlaod = 2")
    path = scenario_file(text)
    status, out, err = command("run", path, "--json")
    assert (status, out) == (2, "")
    assert f"{path}:{text[: text.index('laod')].count(chr(10)) + 1}:" in err


@pytest.mark.parametrize("name", [["list"], ["list", "--json"], ["schema"], ["describe", "net.toml"]])
def test_answers_about_the_engine(command, scenario_file, name):
    scenario_file(SMALL)
    status, out, err = command(*name)
    assert (status, err) == (0, "")
    assert out


def test_a_description_has_what_it_promises(command, scenario_file):
    status, out, err = command("describe", scenario_file(SMALL), "--json")
    facts = json.loads(out)
    assert (status, err) == (0, "")
    assert {
        *("endpoints", "switches", "ports", "links", "diameter", "minimal_hops_mean", "zero_load_latency_ns"),
        *("bisection", "virtual_channels", "tick_ps", "partitions", "lookahead_ns", "memory_estimate"),
    } <= set(facts)
    assert (facts["endpoints"], facts["switches"], facts["diameter"]) == (72, 36, 3)
    _, out, _ = command("describe", "net.toml")
    for heading in ("links", "zero load latency [ns]", "virtual channels"):
        assert heading in out.splitlines()


@pytest.mark.parametrize("load", [0.2, 0.5])
def test_the_memory_of_a_run_is_within_a_factor_of_2_of_its_estimate(load):
    changes = {
        "traffic.uniform.load": load,
        "run.warmup": "5 us",
        "run.duration": "2 us",
        "run.drain": "0 us",
    }
    program = f"""
import json, tailback
scenario = tailback.Scenario.load({str(UNIFORM)!r}).replace({changes!r})
estimate = scenario.describe()["memory_estimate"]["total_bytes"]
print(json.dumps([estimate, scenario.run().summary["peak_rss_bytes"]]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    estimate, taken = json.loads(done.stdout)
    assert estimate / 2 <= taken <= estimate * 2


@pytest.fixture
def not_ignored():
    """Ctrl-C for processes that are started: one that is ignored here would be there too."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)


COMMAND = (sys.executable, "-m", "tailback")
PIPED = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "start_new_session": True}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_keeps_partial_results(scenario_file, tmp_path, not_ignored, number):
    long = SMALL.replace("10 us", "1 s")
    call = [*COMMAND, "run", scenario_file(long), "-o", str(tmp_path / "here")]
    process = subprocess.Popen(call, **PIPED)
    try:
        while _cpu_seconds(process.pid) < 1.5:  # it is under way: to load takes half a second
            time.sleep(0.1)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1
    assert b"Traceback" not in err
    assert tailback.Result.load(tmp_path / "here").interrupted


def _cpu_seconds(process):
    """What a process that is not waited for has taken (proc_pid_stat(5))."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_sweep_that_is_stopped_with_its_processes_keeps_what_is_complete(
    scenario_file, tmp_path, not_ignored, number
):
    """As from a terminal, or when the time of a Slurm job is up: the first point ends, the others do not."""
    swept = '[sweep]\n"run.duration" = ["1 us", "1 s"]\nseeds = 2\n'
    call = [*COMMAND, "sweep", scenario_file(SMALL + swept), "-o", str(tmp_path / "here"), "--workers", "2"]
    process = subprocess.Popen(call, **PIPED)
    try:
        kept = tmp_path / "here" / "points"
        for _ in range(600):
            time.sleep(0.1)
            if len(list(kept.glob("[!.]*"))) == 2:
                break
        os.killpg(process.pid, number)
        _, err = process.communicate(timeout=60)
        assert _ends(process.pid)
    finally:
        process.kill()
    told = f"2 of 4 points are complete; --resume goes on, tailback show {tmp_path}/here prints them"
    assert (process.returncode, err.decode()) == (1, f"{told}\ninterrupted\n")
    assert tailback.Sweep.load(tmp_path / "here").missing == 2


def _ends(group):
    """Whether the last process of a group ends within some seconds."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_while_it_loads_shows_no_traceback(tmp_path, not_ignored, number):
    (tmp_path / "numpy.py").write_text(f"import os\nos.kill(os.getpid(), {number})\nimport missing\n")
    path = os.pathsep.join([str(tmp_path), str(Path(tailback.__path__[0]).parent)])
    done = subprocess.run(
        [*COMMAND, "list"], capture_output=True, env=os.environ | {"PYTHONPATH": path}, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"interrupted\n")
