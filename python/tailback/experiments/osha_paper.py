"""What the experiments of the OSHA/SASHA paper share (Yebenes and others, TACO 2019, section 5)."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from tailback.experiments.draw import Line, curve
from tailback.experiments.model import Case, Cause, Claim, Data, LeftOutError, Measure, Times, hard
from tailback.figures import style
from tailback.scenario import Scenario
from tailback.stats import Interval

PAPER = (
    "P. Yebenes, J. Rocher-Gonzalez, J. Escudero-Sahuquillo, P. J. Garcia, F. J. Alfaro, F. J. Quiles, C. "
    "Gómez, J. Duato, “Combining Source-adaptive and Oblivious Routing with Congestion Control in "
    "High-performance Interconnects using Hybrid and Direct Topologies”, ACM TACO 16(2), 2019"
)
REPORT = "docs/reports/2026-11-28-osha"
"""Holds the figures of what was measured beside the experiments."""
PACKET_NS = 327.68
"""Time of a packet on a channel."""


@dataclass(frozen=True)
class Network:
    """A network of table 1: endpoints along each of so many dimensions, joined by switches or in rings."""

    number: int
    kind: str
    k: int
    dims: int

    @property
    def endpoints(self) -> int:
        """How many endpoints there are."""
        return int(self.k**self.dims)

    @property
    def name(self) -> str:
        """What it is called in figures."""
        what = "KNS" if self.kind == "kns" else "torus"
        return f"{self.k}{'²³'[self.dims - 2]} {what}"

    @property
    def hops(self) -> float:
        """Switches and routers on a mean way."""
        if self.kind == "kns":
            return 1 + 2 * self.dims * (self.k - 1) / self.k
        return 1 + self.dims * self.k / 4

    @property
    def ceiling(self) -> float:
        """What bisection lets through of uniform traffic."""
        return 1.0 if self.kind == "kns" else min(1.0, 8 / self.k)

    def toml(self) -> str:
        """Its table."""
        if self.kind == "kns":
            return f'[topology]\nkind = "kns"\nk = {self.k}\nn = {self.dims}\n'
        return f'[topology]\nkind = "torus"\ndims = {[self.k] * self.dims}\n'


def network(number: int, *, full: bool) -> Network:
    """A network of table 1 by its number; the reduced ones have 16² and 8³ endpoints."""
    dims = 2 if number in (1, 3) else 3
    k = {2: (16, 48), 3: (8, 24)}[dims][full]
    return Network(number, "kns" if number < 3 else "torus", k, dims)


_XY_YX = '["xy", "yx"]'
_SCHEMES = {
    "1VC": ("[]", "round-robin", 'kind = "single"'),
    "BBQ-4VC": ("[]", "round-robin", 'kind = "bbq"\nqueues = 4'),
    "OSHA-2VC": (_XY_YX, "round-robin", 'kind = "single"'),
    "OSHA-4VC": (_XY_YX, "round-robin", 'kind = "dbbq"\nqueues = 2'),
    "SASHA-2VC": (_XY_YX, "occupancy", 'kind = "single"'),
    "SASHA-4VC": (_XY_YX, "occupancy", 'kind = "dbbq"\nqueues = 2'),
}
SCHEMES = tuple(_SCHEMES)

_COMMON = """
[link]
bandwidth = "100 Gb/s"
latency = "6 ns"
host = "0 ns"

[packet]
flit = "64 B"
max = "4 KiB"

[endpoint]
acknowledge = false

[switch]
input_buffer = { per = "port", size = "128 KiB" }
"""
_BARE = 'kind = "input-queued"\nvoq = false'
_VOQ = 'kind = "input-queued"\nvoq = true\nparallel_reads = true'
"""With VOQs "several packets from the same queue can be simultaneously forwarded if they are addressed to
different output ports" (section 5): any number of outputs read from an input."""


TIMES = (
    "Measured for 0.4 ms after 0.2 ms, at full load with five seeds (three in three dimensions); in full "
    "size one seed, and 2304 endpoints for 2 ms after 1 ms."
)
TOP = 1.0
"""The load that claims look at."""
_SEEDS = {2: 5, 3: 3}
"""Seeds of the reduced size at the highest load, by dimensions."""
JUDGED, PAPER_TIMES, DATE_LINES = "judged", "paper-times", "date-lines"
BESIDE = {
    PAPER_TIMES: "with the paper's 1 + 2 ms",
    DATE_LINES: "with date lines in place of bubbles",
}
"""Settings of the reduced networks at full load that stand beside the one by which claims are judged."""


