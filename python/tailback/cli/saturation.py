"""`tailback saturation`: a search for the saturation throughput, load by load."""

from __future__ import annotations

import json
import math
import re
import tomllib
from pathlib import Path
from typing import Any

from tailback import console
from tailback.cli import inputs
from tailback.errors import mistake, unwritable
from tailback.scenario import Scenario
from tailback.stats import Interval
from tailback.sweeps import sweep
from tailback.sweeps.found import Saturation, Tried
from tailback.sweeps.saturation import LOADS, class_of, saturation


def search(
    scenario: Scenario, key: str | None, traffic: str | None, folder: Path, **bounds: Any
) -> Saturation:
    """The search for a class of traffic, if not another that of the load; what is searched is told first."""
    complete = tomllib.loads(scenario.complete())
    classes = complete.get("traffic", [])
    key = key or _only_load(classes)
    traffic = traffic or _class_of(scenario, key, classes)

    def begun(judged: str) -> None:
        _refuse_folder(folder)
        inputs.tell_unused_sweep(scenario)
        _tell(
            f"searching {key} for the load of which {judged!r} is accepted; first what arrives at full load"
        )

    try:
        return saturation(
            scenario, key, traffic=traffic, directory=folder, begun=begun, progress=_show, **bounds
        )
    except KeyboardInterrupt:
        _tell(f"results are kept in {folder}; the same command goes on from there")
        raise


def _only_load(classes: list[dict[str, Any]]) -> str:
    keys = _loads(classes)
    if not keys:
        raise mistake("no class of traffic has a load that could be searched", "give one of them load = …")
    if len(keys) > 1:
        raise mistake("which load is to be searched?", f"name it with --key; there are {', '.join(keys)}")
    return keys[0]


def _loads(classes: list[dict[str, Any]]) -> list[str]:
    """The keys that can be searched."""
    return [
        f"traffic.{_quoted(traffic['name'])}.{load}"
        for traffic in classes
        for load in LOADS
        if load in traffic
    ]


def _quoted(name: str) -> str:
    """A name as a part of a key, in quotes where TOML asks for them."""
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)


def _class_of(scenario: Scenario, key: str, classes: list[dict[str, Any]]) -> str:
    name = class_of(scenario, key)
    if name is None:
        loads = ", ".join(_loads(classes))
        help_text = f"such as --key {loads}" if loads else "no class of traffic has one"
        raise mistake(f"--key {key}: this is not the load of a class of traffic", help_text)
    return name


def _refuse_folder(folder: Path) -> None:
    sweep.refuse(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise unwritable(folder, error) from None


def _tell(text: str) -> None:
    console.errors().print(console.printable(text), soft_wrap=True)


def _show(tried: Tried) -> None:
    if tried.failed is not None:
        _tell(f"load {tried.load:.4g}: refused, a run gave no result: {tried.failed}")
        return
    verdict = ("accepted" if tried.accepted else "refused") + ("" if tried.sure else " (not sure)")
    seeds = f"{tried.ratio.values} seed{'s' if tried.ratio.values > 1 else ''}"
    _tell(
        f"load {tried.load:.4g}: {verdict}, {tried.ratio.scaled(100)} % of what is offered arrives ({seeds})"
    )


def told(found: Saturation) -> list[str]:
    """What was found, in words, and what casts doubt on it."""
    doubts = list(found.warnings)
    if not found.sure:
        doubts.append("more --seeds, or a longer run.duration, make it surer")
    if found.accepted_load == 0.0:
        doubts.append(
            "the least load was refused: is it low enough, is run.warmup long enough, and does the class "
            "send from long before the window? What is under way at the end of the window has not arrived"
        )
    return [str(found), *doubts]


def facts(found: Saturation) -> dict[str, Any]:
    """What was found, for JSON: null stands for an end of the bracket that was not found."""
    return {
        "accepted_load": found.accepted_load or None,
        "refused_load": found.refused_load if math.isfinite(found.refused_load) else None,
        "at_full_load": _interval(found.at_full_load),
        "full_load": found.full_load,
        "per_destination": found.per_destination,
        "confidence": found.confidence,
        "sure": found.sure,
        "surely_accepted_load": found.sure_between[0] or None,
        "surely_refused_load": found.sure_between[1] if math.isfinite(found.sure_between[1]) else None,
        "runs": found.runs,
        "cpu_seconds": found.cpu_seconds,
        "tried": [
            {
                "load": tried.load,
                "accepted": tried.accepted,
                "sure": tried.sure,
                "accepted_share": _interval(tried.ratio),
                "message_latency_ns": _interval(tried.latency_ns),
                "failed": tried.failed,
            }
            for tried in found.tried
        ],
        "warnings": list(found.warnings),
    }


def _interval(interval: Interval) -> dict[str, Any]:
    mean, half = (None if math.isnan(value) else value for value in (interval.mean, interval.half))
    return {
        "mean": mean,
        "half": half,
        "confidence": interval.confidence,
        "seeds": interval.values,
    }
