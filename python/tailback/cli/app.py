"""The command's frame: options that several commands share, and how mistakes and failures are told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from tailback import __version__, console
from tailback.errors import InputError, NotKept, RunFailed
from tailback.scenario import Scenario

app = typer.Typer(
    help="Simulates lossless HPC and AI interconnects, and what keeps congestion from spreading in them.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit status: 0 done (also if a run is not stable, jobs did not end, or claims are missed); "
    "1 failed or interrupted, or points of a sweep gave no result; 2 the input is wrong.",
)


class Command(TyperCommand):
    """A command whose -o names something: as a path, an empty text would be the current folder."""

    def invoke(self, ctx: Any) -> Any:
        """Refuses an empty -o, and runs the command."""
        outputs = [param.name for param in self.params if "-o" in param.opts]
        if any(ctx.params.get(name) == "" for name in outputs):
            raise typer.BadParameter("it is empty; to name the current folder, write .", param_hint="-o")
        return super().invoke(ctx)


FAILED, WRONG = 1, 2
BROKEN_OFF = 130  # how Typer ends on Ctrl-C outside a run

ScenarioFile = Annotated[str, typer.Argument(metavar="FILE", help="A scenario (TOML).", show_default=False)]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Changes a value, such as traffic.hot.load=0.7; without VALUE takes it out; repeatable.",
    ),
]
Results = Annotated[
    list[str], typer.Argument(metavar="DIR…", help="One or more results.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Prints one JSON object instead of tables.")]


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
def reporting(scenario: Scenario | None = None) -> Iterator[None]:
    """Prints what goes wrong and ends with the exit status that tells it."""
    try:
        yield
    except InputError as error:
        console.print_problems(error.problems, scenario)
        raise typer.Exit(WRONG) from None
    except RunFailed as error:
        console.errors().print(f"the run failed: {console.printable_lines(str(error))}")
        raise typer.Exit(FAILED) from None
    except NotKept as error:
        console.errors().print(f"error: {console.printable_lines(str(error))}")
        raise typer.Exit(FAILED) from None