def span(of: Network, full: bool) -> Times:
    """Warm-up and window in us; nothing is waited for behind them.

    Those of 13,824 endpoints are measured as briefly as the small ones: the paper's 3 ms take five minutes a
    point.
    """
    return Times(1000, 2000, 0) if full and of.dims == 2 else Times(200, 400, 0)


def loads(full: bool) -> tuple[float, ...]:
    """The load points: the paper's eleven without that of no load, or every second."""
    return tuple(step / 10 for step in range(1, 11)) if full else (0.2, 0.4, 0.6, 0.8, 1.0)


def scenario(
    title: str,
    of: Network,
    scheme: str,
    *,
    voq: bool,
    traffic: str,
    times: Times,
    seed: int = 1,
    deadlock: str = "bubble",
) -> Scenario:
    """A scenario with the paper's switches; `traffic` is the TOML of its `[[traffic]]`s."""
    orders, choose, queueing = _SCHEMES[scheme]
    lines = [f"title = {json.dumps(title)}", of.toml(), _COMMON, _VOQ if voq else _BARE]
    lines += ["[routing]", 'kind = "dor"', f"orders = {orders}", f'choose = "{choose}"']
    lines += [f'deadlock = "{deadlock}"'] if of.kind == "torus" else []
    lines += ["[queueing]", queueing, traffic, "[run]", f'warmup = "{times.warmup:.9g} us"']
    lines += [f'duration = "{times.duration:.9g} us"', f'drain = "{times.drain:.9g} us"', f"seed = {seed}"]
    return Scenario.loads("\n".join(lines) + "\n")


def sweep(
    of: Network,
    what: str,
    traffic: str,
    *,
    full: bool,
    at_loads: Sequence[float] | None = None,
    **labels: Any,
) -> list[Case]:
    """All schemes and loads on a network, without and with VOQs; `traffic` is TOML that asks for `{load}`."""
    times, made = span(of, full), []
    for voq in (False, True):
        for scheme in SCHEMES:
            for load in at_loads or loads(full):
                own = labels | {"network": of.number, "k": of.k, "scheme": scheme, "voq": voq, "load": load}
                own["setting"] = JUDGED
                title = f"{of.name}, {what}, {scheme}, load {load:g}, {switches(voq)}"
                asked = traffic.format(load=load)
                for seed in range(1, 1 + (_SEEDS[of.dims] if load == TOP and not full else 1)):
                    run = scenario(title, of, scheme, voq=voq, traffic=asked, times=times, seed=seed)
                    made.append(Case(own | {"seed": seed}, run, cost(of, load, times)))
    return made


def beside(
    of: Network, what: str, traffic: str, setting: str, *, seeds: int = 1, **labels: Any
) -> list[Case]:
    """All schemes at full load in another setting, in the reduced size."""
    times = Times(1000, 2000, 0) if setting == PAPER_TIMES else span(of, full=False)
    deadlock = "date-line" if setting == DATE_LINES else "bubble"
    asked, made = traffic.format(load=TOP), []
    for voq in (False, True):
        for scheme in SCHEMES:
            own = {"network": of.number, "k": of.k, "scheme": scheme, "voq": voq, "load": TOP}
            title = f"{of.name}, {what}, {scheme}, {switches(voq)}, {BESIDE[setting]}"
            for seed in range(1, 1 + seeds):
                run = scenario(
                    title, of, scheme, voq=voq, traffic=asked, times=times, seed=seed, deadlock=deadlock
                )
                own_labels = labels | own | {"setting": setting, "seed": seed}
                made.append(Case(own_labels, run, cost(of, TOP, times), beside=True))
    return made


def cost(of: Network, load: float, times: Times) -> float:
    """Expected CPU seconds; large networks do not fit into a processor's caches."""
    carried = min(load, 0.9 * of.ceiling)
    speed = 5e6 if of.endpoints < 1000 else 1.3e6
    return 0.1 + of.endpoints * carried * times.total * 1000 / PACKET_NS * of.hops / speed


def switches(voq: bool) -> str:
    """The switch in words."""
    return "with VOQs" if voq else "without VOQs"


