"""What the experiments of the LHRP paper share (Jiang, Dennison and Dally, SC 2015, section 4, Table 1)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tailback.experiments.model import Times
from tailback.scenario import Scenario

PAPER = (
    "N. Jiang, L. Dennison, W. J. Dally, “Network Endpoint Congestion Control for Fine-Grained "
    "Communication”, SC 2015"
)
GROUPS, GROUP_ENDPOINTS, ENDPOINTS = 33, 32, 1056
FABRIC_DROP = "1 us"

_NETWORK = """
[topology]
kind = "dragonfly"
p = 4
a = 8
h = 4
groups = 33

[link]
bandwidth = "100 Gb/s"
host = "5 ns"
local = "50 ns"
global = "1 us"

[packet]
flit = "100 b"
max = "24 flits"

[switch]
kind = "cioq"
speedup = 2
input_buffer = "credit round trip"
output_buffer = "16 packets"
voq = true

[endpoint]
queues = "per destination"
acknowledge = true

[routing]
kind = "{routing}"
"""

_PARAMETERS: dict[str, dict[str, Any]] = {
    "none": {},
    "ecn": {},
    "srp": {
        "n_min": "1 flit",
        "n_max": "whole message",
        "epsilon": 0.0,
        "time_to_wait": "1 us",
        "max_outstanding": 0,
        "reserves": "with-first-packet",
        "grants": "own class",
    },
    "smsrp": {"time_to_wait": "1 us", "epsilon": 0.0},
    "lhrp": {"threshold": "1000 flits"},
    "lhrp+srp": {"threshold_message": "48 flits", "threshold": "1000 flits", "time_to_wait": "1 us"},
}
"""Parameters of the protocols in this paper, by kind."""

PROTOCOLS = ("none", "ecn", "srp", "smsrp", "lhrp")
"""What is compared where no others are named; LHRP+SRP is for messages of two sizes (lhrp-fig12)."""


REDUCED = Times(30, 50, 20)
FULL = Times(100, 500, 20)
SPANS = (
    f"Reduced: {REDUCED.duration:g} us after a warm-up of {REDUCED.warmup:g}; full: {FULL.duration:g} us "
    f"after {FULL.warmup:g}."
)
"""For the texts of experiments: what is measured where nothing else is told."""


def times(full: bool) -> Times:
    """The times of a size."""
    return FULL if full else REDUCED


ROOMY = {"switch.input_buffer": "2050 flits"}
"""Input buffers of one size, the round trip of the longest channel, as the first author's simulator has them.

They hold a jam, and so tell what refusals cost from what they relieve.
"""
ROOMIER = (
    "With input buffers of 2050 flits everywhere, the round trip of the longest channel (one size for all, "
    "as in the first author's public simulator, BookSim2)"
)
"""The same in words."""


def scenario(
    title: str,
    protocol: str,
    traffic: str,
    span: Times,
    seed: int,
    *,
    routing: str = "par",
    series: str | None = None,
    changes: Mapping[str, Any] | None = None,
) -> Scenario:
    """A scenario on the paper's network; `traffic` is the TOML of its `[[traffic]]` tables."""
    control = {"kind": protocol, **_PARAMETERS[protocol], **(changes or {})}
    lines = [f"title = {json.dumps(title)}", _NETWORK.format(routing=routing), "[congestion_control]"]
    lines += [f"{key} = {json.dumps(setting)}" for key, setting in control.items()]
    lines += [traffic, "[run]", f'warmup = "{span.warmup:g} us"', f'duration = "{span.duration:g} us"']
    lines += [f'drain = "{span.drain:g} us"', f"seed = {seed}"]
    if series:
        lines += ["[record]", f'series = "{series}"']
    return Scenario.loads("\n".join(lines) + "\n")


def hotspot(destinations: int, load: float) -> str:
    """The 60:m hot spot: random nodes, every message picks one of the destinations."""
    return f"""
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 60
destinations = {destinations}
load_per_destination = {load}
message = "4 flits"
"""


def uniform(load: float, message: str) -> str:
    """Uniform random traffic of all endpoints."""
    return f"""
[[traffic]]
name = "uniform"
pattern = "uniform"
load = {load}
message = {json.dumps(message)}
"""


def hotspot_cost(destinations: int, load: float, span: Times) -> float:
    """Expected CPU seconds: six switches or endpoints a packet, twice where it is sent again."""
    packets = destinations * min(load, 60 / destinations) * span.total * 1000 / 4
    return 0.1 + packets * (6 if load <= 1 else 14) / 1.1e7


def uniform_cost(load: float, flits: int, span: Times) -> float:
    """Expected CPU seconds: six switches or endpoints a packet, and as many an acknowledgement."""
    packets = ENDPOINTS * load * span.total * 1000 / min(flits, 24)
    return 0.5 + packets * 11 / 4e6
