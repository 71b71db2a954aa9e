"""What judges and draws each experiment, over runs too brief to mean anything."""

import re
import tomllib

import pytest
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tailback import InputError, experiments
from tailback.experiments import draw
from tailback.experiments.model import Data
from tailback.figures import style
from tailback.reproduction import reproduce
from tailback.stats import mean_interval
from tailback.sweeps.found import Saturation

WHOLE = {"saa-fig1", "saa-converge"}
"""Experiments of seconds, which need flows that have arrived."""
NOTHING = (ValueError, IndexError, ZeroDivisionError)
"""What comes of means, indices and shares of nothing."""
LONG_S = 140.0
"""CPU seconds of a whole experiment from which on brief runs take over half a second too."""
HEAVY = {"osha-fig11"}
"""Each of their runs reads a trace of thousands of tasks, however brief it is."""

PROTOCOLS = {name: kind for kind, name in draw.LABELS.items()}


def brief(scenario):
    """Long enough for a job's first messages, which take 3.5 us of software."""
    whole = tomllib.loads(scenario.complete())
    end, shot = ("9 us", "8 us") if "job" in whole else ("1 us", "1 us")
    times = {"run.warmup": "0.5 us", "run.duration": end, "run.drain": "0.5 us"}
    return scenario.replace(times | ({"record.occupancy": [shot]} if whole["record"]["occupancy"] else {}))


def named(name):
    is_long = name in HEAVY or reproduce.whole_seconds(experiments.experiment(name), False) > LONG_S
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
        figure = one.draw(data)
    except (*NOTHING, InputError):
        assert name not in WHOLE
    else:
        assert isinstance(figure, Figure)
        for axes in figure.axes:
            must_show_protocols_alike(axes)
            must_not_have_bars_without_a_zero(axes)


def must_show_protocols_alike(axes):
    """What is called by a protocol has its colour, or if it is a variant one that no protocol has."""
    shown = list(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    names = [tick.get_text() for tick in axes.get_xticklabels()]
    if any(protocol_of(name) for name in names):
        shown += [(names[round(bar.get_x() + bar.get_width() / 2)], bar) for bar in axes.patches]
    for label, handle in shown:
        protocol = protocol_of(label)
        if protocol:
            allowed = [draw.look(protocol)] + [draw.FREE] * (label not in PROTOCOLS)
            assert colour(handle) in [style.COLOURS[number] for number in allowed], label


def protocol_of(label):
    return PROTOCOLS.get(re.split("[ ,]", label)[0])


def colour(handle):
    """Of a line, a bar or a group of bars."""
    if isinstance(handle, BarContainer):
        handle = handle.patches[0]
    return to_hex(handle.get_color() if isinstance(handle, Line2D) else handle.get_facecolor()).upper()


def must_not_have_bars_without_a_zero(axes):
    assert axes.get_yscale() == "linear" or not any(
        isinstance(each, BarContainer) for each in axes.containers
    )
