"""Which loads a search for the saturation tries."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailback.sweeps.bracket import Bracket

LIMIT = 0.97


def search(bracket, accepted_of):
    """The loads that are tried where this much of a load is accepted."""
    tried = []
    while (load := bracket.next()) is not None:
        assert 0 < load < math.inf
        assert len(tried) < 100, "it does not come to an end"
        tried.append(load)
        accepted = accepted_of(load)
        if accepted >= LIMIT * load:
            bracket.accept(load)
        else:
            bracket.refuse(load, accepted / LIMIT)
    return tried


def collapsing(capacity, slope):
    """All up to the capacity, and less the more is offered."""
    return lambda load: load if load <= capacity else max(0.0, capacity - slope * (load - capacity))


@given(
    capacity=st.floats(0.01, 1.2),
    slope=st.floats(0, 3),
    low=st.floats(0.02, 0.4),
    high=st.floats(0.5, 1.0),
    tolerance=st.floats(1e-4, 0.3),
    guess=st.floats(0, 2) | st.just(math.nan),
)
def test_the_bracket_holds_the_limit_after_few_more_loads_than_bisection(
    capacity, slope, low, high, tolerance, guess
):
    accepted_of = collapsing(capacity, slope)
    edge = capacity * (1 + slope) / (LIMIT + slope)
    bracket = Bracket(low, high, tolerance, guess)
    tried = search(bracket, accepted_of)
    halvings = math.ceil(math.log2((high - low) / tolerance)) if high - low > tolerance else 0
    assert len(tried) <= max(halvings, 0) + 8
    assert len(set(tried)) == len(tried)
    if bracket.low == 0:
        assert bracket.high == low > edge - 1e-8
    elif math.isinf(bracket.high):
        assert bracket.low == high <= edge + 1e-8
    else:
        assert bracket.low - 1e-8 <= edge <= bracket.high + 1e-8
        assert bracket.high - bracket.low <= tolerance * (1 + 1e-6) + 2e-9
        assert {bracket.low, bracket.high} <= set(tried)


@pytest.mark.parametrize("capacity", [0.2, 0.5, 0.57, 0.7933, 0.9])
def test_where_a_network_carries_the_same_past_saturation_two_loads_are_enough(capacity):
    carries = collapsing(capacity, 0)
    bracket = Bracket(0.05, 1.0, 0.02, guess=capacity / LIMIT)
    assert len(search(bracket, carries)) == 2


def test_loads_are_round():
    bracket = Bracket(0.05, 1.0, 0.02, guess=0.79327 / LIMIT)
    assert search(bracket, collapsing(0.79327, 0)) == [0.83, 0.81]


def test_a_guess_outside_of_what_is_searched_asks_for_that_end_first():
    assert search(Bracket(0.1, 0.5, 0.01, guess=0.8), collapsing(0.8, 0)) == [0.5]
    assert search(Bracket(0.3, 0.9, 0.01, guess=0.2), collapsing(0.2, 0)) == [0.3]


def test_a_load_that_gave_no_result_leaves_bisection():
    bracket = Bracket(0.2, 1.0, 0.1)
    bracket.refuse(1.0, math.nan)
    assert bracket.next() == pytest.approx(0.6)
