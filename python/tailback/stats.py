"""How sure a mean over seeds is (Student's t)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean ± half of its confidence interval; `half` is NaN where the spread is not known."""

    mean: float
    half: float
    values: int
    confidence: float = CONFIDENCE

    @property
    def low(self) -> float:
        """Lower end; the mean itself where the spread is not known."""
        return self.mean - (0.0 if math.isnan(self.half) else self.half)

    @property
    def high(self) -> float:
        """Upper end; the mean itself where the spread is not known."""
        return self.mean + (0.0 if math.isnan(self.half) else self.half)

    def scaled(self, factor: float) -> Interval:
        """The interval in another unit."""
        return Interval(self.mean * factor, self.half * abs(factor), self.values, self.confidence)

    def shifted(self, by: float) -> Interval:
        """The interval with something added."""
        return Interval(self.mean + by, self.half, self.values, self.confidence)

    def __str__(self) -> str:
        """Mean ± half, both to a sensible number of digits."""
        if math.isnan(self.mean):
            return "not known"
        if math.isnan(self.half):
            return f"{self.mean:.4g}"
        if self.half < 1e-6 * abs(self.mean):
            return f"{self.mean:.4g} ± 0"
        digits = min(6, max(0, 1 - math.floor(math.log10(self.half)))) if self.half > 0 else 0
        return f"{self.mean:.{digits}f} ± {self.half:.{digits}f}"


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The mean of independent values, such as one per seed, by Student's t; NaN if one of them is."""
    array = np.asarray(values, dtype=float)
    if array.size == 0:
        return Interval(math.nan, math.nan, 0, confidence)
    mean = float(array.mean())
    if array.size == 1:
        return Interval(mean, math.nan, 1, confidence)
    quantile = float(stdtrit(array.size - 1, 0.5 + confidence / 2))
    half = quantile * float(array.std(ddof=1)) / math.sqrt(array.size)
    return Interval(mean, half, int(array.size), confidence)
