"""The figures of `tailback plot`: all that the tables of the given results, or of a sweep, allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import matplotlib as mpl
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailback import curves, pictures, plot
from tailback.errors import mistake, unwritable
from tailback.figures import style
from tailback.figures.slowdowns import are_known
from tailback.figures.tables import distinct, has_rows
from tailback.files import replacing
from tailback.result import Result

FIGURES: dict[str, tuple[str, Callable[..., Figure]]] = {
    "latency_over_time": ("series", plot.latency_over_time),
    "throughput_over_time": ("series", plot.throughput_over_time),
    "throughput_per_destination": ("series", partial(plot.throughput_over_time, per_destination=True)),
    "latency_histogram": ("histograms", plot.latency_histogram),
    "channel_shares": ("shares", plot.channel_shares),
    "port_activity": ("ports", plot.port_activity),
    "source_throughput": ("sources", plot.source_throughput),
    "pair_throughput": ("pairs", plot.pair_throughput),
    "slowdown_by_size": ("messages", plot.slowdown_by_size),
    "switch_occupancy": ("occupancy", plot.switch_occupancy),
    "occupancy_over_time": ("occupancy", plot.occupancy_over_time),
    "pauses_over_time": ("pauses", plot.pauses_over_time),
    "trees_over_time": ("trees", plot.trees_over_time),
    "port_ternary": ("ports", pictures.port_ternary),
    "occupancy_map": ("queues", pictures.occupancy_map),
    "allowed_rate": ("rates", pictures.allowed_rate),
    "job_times": ("ranks", pictures.job_times),
    "job_communication": ("ranks", pictures.job_communication),
    "phase_times": ("phases", pictures.phase_times),
    "latency_distribution": ("histograms", pictures.latency_distribution),
}
"""By file name: the table a figure needs, and the function that draws it."""


TELLING: Mapping[str, Callable[[Result], bool]] = {"slowdown_by_size": are_known}
"""Whether the table of a result tells anything, where that takes more than rows."""


OF_CLASSES = {
    "latency_over_time",
    "throughput_over_time",
    "throughput_per_destination",
    "latency_histogram",
    "source_throughput",
    "pair_throughput",
    "slowdown_by_size",
    "latency_distribution",
}
"""Those that can be of chosen traffic classes."""


def draw_all(results: Mapping[str, Result], folder: Path, traffic: Sequence[str] = ()) -> list[Path]:
    """Draws every figure for which a result has the table; returns the files.

    With `traffic`, the figures that tell classes apart are of those classes. Raises `InputError` if there is
    no such class.
    """
    labelled = {"": next(iter(results.values()))} if len(results) == 1 else results
    _demand_classes(results, traffic)
    figures = {}
    for name, (table, draw) in FIGURES.items():
        tells = TELLING.get(name)
        with_rows = [run for run in labelled.values() if has_rows(run, table)]
        having = [run for run in with_rows if tells is None or tells(run)]
        chosen = _told(having, table, traffic) if name in OF_CLASSES else []
        if having and (chosen or not traffic or name not in OF_CLASSES):
            figures[name] = draw(labelled, **({"traffic": chosen} if chosen else {}))
    return _save_all(figures, folder)


def _demand_classes(results: Mapping[str, Result], traffic: Sequence[str]) -> None:
    known = dict.fromkeys(name for result in results.values() for name in result.summary.get("classes", {}))
    for name in traffic:
        if name not in known:
            raise mistake(f"there is no traffic class {name!r}", f"one of: {', '.join(known)}")


def _told(results: Sequence[Result], table: str, traffic: Sequence[str]) -> list[str]:
    """Those of the classes of which a table tells."""
    told = {name for result in results for name in distinct(result.tables[table], "class")}
    return [name for name in traffic if name in told]


def draw_sweep(
    table: pa.Table, folder: Path, over: str | None = None, traffic: Sequence[str] = ()
) -> list[Path]:
    """Draws what a sweep measured over a key that it changed, of some classes or all; returns the files.

    Raises `InputError` if no such key was swept, if there is no such class, if nothing is known of any
    measurement, or if one is no number.
    """
    table = curves.of_traffic(table, traffic) if traffic else table
    over = over or curves.axis(table, curves.keys(table))
    figures = {
        column.removesuffix("_ns"): curves.measured_over(table, column, over)
        for column in curves.QUANTITIES
        if column in table.column_names and _is_known(table, column)
    }
    if not figures:
        raise mistake(
            "nothing was measured of traffic in this sweep", "the results of its points are in points/"
        )
    return _save_all(figures, folder)


def _save_all(figures: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Writes figures under their names, once all are drawn: a mistake leaves no part of them."""
    return [file for name, figure in figures.items() for file in save(figure, folder / name)]


def _is_known(table: pa.Table, column: str) -> bool:
    kind = table.schema.field(column).type
    if not any(test(kind) for test in (pa.types.is_floating, pa.types.is_integer, pa.types.is_null)):
        raise mistake(
            f"the sweep's table is damaged: its column {column!r} holds no numbers",
            "tailback sweep --resume writes it again",
        )
    return bool(pc.any(pc.is_finite(table[column])).as_py())


KINDS: dict[str, dict[str, str | None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""File kinds, with what is left out so that the same figure gives the same bytes."""


def save(figure: Figure, stem: Path) -> list[Path]:
    """Writes a figure as PNG, SVG and PDF."""
    files = [stem.with_name(f"{stem.name}{kind}") for kind in KINDS]
    layout = figure.get_layout_engine()
    with mpl.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        for file in files:
            save_as(figure, file)
            # The first has laid it out: the others find all in its place, and draw it once, not twice.
            figure.set_layout_engine(None)
        figure.set_layout_engine(layout)
    return files


def save_as(figure: Figure, file: Path) -> None:
    """Writes a figure as the kind that the file's name tells, all or nothing."""
    kind = file.suffix.lower()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with style.styled(), replacing(file) as fresh:
            figure.savefig(fresh, metadata=KINDS[kind], format=kind[1:])
    except OSError as error:
        raise unwritable(file.parent, error) from None
