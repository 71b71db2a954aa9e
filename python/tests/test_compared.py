"""What is said of results that are compared."""

from tailback.compared import differences

BASE = """
title = "a"
[congestion_control]
kind = "none"
[[traffic]]
name = "u"
load = 0.4
share = true
[run]
seed = 1
"""


def told(**changes):
    text = BASE
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    return differences({"one": BASE, "other": text})


def test_what_is_alike_is_not_told():
    assert told(title=('"a"', '"b"')) == []
    assert differences({"one": BASE}) == []


def test_keys_are_told_with_their_values():
    found = told(load=("0.4", "0.5"), share=("share = true\n", ""))
    assert found == ["the scenarios differ in traffic.u.load (0.4, 0.5), traffic.u.share (true, none)"]


def test_parameters_go_with_their_kind():
    assert told(kind=('"none"', '"lhrp"\nthreshold = "9 flits"')) == [
        "the scenarios differ in congestion_control.kind (none, lhrp)"
    ]


def test_chance_is_told():
    assert told(seed=("seed = 1", "seed = 2")) == [
        "the scenarios differ in run.seed (1, 2)",
        "their seeds differ, so that chance is part of what they differ by",
    ]


def test_of_many_keys_the_first_are_told():
    other = BASE + "".join(f"k{number} = 1\n" for number in range(9))
    (line,) = differences({"one": BASE, "other": other})
    assert line.endswith("run.k5 (none, 1), and 3 more")


def test_damaged_scenarios_are_passed_over():
    assert differences({"one": BASE, "other": "= 1"}) == []
