"""What the experiments of the SRP paper share (Jiang and others, HPCA 2012, section 4)."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from functools import cache
from typing import Any

from tailback.experiments.model import Times
from tailback.scenario import Scenario

PAPER = (
    "N. Jiang, D. U. Becker, G. Michelogiannakis, W. J. Dally, “Network Congestion Avoidance Through "
    "Speculative Reservation”, HPCA 2012"
)
ENDPOINTS = 256
PACKET_FLITS = 32
EPSILON = 0.05
"""What a reservation takes of a destination beyond its data."""
PACKET_NS = 204.8
"""Time of a data packet on a channel."""
ZERO_LOAD_NS = (301.2, 430.0)
"""In one leaf, and through a spine."""

FAT_TREE = """
[topology]
kind = "fat-tree"
levels = 2
arity = 16

[routing]
kind = "nca"
up = "random"
"""
TWO_SWITCHES = """
[topology]
kind = "dragonfly"
p = 5
a = 2
h = 0
groups = 1

[routing]
kind = "minimal"
"""
"""Switch A holds endpoints 0 to 4, switch B 5 to 9; one link joins them."""

_COMMON = """
[link]
bandwidth = "10 Gb/s"
latency = "32 ns"

[packet]
flit = "64 b"
max = "32 flits"
control = "1 flit"
interleave = true

[switch]
kind = "cioq"
speedup = 2
input_buffer = "512 flits"
output_buffer = "128 flits"
voq = ["data"]
pipeline = "26 ns"

[endpoint]
queues = "per destination"
acknowledge = false
"""

_PARAMETERS: dict[str, dict[str, Any]] = {
    "none": {},
    "ecn": {
        "notify": "notification",
        "threshold": "461 flits",
        "counts": "inputs",
        "increment": "800 ns",
        "decrement": "50 ns",
        "timer": "2 us",
    },
    "srp": {
        "n_min": "4 packets",
        "n_max": "16 packets",
        "epsilon": EPSILON,
        "time_to_wait": "1.3 us",
        "max_outstanding": 1,
    },
}
PROTOCOLS = ("none", "ecn", "srp")


def scenario(
    title: str,
    protocol: str,
    traffic: str,
    span: Times,
    seed: int,
    *,
    network: str = FAT_TREE,
    record: str = "",
    changes: Mapping[str, Any] | None = None,
) -> Scenario:
    """A scenario with the paper's switches and channels; `traffic` is the TOML of its `[[traffic]]`s."""
    control = {"kind": protocol, **_PARAMETERS[protocol], **(changes or {})}
    lines = [f"title = {json.dumps(title)}", network, _COMMON, "[congestion_control]"]
    lines += [f"{key} = {json.dumps(setting)}" for key, setting in control.items()]
    lines += [traffic, "[run]", f'warmup = "{span.warmup:g} us"', f'duration = "{span.duration:g} us"']
    lines += [f'drain = "{span.drain:g} us"', f"seed = {seed}", "[record]", record]
    return Scenario.loads("\n".join(lines) + "\n")


def nodes(senders: int, seed: int, endpoints: int = ENDPOINTS) -> tuple[int, list[int], list[int]]:
    """A hot endpoint, its senders, and all others, drawn by the seed; fewer senders are among the more."""
    drawn = _order(seed, endpoints)
    return drawn[0], sorted(drawn[1 : senders + 1]), sorted(drawn[senders + 1 :])


@cache
def _order(seed: int, endpoints: int) -> list[int]:
    return random.Random(seed).sample(range(endpoints), endpoints)


def cost(load: float, span: Times, endpoints: int = ENDPOINTS) -> float:
    """Expected CPU seconds."""
    return 0.1 + endpoints * load * span.total * 1000 / PACKET_NS * 8 / 4.5e6
