"""What the experiments of the SRP paper with a hot spot and background traffic share (sections 5.2, 5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailback.experiments.lhrp_paper import Times
from tailback.experiments.measure import mean_series
from tailback.experiments.model import Case, Data
from tailback.experiments.srp_paper import ENDPOINTS, cost, nodes, scenario
from tailback.result import Result

ONSET_US = 1000.0
LATENCY, ACCEPTED = "packet_latency_ns", "accepted"


@dataclass(frozen=True)
class Hotspot:
    """Some endpoints send to one at line rate; all others to all but that one."""

    senders: int
    seed: int
    endpoints: int = ENDPOINTS
    message: str = "8 packets"

    @property
    def hot(self) -> int:
        """The hot endpoint."""
        return nodes(self.senders, self.seed, self.endpoints)[0]

    @property
    def sending(self) -> list[int]:
        """Its senders."""
        return nodes(self.senders, self.seed, self.endpoints)[1]

    def background(self, load: float, start_us: float = 0) -> str:
        """Uniform traffic of all but the senders to all but the hot endpoint."""
        others = sorted(set(range(self.endpoints)) - set(self.sending))
        start = f'start = "{start_us:g} us"\n' if start_us else ""
        return self._uniform("background", others, load) + start

    def before(self, load: float, stop_us: float) -> str:
        """The same from the senders, until they turn to the hot endpoint."""
        return self._uniform("before", self.sending, load) + f'stop = "{stop_us:g} us"\n'

    def _uniform(self, name: str, sources: Sequence[int], load: float) -> str:
        hot = self.hot
        receivers = [endpoint for endpoint in range(self.endpoints) if endpoint != hot]
        return f"""
[[traffic]]
name = "{name}"
pattern = "uniform"
endpoints = {list(sources)}
destinations = {receivers}
load = {load}
message = "8 packets"
share = true
"""

    def traffic(self, start_us: float = 0) -> str:
        """The hot spot itself."""
        return f"""
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = {self.sending}
destinations = [{self.hot}]
load = 1.0
message = "{self.message}"
start = "{start_us:g} us"
share = true
"""


def onset(
    protocol: str,
    seed: int,
    full: bool,
    *,
    senders: int = 40,
    changes: Mapping[str, Any] | None = None,
    **labels: Any,
) -> Case:
    """40 % uniform traffic, in which at 1 ms some endpoints turn to one at line rate (Figure 7)."""
    spot, span = Hotspot(senders, seed), Times(200, 4800 if full else 2800, 0)
    traffic = spot.background(0.4) + spot.before(0.4, ONSET_US) + spot.traffic(ONSET_US)
    title = f"{senders}:1 hot spot sets in, {protocol}"
    made = scenario(title, protocol, traffic, span, seed, record='series = "20 us"', changes=changes)
    return Case({"protocol": protocol, "seed": seed, "senders": senders, **labels}, made, cost(0.4, span))


@dataclass(frozen=True)
class Phases:
    """A quantity of the background: before the onset, its extremes after it, and at the end."""

    before: float
    largest: float
    least: float
    end: float


def phases(results: list[Result], column: str) -> Phases:
    """Of the mean over the runs; without the last 60 us, whose slowest packets are missing."""
    times, values = mean_series(results, "background", column)
    shown = times < times.max() - 60
    before = float(np.nanmean(values[(times >= 500) & (times < ONSET_US)]))
    after = values[shown & (times >= ONSET_US)]
    return Phases(before, float(np.nanmax(after)), float(np.nanmin(after)), float(np.nanmean(after[-20:])))


def recovery_ms(data: Data, **labels: Any) -> float:
    """Time from the onset until the background's latency is for good within 20 % of that before."""
    results = data.results(**labels)
    times, values = mean_series(results, "background", LATENCY)
    before = phases(results, LATENCY).before
    late = times[(times < times.max() - 60) & (values > 1.2 * before) & (times >= ONSET_US)]
    return float(late.max() - ONSET_US) / 1e3 if late.size else 0.0
