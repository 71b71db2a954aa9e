"""Commands that tell about scenarios, and about what there is for them, without running any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tailback import _engine, console
from tailback.cli import catalogue, choices, inputs
from tailback.cli.app import WRONG, AsJson, Changes, ScenarioFile, reporting
from tailback.cli.showing import draw_scenario
from tailback.errors import InputError, engine_errors
from tailback.files import refuse_other, replace_text
from tailback.sweeps import sweep
from tailback.words import counted


def check(file: ScenarioFile, changes: Changes = None, as_json: AsJson = False) -> None:
    """Lists the mistakes in a scenario, without running it.

    Each with its line and, where there is one, the remedy.
    """
    try:
        scenario = inputs.load(file, changes)
    except InputError as error:
        if as_json:
            console.print_json({"problems": [vars(problem) for problem in error.problems], "warnings": []})
            raise typer.Exit(WRONG) from None
        with reporting():
            raise
    with reporting(scenario):
        problems, points = sweep.examine(scenario)
        remarks = [] if problems or points is not None else scenario.remarks()
        if as_json:
            console.print_json({"problems": [vars(problem) for problem in problems], "warnings": remarks})
        elif problems:
            raise InputError(problems)
        else:
            of_sweep = f", {counted(points, 'point')} to sweep" if points is not None else ""
            console.output().print(f"{console.printable(file)}: no mistakes{of_sweep}", soft_wrap=True)
            console.print_lines(f"warning: {remark}" for remark in remarks)
    if problems:
        raise typer.Exit(WRONG)


def describe(
    file: ScenarioFile,
    changes: Changes = None,
    traffic: Annotated[
        bool,
        typer.Option(
            "--traffic",
            help="Only channel loads and the throughput bound of each traffic class; jobs are not covered.",
        ),
    ] = False,
    draw: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Draws the network instead: .png, .svg, .pdf.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Shows what a scenario builds, without running it.

    Endpoints, switches, links, diameter, zero-load latency, virtual channels, memory; or the channel loads
    of its traffic, or a drawing of the network.
    """
    if draw is not None:
        from tailback import drawing  # late: it loads matplotlib

        draw_scenario(file, changes, Path(draw), drawing.network)
        return
    with reporting():
        scenario = inputs.load(file, changes)
    with reporting(scenario):
        inputs.tell_unused_sweep(scenario)
        facts = scenario.linear_load() if traffic else scenario.describe()
    if as_json:
        console.print_json(facts)
    elif traffic and not facts["bounds"]:
        console.output().print("no channel loads: only [[traffic]] tables have them, jobs are not covered")
    else:
        console.print_whole(catalogue.description(facts))


def optimum(file: ScenarioFile, changes: Changes = None, as_json: AsJson = False) -> None:
    """Solves for the shortest time of each phase of flows.

    Over any routes, by linear programming; on small networks.
    """
    from tailback import optimum as work  # late: it loads SciPy

    with reporting():
        scenario = inputs.load(file, changes)
    with reporting(scenario):
        found = work.optima(scenario)
    if as_json:
        console.print_json(found)
        return
    for job, times in found.items():
        told = ", ".join(console.duration(time) for time in times)
        console.output().print(console.printable(f"{job}: no routes take less than {told}, phase by phase"))


def list_kinds(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="topologies, routings, …, a kind, or a parameter.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lists what there is to choose from.

    With a name from the list, such as topologies, the parameters of each kind too; with that of a kind, such
    as lhrp, its own; with that of a parameter, such as queue_pairs, what it means in each kind that has it.
    """
    with reporting():
        kinds = choices.kinds()
        found = kinds if name is None else choices.named(kinds, name)
    if as_json:
        console.print_json(found)
    elif name is None:
        console.print_whole([catalogue.overview(found)])
    else:
        for seam, members in found.items():
            is_whole = len(members) == len(kinds[seam])
            console.print_whole(catalogue.details(members, "" if is_whole else seam))


def schema() -> None:
    """Prints the JSON Schema of scenario files.

    For editors, which complete and check with it.
    """
    with reporting(), engine_errors():
        console.print_json(json.loads(_engine.schema()))


def ptrans(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Where the trace is written.", show_default=False)
    ],
    rows: Annotated[int, typer.Option(help="Rows of the grid of tasks.")] = 24,
    columns: Annotated[int, typer.Option(help="Columns of the grid of tasks.")] = 24,
    matrix: Annotated[int, typer.Option(help="Rows and columns of the matrix.")] = 4800,
    block: Annotated[int, typer.Option(help="Rows and columns of a block.")] = 64,
    chunk: Annotated[int, typer.Option(help="Largest message in bytes.")] = 65536,
    compute: Annotated[int, typer.Option(help="Computing between messages in ns.")] = 1000,
    iterations: Annotated[int, typer.Option(help="How often the matrix is transposed.")] = 1,
) -> None:
    """Writes a trace of a matrix transposition (PTRANS).

    For a job with workload = "vef".
    """
    from tailback.ptrans import BEGINNING, Ptrans  # late: most commands do not need it

    with reporting():
        refuse_other(Path(file), BEGINNING, "VEF trace")
        sizes = Ptrans(rows, columns, matrix, block, 8, chunk, compute, iterations)
        messages = sizes.messages()
        replace_text(Path(file), "\n".join(sizes.trace(messages)) + "\n")
    volume = sum(size for _, _, size in messages)
    told = f"{file}: {rows * columns:,} tasks, {len(messages):,} messages, {volume:,} B"
    console.output().print(console.printable(told), soft_wrap=True)
