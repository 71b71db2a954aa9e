"""`tailback saturation`: a search for the saturation throughput, load by load."""

from __future__ import annotations

import math
import tomllib
from typing import Any

from tailback import console
from tailback.errors import mistake
from tailback.saturation import Saturation, Tried, saturation
from tailback.scenario import Scenario
from tailback.stats import Interval


def run(scenario: Scenario, key: str | None, **search: Any) -> Saturation:
    """Searches over the load at the key, and prints every load that was tried to standard error."""
    return saturation(scenario, key or _only_load(scenario), progress=_show, **search)


def _only_load(scenario: Scenario) -> str:
    classes = tomllib.loads(scenario.complete()).get("traffic", [])
    keys = [f"traffic.{traffic['name']}.load" for traffic in classes]
    if len(keys) != 1:
        there_are = f"there are {', '.join(keys)}" if keys else "jobs have no load"
        raise mistake("which load is to be searched?", f"name it with --key; {there_are}")
    return keys[0]


def _show(tried: Tried) -> None:
    verdict = "accepted" if tried.accepted else "refused"
    told = (
        f"load {tried.load:.4g}: {verdict}, {tried.ratio.scaled(100)} % arrive ({tried.ratio.values} seeds)"
    )
    console.errors().print(told, soft_wrap=True)


def facts(found: Saturation) -> dict[str, Any]:
    """What was found, for JSON: null stands for an end of the bracket that was not found."""
    return {
        "accepted_load": found.accepted_load or None,
        "refused_load": found.refused_load if math.isfinite(found.refused_load) else None,
        "at_full_load": _interval(found.at_full_load),
        "confidence": found.confidence,
        "sure": found.sure,
        "runs": found.runs,
        "cpu_seconds": found.cpu_seconds,
        "tried": [
            {"load": tried.load, "accepted": tried.accepted, "accepted_share": _interval(tried.ratio)}
            for tried in found.tried
        ],
    }


def _interval(interval: Interval) -> dict[str, Any]:
    half = None if math.isnan(interval.half) else interval.half
    return {"mean": interval.mean, "half": half, "seeds": interval.values}
