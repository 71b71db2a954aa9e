"""What the experiments of the SRP paper with a hot spot and background traffic share (sections 5.2, 5.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailback.experiments.measure import mean_series
from tailback.experiments.model import Case, Times
from tailback.experiments.srp_paper import ENDPOINTS, cost, nodes, scenario
from tailback.result import Result

ONSET_US = 1000.0
BIN_US = 20
"""Of the time series of the onset."""
SENDERS = 40
"""To the hot endpoint, where no other number is told."""
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


def seeds(full: bool) -> range:
    """Seeds of the onset: every experiment with it has the same."""
    return range(1, 101 if full else 11)


def onset(
    protocol: str,
    seed: int,
    full: bool,
    *,
    senders: int = SENDERS,
    changes: Mapping[str, Any] | None = None,
    **labels: Any,
) -> Case:
    """40 % uniform traffic, in which at 1 ms some endpoints turn to one at line rate (Figure 7)."""
    spot, span = Hotspot(senders, seed), Times(200, 4800 if full else 2800, 0)
    traffic = spot.background(0.4) + spot.before(0.4, ONSET_US) + spot.traffic(ONSET_US)
    title = f"{senders}:1 hot spot sets in, {protocol}"
    made = scenario(title, protocol, traffic, span, seed, record=f'series = "{BIN_US} us"', changes=changes)
    return Case({"protocol": protocol, "seed": seed, "senders": senders, **labels}, made, cost(0.4, span))


@dataclass(frozen=True)
class Phases:
    """A quantity of the background: before the onset, its extremes after it, and at the end."""

    before: float
    noise: float
    """Standard deviation of the bins before the onset."""
    largest: float
    least: float
    end: float
    rebound: float
    """The largest after the least."""
    rebound_ms: float
    """Time from the onset until then."""


_HIGH, _LOW = 1.2, 0.8
"""A latency over, or a throughput under, this share of what was before the onset is not back to normal."""


def phases(results: list[Result], column: str) -> Phases:
    """Of the mean over the runs; a bin of which nothing arrived counts as infinite."""
    times, values = mean_series(results, "background", column)
    calm = values[(times >= 500) & (times < ONSET_US)]
    shown = _after(times)
    times, after = times[shown], np.where(np.isnan(values[shown]), math.inf, values[shown])
    lowest = int(after.argmin())
    rebound = lowest + int(after[lowest:].argmax())
    return Phases(
        before=float(calm.mean()),
        noise=float(calm.std()),
        largest=float(after.max()),
        least=float(after.min()),
        end=float(after[-20:].mean()),
        rebound=float(after[rebound]),
        rebound_ms=float(times[rebound] - ONSET_US) / 1e3,
    )


def recovery_ms(results: list[Result]) -> float:
    """Time from the onset until the background is back to normal for good; infinite if it is not at the end.

    Its latency may be 20 % over that before, and its throughput 20 % under: in a network that does not
    recover, what still arrives is what meets no congestion, and is quick.
    """
    times, latency = mean_series(results, "background", LATENCY)
    _, rate = mean_series(results, "background", ACCEPTED)
    # A bin of which nothing arrived has no latency, and compares as false.
    normal = (latency <= _HIGH * phases(results, LATENCY).before) & (
        rate >= _LOW * phases(results, ACCEPTED).before
    )
    shown = _after(times)
    times, normal = times[shown], normal[shown]
    if not normal[-1]:
        return math.inf
    late = times[~normal]
    return float(late.max() - ONSET_US) / 1e3 if late.size else 0.0


def _after(times: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bins after the onset, without the last 60 us, whose slowest packets are missing."""
    chosen: np.ndarray[Any, Any] = (times >= ONSET_US) & (times < times.max() - 60)
    return chosen
