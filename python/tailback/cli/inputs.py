"""What commands are given: scenarios with changes, and the folders of results."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

from tailback import _engine, console
from tailback.errors import InputError, Problem, mistake
from tailback.result import Result
from tailback.scenario import Scenario


def load(file: str, changes: Sequence[str] | None) -> Scenario:
    """A scenario with the changes of `--set`; all mistakes of both at once."""
    problems: list[Problem] = []
    pairs: dict[str, str | None] = {}
    for change in changes or ():
        key, equals, value = change.partition("=")
        if equals and key.strip():
            pairs[key.strip()] = value.strip() or None
        else:
            problems += mistake(
                f"--set {change}: a change has the form key=value", "as in --set run.seed=2"
            ).problems
    try:
        scenario = Scenario.load(file)
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError(problems)
    return scenario.replace(pairs)


def tell_unused_sweep(scenario: Scenario) -> None:
    """Says that a command has no use for the scenario's `[sweep]` table, if there is one."""
    try:
        unused = "sweep" in tomllib.loads(scenario.text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return  # which the engine tells better
    if unused:
        console.errors().print("the [sweep] table is not used; tailback sweep runs its points", markup=False)


def results(directories: Sequence[str], tables: Collection[str] | None = None) -> dict[str, Result]:
    """Results by the names of `labels`; says which another version has made, and which were interrupted.

    With `tables`, of their tables those.
    """
    loaded = {label: Result.load(path, tables) for label, path in labels(directories).items()}
    ours = _engine.version()
    for label, result in loaded.items():
        theirs = result.summary.get("version")
        if theirs != ours:
            made_by = f"Tailback {theirs}" if theirs else "an unknown version"
            told = f"{label} is of {made_by}, this is {ours}: its numbers may mean other things"
            console.errors().print(console.printable(told), soft_wrap=True)
        if result.interrupted:
            what = "failed" if result.summary.get("failure") else "was interrupted"
            told = f"{label} {what}: its numbers are those of the part that was simulated"
            console.errors().print(console.printable(told), soft_wrap=True)
    return loaded


def labels(directories: Sequence[str]) -> dict[str, str]:
    """Results by the names of their folders, or by the whole path where names are alike."""
    names = [Path(os.path.realpath(directory)).name for directory in directories]
    unique = len(set(names)) == len(names)
    return dict(zip(names if unique else directories, directories, strict=True))
