"""saa-cca: no setting of InfiniBand's congestion control serves a permutation and an all-to-one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from tailback.experiments.draw import plain_ticks
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.saa_paper import (
    FLOW_NS,
    HOLD,
    PACKETS,
    PAPER,
    STATIC,
    arity,
    column,
    permutations,
    scenario,
    tree,
)
from tailback.figures import style
from tailback.result import Result

PACKET_NS = FLOW_NS / PACKETS
RATES = (0, 7, 63)
"""Packets that are not marked between two that are."""
STEPS = (1.05, 1.2, 1.5, 4.0)
"""Growth from one delay of the table to the next."""
ROOM = 8
"""Times the share of a flow of the all-to-one that the longest delay slows it below: else nothing drains."""
MARKS = 5
"""Packets that a flow of the all-to-one gets through in a period of the longest timer, each with a mark."""
SERVED = 1.2
"""Times as long as with explicit rates at most."""
TRAFFIC = ("permutation", "all-to-one")


def timers(k: int) -> list[str]:
    """Two that are usual, and one that is long enough for the index of a flow of the all-to-one to grow."""
    return ["10 us", "150 us", f"{MARKS * k**3 // 2 * PACKET_NS / 1e6:.1f} ms"]


def table(step: float, k: int) -> list[str]:
    """Delays that slow a source by the same factor per entry."""
    most = ROOM * k**3 // 2
    entries = int(np.ceil(np.log(most) / np.log(step))) + 1
    return [f"{round(1000 * PACKET_NS * (step**at - 1))} ps" for at in range(entries)]


def control(rate: int, step: float, timer: str, k: int) -> dict[str, Any]:
    """A setting."""
    return {
        "kind": "ecn",
        "notify": "notification",
        "threshold": "4 packets",
        "marking_rate": rate,
        "table": table(step, k),
        "timer": timer,
    }


def settings(k: int) -> list[tuple[str, dict[str, Any]]]:
    """All settings by name; none, and explicit rates, to compare with."""
    made = [("no control", {"kind": "none"}), ("SAA", {"kind": "saa", **HOLD})]
    for rate in RATES:
        for step in STEPS:
            for timer in timers(k):
                made.append((f"1 in {rate + 1}, step {step:g}, {timer}", control(rate, step, timer, k)))
    return made


def cases(full: bool) -> list[Case]:
    """Every setting under both kinds of traffic."""
    k = arity(full)
    return [
        Case({"setting": name, "traffic": traffic}, _scenario(k, name, traffic, setting), 0.1)
        for name, setting in settings(k)
        for traffic in TRAFFIC
    ]


def _scenario(k: int, name: str, traffic: str, setting: Mapping[str, Any]) -> Any:
    half = k**3 // 2
    spread: dict[str, Any] = {"ranks": half, "placement": "random-nodes"}
    if traffic == "permutation":
        return scenario(f"permutation, {name}", tree(k, 0), STATIC, setting, permutations(1, k, 1))
    # Half of the endpoints send to one of them; the others exchange a permutation, from the same time on.
    hot = {"flows": "all-to-one", **spread}
    made = scenario(f"all-to-one, {name}", tree(k, 0), STATIC, setting, hot)
    victim = {"name": "victim", "workload": "phases", "size": f"{PACKETS} packets", **spread}
    lines = ["", "[[job]]", *(f"{key} = {_toml(value)}" for key, value in victim.items()), ""]
    return type(made).loads(made.text + "\n".join(lines))


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def slowness(result: Result, job: str) -> float:
    """Mean time of the phases of a job over the load of the busiest link; infinite if they did not end."""
    jobs = column(result, "phases", "job")
    mine = np.array([name == job for name in jobs])
    ratios = column(result, "phases", "time_ns")[mine] / column(result, "phases", "bound_ns")[mine]
    return float(np.mean(ratios)) if not np.isnan(ratios).any() else float("inf")


def victims(result: Result, of: Callable[[Any], Any] = np.mean) -> float:
    """Mean time of the victims' flows, which begin with the all-to-one, over that at line rate."""
    mine = np.array([job == "victim" for job in column(result, "flows", "job")])
    return float(of(column(result, "flows", "time_ns")[mine])) / FLOW_NS


def measured(data: Data, name: str) -> tuple[float, float, float]:
    """Slowness of the permutation, of the victims of the all-to-one, and of the all-to-one itself."""
    (alone,) = data.results(setting=name, traffic="permutation")
    (beside,) = data.results(setting=name, traffic="all-to-one")
    return slowness(alone, "app"), victims(beside), slowness(beside, "app")


