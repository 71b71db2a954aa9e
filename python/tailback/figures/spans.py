"""When a run measured, and when it ended, as far as its scenario and its summary tell."""

from __future__ import annotations

import math
import tomllib

from tailback.result import Result
from tailback.sweeps.space import quantity
from tailback.units import TIMES


def window(result: Result) -> tuple[float, float] | None:
    """From when to when a run measured, in us, as far as its scenario tells in a unit of time."""
    try:
        run = tomllib.loads(result.scenario)["run"]
        begin, length = (time_us(run[key]) for key in ("warmup", "duration"))
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return begin, min(begin + length, end_ns(result) / 1e3)


def time_us(text: str) -> float:
    """A time of a scenario in us; raises `ValueError` or `LookupError` if it is none."""
    value, unit = quantity(text)
    return float(value) * TIMES[unit] / TIMES["us"]


def end_ns(result: Result) -> float:
    """When a run ended; infinite where its summary does not tell."""
    end = result.summary.get("simulated_ns")
    return float(end) if isinstance(end, int | float) else math.inf
