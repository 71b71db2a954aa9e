import math
import random

import pytest

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


def test_an_interval_keeps_its_confidence_and_no_spread_rounds_nothing():
    found = mean_interval([0.97, 0.97], confidence=0.9)
    assert (found.confidence, str(found)) == (0.9, "0.97 ± 0")
