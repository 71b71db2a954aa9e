import math
import random

import pytest

import tailback
from tailback import saturation
from tailback.stats import mean_interval


def test_the_interval_is_student_s():
    found = mean_interval([9.0, 10.0, 11.0])
    assert (found.mean, found.values) == (10.0, 3)
    assert found.half == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)


def test_one_value_says_nothing_of_its_spread():
    found = mean_interval([3.0])
    assert math.isnan(found.half)
    assert (found.low, found.high, str(found)) == (3.0, 3.0, "3")


def test_one_value_that_is_not_known_makes_the_mean_so():
    assert str(mean_interval([1.0, math.nan])) == "not known"


def test_the_interval_holds_the_mean_as_often_as_it_says():
    stream = random.Random(7)
    held = 0
    for _ in range(400):
        found = mean_interval([stream.gauss(5, 2) for _ in range(5)], confidence=0.9)
        held += found.low <= 5 <= found.high
    assert 0.86 * 400 < held < 0.94 * 400


@pytest.fixture
def network(monkeypatch):
    """A network that accepts everything up to a load of 0.6, and 0.5 at full load."""

    class Result:
        def __init__(self, load):
            kept = load if load <= 0.6 else 0.6 - 0.25 * (load - 0.6)
            self.summary = {
                "classes": {"all": {"offered": load, "accepted": kept}},
                "cpu_seconds": 0.5,
            }

    class Done:
        def __init__(self, load, seeds):
            self.tally = type("Tally", (), {"points": seeds, "reused": seeds})
            self.results = lambda: [Result(load)] * seeds

    def sweep(_scenario, over, _executor, seeds, *, directory):
        return Done(over["traffic.u.load"][0], seeds)

    monkeypatch.setattr(saturation, "measured", sweep)
    return tailback.Scenario.loads("")


def test_bisection_brackets_the_largest_load_accepted_within_three_percent(network):
    found = saturation.saturation(network, "traffic.u.load", tolerance=0.005, executor=object())
    edge = 0.75 / (0.97 + 0.25)
    assert found.accepted_load <= edge <= found.refused_load
    assert found.refused_load - found.accepted_load <= 0.005
    assert found.at_full_load.mean == pytest.approx(0.5)
    assert found.sure


def test_one_seed_states_no_confidence(network):
    found = saturation.saturation(network, "traffic.u.load", seeds=1, executor=object())
    assert not found.sure
    assert "fewer seeds than 95 % confidence takes" in str(found)


def test_a_network_that_never_saturates_says_so(network):
    found = saturation.saturation(network, "traffic.u.load", high=0.5, executor=object())
    assert (found.accepted_load, found.refused_load) == (0.5, math.inf)
    assert math.isnan(found.load)
    assert "up to a load of 0.500 at least, the largest that was tried," in str(found)


def test_a_network_that_saturates_below_what_is_searched_has_no_saturation_load(network):
    found = saturation.saturation(network, "traffic.u.load", low=0.7, executor=object())
    assert (found.accepted_load, found.refused_load) == (0.0, 0.7)
    assert math.isnan(found.load)
    assert math.isnan(found.half)
    assert "up to a load of less than 0.700, the least that was tried," in str(found)


def test_all_runs_of_a_search_are_counted_whether_or_not_they_were_there_before(network):
    found = saturation.saturation(network, "traffic.u.load", high=0.5, executor=object())
    assert (found.runs, found.cpu_seconds) == (4, 2.0)


def test_what_is_accepted_at_full_load_is_measured_there_and_not_at_the_end_of_the_bracket(network):
    found = saturation.saturation(network, "traffic.u.load", high=0.8, executor=object())
    assert found.at_full_load.mean == pytest.approx(0.5)


def test_a_verdict_at_the_limit_is_called_sure_no_more_often_than_the_confidence_allows(monkeypatch):
    stream = random.Random(3)
    sure, searches = 0, 1500
    for _ in range(searches):
        judge = saturation._Judge(None, "", 0.95, 5, "all", None, None)
        ratios = [stream.gauss(0.97, 0.01) for _ in range(5)]
        monkeypatch.setattr(
            judge,
            "_facts",
            lambda load, seeds, of=ratios: [{"accepted": r, "offered": 1} for r in of[:seeds]],
        )
        judge.accepts(0.5)
        sure += judge.sure
    assert sure < 0.06 * searches


@pytest.mark.parametrize(
    "bad", [{"low": 0.9, "high": 0.1}, {"seeds": 0}, {"confidence": 1.0}, {"traffic": "x"}]
)
def test_a_nonsense_search_is_refused(network, bad):
    with pytest.raises(tailback.InputError):
        saturation.saturation(network, "traffic.u.load", executor=object(), **bad)
