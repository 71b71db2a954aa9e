"""What `tailback reproduce` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from tailback import console, experiments
from tailback.cli.sweep import PointsBar
from tailback.experiments.model import Experiment
from tailback.reproduction import part, report
from tailback.reproduction import reproduce as work
from tailback.sweeps import workers as processes
from tailback.words import counted


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
    chosen = part.only(experiments.find(names), only, full=full, named=bool(names))
    cores = workers or processes.cores()
    if listing:
        return list(_listed(chosen, cores))
    seconds = work.expected_seconds(chosen, full, folder)
    if seconds > 1:
        console.errors().print(
            f"about {console.minutes(seconds / cores)} (minutes:seconds) on {counted(cores, 'core')}; "
            "it can be stopped and resumed"
        )
    before = report.shown(folder)
    try:
        with PointsBar() as bar:
            done = work.reproduce(chosen, folder, full=full, workers=workers, progress=bar.show)
    except KeyboardInterrupt:
        console.errors().print(
            f"what has run is kept in {console.printable(str(folder))}; the same command goes on"
        )
        raise
    gone = [name for name in before if name not in {one.experiment.id for one in done}]
    return [*_lines(done, folder), *_replaced(gone)]


def _listed(chosen: Sequence[Experiment], cores: int) -> Iterator[str]:
    """A line for each, with the time it may take in both sizes, and where the paper was published."""
    rows = [("experiment", "reduced", "full", "paper", "title")]
    for one in chosen:
        reduced, full = (console.minutes(work.whole_seconds(one, full) / cores) for full in (False, True))
        rows.append((one.id, reduced, full, one.venue, one.title))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, reduced, full, paper, title in rows:
        times = f"{reduced:>{widths[1]}}  {full:>{widths[2]}}"
        yield f"{name:{widths[0]}}  {times}  {paper:{widths[3]}}  {title}"
    yield f"The times are minutes:seconds or hours:minutes:seconds, about, on {counted(cores, 'core')}."


def _lines(done: Sequence[work.Reproduced], folder: Path) -> Iterator[str]:
    for one in done:
        yield f"{one.experiment.id}: {one.experiment.title}"
        if one.experiment.part and one.count("not judged") == len(one.claims):
            yield "  no claim can be judged: --only leaves out runs that they need"
        for claim in one.claims:
            limits = f" ({claim.tolerance})" if claim.tolerance else ""
            told = claim.note if claim.verdict == "not judged" else f"{claim.measured}{limits}"
            yield f"  {claim.verdict:10} {claim.kind:5} {claim.text}{f': {told}' if told else ''}"
    yield f"report: {folder / 'report.html'} (and .md; runs.csv names the folder of each run)"


def _replaced(gone: Sequence[str]) -> Iterator[str]:
    """Tells of the experiments that the report before had, and this one has not."""
    if gone:
        yield (
            f"It replaces a report that had {', '.join(gone)} too. Their results are kept: "
            "to have all in one report, name them together."
        )
