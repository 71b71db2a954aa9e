"""Which folder holds which run of an experiment: the folders are named by what they hold."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tailback.experiments.model import Case, Search
from tailback.result import POINTS
from tailback.sweeps import points
from tailback.sweeps.found import Saturation
from tailback.sweeps.space import SEED

HEADING = "experiment,run,folder"

Run = tuple[str, str]
"""The labels of a run, and the folder of its result in that of the report."""


def of_cases(cases: Iterable[Case]) -> Iterator[Run]:
    """The runs of an experiment."""
    for case in cases:
        yield _told(case.labels), f"{POINTS}/{points.identity(case.scenario)}"


def of_searches(found: Iterable[tuple[Search, Saturation]]) -> Iterator[Run]:
    """The runs of searches, each with its load and its seed."""
    for search, end in found:
        seeds = {tried.load: tried.ratio.values for tried in end.tried}
        if not math.isnan(end.at_full_load.mean):
            seeds[end.full_load] = end.at_full_load.values
        for load, most in seeds.items():
            for seed in range(1, most + 1):
                changes = {search.key: round(load, 9), SEED: seed}
                name = points.identity(search.scenario.replace(changes))
                yield _told({**search.labels, **changes}), f"{POINTS}/{name}"


def written(named: Iterable[tuple[str, Sequence[Run]]]) -> str:
    """The runs of experiments by their names, as lines of CSV."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(HEADING.split(","))
    for experiment, runs in named:
        lines.writerows((experiment, *run) for run in runs)
    return text.getvalue()


def _told(labels: Mapping[str, Any]) -> str:
    """Labels as `--only` takes them."""
    texts = {
        label: value if isinstance(value, str) else json.dumps(value, default=str)
        for label, value in labels.items()
    }
    return " ".join(f"{label}={text}" for label, text in texts.items())