def lines(data: Data, **where: Any) -> list[Line]:
    """A line per scheme among the runs with these labels."""
    found = data.values("scheme", **where)
    return [Line(scheme, SCHEMES.index(scheme), {**where, "scheme": scheme}) for scheme in found]


def panels(
    rows: Sequence[tuple[str, dict[str, Any]]], took: Measure, late: Measure, latency: str
) -> Callable[[Data], Figure]:
    """Latency over accepted traffic, as the paper draws it; `late` is in ns.

    A row of two panels, without and with VOQs, for each name and labels in `rows`.
    """

    def drawn(data: Data) -> Figure:
        with style.styled():
            figure = Figure(figsize=(9.6, 7.2), layout="constrained")
            grid = figure.subplots(len(rows), 2, sharey=True)
            for places, (name, labels) in zip(grid, rows, strict=True):
                for panel, voq in zip(places, (False, True), strict=True):
                    for line in lines(data, **labels, voq=voq, setting=JUDGED):
                        _, carried = data.curve(took, "load", **line.where)
                        _, waited = data.curve(late, "load", **line.where)
                        percent = [100 * point.mean for point in carried]
                        curve(
                            panel, percent, [point.scaled(1e-3) for point in waited], line.label, line.number
                        )
                    panel.set_title(f"{name}, {switches(voq)}", fontsize=10)
                    style.logarithmic(panel, "y")
                    # Markers at the right end are drawn whole.
                    panel.set_xlim(0, 1.03 * panel.get_xlim()[1])
                places[0].set_ylabel(latency)
            for panel in grid[-1]:
                panel.set_xlabel("accepted traffic [% of injection bandwidth]")
            style.legend(figure, grid[0][0])
        return figure

    return drawn


def at(data: Data, measure: Measure, **labels: Any) -> float:
    """The mean of a measurement."""
    return data.mean(measure, **labels).mean


def peaks(data: Data, measure: Measure, setting: str = JUDGED, **labels: Any) -> dict[str, Interval]:
    """What each scheme accepts, in percent, at full load."""
    labels |= {"setting": setting, "load": TOP}
    return {
        scheme: data.mean(measure, **labels, scheme=scheme).scaled(100)
        for scheme in data.values("scheme", **labels)
    }


def settings(data: Data, **labels: Any) -> list[str]:
    """The settings beside the judged one of which there are runs: none in full size, or if left out."""
    with suppress(LeftOutError):
        return [setting for setting in BESIDE if setting in data.values("setting", **labels)]
    return []


def otherwise(data: Data, holds: Callable[[str], bool], **labels: Any) -> str:
    """What would become of a claim in the settings beside, in words."""
    found = [
        f"{'held' if holds(setting) else 'missed'} {BESIDE[setting]}" for setting in settings(data, **labels)
    ]
    return f"The claim would be {', '.join(found)}." if found else ""


def judged(
    data: Data,
    text: str,
    told: str,
    holds: Callable[[str], bool],
    *,
    note: str = "",
    cause: Cause = "",
    **labels: Any,
) -> Claim:
    """A hard claim, which holds or not in each setting; beside its note what the others would say."""
    notes = (note, otherwise(data, holds, **labels))
    return hard(text, told, holds(JUDGED), note=" ".join(filter(None, notes)), cause=cause)


def besides(data: Data, told: Callable[[str], str], **labels: Any) -> str:
    """What was measured in the settings beside, in words."""
    found = [f"{BESIDE[setting]}: {told(setting)}" for setting in settings(data, **labels)]
    return f"Not judged, {'. Not judged, '.join(found)}." if found else ""


def means(found: dict[str, Interval]) -> dict[str, float]:
    """The means of these."""
    return {scheme: percent.mean for scheme, percent in found.items()}


def told(found: dict[str, Interval]) -> str:
    """Accepted traffic by scheme, in words."""
    return ", ".join(f"{scheme} {_percent(percent)}" for scheme, percent in found.items())


def _percent(percent: Interval) -> str:
    half = "" if math.isnan(percent.half) else f" ± {percent.half:.1f}"
    return f"{percent.mean:.1f}{half} %"


def highest(found: dict[str, float], names: Sequence[str]) -> bool:
    """Whether all these accept as much as any other, within a point."""
    best = max(found.values())
    return all(found[name] >= best - 1 for name in names)
