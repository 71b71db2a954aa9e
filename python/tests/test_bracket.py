import math
from itertools import pairwise

import pytest

from tailback.experiments import bracket, lhrp_fig2, lhrp_fig7, lhrp_fig10
from tailback.experiments.model import Data, hard
from tailback.stats import mean_interval
from tailback.sweeps.found import Saturation, Tried


def between(accepted, refused):
    return Saturation(accepted, refused, mean_interval([]), 0.95, True, 2, 1.0)


def cells(low, high, tolerance):
    """Every bracket that a search can end with."""
    step = high - low
    while step > tolerance * (1 + 1e-9):
        step /= 2
    count = round((high - low) / step)
    return [between(a, b) for a, b in pairwise(low + at * step for at in range(count + 1))]


@pytest.mark.parametrize("full", [False, True])
def test_smsrp_below_lhrp_is_judged_unless_the_brackets_leave_it_open(full, monkeypatch):
    monkeypatch.setattr(lhrp_fig7, "_hardly", lambda data: "")
    (search,) = (each for each in lhrp_fig7.searches(full) if each.labels["protocol"] == "lhrp")
    found = cells(search.low, search.high, search.tolerance)

    def verdict(smsrp, lhrp):
        return lhrp_fig7._last({"smsrp": found[smsrp], "lhrp": found[lhrp]}, Data([])).verdict

    assert verdict(2, 5) == "held"
    assert verdict(5, 3) == "missed"
    assert verdict(4, 3) == "missed"
    # In full size a bracket is at most half a point wide: two that are the same differ by no more.
    assert verdict(4, 4) == ("missed" if full else "not judged")
    assert verdict(3, 4) == "not judged"


def test_a_saturation_outside_of_what_was_searched_is_still_below_what_accepted_more():
    assert bracket.is_below(between(0.0, 0.5), between(0.6, 0.7)) is True
    assert bracket.is_below(between(0.6, math.inf), between(0.5, 0.6)) is False
    assert bracket.is_below(between(0.0, 0.5), between(0.4, 0.45)) is None


def test_a_change_says_all_that_two_brackets_leave_open():
    more = bracket.change(between(0.57, 0.59), between(0.80, 0.82))
    assert more.low <= 100 * (0.57 / 0.82 - 1)
    assert more.high >= 100 * (0.59 / 0.80 - 1)
    assert more.half < 2.2


def fig2(srp):
    found = {
        ("none", 48): between(0.89, 0.9),
        ("srp", 48): between(0.88, 0.89),
        ("none", 4): between(0.8, 0.82),
    }
    found["srp", 4] = srp
    data = Data([], [({"protocol": kind, "flits": size}, each) for (kind, size), each in found.items()])
    return lhrp_fig2.claims(data)


def test_what_srp_loses_is_told_with_both_brackets():
    loss = fig2(between(0.57, 0.59))[2]
    assert (loss.verdict, loss.measured) == ("held", "28.4 ± 2.1 %")


def test_claims_that_need_a_saturation_that_is_not_bracketed_are_not_judged():
    assert [claim.verdict for claim in fig2(between(0.0, 0.35))] == ["held", "not judged", "not judged"]
    assert "SRP under 35 %" in fig2(between(0.0, 0.35))[1].note
    assert bracket.if_bracketed(hard("x", "y", True), between(0.9, math.inf)).verdict == "not judged"


def test_lhrp_saturates_first_only_where_the_brackets_say_so():
    none, srp = between(0.7, 0.72), between(0.68, 0.7)
    first = {
        at: lhrp_fig10._first({"none": none, "srp": srp, "lhrp": between(at, at + 0.02)})
        for at in (0.66, 0.67, 0.7)
    }
    assert first == {0.66: True, 0.67: None, 0.7: False}
    assert {search.low for search in lhrp_fig10.searches(True)} == {0.6}


def unsure(accepted, refused, tried, seeds=2):
    ratio = mean_interval([0.97] * seeds)
    looks = tuple(Tried(load, ratio, accepted, sure) for load, accepted, sure in tried)
    return Saturation(accepted, refused, mean_interval([]), 0.95, False, 2, 1.0, looks)


def test_verdicts_that_seeds_did_not_settle_decide_no_claim():
    open_one = unsure(
        0.80, 0.81, [(0.9, False, True), (0.7, True, True), (0.8, True, False), (0.81, False, False)]
    )
    assert bracket.is_below(open_one, between(0.81, 0.82)) is None
    assert bracket.is_below(open_one, between(0.9, 0.95)) is True
    assert bracket.told(open_one) == "80.50 ± 0.50 % (not settled by these seeds)"
    assert bracket.change(open_one, between(0.8, 0.81)).high >= 100 * (0.9 / 0.8 - 1)
    single = unsure(0.80, 0.81, [(0.8, True, False), (0.81, False, False)], seeds=1)
    assert bracket.is_below(single, between(0.81, 0.82)) is True
    assert bracket.told(single).endswith("(one seed)")
