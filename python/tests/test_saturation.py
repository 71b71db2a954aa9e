"""A search for the saturation throughput, from Python and as a command."""

import json
import math
import random

import pytest

import tailback
from tailback import saturation

TWO_TO_ONE = """
[topology]
kind = "single-switch"
endpoints = 3
[routing]
kind = "minimal"
[[traffic]]
name = "pair"
pattern = "hotspot"
sources = 2
destinations = 1
load = 0.5
message = "1 packet"
[run]
warmup = "20 us"
duration = "100 us"
drain = "0 us"
"""


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
        judge = saturation._Judge(None, "", 0.95, 5, "all", None, None, None)
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


SEARCH = ("--seeds", "2", "--high", "0.8", "--tolerance", "0.02", "-o", "kept")


@pytest.mark.engine
def test_the_command_finds_what_two_senders_to_one_may_offer_in_closed_form(command, scenario_file, tmp_path):
    file = scenario_file(TWO_TO_ONE)
    status, out, err = command("saturation", file, *SEARCH, "--json")
    assert status == 0
    found = json.loads(out)
    limit = 0.5 / 0.97  # half a channel each, of which 3 % more may be offered
    assert found["accepted_load"] < limit < found["refused_load"]
    assert [tried["load"] for tried in found["tried"]][:3] == [0.8, 0.05, pytest.approx(0.425)]
    assert "load 0.8: refused, 6" in err
    assert "load 0.05: accepted, 100 ± 0 % arrive (2 seeds)" in err
    status, out, _ = command("saturation", file, *SEARCH)
    assert (status, "accepts at least 97 % of what is offered up to a load of 0.5" in out) == (0, True)
    assert (tmp_path / "kept" / "points").is_dir()


@pytest.mark.engine
def test_the_command_asks_for_the_load_where_it_is_not_clear(command, scenario_file):
    second = TWO_TO_ONE[TWO_TO_ONE.index("[[traffic]]") : TWO_TO_ONE.index("[run]")].replace("pair", "more")
    status, _, err = command("saturation", scenario_file(TWO_TO_ONE + second))
    assert (status, "name it with --key; there are traffic.pair.load, traffic.more.load" in err) == (2, True)
    status, _, err = command("saturation", scenario_file(TWO_TO_ONE), "--key", "traffic.other.load")
    assert (status, 'there is none called "other"' in err) == (2, True)
    status, _, err = command("saturation", scenario_file(TWO_TO_ONE), "--low", "0.9", "--high", "0.1")
    assert (status, "a saturation cannot lie between 0.9 and 0.1" in err) == (2, True)
