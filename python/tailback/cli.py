"""The command `tailback`. Exit status: 0 done, 1 the run failed or was interrupted, 2 the input is wrong."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tailback import __version__, _engine, catalogue, console, inputs, merged, run_command, sweeps
from tailback.errors import InputError, RunFailed, engine_errors, mistake
from tailback.result import PLOTS, VIEW, replace_text
from tailback.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

app = typer.Typer(
    help="Simulates lossless HPC and AI interconnects, and what keeps congestion from spreading in them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

FAILED, WRONG = 1, 2
_BROKEN_OFF = 130  # how Typer ends on Ctrl-C outside a run

ScenarioFile = Annotated[str, typer.Argument(metavar="FILE", help="A scenario (TOML).", show_default=False)]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Changes a value, such as traffic.hot.load=0.7; repeatable."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Prints one JSON object instead of tables.")]


@app.command()
def run(
    file: ScenarioFile,
    changes: Changes = None,
    folder: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="DIR", help="Where the result is written (default: results/<name>)."
        ),
    ] = None,
    as_json: AsJson = False,
    alone: Annotated[
        bool, typer.Option("--alone", help="Runs each job alone too, and tells how much slower it is.")
    ] = False,
    with_optimum: Annotated[
        bool, typer.Option("--optimum", help="Solves for the least time of each phase over any routes too.")
    ] = False,
) -> None:
    """Simulates a scenario, and keeps the result.

    Prints its tables, or with --json one object; then the result is kept only with -o.
    """
    scenario = None
    name = Path(file).stem
    with _reporting():
        scenario = inputs.load(file, changes)
    with _reporting(scenario):
        if folder is None and not as_json:
            folder = str(run_command.unused(Path("results"), name or "run"))
        done = run_command.run(scenario, name, folder, alone=alone, with_optimum=with_optimum)
    if as_json:
        console.print_json(done.result.summary)
    else:
        run_command.show(done.result, folder)
    if done.result.interrupted:
        console.errors().print("interrupted: the result is partial")
    for told in done.missing:
        console.errors().print(f"not in the result: {console.printable_lines(told)}")
    if done.result.interrupted or done.missing:
        raise typer.Exit(FAILED)


@app.command()
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
) -> None:
    """Runs the points of a [sweep] table on all cores.

    Merges what they measured into one table, sweep.parquet.
    """
    from tailback import sweep_command as command  # late: most commands do not need it

    scenario = None
    target = Path(folder) if folder is not None else Path("results") / (Path(file).stem or "sweep")
    with _reporting():
        if slurm is not None and part is not None:
            raise mistake("--part is not kept in a job array", "its tasks run all points, a part each")
        scenario = inputs.load(file, changes)
    with _reporting(scenario):
        plain, space, wanted = command.begin(
            scenario, target, resume=resume or slurm is not None, yes=yes or slurm is not None, part=part
        )
        if slurm is not None:
            console.print_lines([f"job array: {command.write_slurm(scenario, space, target, slurm)}"])
            return
        done = command.run(plain, space, wanted, target, workers)
        console.print_lines(command.remarks(done))
        done.demand_all()


@app.command()
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
            help="Of the runs that have a label only these, such as load=1; repeatable.",
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
    from tailback import reproduce_command as command  # late: it loads matplotlib

    with _reporting():
        lines = command.run(
            names or [], Path(folder), full=full, listing=listing, workers=workers, only=only or []
        )
    console.print_lines(lines)


@app.command()
def check(file: ScenarioFile, changes: Changes = None, as_json: AsJson = False) -> None:
    """Lists the mistakes in a scenario, without running it.

    Each with its line and, where there is one, the remedy.
    """
    with _reporting():
        scenario = inputs.load(file, changes)
    with _reporting(scenario):
        problems, points = sweeps.examine(scenario)
        if as_json:
            console.print_json({"problems": [vars(problem) for problem in problems]})
        elif problems:
            raise InputError(problems)
        else:
            of_sweep = f", {points:,} points to sweep" if points is not None else ""
            console.output().print(f"{console.printable(file)}: no mistakes{of_sweep}", soft_wrap=True)
    if problems:
        raise typer.Exit(WRONG)


@app.command()
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

        _draw(file, changes, Path(draw), drawing.network)
        return
    with _reporting():
        scenario = inputs.load(file, changes)
    with _reporting(scenario):
        facts = scenario.linear_load() if traffic else scenario.describe()
    if as_json:
        console.print_json(facts)
    elif traffic and not facts["bounds"]:
        console.output().print("no channel loads: only [[traffic]] tables have them, jobs are not covered")
    else:
        console.print_all(catalogue.description(facts))


@app.command()
def optimum(file: ScenarioFile, changes: Changes = None, as_json: AsJson = False) -> None:
    """Solves for the shortest time of each phase of flows.

    Over any routes, by linear programming; on small networks.
    """
    from tailback import optimum as work  # late: it loads SciPy

    with _reporting():
        scenario = inputs.load(file, changes)
    with _reporting(scenario):
        found = work.optima(scenario)
    if as_json:
        console.print_json(found)
        return
    for job, times in found.items():
        told = ", ".join(console.duration(time) for time in times)
        console.output().print(console.printable(f"{job}: no routes are faster than {told}"))


@app.command("list")
def list_kinds(
    seam: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="topologies, routings, …", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Lists what there is to choose from.

    With a name from the list, such as topologies, the parameters of each kind too.
    """
    with _reporting():
        with engine_errors():
            kinds = json.loads(_engine.kinds())
        seam = seam and seam.replace("-", "_")
        if seam is not None and seam not in kinds:
            raise mistake(f"there is no list of {seam!r}", f"one of {', '.join(kinds)}")
    if as_json:
        console.print_json(kinds if seam is None else {seam: kinds[seam]})
    elif seam is None:
        console.print_all([catalogue.overview(kinds)])
    else:
        console.print_all(catalogue.details(kinds[seam]))


