import math
from types import SimpleNamespace

import pytest

from tailback.experiments import osha_fig5, osha_fig6, osha_fig7, osha_fig8, osha_fig10, osha_fig11
from tailback.experiments import osha_paper as osha
from tailback.experiments.measure import accepted
from tailback.experiments.model import Data, Times
from tailback.ptrans import Ptrans

UNIFORM = '[[traffic]]\nname = "uniform"\npattern = "uniform"\nload = 1.0\nmessage = "4 KiB"\n'
CLASSES = ("zipf", "hot", "uniform")


def carried(scheme):
    of = osha.Network(1, "kns", 8, 2)
    made = osha.scenario(scheme, of, scheme, voq=True, traffic=UNIFORM, times=Times(100, 200, 0))
    return accepted("uniform")(made.run())


@pytest.mark.engine
def test_with_voqs_packets_of_one_queue_leave_for_several_outputs_at_once():
    # In a router of a KNS network each input sends XY packets to one output of its own, but packets of two
    # networks to two: if it sent one packet at a time, they would stand in each other's way.
    assert carried("OSHA-2VC") > carried("1VC") - 0.03


def transposition(us):
    job = '[[job]]\nname = "ptrans"\nworkload = "vef"\nranks = 16\nplacement = "linear"\n'
    of = osha.Network(1, "kns", 4, 2)
    made = osha.scenario("ptrans", of, "1VC", voq=False, traffic=job, times=Times(0, us, 0))
    trace = "\n".join(Ptrans(rows=4, columns=4, matrix=256).trace()) + "\n"
    return made.replace({"job.ptrans.text": trace}).run()


@pytest.mark.engine
def test_the_execution_time_of_a_trace_is_that_of_its_last_task():
    # A task sends a block of 64 x 64 elements of 8 bytes: 2.6 us on its channel.
    assert 0.0026 < osha_fig11.execution_ms(transposition(1000)) < 0.1
    assert math.isnan(osha_fig11.execution_ms(transposition(2)))


def measured(figure, accepted=lambda labels: 0.5):
    """What there is to judge if every run accepts what a function makes of its labels."""
    runs = [
        (case.labels, SimpleNamespace(summary={"classes": {name: {"accepted": part} for name in CLASSES}}))
        for case in figure.EXPERIMENT.cases(False)
        for part in [accepted(case.labels)]
    ]
    return Data(runs)


def claim(figure, data, beginning):
    (found,) = (each for each in figure.claims(data) if each.text.startswith(beginning))
    return found


@pytest.mark.parametrize("figure", [osha_fig5, osha_fig6, osha_fig7, osha_fig8])
def test_claims_about_zipf_traffic_say_of_which(figure):
    assert all(each.text.startswith(("s = 1: ", "s = 3: ")) for each in figure.claims(measured(figure)))


@pytest.mark.parametrize(
    ("figure", "scheme", "beginning"),
    [
        (osha_fig5, "SASHA-4VC", "s = 1: SASHA-4VC is like BBQ-4VC"),
        (osha_fig10, "OSHA-4VC", "OSHA-4VC is near SASHA-4VC"),
    ],
)
def test_runs_beside_judge_nothing_and_are_told(figure, scheme, beginning):
    def accepted(labels):
        return 0.1 if labels["setting"] == osha.PAPER_TIMES and labels["scheme"] == scheme else 0.5

    found = claim(figure, measured(figure, accepted), beginning)
    assert found.verdict == "held"
    assert "The claim would be missed with the paper's 1 + 2 ms" in found.note


def test_there_are_runs_beside_only_in_the_reduced_size():
    cases = osha_fig10.EXPERIMENT.cases
    assert {case.labels["setting"] for case in cases(False) if case.beside} == set(osha.BESIDE)
    assert {case.labels["setting"] for case in cases(False) if not case.beside} == {osha.JUDGED}
    assert not any(case.beside for case in cases(True))


def test_a_claim_whose_seeds_leave_it_open_says_so_instead_of_a_cause():
    ahead = {1: 0.005, 2: -0.007, 3: 0.053}

    def accepted(labels):
        leads = labels["voq"] and labels["scheme"] == "SASHA-4VC" and labels["load"] == osha.TOP
        return 0.5 + (ahead[labels["seed"]] if leads else 0)

    found = claim(osha_fig8, measured(osha_fig8, accepted), "s = 1: BBQ-4VC is the best")
    assert found.verdict == "missed"
    told = "three seeds with VOQs: SASHA-4VC minus BBQ-4VC is +0.5, -0.7, +5.3 points by seed"
    assert told in found.note
    assert "behind" not in found.cause
    sure = measured(osha_fig8, lambda labels: 0.6 if labels["scheme"] == "SASHA-4VC" else 0.5)
    assert not claim(osha_fig8, sure, "s = 1: BBQ-4VC is the best").note


def test_what_a_larger_torus_absorbs_is_told_of_the_schemes_that_hold():
    def accepted(labels):
        grown = 0.1 if labels["network"] == 4 else 0
        return 0.05 - grown / 10 if "2VC" in labels["scheme"] else 0.4 + grown

    found = claim(osha_fig10, measured(osha_fig10, accepted), "network 4 accepts more")
    assert found.verdict == "missed"
    assert "8 of 8 accept more on network 4" in found.note


def test_the_lead_of_sasha_is_that_of_its_slower_kind():
    took = dict.fromkeys(osha.SCHEMES, 1.5) | {"SASHA-2VC": 0.5, "SASHA-4VC": 1.0}
    assert osha_fig11._lead_percent(took) == pytest.approx(50)
