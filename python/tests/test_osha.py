import math

import pytest

from tailback.experiments import osha_fig5, osha_fig6, osha_fig7, osha_fig8, osha_fig11, osha_zipf
from tailback.experiments import osha_paper as osha
from tailback.experiments.measure import accepted
from tailback.experiments.model import Times
from tailback.ptrans import Ptrans

UNIFORM = '[[traffic]]\nname = "uniform"\npattern = "uniform"\nload = 1.0\nmessage = "4 KiB"\n'


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


@pytest.mark.parametrize("figure", [osha_fig5, osha_fig6, osha_fig7, osha_fig8])
def test_claims_about_zipf_traffic_say_of_which(figure, monkeypatch):
    accepted = dict.fromkeys(osha.SCHEMES, 50.0)
    monkeypatch.setattr(osha_zipf, "both", lambda data, number, s: [(voq, accepted) for voq in (False, True)])
    for told in ("in_words", "bounds", "let_through"):
        monkeypatch.setattr(osha_zipf, told, lambda *of: "")
    assert all(claim.text.startswith(("s = 1: ", "s = 3: ")) for claim in figure.claims(None))