def draw(data: Data) -> Figure:
    """A point for every setting: the permutation against the worse of all-to-one and its victims."""
    with style.styled():
        figure, (axes,) = style.figure(height=3.2)
        groups: dict[str, list[tuple[float, float, float]]] = {}
        for name in data.values("setting"):
            group = name.split(",")[0]
            label = group if group in ("no control", "SAA") else f"marks {group}"
            groups.setdefault(label, []).append(measured(data, name))
        for number, (label, points) in enumerate(groups.items()):
            # The first, what all are compared with, on top.
            _points(axes, points, label, number, zorder=10 - number)
        fills = {_is_full(point) for points in groups.values() for point in points}
        for is_full, label in ((True, "full: all-to-one"), (False, "hollow: its victims")):
            if is_full in fills:
                fill = "#555555" if is_full else "white"
                axes.plot([], [], "o", color="#555555", markerfacecolor=fill, label=label)
        style.logarithmic(axes, "x")
        style.logarithmic(axes, "y")
        plain_ticks(axes, (1, 2, 5, 10))
        axes.set_yticks((2, 5, 10, 20, 50))
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.set_xlabel("permutation: time over bound")
        axes.set_ylabel("all-to-one: time over bound,\nor victims': time over that\nat line rate, if more")
        style.legend(figure, axes)
    return figure


def _points(
    axes: Axes, points: list[tuple[float, float, float]], label: str, number: int, zorder: int
) -> None:
    """Points of settings, full where the all-to-one is slower than its victims, else hollow."""
    colour, marker = style.line(number)["color"], style.marker(number)
    shown: dict[str, Any] = {"marker": marker, "color": colour, "linestyle": "none"}
    fills = [colour if _is_full(point) else "white" for point in points]
    # The legend shows what is drawn.
    axes.plot([], [], label=label, markerfacecolor=max(fills, key=fills.count), **shown)
    for (own, beside, hot), fill in zip(points, fills, strict=True):
        axes.plot(own, max(beside, hot), markerfacecolor=fill, zorder=zorder, **shown)


def _is_full(point: tuple[float, float, float]) -> bool:
    """Whether the all-to-one is slower than its victims."""
    _, beside, hot = point
    return hot >= beside


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    points = {name: measured(data, name) for name in data.values("setting")}
    none, saa = points.pop("no control"), points.pop("SAA")
    alone, beside = (
        [name for name, point in points.items() if all(point[at] <= SERVED * saa[at] for at in of)]
        for of in ((0,), (1, 2))
    )
    both = [name for name in alone if name in beside]
    least = min(points, key=lambda name: points[name][1])
    half = {name: _median(data, name) for name in ("no control", least)}
    return [
        hard(
            "no setting serves both: within 20 % of explicit rates",
            f"{len(alone)} of {len(points)} serve the permutation, {len(beside)} the all-to-one with its "
            f"victims, {len(both)} both",
            not both,
            note=(
                f"Permutation over its bound, victims over line rate: explicit rates {saa[0]:.2f} and "
                f"{saa[1]:.2f}, no control {none[0]:.2f} and {none[1]:.2f}. Of all settings {least} harms "
                f"victims least: {points[least][1]:.2f}, and takes {points[least][0]:.2f} for the "
                f"permutation. Those that serve the permutation leave victims at "
                f"{_range([points[name][1] for name in alone])}. A flow of the all-to-one gets a mark for "
                f"each of its few packets at most; what marks enough to slow it marks victims too, where "
                f"these share a link among themselves: half of them take up to {half['no control']:.2f} "
                f"without control, up to {half[least]:.2f} with {least}."
            ),
            cause=f"These are: {'; '.join(both)}.",
        )
    ]


def _median(data: Data, name: str) -> float:
    (beside,) = data.results(setting=name, traffic="all-to-one")
    return victims(beside, np.median)


def _range(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}" if values else "none"


EXPERIMENT = Experiment(
    id="saa-cca",
    paper=PAPER,
    title="No setting of a reactive control serves two patterns",
    setup=(
        "ECN with a congestion control table, index and timer; 36 settings: marking every packet, one in 8, "
        "one in 64; tables of steps 1.05, 1.2, 1.5 and 4, up to a delay that leaves a sender of the "
        "all-to-one an eighth of its share; timers of 10 us, 150 us and one in which a flow of the "
        "all-to-one gets up to five marks (2.1 ms, full 16.8 ms). Once a random permutation; once "
        "half of the endpoints send to one of them while the other half exchanges a permutation that begins "
        "at the same time. All flows have 128 packets. 16-ary 3-tree, reduced 8-ary."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
