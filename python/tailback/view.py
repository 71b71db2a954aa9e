"""`tailback view`: a page to look into results with, the queues of the network over time and curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from tailback import console, style
from tailback.errors import mistake
from tailback.network_map import NetworkMap
from tailback.result import Result
from tailback.tables import Results, by_class, by_label, distinct, numbers, only, shown_times, unknown

__all__ = ["figure", "page"]


def __dir__() -> list[str]:
    """What it is for."""
    return __all__


BEGINNING = "<!doctype html>"
"""How every page begins."""
_CURVES = (
    ("accepted_per_destination", "accepted, of the<br>destinations' channels [%]", 100.0),
    ("message_latency_ns", "mean message<br>latency [ns]", 1.0),
)
"""Columns of the time series, their axes and their scale."""
_DASHES = ("solid", "dash", "dashdot", "dot", "longdash", "longdashdot")
_MAP_HEIGHT, _CURVE_HEIGHT, _GAP = 440, 240, 90
"""In pixels; under the maps there is the slider."""
_BUTTONS_WIDTH = 115
"""Pixels that the buttons to play and to stop take, before the slider."""
_BUTTONS = ["zoom2d", "pan2d", "resetScale2d", "toImage"]
_CELLS_MAX = 4_000_000
"""Cells of all maps at all times together; a cell takes 11 bytes of the page."""
_SCALE = [[0, "#eeeeee"], [0.001, "#fde725"], [0.33, "#35b779"], [0.67, "#31688e"], [1, "#440154"]]


def page(results: Results) -> str:
    """A page of HTML that needs nothing else: the numbers of the classes, and the figure.

    Raises `InputError` if the results hold neither snapshots (`record.occupancy`) nor a time series.
    """
    labelled = by_label(results)
    drawn = figure(results).to_html(
        full_html=False,
        include_plotlyjs=True,
        auto_play=False,
        config={"displaylogo": False, "modeBarButtons": [_BUTTONS]},
    )
    return _PAGE.format(
        beginning=BEGINNING,
        title=escape(" and ".join(dict.fromkeys(result.name or "a run" for result in labelled.values()))),
        numbers="\n".join(_lines(labelled)),
        remarks=" ".join(_remarks(labelled)),
        figure=drawn,
    )


def unmapped(results: dict[str, Result]) -> str:
    """Which results there is no map of, and the remedy; empty if there is one of each."""
    missing = results.keys() - _with(results, "occupancy").keys()
    if not missing:
        return ""
    of_which = f" of {', '.join(label for label in results if label in missing)}" if len(results) > 1 else ""
    return f'no map of the queues{of_which}: the scenario has to ask for it, as [record] occupancy = "1 us"'


def _remarks(results: dict[str, Result]) -> Iterator[str]:
    cut_off = [escape(label) for label, result in results.items() if result.interrupted]
    if cut_off:
        of_which = f" ({', '.join(cut_off)})" if len(results) > 1 else ""
        yield f"Interrupted{of_which}: the numbers are those of the part that was simulated."
    mapped = _with(results, "occupancy")
    if mapped:
        yield _MAP_REMARK
    if told := unmapped(results):
        yield f"{escape(told[0].upper() + told[1:])}."
    times = _times(mapped)
    if any(_times({label: result}) != times for label, result in mapped.items()):
        yield _NO_SNAPSHOT_REMARK
    yield _CURVE_REMARK


def figure(results: Results) -> go.Figure:
    """A map of what waits for every port, by time, over the curves of the classes.

    Raises `InputError` as `page` does.
    """
    mapped, curved = (_with(by_label(results), table) for table in ("occupancy", "series"))
    if not mapped and not curved:
        raise mistake(
            "there is nothing to look at over time",
            'ask for it in the scenario: [record] series = "1 us", occupancy = "1 us"',
        )
    made = _frame(list(mapped), bool(curved))
    if mapped:
        _draw_maps(made, mapped, curves=bool(curved))
    if curved:
        _draw_curves(made, curved, first=2 if mapped else 1)
    return made


def _with(results: dict[str, Result], table: str) -> dict[str, Result]:
    """Those that hold rows of a table."""
    return {
        label: result
        for label, result in results.items()
        if table in result.tables and result.tables[table].num_rows
    }


def _frame(maps: list[str], curves: bool) -> go.Figure:
    """A figure with the maps side by side, and the curves below them."""
    rows = [_MAP_HEIGHT] * bool(maps) + [_CURVE_HEIGHT] * (len(_CURVES) if curves else 0)
    columns = max(1, len(maps))
    whole: list[Any] = [{"colspan": columns}, *[None] * (columns - 1)]
    specs = [[{}] * columns] * bool(maps) + [whole] * (len(rows) - bool(maps))
    made = make_subplots(
        rows=len(rows),
        cols=columns,
        specs=specs,
        row_heights=rows,
        subplot_titles=[escape(label) for label in maps],
        vertical_spacing=_GAP / sum(rows),
    )
    made.update_layout(
        height=sum(rows) + 120,
        template="simple_white",
        margin={"l": 90, "r": 20, "t": 40, "b": 80},
        legend={"y": _CURVE_HEIGHT * len(_CURVES) / sum(rows), "yanchor": "top"},
    )
    return made


def _draw_maps(made: go.Figure, results: dict[str, Result], *, curves: bool) -> None:
    """A map per result, a frame per time: what waits for every port, by its logarithm."""
    networks = {label: NetworkMap.of(result) for label, result in results.items()}
    times = shown_times(
        _times(results), max(2, _CELLS_MAX // sum(one.blank().size for one in networks.values()))
    )
    for column, (label, network) in enumerate(networks.items(), 1):
        made.add_trace(
            go.Heatmap(
                **_cells(network, results[label], times[0]),
                hovertext=_names(network),
                hovertemplate="%{hovertext}: %{customdata} flits<extra></extra>",
                hoverongaps=False,
                coloraxis="coloraxis",
            ),
            row=1,
            col=column,
        )
        made.update_xaxes(visible=False, row=1, col=column)
        made.update_yaxes(visible=False, autorange="reversed", row=1, col=column)
    made.update_layout(
        coloraxis=_colours(results), shapes=_cursors(len(results), times[0] / 1e3) if curves else []
    )
    made.frames = [
        go.Frame(
            name=f"{time:g}",
            data=[go.Heatmap(**_cells(network, results[label], time)) for label, network in networks.items()],
            traces=list(range(len(results))),
            layout={"shapes": _cursors(len(results), time / 1e3) if curves else []},
        )
        for time in times
    ]
    _add_slider(made, times)


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
            "len": _MAP_HEIGHT - _GAP,
            "lenmode": "pixels",
            "y": 1,
            "yanchor": "top",
        },
    }


def _cells(network: NetworkMap, result: Result, time: float) -> dict[str, Any]:
    """The picture at a time: the logarithm of the flits, just below 0 where there are none, and the flits.

    It has no cells where the result has no snapshot of that time.
    """
    cells = network.cells(only(result.tables["queues"], "time_ns", time))
    if time not in distinct(result.tables["occupancy"], "time_ns"):
        cells = np.full_like(cells, np.nan)
    flits = np.where(cells < 1, 0, cells)
    return {
        "z": np.log10(np.maximum(flits, 0.97)).astype(np.float32),
        "customdata": np.nan_to_num(flits).astype(np.uint32),
    }


def _names(network: NetworkMap) -> list[list[str]]:
    """What stands in every cell of the picture."""
    names: Any = np.full(network.blank().shape, "", dtype=object)
    for switch in range(network.switches):
        for port in range(network.ports):
            names[network.places(switch, port)] = f"switch {switch}, port {port}"
    return list(map(list, names))


def _cursors(maps: int, time: float) -> list[dict[str, Any]]:
    """A line through every panel of curves at the time of the maps, whose axes come first."""
    line = {
        "type": "line",
        "x0": time,
        "x1": time,
        "y0": 0,
        "y1": 1,
        "line": {"color": "#888888", "width": 1},
    }
    axes = range(maps + 1, maps + 1 + len(_CURVES))
    return [line | {"xref": f"x{number}", "yref": f"y{number} domain"} for number in axes]


def _add_slider(made: go.Figure, times: list[float]) -> None:
    now = {"mode": "immediate", "transition": {"duration": 0}}
    steps = [
        {
            "label": f"{time / 1e3:g}",
            "method": "animate",
            "args": [[f"{time:g}"], now | {"frame": {"duration": 0, "redraw": True}}],
        }
        for time in times
    ]
    play = [None, now | {"fromcurrent": True, "frame": {"duration": 120, "redraw": True}}]
    buttons = [
        {"label": "play", "method": "animate", "args": play},
        {"label": "stop", "method": "animate", "args": [[None], now]},
    ]
    place = {"y": made.layout.yaxis.domain[0], "yanchor": "top", "pad": {"t": 5}}
    made.update_layout(
        sliders=[
            {"steps": steps, "currentvalue": {"prefix": "time [us]: "}}
            | place
            | {"pad": place["pad"] | {"l": _BUTTONS_WIDTH}}
        ],
        updatemenus=[
            {"type": "buttons", "direction": "left", "buttons": buttons, "x": 0, "xanchor": "left"} | place
        ],
    )


def _draw_curves(made: go.Figure, results: dict[str, Result], first: int) -> None:
    for line in by_class(results, "series", None):
        late = unknown(line.table)
        dashes = line.number // len(style.COLOURS) + (line.kind or 0)
        for row, (column, _, scale) in enumerate(_CURVES, first):
            values = scale * numbers(line.table, column)
            made.add_trace(
                go.Scatter(
                    x=numbers(line.table, "time_ns") / 1e3,
                    y=np.where(late, np.nan, values) if column.endswith("latency_ns") else values,
                    name=escape(line.label),
                    legendgroup=line.label,
                    showlegend=row == first,
                    line={
                        "color": style.COLOURS[line.number % len(style.COLOURS)],
                        "dash": _DASHES[dashes % len(_DASHES)],
                    },
                ),
                row=row,
                col=1,
            )
    for row, (_, axis, _) in enumerate(_CURVES, first):
        made.update_yaxes(title=axis, row=row, col=1)
        made.update_xaxes(showticklabels=True, row=row, col=1)
    known = np.concatenate([line.y[np.isfinite(line.y)] for line in made.select_traces(row=first + 1, col=1)])
    is_wide = known.size and known.max() >= 4 * known.min()  # else there may be no 1, 2 or 5 to be a tick
    made.update_yaxes(type="log", dtick="D2" if is_wide else None, tickformat=",", row=first + 1, col=1)
    made.update_xaxes(title="simulated time [us]", row=first + 1, col=1)


def _lines(results: dict[str, Result]) -> Iterator[str]:
    """A table of the numbers of every class of every result."""
    yield _line("th", ("run" if len(results) > 1 else "", *_HEADINGS))
    for label, result in results.items():
        for name, facts in result.summary.get("classes", {}).items():
            latency = facts.get("message_latency_ns") or {}
            parts = (console.share(facts.get(key)) for key in _SHARES)
            yield _line("td", (label, name, *parts, *(_time(latency, key) for key in ("mean", "p99"))))


def _line(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _time(latency: dict[str, Any], key: str) -> str:
    if latency.get("saturated"):
        return "saturated"
    mean = latency.get(key)
    return f"{mean:,.0f} ns" if isinstance(mean, int | float) else ""


_SHARES = ("offered", "accepted", "accepted_per_destination")
_HEADINGS = ("class", "offered", "accepted", "… by destination", "message latency: mean", "p99")
_PAGE = """{beginning}
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; }}
body {{ max-width: 80rem; margin: 1.5rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; font-size: 0.9rem; }}
th, td {{ text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid #ddd; }}
</style></head><body>
<h1>{title}</h1>
<table>{numbers}</table>
<p>{remarks}</p>
{figure}
</body></html>
"""
_MAP_REMARK = (
    "In the map a block is a group of switches; in it rows are switches and columns their ports. White is no "
    "port, grey an empty one. Point at a cell for its switch and port."
)
_NO_SNAPSHOT_REMARK = "A map that is all white has no snapshot of that time."
_CURVE_REMARK = (
    "Latencies have gaps where over 1 % of the messages created then had not arrived at the end. Click names "
    "in the legend to hide lines; drag to zoom."
)
