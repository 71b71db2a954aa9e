"""A search for the saturation throughput, from Python and as a command."""

import json
import math
import random
from types import SimpleNamespace

import pytest
from sweeping import Inline

import tailback
from tailback.stats import mean_interval
from tailback.sweeps import saturation
from tailback.sweeps.found import Saturation, Tried

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

LATENCY = {"message_latency_ns": {"mean": 100.0}, "backlog_growth_ci95": 0.0}


@pytest.fixture
def network(monkeypatch):
    """A network that accepts everything up to a load of 0.6, and 0.5 at full load."""

    class Result:
        def __init__(self, load):
            kept = load if load <= 0.6 else 0.6 - 0.25 * (load - 0.6)
            self.summary = {
                "classes": {"all": {"offered": load, "accepted": kept, **LATENCY}},
                "cpu_seconds": 0.5,
            }

    class Done:
        def __init__(self, load, seeds):
            self.tally = type("Tally", (), {"points": seeds, "reused": seeds})
            self.results = lambda: [Result(load)] * seeds

    def sweep(_scenario, over, _executor, seeds, *, directory):
        return Done(over["traffic.u.load"][0], seeds)

    monkeypatch.setattr(saturation, "measured", sweep)
    monkeypatch.setattr(saturation, "class_of", lambda *_: None)
    return tailback.Scenario.loads("")


def test_bisection_brackets_the_largest_load_accepted_within_three_percent(network):
    found = saturation.saturation(network, "traffic.u.load", tolerance=0.005, executor=Inline())
    edge = 0.75 / (0.97 + 0.25)
    assert found.accepted_load <= edge <= found.refused_load
    assert found.refused_load - found.accepted_load <= 0.005
    assert found.at_full_load.mean == pytest.approx(0.5)
    assert {tried.latency_ns.mean for tried in found.tried} == {100.0}
    assert found.sure


def test_what_is_surely_accepted_and_refused_is_told_where_verdicts_are_unsure():
    none = mean_interval([])
    tried = [(0.4, True, True), (0.8, False, True), (0.6, True, False), (0.7, False, False)]
    found = Saturation(
        0.6,
        0.7,
        none,
        0.95,
        sure=False,
        runs=8,
        cpu_seconds=1.0,
        tried=tuple(Tried(load, none, accepted, sure) for load, accepted, sure in tried),
    )
    assert found.sure_between == (0.4, 0.8)
    assert (
        "up to a load between 0.400 and 0.800, perhaps between 0.600 and 0.700 "
        "(the first at 95 % confidence, the second not settled with these seeds)"
    ) in str(found)


def test_runs_that_agree_by_chance_settle_nothing(monkeypatch):
    for half, sure in ((0.01, True), (0.2, False), (None, False)):
        judge = saturation._Judge(None, "", 0.95, 3, "all", None, None, None)
        facts = {"accepted": 1.0, "offered": 1.0, **LATENCY, "backlog_growth_ci95": half}
        monkeypatch.setattr(judge, "_facts", lambda load, seeds, told=facts: [told] * seeds)
        assert judge.accepts(0.3)
        assert judge.sure is sure


def test_one_seed_states_no_confidence(network):
    found = saturation.saturation(network, "traffic.u.load", seeds=1, executor=Inline())
    assert not found.sure
    assert "not settled at 95 % confidence with these seeds)" in str(found)


def test_a_network_that_never_saturates_says_so(network):
    found = saturation.saturation(network, "traffic.u.load", high=0.5, executor=Inline())
    assert (found.accepted_load, found.refused_load) == (0.5, math.inf)
    assert math.isnan(found.load)
    assert "up to the largest load that was tried, 0.500" in str(found)


def test_a_network_that_saturates_below_what_is_searched_has_no_saturation_load(network):
    found = saturation.saturation(network, "traffic.u.load", low=0.7, executor=Inline())
    assert (found.accepted_load, found.refused_load) == (0.0, 0.7)
    assert math.isnan(found.load)
    assert math.isnan(found.half)
    assert "at no load that was tried, not even at 0.700" in str(found)


def test_all_runs_of_a_search_are_counted_whether_or_not_they_were_there_before(network):
    found = saturation.saturation(network, "traffic.u.load", high=0.5, executor=Inline())
    assert (found.runs, found.cpu_seconds) == (4, 2.0)


def test_what_is_accepted_at_full_load_is_measured_there_and_not_at_the_end_of_the_bracket(network):
    found = saturation.saturation(network, "traffic.u.load", high=0.8, executor=Inline())
    assert found.at_full_load.mean == pytest.approx(0.5)


