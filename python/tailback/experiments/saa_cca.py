"""saa-cca: no setting of InfiniBand's congestion control serves a permutation and an all-to-one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from tailback import style
from tailback.experiments.draw import plain_ticks
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.saa_paper import (
    FLOW_NS,
    HOLD,
    PAPER,
    STATIC,
    arity,
    column,
    permutations,
    scenario,
    tree,
)
from tailback.result import Result

PACKET_NS = 1638.4
RATES = (0, 7, 63)
"""Packets that are not marked between two that are."""
STEPS = (1.05, 1.2, 1.5)
"""Growth of the rate from one entry of the table to the next; its last is about a 256th of the channel."""
TIMERS = ("10 us", "150 us", "2 ms")
"""A flow of an all-to-one by 255 gets a mark in 418 us at most: only the longest lets its index grow."""
TRAFFIC = ("permutation", "all-to-one")
HOT_PACKETS = 32
"""Of a flow to the hot endpoint: as many marks, if all are, as bring it down to a 256th by steps of 1.2."""


def table(step: float) -> list[str]:
    """Delays that slow a source by the same factor per entry, up to 256."""
    entries = int(np.ceil(np.log(256) / np.log(step))) + 1
    return [f"{round(1000 * PACKET_NS * (step**at - 1))} ps" for at in range(entries)]


def control(rate: int, step: float, timer: str) -> dict[str, Any]:
    """A setting."""
    return {
        "kind": "ecn",
        "notify": "notification",
        "threshold": "4 packets",
        "marking_rate": rate,
        "table": table(step),
        "timer": timer,
    }


def settings() -> list[tuple[str, dict[str, Any]]]:
    """All settings by name; none, and explicit rates, to compare with."""
    made = [("no control", {"kind": "none"}), ("SAA", {"kind": "saa", **HOLD})]
    for rate in RATES:
        for step in STEPS:
            for timer in TIMERS:
                made.append((f"1 in {rate + 1}, step {step:g}, {timer}", control(rate, step, timer)))
    return made


def cases(full: bool) -> list[Case]:
    """Every setting under both kinds of traffic."""
    k = arity(full)
    return [
        Case({"setting": name, "traffic": traffic}, _scenario(k, name, traffic, setting), 2.0)
        for name, setting in settings()
        for traffic in TRAFFIC
    ]


def _scenario(k: int, name: str, traffic: str, setting: Mapping[str, Any]) -> Any:
    half = k**3 // 2
    spread: dict[str, Any] = {"placement": "random-nodes"}
    if traffic == "permutation":
        return scenario(f"permutation, {name}", tree(k, 0), STATIC, setting, permutations(1, k, 1))
    # Half of the endpoints send to one of them; the others exchange permutations, as long as that lasts.
    hot = {"ranks": half, "flows": "all-to-one", "size": f"{HOT_PACKETS} packets", **spread}
    made = scenario(f"all-to-one, {name}", tree(k, 0), STATIC, setting, hot)
    victim = {
        "name": "victim",
        "workload": "phases",
        "ranks": half,
        "size": "128 packets",
        "phases": 10,
        **spread,
    }
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


def victims(result: Result) -> float:
    """Mean time of the victims' flows that began while the all-to-one lasted, over that at line rate."""
    phases, flows = result.tables["phases"].to_pydict(), result.tables["flows"].to_pydict()
    began = {
        phase: start
        for job, phase, start in zip(phases["job"], phases["phase"], phases["start_ns"], strict=True)
        if job == "victim"
    }
    (end,) = (at for job, at in zip(phases["job"], phases["time_ns"], strict=True) if job == "app")
    times = [
        at
        for job, phase, at in zip(flows["job"], flows["phase"], flows["time_ns"], strict=True)
        if job == "victim" and began[phase] < end
    ]
    return float(np.mean(times)) / FLOW_NS


def measured(data: Data, name: str) -> tuple[float, float, float]:
    """Slowness of the permutation, of the victims of the all-to-one, and of the all-to-one itself."""
    (alone,) = data.results(setting=name, traffic="permutation")
    (beside,) = data.results(setting=name, traffic="all-to-one")
    return slowness(alone, "app"), victims(beside), slowness(beside, "app")


def draw(data: Data) -> Figure:
    """A point for every setting: the permutation against the worse of all-to-one and its victims."""
    with style.styled():
        figure, (axes,) = style.figure(height=3.2)
        groups: dict[str, list[tuple[float, float]]] = {}
        for name, _ in settings():
            own, beside, hot = measured(data, name)
            group = name.split(",")[0]
            label = group if group in ("no control", "SAA") else f"marks {group}"
            groups.setdefault(label, []).append((own, max(beside, hot)))
        for number, (label, points) in enumerate(groups.items()):
            looks = style.line(number)
            marker = style.MARKERS[number % len(style.MARKERS)]
            x, y = zip(*points, strict=True)
            # The first, what all are compared with, on top.
            shown = {"marker": marker, "color": looks["color"], "zorder": 10 - number}
            axes.plot(x, y, linestyle="none", label=label, **shown)
        axes.set_xscale("log")
        axes.set_yscale("log")
        plain_ticks(axes, (1, 2, 5, 10))
        axes.set_yticks((2, 5, 10, 20))
        axes.yaxis.set_major_formatter(ScalarFormatter())
        axes.set_xlabel("permutation: time over bound")
        axes.set_ylabel("all-to-one: its time over bound,\nor its victims' over line rate")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """Those of claims table row saa-cca."""
    points = {name: measured(data, name) for name, setting in settings() if setting["kind"] == "ecn"}
    worst = {name: (own, max(beside, hot)) for name, (own, beside, hot) in points.items()}
    best_own, best_hot = (min(point[at] for point in worst.values()) for at in (0, 1))
    serves = [name for name, (own, hot) in worst.items() if own <= 1.2 * best_own and hot <= 1.2 * best_hot]
    first = min(worst, key=lambda name: worst[name][0])
    second = min(worst, key=lambda name: worst[name][1])
    told = (
        f"best for the permutation: {first} ({worst[first][0]:.2f}, the other {worst[first][1]:.2f}); "
        f"best for the all-to-one: {second} ({worst[second][1]:.2f}, the other {worst[second][0]:.2f})"
    )
    none, saa = (measured(data, name) for name in ("no control", "SAA"))
    beside = "; ".join(
        f"{name} {own:.2f}, {max(suffer, hot):.2f}"
        for name, (own, suffer, hot) in (("no control", none), ("SAA", saa))
    )
    return [
        hard(
            "no setting is within 20 % of the best for both",
            told,
            not serves,
            note=f"Beside it, permutation and all-to-one: {beside}.",
            cause=f"These are: {'; '.join(serves)}. {CAUSE}",
        )
    ]


CAUSE = (
    "They serve the all-to-one by this measure only, since none helps its victims: all are as slow as "
    "without control, or slower, where explicit rates show that they need not be. A source hears of the "
    "root by its own packets only, one in 418 us among 255 flows, so that the index hardly grows with "
    "timers shorter than that; why the longest does not help either was not isolated."
)

EXPERIMENT = Experiment(
    id="saa-cca",
    paper=PAPER,
    title="No setting of a reactive control serves two patterns",
    setup=(
        "ECN with a congestion control table, index and timer; 27 settings: marking every packet, one in 8, "
        "one in 64; tables of steps 1.05, 1.2 and 1.5; timers of 10 us, 150 us and 2 ms. Once a random "
        "permutation of flows of 128 packets; once half of the endpoints send 32 packets each to one of them "
        "while the other half exchanges ten permutations of 128 packets. 16-ary 3-tree, reduced 8-ary."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
