"""`tailback view`: a page to look into results with, the queues of the network over time and curves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tailback.errors import mistake
from tailback.figures.network_map import NetworkMap
from tailback.figures.spans import window
from tailback.figures.tables import Results, by_name, distinct, numbers, only, shown_times
from tailback.page import html, trees
from tailback.page.curves import PANELS, Curve, curves, draw, end_us, text, titles
from tailback.page.html import BEGINNING as BEGINNING
from tailback.result import Result

Window = tuple[float, float] | None

__all__ = ["figure", "page"]


def __dir__() -> list[str]:
    """What it is for."""
    return __all__


_MAPS_ACROSS = 3
"""Maps side by side; more are in rows below."""
_MAP_HEIGHT, _SMALL_MAP_HEIGHT, _CURVE_HEIGHT = 440, 330, 240
"""In pixels; small are those of several rows."""
_LINE_HEIGHT, _AXIS_HEIGHT = 18, 50
"""Of a line of a title, and of the numbers and the name of an axis of time."""
_TITLE_WIDTH, _TITLE_LINES = 66, 3
"""Letters in a line over all maps of a row, and lines of a title."""
_BUTTONS = ["zoom2d", "pan2d", "resetScale2d"]
_CELLS_MAX, _TIMES_MAX = 4_000_000, 500
"""Cells of all maps at all times together, of which each takes 11 bytes of the page, and times: more than a
slider can tell apart."""
_CELLS_OF_MARK = 6
"""A mark and what is told of it take as many bytes as so many cells."""
_LEAST_WIDTH = 230
"""In pixels, of a map with what stands over it; on a narrower screen the page is scrolled."""
_MAP_WIDTH = 1060
"""In pixels, of all maps side by side."""
_SCALE = [[0, "#eeeeee"], [0.001, "#fde725"], [0.33, "#35b779"], [0.67, "#31688e"], [1, "#440154"]]


def page(results: Results) -> str:
    """A page of HTML that needs nothing else: the numbers of the jobs and classes, and the figure.

    Raises `InputError` if the results hold neither snapshots (`record.occupancy`) nor a time series.
    """
    labelled = by_name(results)
    drawn = figure(results)
    drawn.update_layout(showlegend=False)  # HTML's takes no room from the figure
    return html.page(
        title=" and ".join(dict.fromkeys(result.name or "a run" for result in labelled.values())),
        numbers=html.numbers(labelled),
        remarks=" ".join(_remarks(labelled)),
        controls=html.controls([frame.name for frame in drawn.frames], end_us(labelled)),
        figure=drawn.to_html(
            full_html=False,
            include_plotlyjs=True,
            auto_play=False,
            div_id=html.FIGURE,
            config={"displaylogo": False, "modeBarButtons": [_BUTTONS]},
        ),
        legend=html.legend(drawn),
        least=html.LEFT + html.RIGHT + _LEAST_WIDTH * max(2, _grid(len(_with(labelled, "occupancy")))[1]),
    )


def unmapped(results: dict[str, Result]) -> str:
    """Which results there is no map of, and the remedy; empty if there is one of each."""
    missing = results.keys() - _with(results, "occupancy").keys()
    if not missing:
        return ""
    of_which = f" of {', '.join(label for label in results if label in missing)}" if len(results) > 1 else ""
    if all(_asked(results[label]) for label in missing):
        return f"no map of the queues{of_which}: nothing waited at the times of the snapshots"
    return f'no map of the queues{of_which}: the scenario has to ask for it, as [record] occupancy = "1 us"'


def _asked(result: Result) -> bool:
    """Whether the run took snapshots, with something in them or not."""
    return "occupancy" in result.tables and result.tables["occupancy"].num_rows > 0


def _remarks(results: dict[str, Result]) -> Iterator[str]:
    mapped = _with(results, "occupancy")
    if mapped:
        yield _MAP_REMARK
    if marked := trees.colours(mapped):
        yield trees.remark(marked)
    if told := unmapped(results):
        yield f"{escape(told[0].upper() + told[1:])}."
    times = _times(mapped)
    if any(_times({label: result}) != times for label, result in mapped.items()):
        yield _NO_SNAPSHOT_REMARK
    if mapped:
        shown = len(_mapped_times(mapped, *_networks(mapped)))
        if shown < len(times):
            yield f"Of {len(times):,} snapshots {shown:,} are shown, at even distances."
    if curved := _with(results, "series"):
        yield from _curve_remarks(curved)


def _curve_remarks(results: dict[str, Result]) -> Iterator[str]:
    yield _CURVE_REMARK
    drawn = curves(results)
    if any(curve.is_cut for curve in drawn):
        yield _CUT_REMARK
    if len(drawn) > 1:
        yield _LEGEND_REMARK
    if _shaded(results):
        yield "Shaded is the measured window."
    elif len({window(result) for result in results.values()}) > 1:
        yield "The runs measured at different times, so that no window is shaded."


def figure(results: Results) -> go.Figure:
    """A map of what waits for every port, over the curves of the classes; a frame is a time of the maps.

    Raises `InputError` as `page` does.
    """
    labelled = by_name(results)
    mapped, curved = (_with(labelled, table) for table in ("occupancy", "series"))
    if not mapped and not curved:
        if labelled and all(map(_asked, labelled.values())):
            raise mistake(
                "nothing waited at the times of the snapshots, so that there is nothing to look at",
                'other times of [record] occupancy, or curves too: series = "1 us"',
            )
        raise mistake(
            "there is nothing to look at over time",
            'ask for it in the scenario: [record] series = "1 us", occupancy = "1 us"',
        )
    drawn = curves(curved)
    made = _frame(list(mapped), drawn)
    shaded = _shaded(curved)
    if mapped:
        _draw_maps(made, mapped, shaded=shaded, curved=bool(curved))
    else:
        made.update_layout(shapes=_shapes(0, None, shaded))
    if curved:
        draw(made, drawn, 1 + _grid(len(mapped))[0], end_us(labelled))
    return made


def _with(results: dict[str, Result], table: str) -> dict[str, Result]:
    """Those that hold rows of a table; of snapshots, both of their tables."""
    wanted = ("occupancy", "queues") if table == "occupancy" else (table,)
    return {
        label: result
        for label, result in results.items()
        if all(name in result.tables and result.tables[name].num_rows for name in wanted)
    }


def _grid(maps: int) -> tuple[int, int]:
    """Rows of maps, and how many stand in one: rows are about as long as each other."""
    rows = math.ceil(maps / _MAPS_ACROSS)
    return rows, math.ceil(maps / rows) if rows else 1


def _frame(maps: list[str], drawn: list[Curve]) -> go.Figure:
    """A figure with the maps in rows, and the curves below them; it is as high as its rows need."""
    rows, columns = _grid(len(maps))
    over = [_title(label, columns) for label in maps]
    lines = max([title.count("<br>") + 1 for title in over], default=1)
    heights = [_MAP_HEIGHT if rows == 1 else _SMALL_MAP_HEIGHT] * rows
    heights += [_CURVE_HEIGHT] * (len(PANELS) if drawn else 0)
    gap = _LINE_HEIGHT * (lines + 1) + (_AXIS_HEIGHT if drawn else 0)
    area = sum(heights) + gap * (len(heights) - 1)
    cells: list[Any] = [{}] * len(maps) + [None] * (rows * columns - len(maps))
    whole = [{"colspan": columns}, *[None] * (columns - 1)]
    made = make_subplots(
        rows=len(heights),
        cols=columns,
        specs=[cells[row * columns :][:columns] for row in range(rows)] + [whole] * (len(heights) - rows),
        row_heights=heights,
        subplot_titles=over + (titles(drawn) if drawn else []),
        vertical_spacing=gap / area,
    )
    margin = {"l": html.LEFT, "r": html.RIGHT, "t": _LINE_HEIGHT * lines + 40, "b": 60}
    made.update_annotations(font_size=14)
    made.update_layout(
        height=area + margin["t"] + margin["b"],
        template="simple_white",
        margin=margin,
        hoverlabel={"namelength": -1},
        hoverdistance=-1,
        legend={"orientation": "h", "y": -margin["b"] / area, "yanchor": "top"},
    )
    return made


def _title(label: str, columns: int) -> str:
    """What stands over a map, in lines that fit between its neighbours; a name that is too long is cut."""
    folded = wrap(label, _TITLE_WIDTH // columns, max_lines=_TITLE_LINES, placeholder=" …")
    return "<br>".join(map(text, folded))


def _draw_maps(made: go.Figure, results: dict[str, Result], *, shaded: Window, curved: bool) -> None:
    """A map per result, a frame per time: what waits for every port, by its logarithm."""
    _, columns = _grid(len(results))
    networks, marks = _networks(results)
    times = _mapped_times(results, networks, marks)
    marked = {label: one for label, one in marks.items() if len(one)}
    told = "%{text}" if marked else ""
    places = {
        label: {"row": 1 + number // columns, "col": 1 + number % columns}
        for number, label in enumerate(results)
    }
    for label, network in networks.items():
        made.add_trace(
            go.Heatmap(
                **_cells(network, results[label], times[0], marks[label]),
                hovertext=_names(network),
                hovertemplate=f"%{{hovertext}}: %{{customdata}} flits{told}<extra>{text(label)}</extra>",
                hoverongaps=False,
                coloraxis="coloraxis",
            ),
            **places[label],
        )
        # Ranges of their own would follow what is shown first, or marks at the edge.
        height, width = network.blank().shape
        made.update_xaxes(visible=False, range=[-0.5, width - 0.5], **places[label])
        made.update_yaxes(visible=False, range=[height - 0.5, -0.5], **places[label])
    for label, one in marked.items():
        made.add_trace(one.at(times[0]), **places[label])

    def shapes(time: float) -> list[dict[str, Any]]:
        return _shapes(len(results), time / 1e3, shaded) if curved else []

    def traces(time: float) -> list[Any]:
        maps = (
            go.Heatmap(**_cells(network, results[label], time, marks[label]))
            for label, network in networks.items()
        )
        return [*maps, *(one.at(time) for one in marked.values())]

    made.update_layout(coloraxis=_colours(results), shapes=shapes(times[0]))
    made.frames = [
        go.Frame(
            name=f"{time:.15g}",
            data=traces(time),
            traces=list(range(len(networks) + len(marked))),
            layout={"shapes": shapes(time)},
        )
        for time in times
    ]


def _networks(results: dict[str, Result]) -> tuple[dict[str, NetworkMap], dict[str, trees.Marks]]:
    """The maps of the networks, and what is marked on them."""
    rows, columns = _grid(len(results))
    pixels = (_MAP_HEIGHT if rows == 1 else _SMALL_MAP_HEIGHT, _MAP_WIDTH // columns)
    networks = {label: NetworkMap.of(result) for label, result in results.items()}
    colours = trees.colours(results)
    marks = {label: trees.Marks.of(results[label], one, pixels, colours) for label, one in networks.items()}
    return networks, marks


def _mapped_times(
    results: dict[str, Result], networks: dict[str, NetworkMap], marks: dict[str, trees.Marks]
) -> list[float]:
    """Those that the maps show."""
    times = _times(results)
    cells = sum(one.blank().size for one in networks.values())
    cells += math.ceil(_CELLS_OF_MARK * sum(map(len, marks.values())) / max(1, len(times)))
    return shown_times(times, min(_TIMES_MAX, max(2, _CELLS_MAX // cells)))


def _times(results: dict[str, Result]) -> list[float]:
    return sorted(
        {time for result in results.values() for time in distinct(result.tables["occupancy"], "time_ns")}
    )


def _colours(results: dict[str, Result]) -> dict[str, Any]:
    """Grey for empty ports, and a scale that is even in the logarithm of the flits."""
    queued = np.concatenate([numbers(result.tables["queues"], "flits") for result in results.values()])
    most = max(1.0, float(np.log10(queued.max(initial=1.0))))
    powers = list(range(int(most) + 1))
    return {
        "colorscale": _SCALE,
        "cmin": -0.01,
        "cmax": most,
        "colorbar": {
            "title": "queued flits",
            "tickvals": powers,
            "ticktext": [f"{10**power:,}" for power in powers],
            "len": _SMALL_MAP_HEIGHT,
            "lenmode": "pixels",
            "y": 1,
            "yanchor": "top",
        },
    }


def _cells(network: NetworkMap, result: Result, time: float, marks: trees.Marks) -> dict[str, Any]:
    """The picture at a time: the logarithm of the flits, just below 0 where there are none, and the flits.

    It has no cells where the result has no snapshot of that time. If any are marked, what is told of these.
    """
    cells = network.cells(only(result.tables["queues"], "time_ns", time))
    if time not in distinct(result.tables["occupancy"], "time_ns"):
        cells = np.full_like(cells, np.nan)
    flits = np.where(cells < 1, 0, cells)
    shown = {
        "z": np.log10(np.maximum(flits, 0.97)).astype(np.float32),
        "customdata": np.nan_to_num(flits).astype(np.uint32),
    }
    if len(marks):
        told: Any = np.full(cells.shape, "", dtype=object)
        for place, tells in marks.told(time):
            told[place] = tells
        shown["text"] = told
    return shown


def _names(network: NetworkMap) -> list[list[str]]:
    """What stands in every cell of the picture."""
    names: Any = np.full(network.blank().shape, "", dtype=object)
    for switch in range(network.switches):
        for port in range(network.ports[switch]):
            names[network.places(switch, port)] = f"switch {switch}, port {port}"
    return list(map(list, names))


def _shaded(results: dict[str, Result]) -> Window:
    """The measured window, in us, if it is the same of all results and less than what is shown."""
    windows = {window(result) for result in results.values()}
    if len(windows) != 1 or (of_all := windows.pop()) is None:
        return None
    return of_all if of_all[0] > 0 or of_all[1] < end_us(results) else None


def _shapes(maps: int, time: float | None, shaded: Window) -> list[dict[str, Any]]:
    """In every panel of curves a line at the time of the maps, whose axes come first, and the window."""
    line: dict[str, Any] = {"type": "line", "line": {"color": "#888888", "width": 1}, "x0": time, "x1": time}
    area: dict[str, Any] = {"type": "rect", "fillcolor": "#f2f2f2", "line": {"width": 0}, "layer": "below"}
    kinds = [] if time is None else [line]
    kinds += [area | {"x0": shaded[0], "x1": shaded[1]}] if shaded else []
    axes = [f"{number}" if number > 1 else "" for number in range(maps + 1, maps + 1 + len(PANELS))]
    return [
        kind | {"opacity": 1, "y0": 0, "y1": 1, "xref": f"x{number}", "yref": f"y{number} domain"}
        for kind in kinds
        for number in axes
    ]


_MAP_REMARK = (
    "In the map a block is a group of switches; in it rows are switches and columns their ports. White is no "
    "port, grey an empty one. Point at a cell for its switch and port."
)
_NO_SNAPSHOT_REMARK = "A map that is all white has no snapshot of that time."
_CURVE_REMARK = (
    "Latencies have gaps where over 1 % of the messages created then had not arrived at the end. Drag to "
    "zoom."
)
_CUT_REMARK = "A last bin that the end of the run cut short is left out."
_LEGEND_REMARK = "Click names under the curves to hide lines."
