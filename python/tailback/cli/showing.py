"""Commands that show results, and draw scenarios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tailback import compared, console, result_tables
from tailback.cli import inputs
from tailback.cli.app import AsJson, Changes, Results, ScenarioFile, reporting
from tailback.errors import mistake
from tailback.files import refuse_other, replace_text
from tailback.result import PLOTS, VIEW
from tailback.scenario import Scenario
from tailback.sweeps import merged, paired, store
from tailback.sweeps.space import SEED
from tailback.sweeps.store import Stored
from tailback.words import counted

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


def show(
    directories: Results,
    as_json: AsJson = False,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Of a sweep: what its points have more than those with this value, seed by seed; "
            "the key is one of the sweep, or inside of its tables. Several times: with all of them.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Prints the tables of results, or of a sweep.

    Of several results side by side, a row for each; of a sweep a row for each point. With --json one object,
    by the names of the results.
    """
    with reporting():
        folder = store.sweep_of(list(dict.fromkeys(directories)))
        if folder is not None:
            _show_sweep(folder, as_json, against or [])
            return
        if against:
            raise mistake("--against is for sweeps", "several results are shown side by side without it")
        results = inputs.results(list(dict.fromkeys(directories)), tables=("slowdowns", "trees"))
        differ = compared.differences({label: result.scenario for label, result in results.items()})
    if as_json:
        console.print_json({label: result.summary for label, result in results.items()})
    else:
        console.print_whole(result_tables.shown(results))
        console.print_lines(map(console.printable, differ))


def _show_sweep(folder: Path, as_json: bool, against: Sequence[str]) -> None:
    from tailback.cli import sweep_shown  # late: it loads SciPy

    stored = store.read(folder)
    table = stored.table if not against else _differences(stored.table, against, store.zipped(folder))
    _tell_lost(stored)
    if as_json:
        rows = sweep_shown.facts(table)
        console.print_json({"points": stored.points, "missing": stored.missing, "rows": rows})
        return
    if against:
        told = " and ".join(against)
        console.print_whole([f"what points have more than those with {told}, seed by seed"])
    console.print_whole(sweep_shown.shown(table, whole=not stored.missing, compared=bool(against)))


def _differences(table: pa.Table, against: Sequence[str], zipped: Sequence[Sequence[str]]) -> pa.Table:
    base: dict[str, str] = {}
    for one in against:
        key, equals, value = (part.strip() for part in one.partition("="))
        if not equals:
            raise mistake(f"{one!r} names no value", 'KEY=VALUE, such as "congestion_control.kind=none"')
        if key == SEED:
            raise mistake("points are compared seed by seed", "another key of the sweep")
        if key in base:
            raise mistake(f"{key} is given twice", "one value of each key")
        base[key] = value
    return paired.differences(table, base, zipped)


def _tell_lost(stored: Stored) -> None:
    """Tells of points of a sweep that have no result yet, or gave none."""
    if stored.missing:
        told = (
            f"{stored.missing:,} of {counted(stored.points, 'point')} are missing: the sweep is not complete"
        )
        console.errors().print(f"{told}, and tailback sweep … --resume goes on with it")
    failed = merged.lost(stored.table)
    if failed:
        console.errors().print(console.printable_lines(merged.told_lost(failed, stored.points)))


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
    traffic: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this traffic class or job, where they are told apart; repeatable.",
            show_default=False,
        ),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="INCHES",
            help="Width of curves and bars, such as 3.3 for a column of a paper (default: 7.2).",
            min=3.0,
            max=20.0,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Draws the figures of results, or of a sweep.

    Every figure that their tables allow, as PNG, SVG and PDF.
    """
    from tailback.figures import gallery, style  # late: they load matplotlib

    with reporting(), style.width(width):
        default = Path(directories[0]) / PLOTS if len(directories) == 1 else Path(PLOTS)
        target = Path(folder) if folder else default
        swept = store.sweep_of(directories)
        if swept is not None:
            stored = store.read(swept)
            _tell_lost(stored)
            files = gallery.draw_sweep(stored.table, target, over, traffic or ())
        elif over is not None:
            raise mistake("--over is for sweeps", "a result is drawn without it")
        else:
            files = gallery.draw_all(inputs.results(directories), target, traffic or ())
    if not files:
        console.errors().print("nothing to draw: the results hold no time series, ports or histograms")
    console.print_lines(map(str, files))


def view(
    directories: Results,
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
    from tailback.page import view as work  # late: it loads plotly

    with reporting():
        default = (Path(directories[0]) if len(directories) == 1 else Path()) / PLOTS / VIEW
        target = Path(output) if output else default
        refuse_other(target, work.BEGINNING, "page of HTML")
        results = inputs.results(directories)
        text = work.page(results if len(results) > 1 else next(iter(results.values())))
        replace_text(target, text, folders=True)
        if told := work.unmapped(results):
            console.errors().print(console.printable(told))
    console.output().print(console.printable(str(target)), soft_wrap=True)


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
    from tailback.figures import trace as work  # late: it loads matplotlib

    target = Path(output or f"{Path(file).stem or 'trace'}.svg")
    draw_scenario(file, changes, target, lambda scenario: work.diagram(work.run(scenario)))


def draw_scenario(
    file: str, changes: Sequence[str] | None, target: Path, picture: Callable[[Scenario], Figure]
) -> None:
    """Draws a scenario into a file, and prints its name."""
    from tailback.figures import gallery  # late: it loads matplotlib

    scenario = None
    with reporting():
        if target.suffix.lower() not in gallery.KINDS:
            raise mistake(f"{target} is no picture", "name a file that ends with .png, .svg or .pdf")
        scenario = inputs.load(file, changes)
    with reporting(scenario):
        gallery.save_as(picture(scenario), target)
    console.output().print(console.printable(str(target)), soft_wrap=True)
