"""Table 1 of the SAA paper by the rates of flows that last: what each gets through while none has ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tailback.experiments import saa_injection as injection
from tailback.experiments.model import Case, Data
from tailback.experiments.saa_paper import FLOW_NS, PACKETS, column
from tailback.stats import Interval, mean_interval

WINDOW = 600
"""Packets' times of a window."""
WINDOWS = (2, 3)
"""Those that count, from 0: full buffers take the time of the first two to spread."""
DRAWS = 3
BUFFERS = (2, 4, 8)
READINGS: Mapping[str, Mapping[str, Any]] = {
    "cut through": {},
    "stored and forwarded": {"switch.forwarding": "store-and-forward"},
}
HOLD = {"probe_period": "40 us", "hold": "100 us"}
"""Longer than elsewhere: control packets wait behind whole packets in each switch that stores them."""

SPAN = WINDOW * (WINDOWS[-1] + 1)
"""Packets of a flow: more than a channel carries until the end."""
_WINDOW_NS = WINDOW * FLOW_NS / PACKETS
_PACKET_FLITS = 2048 // 64


def cases(kind: str, k: int) -> list[Case]:
    """Every reading, count and buffer, and short flows on the same routes, which tell their busiest link."""
    made = []
    for reading, changes in READINGS.items():
        for count in injection.COUNTS:
            for draw in range(1, DRAWS + 1):
                labels = {"rates": reading, "flows": count, "draw": draw}
                changed = {**changes, "run.seed": draw}
                short = injection.case(kind, count, BUFFERS[-1], k, 1, HOLD)
                made.append(Case({**labels, "length": "short"}, short.scenario.replace(changed), short.cost))
                for packets in BUFFERS:
                    case = injection.case(kind, count, packets, k, 1, HOLD)
                    changed |= {
                        "job.app.size": f"{SPAN} packets",
                        "run.duration": f"{_WINDOW_NS * (WINDOWS[-1] + 1):.1f} ns",
                        "record.pairs": f"{_WINDOW_NS:.1f} ns",
                    }
                    own = {**labels, "length": "lasting", "buffer": packets}
                    # An endpoint receives for less than half of the time.
                    made.append(Case(own, case.scenario.replace(changed), k**3 * SPAN * 4 / 9e6))
    return made


def least(data: Data, reading: str, count: int, packets: int) -> list[list[float]]:
    """For each draw, in each window, the least measured rate over the least calculated one."""
    return [_of_draw(data, reading, count, packets, draw) for draw in range(1, DRAWS + 1)]


def _of_draw(data: Data, reading: str, count: int, packets: int, draw: int) -> list[float]:
    labels = {"rates": reading, "flows": count, "draw": draw}
    (short,) = data.results(**labels, length="short")
    (lasting,) = data.results(**labels, length="lasting", buffer=packets)
    busiest = float(column(short, "phases", "bound_ns")[0]) / FLOW_NS
    bins = np.rint(column(lasting, "pairs", "time_ns") / _WINDOW_NS)
    flits, flows = column(lasting, "pairs", "flits"), len(column(lasting, "flows", "source"))
    inside = [flits[bins == window] for window in WINDOWS]
    # A flow of which nothing came has no row.
    fewest = [int(those.min()) if len(those) == flows else 0 for those in inside]
    return [busiest * few / (WINDOW * _PACKET_FLITS) for few in fewest]


def ratio(data: Data, reading: str, count: int, packets: int) -> Interval:
    """Least measured over least calculated rate: of each draw the mean of its windows."""
    return mean_interval([float(np.mean(both)) for both in least(data, reading, count, packets)])


def drift(data: Data, reading: str, enough: float) -> Interval:
    """By how much the ratio is larger in the second window than in the first, where it is below `enough`."""
    runs = [least(data, reading, count, packets) for count in injection.COUNTS for packets in BUFFERS]
    lacking = [pair for draws in runs for pair in draws if min(pair) < enough]
    return mean_interval([second - first for first, second in lacking])
