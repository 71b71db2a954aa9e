"""Time diagrams: every packet of a small run as an arrow between endpoints and switches, time downwards.

from tailback import Scenario, trace

trace.diagram(trace.run(Scenario.load("small.toml"))).savefig("trace.svg")
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import isnan
from statistics import fmean
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from tailback.errors import mistake
from tailback.figures import style
from tailback.result import Result
from tailback.scenario import Progress, Scenario

__all__ = ["diagram", "run"]


def __dir__() -> list[str]:
    """What it is for."""
    return __all__


MESSAGES_MAX = 20
LABELS_MAX = 60
"""Packets, those of the control too, up to which each has its label: those of more would cover a diagram."""
_LANE_MAX, _LANE_MIN, _WIDTH = 1.5, 0.6, 15.0
"""Inches between two lifelines, which stand closer where there are many, and of all of them."""
HOPS_MAX = 20_000
"""Packets on channels after which a run is certainly too long to be drawn."""

_Row = dict[str, Any]
_LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "data": ("data", {"color": style.COLOURS[0]}),
    "speculative": ("speculative data", {"color": style.COLOURS[1], "linestyle": "--"}),
    "reservation": ("reservation", {"color": style.COLOURS[6]}),
    "grant": ("grant", {"color": style.COLOURS[2]}),
    "credit": ("credit", {"color": style.COLOURS[2]}),
    "ack": ("acknowledgement", {"color": style.COLOURS[5], "linewidth": 0.8}),
    "nack": ("refusal", {"color": style.COLOURS[3]}),
    "notification": ("notification", {"color": style.COLOURS[4]}),
    "set-up": ("set-up", {"color": style.COLOURS[6]}),
    "probe": ("probe", {"color": style.COLOURS[4]}),
    "tear-down": ("tear-down", {"color": style.COLOURS[3]}),
    "return": ("return", {"color": style.COLOURS[5], "linewidth": 0.8}),
}
_DARK = dict.fromkeys(("ack", "return"), "#2a6a94")
"""The colour of labels where that of the lines is pale."""
_SHORT = {
    "reservation": "Res",
    "grant": "Gnt",
    "credit": "Cr",
    "ack": "A",
    "nack": "N",
    "notification": "CN",
    "set-up": "Set",
    "probe": "Prb",
    "tear-down": "End",
    "return": "Ret",
}


def run(scenario: Scenario) -> Result:
    """Runs a scenario of at most 20 messages and records every packet on every channel."""

    def watch(progress: Progress) -> bool:
        return progress.packet_hops <= HOPS_MAX

    result = scenario.replace({"record.packets": True, "record.pauses": True}).run(watch)
    messages = len({(row["source"], row["message"]) for row in _rows(result) if row["kind"] == "data"})
    if result.interrupted or messages > MESSAGES_MAX:
        many = f"over {HOPS_MAX} packets on channels" if result.interrupted else f"{messages} messages"
        raise mistake(
            f"the run has {many}: too many for a time diagram, which shows at most {MESSAGES_MAX} messages",
            'use traffic with `process = "one-shot"` and few sources, or a shorter run',
        )
    if not messages:
        raise mistake(
            "the run sends no data: there is nothing to draw",
            "traffic with a load over 0 that starts within the run",
        )
    return result


def _rows(result: Result) -> list[_Row]:
    rows: list[_Row] = result.tables["packets"].to_pylist()
    return rows


def diagram(result: Result) -> Figure:
    """The time diagram of a result with the table `packets`."""
    rows = _rows(result)
    pauses = result.tables["pauses"].to_pylist() if "pauses" in result.tables else []
    lanes = {node: place for place, node in enumerate(_order(rows))}
    first = min(row["start_ns"] for row in rows)
    last = max(row["tail_ns"] for row in rows)
    with style.styled():
        height = _height(rows)
        width = max(_LANE_MIN, min(_LANE_MAX, _WIDTH / len(lanes)))
        figure = Figure(figsize=(1.6 + width * len(lanes), 1.5 + height), layout="constrained")
        axes = figure.subplots()
        for node, place in lanes.items():
            axes.axvline(place, color="#555555", linewidth=0.9)
            name = node if width == _LANE_MAX else node.replace(" ", "\n")
            axes.text(place, first - 0.02 * (last - first), name, ha="center", va="bottom", fontsize=8)
        for pause in pauses:
            _shade(axes, pause, lanes, last)
        for row in rows:
            _draw(axes, row, lanes)
        packets = sum(_starts(rows))
        are_labelled = packets <= LABELS_MAX
        if are_labelled:
            last = max(last, _write(axes, rows, lanes, min(0.025, 0.15 / height) * (last - first)))
        else:
            axes.set_xlabel(f"{packets} packets, too many for labels", fontsize=8)
        axes.set_ylim(last, first)
        axes.set_xlim(-0.6, len(lanes) - 0.4)
        axes.set_xticks([])
        axes.set_ylabel("time [ns]")
        axes.grid(visible=False, axis="x")
        axes.spines["bottom"].set_visible(False)
        shown = [kind for kind in _LOOKS if any(_look(row) == kind for row in rows)]
        names = {kind: f" ({_SHORT[kind]})" if are_labelled and kind in _SHORT else "" for kind in shown}
        handles = [Line2D([], [], label=_LOOKS[kind][0] + names[kind], **_LOOKS[kind][1]) for kind in shown]
        if any(row["event"] == "dropped" for row in rows):
            handles.append(Line2D([], [], label="dropped", **_CROSS))
        if pauses:
            handles.append(Line2D([], [], label="paused", **_PAUSED))
        figure.legend(handles=handles, loc="outside lower center", ncols=3, fontsize=8)
    return figure


_HALO = [withStroke(linewidth=1.5, foreground="white")]
"""Keeps a label apart from the lines that it may stand on."""
_CROSS: dict[str, Any] = {"marker": "x", "color": "black", "markersize": 7, "linestyle": "none"}


_PAUSED: dict[str, Any] = {"color": "black", "alpha": 0.45, "linewidth": 5, "solid_capstyle": "butt"}


def _height(rows: Sequence[_Row]) -> float:
    """Inches for the time axis: room for the labels of what the busiest endpoint sends."""
    sent: dict[str, int] = defaultdict(int)
    for row in rows:
        if row["from"].startswith("endpoint"):
            sent[row["from"]] += 1
    return min(20.0, max(3.0, 0.28 * max(sent.values(), default=1)))


def _order(rows: Sequence[_Row]) -> list[str]:
    """Switches in the order in which data pass them, each between the sources and destinations at it."""
    switches = {node: at for at, node in enumerate(_passed(rows)) if node.startswith("switch")}
    sends = {row["from"] for row in rows if row["kind"] == "data"}
    places = {node: float(at) for node, at in switches.items()}
    for row in rows:
        for end, switch in ((row["from"], row["to"]), (row["to"], row["from"])):
            if end not in places and switch in switches:
                places[end] = switches[switch] + (-0.5 if end in sends else 0.5)
    return sorted(places, key=lambda node: (places[node], int(node.split()[1])))


def _passed(rows: Sequence[_Row]) -> list[str]:
    """Sources, then switches in the order in which data pass them, then destinations."""
    hops: dict[tuple[int, int, int], int] = {}
    places: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["kind"] != "data" or row["event"] != "sent":
            continue
        packet = (row["source"], row["message"], row["sequence"])
        hop = 0 if row["from"].startswith("endpoint") else hops.get(packet, 0) + 1
        hops[packet] = hop
        places[row["from"]].append(hop)
        if row["to"].startswith("endpoint"):
            places[row["to"]].append(1e6)
    for row in rows:
        for node in (row["from"], row["to"]):
            places.setdefault(node, [1e5])
    return sorted(places, key=lambda node: (fmean(places[node]), int(node.split()[1])))


def _names(rows: Sequence[_Row]) -> dict[tuple[int, int], str]:
    """What the messages are called: nothing if there is but one, else M1, M2 … in the order they are sent."""
    found = dict.fromkeys((row["source"], row["message"]) for row in rows if row["kind"] == "data")
    return (
        dict.fromkeys(found, "") if len(found) == 1 else {key: f" M{at}" for at, key in enumerate(found, 1)}
    )


def _look(row: _Row) -> str:
    kind: str = row["kind"]
    return "speculative" if kind == "data" and row["traffic_class"].startswith("speculative") else kind


def _label(row: _Row, names: dict[tuple[int, int], str]) -> str:
    """A packet by message and number, or by its kind and the time, the mark or the flits that it carries."""
    kind = row["kind"]
    owner = row["source"] if kind == "data" else row["destination"]
    packet = names.get((owner, row["message"]), "") + f" P{row['sequence'] + 1}"
    if kind == "data":
        return packet.strip()
    time = "" if row["granted_ns"] != row["granted_ns"] else f" {row['granted_ns']:.0f} ns"
    flits = f" {row['word0']} flits" if kind == "credit" else ""
    marked = " marked" if kind == "ack" and row["word0"] == 1 else ""
    return _SHORT[kind] + (packet.rstrip() if kind in ("ack", "nack") else "") + time + marked + flits


def _starts(rows: Sequence[_Row]) -> list[bool]:
    """Which rows are the first channel of a packet: it did not come to their sender over another one."""
    came: set[tuple[Any, ...]] = set()
    starts = []
    for row in rows:
        packet = tuple(row[key] for key in ("kind", "source", "destination", "message", "sequence"))
        starts.append((*packet, row["from"]) not in came)
        came.add((*packet, row["to"]))
    return starts


def _write(axes: Axes, rows: Sequence[_Row], lanes: dict[str, int], gap: float) -> float:
    """Labels every packet where it starts; those that start together stand one below the other.

    The label of one that starts where another is dropped, as a refusal does, stands over the cross.
    Returns the time at which the lowest label ends.
    """
    names = _names(rows)
    free: dict[tuple[int, int], float] = {}
    crosses = [(lanes[row["from"]], row["start_ns"]) for row in rows if row["event"] == "dropped"]
    for row, starts in zip(rows, _starts(rows), strict=True):
        if not starts or row["event"] != "sent":
            continue
        near, side = lanes[row["from"]], -1 if lanes[row["to"]] > lanes[row["from"]] else 1
        at = max(row["start_ns"], free.get((near, side), row["start_ns"]))
        free[near, side] = at + gap
        colour = _DARK.get(_look(row), _LOOKS[_look(row)][1]["color"])
        align = "right" if side < 0 else "left"
        text = _label(row, names)
        is_crossed = any(place == near and abs(time - at) < gap for place, time in crosses)
        over = {"y": at - 0.8 * gap, "va": "bottom", "path_effects": _HALO}
        place = over if is_crossed else {"y": at, "va": "center"}
        axes.text(near + 0.04 * side, s=text, ha=align, fontsize=6.5, color=colour, **place)
    return max(free.values(), default=0.0) - gap / 2


def _shade(axes: Axes, pause: _Row, lanes: dict[str, int], last: float) -> None:
    """A bar beside the line of a sender for the time for which the one it leads to pauses it."""
    if pause["from"] in lanes and pause["to"] in lanes:
        near, far = lanes[pause["from"]], lanes[pause["to"]]
        place = near + (0.03 if far > near else -0.03)
        end = last if isnan(pause["end_ns"]) else pause["end_ns"]
        axes.plot([place, place], [pause["start_ns"], end], **_PAUSED)


def _draw(axes: Axes, row: _Row, lanes: dict[str, int]) -> None:
    """An arrow for the head of a packet and a band as long as it takes; a cross where it is dropped."""
    start, head, tail = row["start_ns"], row["head_ns"], row["tail_ns"]
    near, far = lanes[row["from"]], lanes[row["to"]]
    if row["event"] != "sent":
        if row["event"] == "dropped":
            axes.plot([near], [start], zorder=4, **_CROSS)
        return
    looks = _LOOKS[_look(row)][1]
    if tail > head:
        corners = [start, head, tail, start + tail - head]
        axes.fill([near, far, far, near], corners, color=looks["color"], alpha=0.18, linewidth=0)
    axes.annotate(
        "",
        (far, head),
        (near, start),
        arrowprops={
            "arrowstyle": "->",
            "color": looks["color"],
            "linestyle": looks.get("linestyle", "-"),
            "linewidth": looks.get("linewidth", 1.2),
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