def test_a_verdict_at_the_limit_is_called_sure_no_more_often_than_the_confidence_allows(monkeypatch):
    stream = random.Random(3)
    sure, count = 0, 1500
    for _ in range(count):
        judge = saturation._Judge(None, "", 0.95, 5, "all", None, None, None)
        ratios = [stream.gauss(0.97, 0.01) for _ in range(5)]
        monkeypatch.setattr(
            judge,
            "_facts",
            lambda load, seeds, of=ratios: [{"accepted": r, "offered": 1, **LATENCY} for r in of[:seeds]],
        )
        judge.accepts(0.5)
        sure += judge.sure
    assert sure < 0.06 * count


@pytest.mark.parametrize(
    "bad",
    [
        {"low": 0.9, "high": 0.1},
        {"seeds": 0},
        {"confidence": 1.0},
        {"tolerance": 0.0},
        {"traffic": "x"},
        {"directory": ""},
        {"directory": None},
        {"executor": 3},
    ],
)
def test_a_nonsense_search_is_refused(network, bad):
    with pytest.raises(tailback.InputError):
        saturation.saturation(network, "traffic.u.load", **{"executor": Inline()} | bad)


SEARCH = ("--seeds", "2", "--high", "0.8", "--tolerance", "0.02", "-o", "kept")


@pytest.mark.engine
def test_the_command_finds_what_two_senders_to_one_may_offer_in_closed_form(command, scenario_file, tmp_path):
    file = scenario_file(TWO_TO_ONE)
    status, out, err = command("saturation", file, *SEARCH, "--json")
    assert status == 0
    found = json.loads(out)
    limit = 0.5 / 0.97  # half a channel each, of which 3 % more may be offered
    assert found["accepted_load"] < limit < found["refused_load"]
    # At full load half a channel each arrives, of which 0.515 is 97 % more: the nearest loads on both sides.
    assert [tried["load"] for tried in found["tried"]] == [0.53, 0.51]
    assert "searching traffic.pair.load for the load of which 'pair' is accepted" in err
    assert "load 0.53: refused, 94." in err
    assert " % of what is offered arrives (2 seeds)" in err
    assert "load 0.51: accepted, 9" in err
    status, out, _ = command("saturation", file, *SEARCH)
    assert (status, "accepts at least 97 % of what is offered up to a load between 0.5" in out) == (0, True)
    assert (tmp_path / "kept" / "points").is_dir()


@pytest.mark.engine
def test_full_load_counts_all_seeds_and_the_class_is_that_of_the_load(scenario_file, tmp_path):
    scenario = tailback.Scenario.load(
        scenario_file(TWO_TO_ONE.replace("endpoints = 3", "endpoints = 6") + UNIFORM)
    )
    found = saturation.saturation(
        scenario, "traffic.pair.load", tolerance=0.3, seeds=3, confidence=0.9999, directory=tmp_path
    )
    assert found.at_full_load.values == max(tried.ratio.values for tried in found.tried) == 3
    assert found.refused_load == 0.6, "the load of which 'pair' is accepted, not all"


@pytest.mark.engine
def test_full_load_is_the_largest_of_the_search_where_the_traffic_cannot_offer_one(scenario_file, tmp_path):
    bursts = 'load = 0.5\nprocess = { kind = "on-off", burst = "8 flits", peak = 0.7 }'
    scenario = tailback.Scenario.load(scenario_file(TWO_TO_ONE.replace("load = 0.5", bursts)))
    limits = {"high": 0.7, "tolerance": 0.2, "seeds": 2, "directory": tmp_path}
    found = saturation.saturation(scenario, "traffic.pair.load", **limits)
    assert (found.full_load, found.at_full_load.mean) == (0.7, pytest.approx(0.5, abs=0.01))
    assert "; at a load of 0.7, " in str(found)
    assert str(found).endswith(" % of the injection bandwidth arrives")
    told = r"^high cannot be 1: 1 is more than the process can offer \(at most 0\.7 \(--high\)\)"
    with pytest.raises(tailback.InputError, match=told):
        saturation.saturation(scenario, "traffic.pair.load", directory=tmp_path)


RING = """
[topology]
kind = "torus"
dims = [8]
[routing]
kind = "dor"
deadlock = "none"
may_deadlock = true
[[traffic]]
name = "half-way"
pattern = "tornado"
load = 0.9
message = "4 flits"
[run]
warmup = "5 us"
duration = "20 us"
"""
UNIFORM = """
[[traffic]]
name = "others"
pattern = "uniform"
endpoints = "rest"
load = 0.1
"""


@pytest.mark.engine
def test_a_load_at_which_runs_give_no_result_is_refused(command, scenario_file, tmp_path):
    """Minimal routing of a ring of four with one virtual channel deadlocks when it is full."""
    status, out, err = command(
        "saturation", scenario_file(RING), "--seeds", "2", "--tolerance", "0.5", "--json"
    )
    assert status == 0, err
    found = json.loads(out)
    assert found["tried"][0]["accepted"] is False
    assert "deadlock" in found["tried"][0]["failed"]
    assert found["at_full_load"]["mean"] is None
    assert "load 1: refused, a run gave no result: " in err


