"""A part of an experiment: of its runs only those with some labels, for what the whole takes too long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tailback.errors import InputError, Problem
from tailback.experiments.model import Case, Experiment

HELP = "form: LABEL=VALUE or LABEL=VALUE,VALUE"


def only(experiments: Sequence[Experiment], wanted: Sequence[str]) -> list[Experiment]:
    """The experiments with those of their runs that have these labels, or lack them.

    `wanted` are texts like `load=1` and `protocol=ecn,lhrp`. Searches are left out.
    """
    if not wanted:
        return list(experiments)
    chosen = dict(map(_read, wanted))
    known = {
        label
        for one in experiments
        for full in (False, True)
        for case in one.cases(full)
        for label in case.labels
    }
    if unknown := [label for label in chosen if label not in known]:
        have = "labels: " + ", ".join(sorted(known)) if known else "they have none"
        raise InputError(
            [Problem(f"no run has the label {label}", path="--only", help=have) for label in unknown]
        )
    return [_part(one, chosen, " ".join(wanted)) for one in experiments]


def _read(text: str) -> tuple[str, list[Any]]:
    label, equals, values = text.partition("=")
    if not (label and equals and values):
        raise InputError([Problem(f"{text} names no runs", path="--only", help=HELP)])
    return label, [_value(part) for part in values.split(",")]


def _value(text: str) -> Any:
    with suppress(json.JSONDecodeError):
        return json.loads(text)
    return text


def _part(one: Experiment, wanted: dict[str, list[Any]], text: str) -> Experiment:
    def cases(full: bool) -> list[Case]:
        found = [case for case in one.cases(full) if _matches(case, wanted)]
        if not found:
            raise InputError([Problem(f"leaves no run of {one.id}", path="--only")])
        return found

    return replace(one, cases=cases, searches=lambda full: [], part=text)


def _matches(case: Case, wanted: dict[str, list[Any]]) -> bool:
    return all(case.labels.get(label, values[0]) in values for label, values in wanted.items())
