"""Commands that run scenarios."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tailback import console
from tailback.cli import inputs
from tailback.cli import run as run_command
from tailback.cli.app import FAILED, AsJson, Changes, ScenarioFile, reporting
from tailback.errors import mistake


def run(
    file: ScenarioFile,
    changes: Changes = None,
    folder: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Where the result goes, replacing an earlier one (default: results/<name>, never replaced).",
        ),
    ] = None,
    as_json: AsJson = False,
    alone: Annotated[
        bool, typer.Option("--alone", help="Runs each job alone too, and tells how much slower it is.")
    ] = False,
    with_optimum: Annotated[
        bool,
        typer.Option(
            "--optimum",
            help="Also computes the least time of each phase over all routes.",
        ),
    ] = False,
) -> None:
    """Simulates a scenario, and keeps the result.

    Prints its tables, or with --json one object; then the result is kept only with -o.
    """
    scenario = None
    name = Path(file).stem
    with reporting():
        scenario = inputs.load(file, changes)
    with reporting(scenario):
        place = None
        if folder is not None:
            place = run_command.Place(Path(folder))
        elif not as_json:
            place = run_command.Place(Path("results") / (name or "run"), new=True)
        inputs.tell_unused_sweep(scenario)
        done = run_command.run(scenario, name, place, alone=alone, with_optimum=with_optimum)
    if as_json:
        console.print_json(done.result.summary)
    else:
        run_command.show(done)
    if done.result.interrupted:
        console.errors().print("interrupted: the result is partial")
    for told in done.missing:
        console.errors().print(f"not in the result: {console.printable_lines(told)}")
    if done.unkept:
        console.errors().print(f"the result is not kept: {console.printable_lines(done.unkept)}")
    if done.result.interrupted or done.missing or done.unkept:
        raise typer.Exit(FAILED)


def sweep(
    file: ScenarioFile,
    changes: Changes = None,
    folder: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="DIR", help="Where the results go (default: results/<name>)."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes (default: one per core).", show_default=False)
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Runs only what is not complete yet.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Runs even a very large sweep.")] = False,
    slurm: Annotated[
        int | None,
        typer.Option(metavar="K", help="Only writes a job-array script with K points per task.", min=1),
    ] = None,
    part: Annotated[
        str | None, typer.Option(metavar="FROM:TO", help="Runs only these points, counted from 0.")
    ] = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Runs each job of each point alone too (columns slowdown, …).")
    ] = False,
) -> None:
    """Runs the points of a [sweep] table on all cores.

    Merges what they measured into one table, sweep.parquet; its column directory names the folder of a
    point's result.
    """
    from tailback.cli import sweep as command  # late: most commands do not need it

    scenario = None
    target = Path(folder) if folder is not None else Path("results") / (Path(file).stem or "sweep")
    with reporting():
        if slurm is not None and part is not None:
            raise mistake("--part is not kept in a job array", "its tasks run all points, a part each")
        scenario = inputs.load(file, changes)
    with reporting(scenario):
        plain, space, wanted, alone = command.begin(
            scenario,
            target,
            resume=resume or slurm is not None,
            yes=yes or slurm is not None,
            part=part,
            alone=alone,
        )
        if slurm is not None:
            script = command.write_slurm(scenario, space, target, slurm, alone=alone)
            console.print_lines([f"job array: {script}"])
            return
        done = command.run(plain, space, wanted, target, workers=workers, alone=alone)
        console.print_lines(command.remarks(done))
        done.demand_all()


def saturation(
    file: ScenarioFile,
    changes: Changes = None,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="The load that is searched (default: that of the only class of traffic)."
        ),
    ] = None,
    low: Annotated[float, typer.Option(help="The least load that is tried.")] = 0.05,
    high: Annotated[float, typer.Option(help="The largest load that is tried.")] = 1.0,
    tolerance: Annotated[
        float, typer.Option(help="Stops when the two loads that are found are this near.")
    ] = 0.01,
    confidence: Annotated[float, typer.Option(help="Confidence of the verdict at each load.")] = 0.95,
    seeds: Annotated[int, typer.Option(help="Most runs of a load, each with a seed of its own.")] = 5,
    traffic: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Class of traffic that is judged, or all (default: that of the load).",
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="Where results are kept, to go on from.")
    ] = "results/saturation",
    as_json: AsJson = False,
) -> None:
    """Finds the largest load that a network accepts.

    The load up to which 97 % of what is offered arrives, by a search; and what arrives at full load.
    """
    from tailback.cli import saturation as command  # late: it loads SciPy

    scenario = None
    with reporting():
        scenario = inputs.load(file, changes)
    with reporting(scenario):
        found = command.search(
            scenario,
            key,
            traffic,
            Path(folder),
            low=low,
            high=high,
            tolerance=tolerance,
            confidence=confidence,
            seeds=seeds,
        )
    if as_json:
        console.print_json(command.facts(found))
    else:
        console.print_lines(command.told(found))


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID…]", help="Experiments, or the beginning of their names."),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="The sizes and times of the papers (set-ups tell shorter times).")
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=VALUE",
            help="Runs only cases whose LABEL has this VALUE, such as load=1; repeatable.",
        ),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Only lists the experiments.")] = False,
    folder: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="Where results and the report go.")
    ] = "results/reproduce",
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes (default: one per core).", show_default=False)
    ] = None,
) -> None:
    """Repeats published experiments and judges their claims.

    A second call only redraws.
    """
    from tailback.cli import reproduce as command  # late: it loads matplotlib

    with reporting():
        lines = command.run(
            names or [], Path(folder), full=full, listing=listing, workers=workers, only=only or []
        )
    console.print_lines(lines)


def demo(
    folder: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="Where results and the figure go.")
    ] = "results/demo",
) -> None:
    """Makes the picture of the README.

    A hot spot on a 1056-endpoint dragonfly without congestion control, with ECN and with LHRP.
    """
    from tailback.demo import comparison as show  # late: it loads matplotlib

    with reporting():
        finished = show.run_demo(Path(folder))
    if not finished:
        console.errors().print("interrupted: the results are partial")
        raise typer.Exit(FAILED)
