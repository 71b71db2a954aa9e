import pytest

from tailback.experiments import osha_paper as osha
from tailback.experiments.lhrp_paper import Times
from tailback.experiments.measure import accepted

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
