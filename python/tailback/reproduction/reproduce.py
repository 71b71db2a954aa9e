"""`tailback reproduce`: runs published experiments, judges their claims and writes the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailback.errors import RunFailed
from tailback.experiments import draw
from tailback.experiments.model import Case, Claim, Data, Experiment, LeftOutError, Search, unjudged
from tailback.figures import gallery, style
from tailback.reproduction import report
from tailback.reproduction.runs import Run, of_cases, of_searches
from tailback.result import POINTS, Result, prepare
from tailback.sweeps import points, sweep
from tailback.sweeps.found import Saturation
from tailback.sweeps.model import Point, Sweep, Tally
from tailback.sweeps.saturation import saturation
from tailback.sweeps.workers import cores, pool

FIGURES = "figures"


@dataclass(frozen=True)
class Reproduced:
    """An experiment with what became of it."""

    experiment: Experiment
    claims: list[Claim]
    files: list[Path]
    cpu_seconds: float
    runs: int
    unsteady: tuple[int, int]
    """How many runs that are not beside warned that their window is not steady, and how many those are."""
    seeds: list[int]
    engines: list[str]
    example: str
    """The completed scenario of the first run."""
    undrawn: str = ""
    """Why there is no figure."""
    shows: str = ""
    """What the figure shows, in words."""
    errors: Sequence[Exception] = ()
    """What its claims or its figure failed with: mistakes of the experiment."""
    ran: Sequence[Run] = ()
    """Its runs, and those of its searches, with the folders of their results."""

    def count(self, verdict: str) -> int:
        """How many claims came out so."""
        return sum(claim.verdict == verdict for claim in self.claims)


def whole_seconds(experiment: Experiment, full: bool) -> float:
    """CPU seconds that all runs of an experiment may take."""
    runs = sum(case.cost for case in experiment.cases(full))
    return runs + sum(search.cost for search in experiment.searches(full))


def expected_seconds(experiments: Sequence[Experiment], full: bool, folder: Path) -> float:
    """CPU seconds that the runs which are not complete may take."""
    wanted = {point.name: case.cost for point, case in _points(experiments, full, folder).values()}
    missing = sum(
        cost for name, cost in wanted.items() if not (folder / POINTS / name / points.CHECKSUMS).exists()
    )
    searches = (search for one in experiments for search in one.searches(full))
    return missing + sum(search.cost for search in searches if not _is_found(search, folder))


def _is_found(search: Search, folder: Path) -> bool:
    """Whether all the runs that a search asks for are complete."""
    if not (folder / POINTS).exists():
        return False
    try:
        _find(search, _Idle(), folder)
    except _RunWantedError:
        return False
    return True


class _Idle(Executor):
    """Runs nothing."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Raises that there is something to run."""
        raise _RunWantedError


class _RunWantedError(Exception):
    pass


def _find(
    search: Search, executor: Executor, folder: Path, tell: Callable[[object], None] | None = None
) -> Saturation:
    return saturation(
        search.scenario,
        search.key,
        low=search.low,
        high=search.high,
        tolerance=search.tolerance,
        seeds=search.seeds,
        traffic="all",
        executor=executor,
        directory=folder,
        progress=tell,
    )


_Cases = dict[int, tuple[Point, Case]]


def _points(experiments: Sequence[Experiment], full: bool, folder: Path) -> _Cases:
    made = (case for one in experiments for case in one.cases(full))
    return {number: (_point(case, folder), case) for number, case in enumerate(made)}


def _point(case: Case, folder: Path) -> Point:
    directory = folder / POINTS / points.identity(case.scenario)
    return Point(dict(case.labels), case.scenario, directory)


