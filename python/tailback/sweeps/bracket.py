"""Which load a search for the saturation tries next.

Past saturation a network that does not collapse carries the same at every load, so that one refused load
tells where the limit lies; a load half a tolerance above it and one as far below close the bracket. Where
two such guesses were wrong, the rest is bisection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_DIGITS = 9
_ROUNDING = 1e-9
_WRONG_MAX = 2


@dataclass
class Bracket:
    """Two loads that the saturation lies between, or is taken to until they were tried.

    In the end `low` is 0 if not even the lowest load was accepted, and `high` infinity if the highest was.
    """

    low: float
    high: float
    tolerance: float
    guess: float = math.nan
    """The load at which it seems to lie; NaN if nothing tells."""
    low_tried: bool = False
    high_tried: bool = False
    wrong: int = 0
    """How many guesses were."""

    def next(self) -> float | None:
        """The load to try; None where there is nothing left to find out."""
        if self.low == 0 or math.isinf(self.high):
            return None
        if not self.high_tried and self.guess >= self.high:
            return self.high
        if not self.low_tried and self.guess <= self.low:
            return self.low
        if self.high - self.low <= self.tolerance * (1 + _ROUNDING):
            return self.high if not self.high_tried else self.low if not self.low_tried else None
        return round(self._near_guess() or (self.low + self.high) / 2, _DIGITS)

    def _near_guess(self) -> float | None:
        if self.wrong >= _WRONG_MAX or not self.low < self.guess < self.high:
            return None
        step = self.tolerance / 2
        above = (round(self.guess / step) + 1) * step
        load = above if above < self.high - _ROUNDING else self.high - self.tolerance
        # Rounded, it still lies inside.
        return load if self.low + _ROUNDING < load < self.high - _ROUNDING else None

    def accept(self, load: float) -> None:
        """Takes in that a load was accepted."""
        self.wrong += self.low < self.guess < load < self.high
        self.low_tried = True
        if load >= self.high:
            self.low, self.high, self.high_tried = self.high, math.inf, True
        else:
            self.low = load

    def refuse(self, load: float, guess: float) -> None:
        """Takes in that a load was refused, and where the saturation lies by what was accepted of it."""
        self.wrong += self.low < load < self.guess < self.high
        self.high_tried = True
        if load <= self.low:
            self.low, self.high, self.low_tried = 0.0, self.low, True
        else:
            self.high = load
        self.guess = guess