SECOND = TWO_TO_ONE[TWO_TO_ONE.index("[[traffic]]") : TWO_TO_ONE.index("[run]")].replace("pair", "a b")
PER_DESTINATION = TWO_TO_ONE.replace("load = 0.5", "load_per_destination = 0.5")
ONCE = TWO_TO_ONE.replace("load = 0.5", 'process = "one-shot"')


@pytest.mark.engine
@pytest.mark.parametrize("traffic", ["pair", "all"])
def test_a_hot_spot_is_searched_over_what_its_destinations_are_offered(scenario_file, tmp_path, traffic):
    """Two senders fill the channel of their destination with half of their own."""
    scenario = tailback.Scenario.load(scenario_file(PER_DESTINATION))
    limits = {"high": 1.5, "tolerance": 0.1, "seeds": 2, "directory": tmp_path, "traffic": traffic}
    found = saturation.saturation(scenario, "traffic.pair.load_per_destination", **limits)
    assert found.accepted_load < 1 / 0.97 < found.refused_load
    assert found.per_destination == (traffic == "pair")
    assert found.at_full_load.mean == pytest.approx(1.0 if found.per_destination else 0.5, rel=0.02)
    if found.per_destination:
        assert "up to a load per destination between 1.0" in str(found)
        assert str(found).endswith(" % of the ejection bandwidth of its destinations arrives")


@pytest.mark.engine
@pytest.mark.parametrize(
    ("text", "words", "told"),
    [
        (TWO_TO_ONE + SECOND, [], 'name it with --key; there are traffic.pair.load, traffic."a b".load'),
        (ONCE, [], "no class of traffic has a load that could be searched"),
        (TWO_TO_ONE, ["--key", "traffic.other.load"], "such as --key traffic.pair.load"),
        (PER_DESTINATION, ["--key", "traffic.pair.load"], "both load and load_per_destination are given"),
        (TWO_TO_ONE, ["--key", "run.seed"], "this is not the load of a class of traffic"),
        (TWO_TO_ONE, ["--low", "0.9", "--high", "0.1"], "a saturation cannot lie between 0.9 and 0.1"),
        (TWO_TO_ONE, ["--high", "1.5"], "0 to 1"),
        (TWO_TO_ONE, ["--confidence", "2"], "a confidence of 2.0 is none"),
        (TWO_TO_ONE, ["--seeds", "0"], "0 seeds give no result"),
        (TWO_TO_ONE, ["--low", "nan"], "a saturation cannot lie between nan and 1.0"),
        (TWO_TO_ONE, ["--tolerance", "nan"], "it is at least 1e-06"),
        (TWO_TO_ONE, ["--tolerance", "1e-18"], "it is at least 1e-06"),
        (TWO_TO_ONE, ["--traffic", "none"], "there is no traffic class 'none'"),
        (TWO_TO_ONE, ["--set", "run.seed=7"], "run.seed: the search sets it itself"),
        (TWO_TO_ONE, ["--set", "traffic.0.load=0.9"], "traffic.0.load: the search sets it itself"),
        (TWO_TO_ONE, ["-o", "net.toml"], "net.toml"),
    ],
)
def test_a_search_that_cannot_be_is_told_before_anything_runs(
    command, scenario_file, tmp_path, text, words, told
):
    status, out, err = command("saturation", scenario_file(text), *words)
    assert (status, out, told in err, "searching" in err) == (2, "", True, False), err
    assert not (tmp_path / "results").exists()


@pytest.mark.engine
def test_runs_that_are_too_short_for_a_search_warn(command, scenario_file):
    """Traffic that sets in with the window is under way at its end: it looks refused at any load."""
    late = TWO_TO_ONE.replace("load = 0.5", 'load = 0.5\nstart = "110 us"').replace("[routing]", LONG)
    status, out, _ = command("saturation", scenario_file(late), "--high", "0.1", "--seeds", "2")
    assert (status, "the warm-up is too short" in out) == (0, True), out
    assert "the least load was refused" in out


LONG = '[link]\nlatency = "1 us"\n[routing]'


def test_seeds_are_added_one_by_one_until_the_verdict_is_sure(monkeypatch):
    judge = saturation._Judge(None, "", 0.95, 5, "all", None, None, None)
    asked, ratios = [], [0.950, 0.954, 0.952, 0.9, 0.9]

    def facts(load, seeds):
        asked.append(seeds)
        return [{"accepted": ratio, "offered": 1, **LATENCY} for ratio in ratios[:seeds]]

    monkeypatch.setattr(judge, "_facts", facts)
    assert not judge.accepts(0.5)
    assert (asked, judge.sure) == ([2, 3], True)