def reproduce(
    experiments: Sequence[Experiment],
    folder: Path,
    *,
    full: bool = False,
    workers: int | None = None,
    progress: Callable[[Tally], None] | None = None,
) -> list[Reproduced]:
    """Runs what is not complete in `folder`, judges the claims and writes the report there, over one before.

    Raises `RunFailed` if runs gave no result, `RuntimeError` if claims or a figure fail, when the report
    tells of all others.
    """
    folder = _writable(folder)
    cases = list(_points(experiments, full, folder).values())
    searches = [search for one in experiments for search in one.searches(full)]
    ran, searched = _run(cases, searches, folder, max(1, workers or cores()), progress)
    ends = iter(searched)
    done = []
    for one in experiments:
        found = [(search, next(ends)) for search in one.searches(full)]
        failures = [end for _, end in found if isinstance(end, RunFailed)]
        names = (_point(case, folder).name for case in one.cases(full))
        failures += [RunFailed(ran.failed[name]) for name in names if name in ran.failed]
        whole = [(search, end) for search, end in found if isinstance(end, Saturation)]
        ended = [(search.labels, end) for search, end in whole]
        made = _failed(one, full, failures) if failures else _finished(one, full, folder, ended)
        done.append(replace(made, ran=[*of_cases(one.cases(full)), *of_searches(whole)]))
    before = report.shown(folder)
    report.write(done, folder, full=full)
    _remove_figures(before, done, folder)
    _demand_judged(done, folder)
    return done


def _run(
    cases: Sequence[tuple[Point, Case]],
    searches: Sequence[Search],
    folder: Path,
    workers: int,
    progress: Callable[[Tally], None] | None,
) -> tuple[Sweep, list[Saturation | RunFailed]]:
    """Runs the cases, then the searches side by side; returns what became of both, these in their order."""
    # The longest first, so that no core idles at the end.
    ordered = sorted(cases, key=lambda pair: -pair[1].cost)
    wanted, costs = [point for point, _ in ordered], {point.name: case.cost for point, case in ordered}
    to_find = [0.0 if _is_found(search, folder) else search.cost for search in searches]
    ended: set[int] = set()

    def tell(runs: Tally) -> None:
        if progress is not None:
            ran = sum(to_find[at] for at in ended)
            total, done = runs.points + len(searches), runs.done + len(ended)
            to_run = runs.to_run + sum(to_find) - ran
            progress(replace(runs, points=total, done=done, ran=runs.ran + ran, to_run=to_run))

    # The processes end before the threads, which wait for them, where something ends it all.
    with ThreadPoolExecutor(workers) as threads, pool(workers) as executor:
        ran = sweep.run_points(wanted, executor, folder, progress=tell, costs=costs)
        in_turn = sorted(range(len(searches)), key=lambda at: -to_find[at])
        finding = {
            at: threads.submit(_find, searches[at], executor, folder, lambda _: tell(ran.tally))
            for at in in_turn
        }
        numbers = {future: at for at, future in finding.items()}
        try:
            for future in as_completed(numbers):
                if not isinstance(future.exception(), RunFailed):
                    future.result()
                ended.add(numbers[future])
                tell(ran.tally)
        except BaseException:
            threads.shutdown(wait=False, cancel_futures=True)
            raise
    return ran, [_end(finding[at]) for at in range(len(searches))]


def _end(search: Future[Saturation]) -> Saturation | RunFailed:
    failure = search.exception()
    return failure if isinstance(failure, RunFailed) else search.result()


def _remove_figures(before: Sequence[str], done: Sequence[Reproduced], folder: Path) -> None:
    """Removes those of the report before that this one does not show."""
    shown = {file for one in done for file in one.files}
    for file in (folder / FIGURES / f"{name}{kind}" for name in before for kind in gallery.KINDS):
        if file not in shown:
            file.unlink(missing_ok=True)


def _demand_judged(done: Sequence[Reproduced], folder: Path) -> None:
    failed = [one for one in done if one.errors]
    if failed and all(isinstance(error, RunFailed) for one in failed for error in one.errors):
        names = ", ".join(one.experiment.id for one in failed)
        told = f"a run of {names} gave no result: {failed[0].errors[0]}"
        raise RunFailed(f"{told}\n{folder / 'report.html'} tells of the rest") from None
    if failed:
        names = ", ".join(one.experiment.id for one in failed)
        told = f"what judges or draws {names} failed ({_named(failed[0].errors[0])})"
        raise RuntimeError(f"{told}; {folder / 'report.html'} tells of the rest") from failed[0].errors[0]


