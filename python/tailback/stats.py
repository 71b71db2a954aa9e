"""How sure a mean is: over seeds (Student's t), or over the batches of one long run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats as distributions

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
            return "saturated"
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
    quantile = float(distributions.t.ppf(0.5 + confidence / 2, array.size - 1))
    half = quantile * float(array.std(ddof=1)) / math.sqrt(array.size)
    return Interval(mean, half, int(array.size), confidence)


def batch_means(series: Sequence[float], batches: int = 10, confidence: float = CONFIDENCE) -> Interval:
    """The mean of one run's steady series by batch means.

    Consecutive batches stand in for independent values.
    Values that are missing (NaN) are left out of their batch. (Law and Kelton, Simulation Modeling and
    Analysis, section 9.5.3.)
    """
    array = np.asarray(series, dtype=float)
    if array.size < 2 * batches:
        return mean_interval(array[~np.isnan(array)][-1:].tolist(), confidence)
    parts = np.array_split(array, batches)
    means = [float(np.nanmean(part)) for part in parts if not np.isnan(part).all()]
    return mean_interval(means, confidence)


def mean_over_seeds(
    values: Sequence[float], series: Sequence[float] | None = None, confidence: float = CONFIDENCE
) -> Interval:
    """Over seeds if there are several, else over the batches of the one run's series, if it has one."""
    if len(values) > 1 or not series:
        return mean_interval(values, confidence)
    batched = batch_means(series, confidence=confidence)
    return Interval(float(values[0]), batched.half, batched.values, confidence)
