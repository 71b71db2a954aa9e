"""What the experiments of the SAA paper share (Birk and Zdornov, SYSTOR 2009)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from tailback.result import Result
from tailback.scenario import Scenario

PAPER = (
    "Y. Birk, V. Zdornov, “Improving Communication-Phase Completion Times in HPC Clusters Through "
    "Congestion Mitigation”, SYSTOR 2009"
)
PACKETS = 128
"""Packets of 2 KB in a flow."""
FLOW_NS = PACKETS * 2048 * 8 / 10.0
"""Time of a flow at line rate: the unit of the paper's completion times."""
HOLD_NS = 25_000.0
HOLD = {"probe_period": "10 us", "hold": f"{HOLD_NS / 1000:g} us"}
"""Data start when every flow has been announced and has probed its links once."""

STATIC = {"kind": "nca", "up": "deterministic"}
ADAPTIVE = {"kind": "flow-adaptive"}

_COMMON = """
[link]
bandwidth = "10 Gb/s"
latency = "51.2 ns"

[packet]
flit = "64 B"
max = "2048 B"
control = "1 flit"

[endpoint]
queues = "per destination"
acknowledge = {acknowledge}
"""


def arity(full: bool) -> int:
    """The 16-ary 3-tree of the paper, or the 8-ary one."""
    return 16 if full else 8


def tree(k: int, horizontal: int) -> dict[str, Any]:
    """A k-ary 3-tree with rows of this width."""
    return {"kind": "k-ary-n-tree", "k": k, "n": 3, "horizontal": horizontal}


def switch(packets: int) -> dict[str, Any]:
    """Shared input buffers of so many packets, infinite speedup, first come first served."""
    return {"kind": "shared-buffer", "arbitration": "age", "input_buffer": f"{packets} packets"}


def scenario(
    title: str,
    topology: Mapping[str, Any],
    routing: Mapping[str, Any],
    control: Mapping[str, Any],
    job: Mapping[str, Any],
    *,
    switches: Mapping[str, Any] | None = None,
    fluid: bool = False,
    acknowledge: bool = False,
    record: str = "",
) -> Scenario:
    """A scenario of one job in phases; a flow has 128 packets unless `job` says otherwise."""
    phases = {"name": "app", "workload": "phases", "size": f"{PACKETS} packets", "barrier": "20 us", **job}
    tables = {"topology": topology, "routing": routing, "congestion_control": control}
    tables |= {"switch": switches or switch(8)}
    lines = [f"title = {json.dumps(title)}", _COMMON.format(acknowledge=str(acknowledge).lower())]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    lines += ["[[job]]", *(f"{key} = {json.dumps(value)}" for key, value in phases.items())]
    model = "fluid" if fluid else "packets"
    lines += ["[run]", 'duration = "4 s"', "seed = 1", f'model = "{model}"', "[record]", record]
    return Scenario.loads("\n".join(lines) + "\n")


def permutations(count: int, k: int, phases: int) -> dict[str, Any]:
    """A job of superposed random permutations over all endpoints of the tree, drawn anew in each phase."""
    return {"ranks": k**3, "permutations": count, "phases": phases}


def packet_cost(k: int, count: int, phases: int) -> float:
    """Expected CPU seconds of so many permutations, at eight hops a packet."""
    return 0.2 + k**3 * PACKETS * count * phases * 8 / (9e6 if k <= 8 else 4e6)


def column(result: Result, table: str, name: str) -> np.ndarray[Any, Any]:
    """A column of a table."""
    return np.asarray(result.tables[table][name].to_numpy())


def by_phase(result: Result, name: str, reduce: Any) -> list[float]:
    """For each phase, what becomes of a column of the table of flows."""
    phases, values = column(result, "flows", "phase"), column(result, "flows", name)
    return [float(reduce(values[phases == phase])) for phase in np.unique(phases)]