def _named(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _writable(folder: Path) -> Path:
    """The folder itself, after a look whether anything, and a report, can be written there."""
    report.refuse_foreign(folder)
    prepare(folder / ".probe")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _finished(
    experiment: Experiment, full: bool, folder: Path, found: Sequence[tuple[Mapping[str, Any], Saturation]]
) -> Reproduced:
    cases = experiment.cases(full)
    results: list[tuple[Case, Result]] = [
        (case, points.load(_point(case, folder).directory)) for case in cases
    ]
    labelled = [(case.labels, result) for case, result in results]
    data, present = Data(labelled, found, left_out=experiment.left_out(full)), Data(labelled, found)
    errors: list[Exception] = []
    claims = _judged(experiment, data, present, errors)
    figure, undrawn = _drawn(experiment, present, errors)
    summaries = [result.summary for _, result in results]
    judged = [result.summary for case, result in results if not case.beside]
    return Reproduced(
        experiment,
        claims,
        gallery.save(figure, folder / FIGURES / experiment.id) if figure else [],
        sum(float(summary.get("cpu_seconds", 0.0)) for summary in summaries)
        + sum(one.cpu_seconds for _, one in found),
        len(results) + sum(one.runs for _, one in found),
        (sum(_is_unsteady(summary) for summary in judged), len(judged)),
        sorted({int(summary["seed"]) for summary in summaries}),
        sorted({str(summary.get("engine", summary.get("version"))) for summary in summaries}),
        results[0][1].scenario,
        undrawn,
        draw.described(figure) if figure else "",
        errors,
    )


def _is_unsteady(summary: Mapping[str, Any]) -> bool:
    """Whether a run warned that its halves, or its first and last packets, differ by more than chance."""
    return any("the warm-up is too short" in warning for warning in summary.get("warnings", []))


def _failed(experiment: Experiment, full: bool, failures: Sequence[RunFailed]) -> Reproduced:
    """An experiment of which a run gave no result, so that nothing of it is judged."""
    why = f"a run gave no result: {failures[0]}"
    (first, *_) = experiment.cases(full)
    return Reproduced(
        experiment,
        [unjudged("all claims", "", "", why)],
        [],
        0.0,
        0,
        (0, 0),
        [],
        [points.engine()],
        first.scenario.complete(),
        why,
        errors=failures,
    )


def _judged(experiment: Experiment, data: Data, present: Data, errors: list[Exception]) -> list[Claim]:
    """The claims; none of a part that lacks runs which they need. `present` knows of no other runs."""
    try:
        with _in_part(experiment):
            return experiment.claims(data)
    except LeftOutError as lacking:
        why = f"claims are judged together, and one {lacking}"
    except Exception as error:
        errors.append(error)
        return [unjudged("all claims", "", "", f"what judges them failed: {_named(error)}")]
    with suppress(LeftOutError), _in_part(experiment), np.errstate(all="ignore"):
        # What these claims measure is of no use, but they have their names.
        return [unjudged(claim.text, claim.kind, "", why) for claim in experiment.claims(present)]
    return [unjudged("all claims", "", "", why)]


def _drawn(experiment: Experiment, data: Data, errors: list[Exception]) -> tuple[Figure | None, str]:
    """The figure, or why there is none, as of a part that lacks runs which it needs."""
    try:
        with _in_part(experiment):
            figure = experiment.draw(data)
        with style.styled():
            draw.explained(figure)
        return figure, ""
    except LeftOutError:
        return None, "it needs runs that are left out"
    except Exception as error:
        errors.append(error)
        return None, f"what draws it failed: {_named(error)}"


@contextmanager
def _in_part(experiment: Experiment) -> Iterator[None]:
    """Takes every error over a part of an experiment for what is left out, such as the largest of no runs."""
    try:
        yield
    except LeftOutError:
        raise
    except Exception as error:
        if not experiment.part:
            raise
        raise LeftOutError from error
