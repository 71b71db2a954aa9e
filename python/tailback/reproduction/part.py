"""A part of an experiment: of its runs only those with some labels, for what the whole takes too long."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tailback.errors import InputError, Problem
from tailback.experiments.model import Case, Experiment, Search

HELP = "form: LABEL=VALUE or LABEL=VALUE,VALUE"


def only(
    experiments: Sequence[Experiment], wanted: Sequence[str], *, full: bool, named: bool = True
) -> list[Experiment]:
    """The experiments with those of their runs that have these labels, and those that know no such label.

    `wanted` are texts like `load=1` and `protocol=ecn,lhrp`. A search goes over loads and the like, so it is
    kept only if it has all of these labels. An experiment that keeps no run is a mistake if it was `named`;
    of all that there are, it is left out.
    """
    chosen: dict[str, list[Any]] = {}
    for text in wanted:
        label, values = _read(text)
        chosen.setdefault(label, []).extend(values)
    known = {label for one in experiments for case in one.cases(full) for label in case.labels}
    have = "labels: " + ", ".join(sorted(known)) if known else "they have none"
    if unknown := [label for label in chosen if label not in known]:
        raise InputError(
            [Problem(f"no run has the label {label}", path="--only", help=have) for label in unknown]
        )
    if not named:
        experiments = [
            one for one in experiments if any(_matches(case.labels, chosen) for case in one.cases(full))
        ]
        if not experiments:
            raise InputError([Problem("leaves no run of any experiment", path="--only")])
    return [_part(one, chosen, " ".join(wanted), full) for one in experiments] if chosen else [*experiments]


def _read(text: str) -> tuple[str, list[Any]]:
    label, equals, values = text.partition("=")
    if not (label and equals and values):
        raise InputError([Problem(f"{text} names no runs", path="--only", help=HELP)])
    # A value may itself have a comma.
    return label, [values, *map(_value, values.split(","))]


def _value(text: str) -> Any:
    with suppress(json.JSONDecodeError):
        return json.loads(text)
    return text


def _part(one: Experiment, wanted: Mapping[str, list[Any]], text: str, full: bool) -> Experiment:
    def cases(full: bool) -> list[Case]:
        return [case for case in one.cases(full) if _matches(case.labels, wanted)]

    def keeps(search: Search) -> bool:
        return wanted.keys() <= search.labels.keys() and _matches(search.labels, wanted)

    def searches(full: bool) -> list[Search]:
        return [search for search in one.searches(full) if keeps(search)]

    def left_out(full: bool) -> list[Mapping[str, Any]]:
        runs = [case.labels for case in one.cases(full) if not _matches(case.labels, wanted)]
        return [*runs, *(search.labels for search in one.searches(full) if not keeps(search))]

    if not cases(full):
        raise InputError(
            [Problem(f"leaves no run of {one.id}", path="--only", help=_values(one, wanted, full))]
        )
    if not left_out(full):
        return one
    return replace(one, cases=cases, searches=searches, part=text, left_out=left_out)


def _matches(labels: Mapping[str, Any], wanted: Mapping[str, list[Any]]) -> bool:
    return all(labels[label] in values for label, values in wanted.items() if label in labels)


def _values(one: Experiment, wanted: Mapping[str, list[Any]], full: bool) -> str:
    """What the wanted labels can be in an experiment, as they are written."""
    told = []
    for label in wanted:
        found = dict.fromkeys(case.labels[label] for case in one.cases(full) if label in case.labels)
        values = (own if isinstance(own, str) else json.dumps(own) for own in found)
        told.append(f"{label}: {', '.join(values)}")
    return "; ".join(told)