@app.command()
def plot(
    directories: Annotated[
        list[str],
        typer.Argument(metavar="DIR…", help="One or more results, or a sweep.", show_default=False),
    ],
    folder: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Where the figures go (default: plots inside the result, of several in this folder).",
        ),
    ] = None,
    over: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="Of a sweep: the key along the axis.", show_default=False),
    ] = None,
) -> None:
    """Draws the figures of results, or of a sweep.

    Every figure that their tables allow, as PNG, SVG and PDF.
    """
    from tailback import figures  # late: it loads matplotlib

    with _reporting():
        default = Path(directories[0]) / PLOTS if len(directories) == 1 else Path(PLOTS)
        target = Path(folder) if folder else default
        table = sweeps.table_of(directories)
        if table is not None:
            failed = merged.lost(table)
            if failed:
                told = merged.told_lost(failed, merged.count(table))
                console.errors().print(console.printable_lines(told))
            files = figures.draw_sweep(table, target, over)
        elif over is not None:
            raise mistake("--over is for sweeps", "a result is drawn without it")
        else:
            files = figures.draw_all(inputs.results(directories), target)
    if not files:
        console.errors().print("nothing to draw: the results hold no time series, ports or histograms")
    console.print_lines(map(str, files))


@app.command()
def view(
    directories: Annotated[
        list[str], typer.Argument(metavar="DIR…", help="One or more results.", show_default=False)
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where the page goes (default: plots/view.html in the result, of several in this folder).",
        ),
    ] = None,
) -> None:
    """Makes a web page: the queues over time, and the curves."""
    from tailback import view as work  # late: it loads plotly

    with _reporting():
        default = (Path(directories[0]) if len(directories) == 1 else Path()) / PLOTS / VIEW
        results = inputs.results(directories)
        target = Path(output) if output else default
        text = work.page(results if len(results) > 1 else next(iter(results.values())))
        replace_text(target, text, folders=True)
    console.output().print(console.printable(str(target)), soft_wrap=True)


