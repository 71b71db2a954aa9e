"""What `tailback reproduce` prints."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tailback import console, experiments
from tailback import reproduce as work
from tailback.experiments import part
from tailback.sweep_command import PointsBar


def run(
    names: Sequence[str],
    folder: Path,
    *,
    full: bool,
    listing: bool,
    workers: int | None,
    only: Sequence[str] = (),
) -> list[str]:
    """Runs the experiments of these names, or a part of their runs; returns the lines to print."""
    chosen = part.only(experiments.find(names), only, full=full)
    if listing:
        width = max(len(one.id) for one in chosen)
        return [f"{one.id:{width}}  {one.title}" for one in chosen]
    cores = workers or os.cpu_count() or 1
    seconds = work.expected_seconds(chosen, full, folder)
    if seconds > 1:
        console.errors().print(
            f"about {console.minutes(seconds / cores)} (minutes:seconds) on {cores} cores; "
            "it can be stopped and resumed"
        )
    with PointsBar() as bar:
        done = work.reproduce(chosen, folder, full=full, workers=workers, progress=bar.show)
    return list(_lines(done, folder))


def _lines(done: Sequence[work.Reproduced], folder: Path) -> Iterator[str]:
    for one in done:
        yield f"{one.experiment.id}: {one.experiment.title}"
        for claim in one.claims:
            limits = f" ({claim.tolerance})" if claim.tolerance else ""
            told = claim.note if claim.verdict == "not judged" else f"{claim.measured}{limits}"
            yield f"  {claim.verdict:10} {claim.kind:5} {claim.text}{f': {told}' if told else ''}"
    yield f"report: {folder / 'report.html'} (and .md)"
