"""Numbers of things in sentences."""

import pytest

from tailback.words import in_runs


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ((3,), "3"),
        ((2, 1), "1, 2"),
        (range(1, 101), "1 to 100"),
        ((1, 2, 3, 5, 8, 9, 12, 11, 10), "1 to 3, 5, 8 to 12"),
        ((), ""),
    ],
)
def test_numbers_in_a_row_are_told_by_the_first_and_the_last(numbers, told):
    assert in_runs(numbers) == told
