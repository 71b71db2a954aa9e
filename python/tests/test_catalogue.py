"""What judges and draws each experiment, over runs too brief to mean anything."""

import tomllib

import pytest
from matplotlib.figure import Figure

from tailback import InputError, experiments, reproduce
from tailback.experiments.model import Data
from tailback.saturation import Saturation
from tailback.stats import mean_interval

WHOLE = {"saa-fig1", "saa-converge"}
"""Experiments of seconds, which need flows that have arrived."""
NOTHING = (ValueError, IndexError, ZeroDivisionError)
"""What comes of means, indices and shares of nothing."""
LONG_S = 140.0
"""CPU seconds of a whole experiment from which on brief runs take over half a second too."""


def brief(scenario):
    """Long enough for a job's first messages, which take 3.5 us of software."""
    whole = tomllib.loads(scenario.complete())
    end, shot = ("9 us", "8 us") if "job" in whole else ("1 us", "1 us")
    times = {"run.warmup": "0.5 us", "run.duration": end, "run.drain": "0.5 us"}
    return scenario.replace(times | ({"record.occupancy": [shot]} if whole["record"]["occupancy"] else {}))


def named(name):
    is_long = reproduce.whole_seconds(experiments.experiment(name), False) > LONG_S
    return pytest.param(name, marks=pytest.mark.slow if is_long else ())


@pytest.mark.engine
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", [named(name) for name in experiments.IDS])
def test_what_judges_and_draws_an_experiment_finds_its_runs_and_what_they_measure(name):
    one = experiments.experiment(name)
    runs = [
        (case.labels, (case.scenario if name in WHOLE else brief(case.scenario)).run())
        for case in one.cases(False)
    ]
    found = Saturation(0.5, 0.55, mean_interval([0.5, 0.51]), 0.95, sure=True, runs=2, cpu_seconds=1.0)
    data = Data(runs, [(search.labels, found) for search in one.searches(False)])
    try:
        claims = one.claims(data)
    except NOTHING:
        assert name not in WHOLE
    else:
        assert {claim.verdict for claim in claims} <= {"held", "missed", "not judged"}
        assert claims
    try:
        assert isinstance(one.draw(data), Figure)
    except (*NOTHING, InputError):
        assert name not in WHOLE
