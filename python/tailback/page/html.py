"""The HTML around the figure of `tailback view`: the tables of numbers, the controls, the legend."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import plotly.graph_objects as go
from rich.table import Table

from tailback import result_tables
from tailback.result import Result

BEGINNING = "<!doctype html>"
"""How every page begins."""
FIGURE = "figure"
"""The element that holds the figure."""
LEFT, RIGHT = 90, 130
"""Pixels beside the panels of the figure; the slider has the same, so that its times stand over theirs."""
_THUMB = 16
"""Pixels that the knob of the slider is wide; its middle shows the time."""


def page(title: str, numbers: str, remarks: str, controls: str, figure: str, legend: str, least: int) -> str:
    """The whole page, at least so many pixels wide; only the title is not HTML yet."""
    parts = (
        BEGINNING,
        '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>",
        f'<body style="min-width: {least}px">',
        f"<h1>{escape(title)}</h1>",
        f"<p>{remarks}</p>",
        controls,
        f'<div role="group" aria-label="maps and curves">{figure}</div>',
        legend,
        numbers,
        f"<script>{_SCRIPT}</script>",
        "</body></html>\n",
    )
    return "\n".join(part for part in parts if part)


def numbers(results: Mapping[str, Result]) -> str:
    """The tables of `tailback show`, and what it says beside them."""
    parts = [
        '<div class="wide" role="region" tabindex="0" aria-label="numbers of the '
        f'{" and ".join(str(column.header) for column in table.columns[:2])}">{_table(table)}</div>'
        for table in result_tables.results_tables(results)
    ]
    told = "".join(f"<li>{escape(remark)}</li>" for remark in result_tables.results_remarks(results))
    return "\n".join([*parts, f"<ul>{told}</ul>" if told else ""])


def _table(table: Table) -> str:
    """A table of the terminal as one of HTML: numbers to the right."""
    style = ["" if column.justify == "left" else ' class="number"' for column in table.columns]
    heads = (str(column.header) for column in table.columns)
    rows = zip(*(map(str, column.cells) for column in table.columns), strict=True)
    lines = [
        _line("th", heads, [f' scope="col"{how}' for how in style]),
        *(_line("td", row, style) for row in rows),
    ]
    return "<table>" + "\n".join(lines) + "</table>"


def _line(tag: str, cells: Iterable[str], style: Iterable[str]) -> str:
    told = (f"<{tag}{how}>{escape(cell)}</{tag}>" for cell, how in zip(cells, style, strict=True))
    return "<tr>" + "".join(told) + "</tr>"


def controls(frames: Sequence[str], end_us: float) -> str:
    """What time the maps show, and, if they have several, what chooses it; `frames` are named by theirs.

    Empty without maps. Of HTML's own controls, so that the keyboard reaches them.
    """
    if not frames:
        return ""
    times = [float(frame) / 1e3 for frame in frames]
    shown = f'<output id="shown" aria-live="off">{times[0]:.10g} us</output>'
    if len(frames) == 1:
        return f'<div class="controls">maps at {shown}</div>'
    return (
        '<div class="controls" role="group" aria-label="time of the maps">'
        '<button type="button" id="play">play</button> <button type="button" id="stop">stop</button> '
        f'<label for="time">maps at</label> {shown}'
        f'<input type="range" id="time" min="0" max="{end_us:.10g}" step="any" value="{times[0]:.10g}" '
        f'autocomplete="off" aria-valuetext="{times[0]:.10g} us" data-frames="{escape(json.dumps(frames))}">'
        "</div>"
    )


def legend(figure: go.Figure) -> str:
    """A button for every line of the figure, which hides it; empty if there are fewer than two."""
    lines: dict[str, list[int]] = {}
    for number, trace in enumerate(figure.data):
        if trace.type == "scatter" and trace.legendgroup:
            lines.setdefault(trace.legendgroup, []).append(number)
    if len(lines) < 2:
        return ""
    buttons = "\n".join(_button(figure.data[traces[0]], traces) for traces in lines.values())
    every = "".join(
        f'<button type="button" data-every="{pressed}">{name} all</button>'
        for pressed, name in (("true", "show"), ("false", "hide"))
    )
    return f'<div class="legend" role="group" aria-label="lines">{buttons}\n{every}</div>'


def _button(trace: Any, traces: Sequence[int]) -> str:
    """That of a line, whose name is HTML already."""
    dash = "none" if trace.line.dash == "solid" else trace.line.dash
    colour = trace.line.color
    sample = f'<path d="M0 8H44" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    if trace.marker.symbol:
        hollow = trace.marker.symbol.endswith("-open")
        shape = _SHAPES[trace.marker.symbol.removesuffix("-open")]
        fill = "white" if hollow else colour
        sample += f'<path d="{shape}" transform="translate(22 8)" fill="{fill}" stroke="{colour}"/>'
    return (
        f'<button type="button" aria-pressed="true" data-traces="{json.dumps(traces)}">'
        f'<svg width="44" height="16" aria-hidden="true">{sample}</svg>{trace.name}</button>'
    )


_SHAPES = {
    "circle": "M-4 0A4 4 0 1 1 4 0A4 4 0 1 1 -4 0Z",
    "square": "M-4 -4H4V4H-4Z",
    "diamond": "M0 -5L5 0L0 5L-5 0Z",
    "triangle-up": "M-5 4H5L0 -5Z",
    "triangle-down": "M-5 -4H5L0 5Z",
    "cross": "M-2 -5H2V-2H5V2H2V5H-2V2H-5V-2H-2Z",
}
"""Outlines of plotly's markers."""
_STYLE = f"""
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff; }}
body {{ max-width: 80rem; margin: 1.5rem auto; padding: 0 1rem; }}
h1, p, li {{ overflow-wrap: anywhere; }}
.wide {{ overflow-x: auto; margin-bottom: 1.2rem; }}
table {{ border-collapse: collapse; font-size: 0.9rem; }}
th, td {{ text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid #ddd; }}
.number {{ text-align: right; white-space: nowrap; }}
.controls {{ position: sticky; top: 0; z-index: 1; background: #fff; padding: 0.4rem 0; }}
.controls {{ padding-left: {LEFT}px; padding-right: {RIGHT}px; }}
button {{ font: inherit; font-size: 0.9rem; }}
input[type=range] {{ display: block; appearance: none; height: {_THUMB}px; cursor: pointer; }}
input[type=range] {{ width: calc(100% + {_THUMB}px); margin: 0.4rem -{_THUMB // 2}px 0; }}
input[type=range] {{ background: linear-gradient(#888, #888) center no-repeat; }}
input[type=range] {{ background-size: calc(100% - {_THUMB}px) 4px; }}
input[type=range]::-webkit-slider-thumb {{ appearance: none; width: {_THUMB}px; height: {_THUMB}px; }}
input[type=range]::-webkit-slider-thumb {{ border-radius: 50%; background: #0072b2; }}
input[type=range]::-moz-range-thumb {{ width: {_THUMB}px; height: {_THUMB}px; border: 0; }}
input[type=range]::-moz-range-thumb {{ border-radius: 50%; background: #0072b2; }}
.legend {{ display: flex; flex-wrap: wrap; gap: 0.2rem 0.4rem; padding-left: {LEFT}px; }}
.legend {{ margin-bottom: 1.5rem; }}
.legend button {{ border: 1px solid #ccc; border-radius: 4px; background: #fff; color: inherit; }}
.legend button {{ text-align: left; overflow-wrap: anywhere; cursor: pointer; }}
.legend svg {{ vertical-align: middle; margin-right: 0.5em; }}
.legend [aria-pressed=false] {{ opacity: 0.65; text-decoration: line-through; }}
@media print {{
  body {{ max-width: none; min-width: 0 !important; }}
  .controls button, .controls input, .legend [data-every], .modebar {{ display: none !important; }}
  .wide {{ overflow: visible; }}
  .wide {{ break-inside: avoid; }}
}}
"""
_SCRIPT = (
    f"""
(() => {{
  const figure = document.getElementById("{FIGURE}");
  const slider = document.getElementById("time");
"""
    + """
  const chooseTimes = () => {
    const frames = JSON.parse(slider.dataset.frames), times = frames.map((frame) => frame / 1e3);
    const shown = document.getElementById("shown");
    let at = 0, timer = null;
    const play = document.getElementById("play");
    const stop = () => { clearInterval(timer); timer = null; play.setAttribute("aria-pressed", "false"); };
    const show = (index) => {
      at = Math.min(Math.max(index, 0), times.length - 1);
      slider.value = times[at];
      shown.textContent = `${+times[at].toPrecision(10)} us`;
      slider.setAttribute("aria-valuetext", shown.textContent);
      Plotly.animate(figure, [frames[at]],
        {mode: "immediate", transition: {duration: 0}, frame: {duration: 0, redraw: true}});
    };
    const nearest = (time) => times.reduce(
      (best, other, index) => Math.abs(other - time) < Math.abs(times[best] - time) ? index : best, 0);
    const far = Math.max(1, Math.round(times.length / 10));
    const keys = {
      ArrowRight: () => at + 1, ArrowUp: () => at + 1, ArrowLeft: () => at - 1, ArrowDown: () => at - 1,
      PageUp: () => at + far, PageDown: () => at - far, Home: () => 0, End: () => times.length - 1,
    };
    slider.addEventListener("input", () => { stop(); show(nearest(slider.value)); });
    slider.addEventListener("keydown", (event) => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      stop();
      show(keys[event.key]());
    });
    document.getElementById("stop").addEventListener("click", stop);
    play.addEventListener("click", () => {
      stop();
      if (at === times.length - 1) show(0);
      play.setAttribute("aria-pressed", "true");
      timer = setInterval(() => { at < times.length - 1 ? show(at + 1) : stop(); }, 150);
    });
  };
  const lines = [...document.querySelectorAll("[data-traces]")];
  const press = (buttons, pressed) => {
    for (const button of buttons) button.setAttribute("aria-pressed", pressed);
    const traces = buttons.flatMap((button) => JSON.parse(button.dataset.traces));
    Plotly.restyle(figure, {visible: pressed}, traces);
  };
  for (const button of lines)
    button.addEventListener("click", () => press([button], button.getAttribute("aria-pressed") !== "true"));
  for (const button of document.querySelectorAll("[data-every]"))
    button.addEventListener("click", () => press(lines, button.dataset.every === "true"));
  if (slider) chooseTimes();
  // A sheet of paper is narrower than the window, of which the figure has the width.
  window.addEventListener("beforeprint", () => Plotly.relayout(figure, {width: 700}));
  window.addEventListener("afterprint", () => Plotly.relayout(figure, {width: null, autosize: true}));
})();
"""
)