def test_what_full_load_accepts_is_told_with_the_confidence_asked_for(network):
    found = saturation.saturation(network, "traffic.u.load", confidence=0.9, executor=Inline())
    assert found.at_full_load.confidence == 0.9


def test_half_of_a_narrow_bracket_is_told_with_enough_digits():
    found = Saturation(0.5, 0.5001, mean_interval([]), 0.95, sure=True, runs=2, cpu_seconds=0)
    assert found.half == pytest.approx(0.00005)
    assert "between 0.500000 and 0.500100" in str(found)


def test_a_warning_of_several_seeds_is_told_once():
    judge = saturation._Judge(None, "", 0.95, 2, "all", None, None, None)
    judge.summaries = {
        (0.4, 0): {"warnings": ["accepted 10 and 20"]},
        (0.4, 1): {"warnings": ["accepted 11 and 21"]},
        (0.5, 0): {"warnings": ["accepted 1 and 2"]},
    }
    assert judge.warnings(0.4) == ["at a load of 0.4: accepted 10 and 20"]


def test_both_ends_of_the_bracket_tell_their_warnings(network, monkeypatch):
    monkeypatch.setattr(saturation._Judge, "warnings", lambda self, load: [f"at {load}"])
    found = saturation.saturation(network, "traffic.u.load", tolerance=0.5, executor=Inline())
    assert found.warnings == (f"at {found.accepted_load}", f"at {found.refused_load}")


def test_traffic_that_offers_nothing_has_no_saturation(network, monkeypatch):
    result = SimpleNamespace(summary={"classes": {"all": {"offered": 0.0, "accepted": 0.0}}})
    monkeypatch.setattr(saturation, "measured", lambda *_, **__: SimpleNamespace(results=lambda: [result]))
    with pytest.raises(tailback.InputError, match="offered nothing"):
        saturation.saturation(network, "traffic.u.load", executor=Inline())


def test_what_is_surely_accepted_and_refused_is_the_nearest_of_each():
    none = mean_interval([])
    tried = [
        Tried(load, none, accepted, True)
        for load, accepted in ((0.4, True), (0.3, True), (0.7, False), (0.9, False))
    ]
    found = Saturation(0.4, 0.7, none, 0.95, True, 8, 1.0, tuple(tried))
    assert found.sure_between == (0.4, 0.7)


@pytest.mark.parametrize(
    ("why", "load", "found"),
    [
        ("deadlock: at 3 us", 0.9, (False, True)),
        ("the run holds 9 MB, over the limit of 8 MB", 0.9, (False, False)),
        ("deadlock: at 3 us", 0.05, None),
        ('job "a": rank 3 sends too much', 0.9, None),
    ],
)
def test_a_run_that_fails_refuses_a_load_only_for_what_loads_do(monkeypatch, why, load, found):
    judge = saturation._Judge(None, "", 0.95, 2, "all", None, None, None, 0.05)
    failure = tailback.PointsFailed(why, SimpleNamespace(failed={"x": why}))

    def fail(*_):
        raise failure

    monkeypatch.setattr(judge, "_facts", fail)
    if found is None:
        with pytest.raises(tailback.PointsFailed):
            judge.accepts(load)
        return
    judge.accepts(load)
    assert [(tried.accepted, tried.sure) for tried in judge.tried] == [found]


@pytest.mark.parametrize("key", ["traffic.u.load", "run.seed"])
def test_what_the_search_sets_itself_may_not_be_changed(network, key):
    with pytest.raises(tailback.InputError, match="the search sets it itself"):
        saturation.saturation(network.replace({key: 1}), "traffic.u.load", executor=Inline())


def test_loads_are_told_as_a_scenario_has_them_and_what_arrives_in_percent():
    found = Saturation(0.7, 0.8, mean_interval([0.796, 0.798]), 0.95, sure=True, runs=2, cpu_seconds=0)
    assert str(found) == (
        "accepts at least 97 % of what is offered up to a load between 0.700 and 0.800 (each verdict at 95 % "
        "confidence); at a load of 1, 79.7 ± 1.3 % of the injection bandwidth arrives"
    )
    unknown = Saturation(0.7, 0.8, mean_interval([]), 0.95, sure=True, runs=2, cpu_seconds=0)
    assert str(unknown).endswith("; what arrives at a load of 1 is not known")


def test_full_load_outside_of_what_is_searched_is_measured_only(network):
    found = saturation.saturation(network, "traffic.u.load", low=1.1, high=2.0, executor=Inline())
    assert [tried.load for tried in found.tried] == [1.1]
    assert (found.accepted_load, found.refused_load) == (0.0, 1.1)
    assert found.at_full_load.mean == pytest.approx(0.5)
