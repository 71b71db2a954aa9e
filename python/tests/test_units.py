import pytest

import tailback
from tailback import units

TEXT = """
[topology]
kind = "single-switch"
endpoints = 2
[packet]
flit = "1 MB"
[routing]
kind = "minimal"
[[traffic]]
name = "a"
pattern = "uniform"
load = 0.1
"""


@pytest.mark.engine
@pytest.mark.parametrize("key", ["run.warmup", "link.bandwidth", "traffic.a.message"])
def test_every_unit_of_the_engine_is_known_and_has_its_size(key):
    scenario = tailback.Scenario.loads(TEXT)
    (told,) = [problem.help for problem in scenario.replace({key: "1 x"}).check() if problem.path == key]
    for unit in told.split("units: ")[1].split(", "):
        family = units.family([unit])
        assert family is not None, unit
        first = next(iter(family))
        same = [scenario.replace({key: text}).complete() for text in (f"1 {unit}", f"{family[unit]} {first}")]
        assert same[0] == same[1], unit


def test_a_family_is_of_units_of_one_kind():
    assert units.family(["us", "ns"]) == units.family(["s"])
    assert units.family(["us", "kB"]) is units.family(["x"]) is None


@pytest.mark.engine
def test_a_part_may_be_written_in_per_cent():
    scenario = tailback.Scenario.loads(TEXT)
    texts = [scenario.replace({"traffic.a.load": load}).complete() for load in ("20 %", 0.2)]
    assert texts[0] == texts[1]
    of_numbers = units.family(["", "%"])
    assert of_numbers is not None
    assert of_numbers[""] == 100 * of_numbers["%"]
