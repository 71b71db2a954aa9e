"""Jobs beside others, and alone."""

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