@app.command()
def trace(
    file: ScenarioFile,
    changes: Changes = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Where the figure goes: .png, .svg or .pdf (default: <name>.svg).",
        ),
    ] = None,
) -> None:
    """Draws every packet of a small run as a time diagram.

    Of at most 20 messages.
    """
    from tailback import trace as work  # late: it loads matplotlib

    target = Path(output or f"{Path(file).stem or 'trace'}.svg")
    _draw(file, changes, target, lambda scenario: work.diagram(work.run(scenario)))


@app.command()
def demo(
    folder: Annotated[
        str, typer.Option("-o", "--output", metavar="DIR", help="Where results and the figure go.")
    ] = "results/demo",
) -> None:
    """Makes the picture of the README.

    A hot spot on a 1056-endpoint dragonfly without congestion control, with ECN and with LHRP.
    """
    from tailback import demo as show  # late, as in `plot`

    with _reporting():
        finished = show.run_demo(Path(folder))
    if not finished:
        console.errors().print("interrupted: the results are partial")
        raise typer.Exit(FAILED)


@app.command()
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
    from tailback.ptrans import Ptrans  # late: most commands do not need it

    with _reporting():
        sizes = Ptrans(rows, columns, matrix, block, 8, chunk, compute, iterations)
        messages = sizes.messages()
        replace_text(Path(file), "\n".join(sizes.trace(messages)) + "\n")
    volume = sum(size for _, _, size in messages)
    told = f"{file}: {rows * columns:,} tasks, {len(messages):,} messages, {volume:,} B"
    console.output().print(console.printable(told), soft_wrap=True)


@app.command()
def schema() -> None:
    """Prints the JSON Schema of scenario files.

    For editors, which complete and check with it.
    """
    with _reporting(), engine_errors():
        console.print_json(json.loads(_engine.schema()))


def _version(wanted: bool) -> None:
    if wanted:
        console.output().print(f"tailback {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Prints the version.")
    ] = False,
) -> None:
    pass


@contextmanager
def _reporting(scenario: Scenario | None = None) -> Iterator[None]:
    """Prints what goes wrong and ends with the exit status that tells it."""
    try:
        yield
    except InputError as error:
        console.print_problems(error.problems, scenario)
        raise typer.Exit(WRONG) from None
    except RunFailed as error:
        console.errors().print(f"the run failed: {console.printable_lines(str(error))}")
        raise typer.Exit(FAILED) from None


def _draw(
    file: str, changes: Sequence[str] | None, target: Path, picture: Callable[[Scenario], Figure]
) -> None:
    """Draws a scenario into a file, and prints its name."""
    from tailback import figures  # late: it loads matplotlib

    scenario = None
    with _reporting():
        if target.suffix not in figures.KINDS:
            raise mistake(f"{target} is no picture", "name a file that ends with .png, .svg or .pdf")
        scenario = inputs.load(file, changes)
    with _reporting(scenario):
        figures.save_as(picture(scenario), target)
    console.output().print(console.printable(str(target)), soft_wrap=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status. No error shows a traceback unless TAILBACK_DEBUG is set."""
    debug = bool(os.environ.get("TAILBACK_DEBUG"))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        app(args=None if arguments is None else list(arguments), prog_name="tailback")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except KeyboardInterrupt:
        status = _BROKEN_OFF
    except Exception as error:
        if debug:
            raise
        text = console.printable(f"{type(error).__name__}: {error}")
        console.errors().print(
            f"Tailback itself failed: {text}\nTAILBACK_DEBUG=1 shows where; please report it"
        )
        return FAILED
    else:
        status = 0
    if status == _BROKEN_OFF:
        console.errors().print("interrupted")
        status = FAILED
    return status
