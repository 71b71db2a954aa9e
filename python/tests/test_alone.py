"""Jobs beside others, and alone."""

import pytest

import tailback
from tailback import alone


def of_job(time, mean, most):
    facts = {"time_ns": time, "communication_ns": {"mean": mean, "max": most}}
    return tailback.Result("", {"jobs": {"a": facts}}, {})


def test_slowdowns_are_of_the_times_and_of_the_mean_communication():
    job = alone.beside(of_job(30.0, 12.0, 20.0), of_job(10.0, 4.0, 8.0), "a").summary["jobs"]["a"]
    assert (job["alone_communication_ns"], job["slowdown"], job["communication_slowdown"]) == (8.0, 3.0, 3.0)
    cut = alone.beside(of_job(None, 12.0, 20.0), of_job(10.0, 4.0, 8.0), "a").summary["jobs"]["a"]
    assert (cut["slowdown"], cut["communication_slowdown"]) == (None, None)


def test_the_jobs_of_a_scenario_are_those_that_run(monkeypatch):
    text = '[[job]]\nname = "a"\n[[job]]\nname = "b"\n'
    assert alone.jobs(tailback.Scenario.loads(text)) == ["a", "b"]
    assert alone.jobs(tailback.Scenario.loads(f'{text}[run]\nonly = ["b"]\n')) == ["b"]


BOTH = """
[topology]
kind = "single-switch"
endpoints = 4
[routing]
kind = "minimal"
[[job]]
name = "a"
workload = "ring-exchange"
message = "4 flits"
ranks = 2
[[job]]
name = "b"
workload = "ring-exchange"
message = "4 flits"
ranks = 2
"""


@pytest.mark.engine
def test_alone_no_endpoint_is_slow():
    slow = '[endpoint]\nslow = [{ endpoints = [1], drain_rate = "10 Gb/s" }]\n'
    changes = {"job.a.placement": [0, 1], "job.b.placement": [2, 3], "endpoint.slow.0.drain_rate": "5 Gb/s"}
    changes |= {"job.a.message": "50 kB", "job.b.message": "50 kB", "run.duration": "1 ms"}
    scenario = tailback.Scenario.loads(f"{slow}{BOTH}").replace(changes)
    jobs = scenario.run(alone=True).summary["jobs"]
    assert jobs["a"]["slowdown"] > 2.0
    assert jobs["a"]["alone_ns"] == jobs["b"]["alone_ns"] == jobs["b"]["time_ns"]


@pytest.mark.engine
def test_a_run_with_its_jobs_alone_tells_how_much_slower_each_is_beside_the_others():
    jobs = tailback.Scenario.loads(BOTH).run(alone=True).summary["jobs"]
    assert {name: job["slowdown"] for name, job in jobs.items()} == {"a": 1.0, "b": 1.0}
    assert jobs["a"]["alone_ns"] == jobs["a"]["time_ns"]
    network = BOTH[: BOTH.index("[[job]]")]
    with pytest.raises(tailback.InputError, match="no job"):
        tailback.Scenario.loads(f"{network}[[traffic]]\npattern = 'uniform'\nload = 1").run(alone=True)
    with pytest.raises(tailback.InputError, match="neither traffic nor a job"):
        tailback.Scenario.loads(network).run(alone=True)


@pytest.mark.engine
def test_a_stop_during_a_run_alone_is_warned_of_and_no_other_is_begun(monkeypatch):
    scenario, ran, real = tailback.Scenario.loads(BOTH), [], tailback.Scenario.run

    def run(self, watch=None):
        ran.append(dict(self.overrides)["run.only"])
        return real(self, lambda _: False)

    beside = scenario.run()
    monkeypatch.setattr(tailback.Scenario, "run", run)
    with pytest.warns(UserWarning, match="the run of a alone was stopped"):
        assert alone.all_compared(scenario, beside) is beside
    assert ran == ['["a"]']


def test_a_failed_run_alone_is_warned_of_and_one_that_is_interrupted_loses_nothing(monkeypatch):
    scenario, beside = tailback.Scenario.loads(BOTH), of_job(30.0, 12.0, 20.0)

    def run(self, watch=None):
        (name,) = dict(self.overrides)["run.only"].strip('"[]').split()
        if name == "a":
            raise tailback.RunFailed("deadlock")
        raise tailback.Interrupted(of_job(1.0, 1.0, 1.0))

    monkeypatch.setattr(tailback.Scenario, "run", run)
    monkeypatch.setattr(alone, "jobs", lambda _: ["a", "b"])
    with (
        pytest.warns(UserWarning, match="the run of a alone gave no result: deadlock"),
        pytest.raises(tailback.Interrupted) as stopped,
    ):
        alone.all_compared(scenario, beside)
    assert stopped.value.result is beside
