"""What the experiments of the ABATE paper share (McGlohon and others, PMBS 2021, section IV).

The paper gives neither packets, buffers nor latencies: those here are ours. A switch of CODES accounts for
the buffer ahead and
the queue in front of it together; `shared-buffer` does the same: a packet holds one buffer from its
arrival to its departure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tailback.experiments.measure import largest
from tailback.experiments.model import Case, Data
from tailback.result import Result
from tailback.scenario import Scenario

PAPER = (
    "N. McGlohon, K. S. Hemmert, K. A. Brown, M. Levenhagen, S. Chunduri, R. B. Ross, C. D. Carothers, "
    "“Exploration of "
    "Congestion Control Techniques on Dragonfly-class HPC Networks Through Simulation”, PMBS 2021"
)
SMALL = {"p": 9, "a": 18, "h": 9, "groups": 19}
"""3078 endpoints, 342 switches, 9 links between every two groups."""
LARGE = {"p": 16, "a": 32, "h": 15, "groups": 16}
"""8192 endpoints, 512 switches, 32 links between every two groups."""
VARIANTS = ("as published", "as coded", "drain margin")
CONTROLS = ("off", *VARIANTS)
"""Without control, and with each variant of a scheme."""

_COMMON = """
[link]
bandwidth = "200 Gb/s"
host = "30 ns"
local = "30 ns"
global = "300 ns"

[packet]
flit = "64 B"
max = "4096 B"

[switch]
kind = "shared-buffer"
input_buffer = { per = "vc", size = "32 KiB" }
arbitration = "round-robin"
pipeline = "100 ns"

[endpoint]
acknowledge = false
"""
_SCHEMES: dict[str, dict[str, Any]] = {
    "codes-cc": {"buffer": "128 KiB", "signals": "0 ns"},
    "sst-cm": {"streams": 8, "outstanding": "32 kB", "signals": "path"},
}
_MARGIN: dict[str, dict[str, Any]] = {
    "codes-cc": {"margin": 0.5, "hold": 20.0},
    "sst-cm": {"margin": 0.5, "expiry": 5.0},
}
"""With a margin of 0.9, what was sent before the first orders takes ten times its own length to drain."""
ROUTINGS: dict[str, dict[str, Any]] = {
    "minimal": {"kind": "minimal"},
    "adaptive": {"kind": "par", "threshold": "1 packet"},
    "ugal": {"kind": "ugal", "threshold": "1 packet"},
    "codes-par": {"kind": "codes-par"},
    "sst-ugal": {"kind": "sst-ugal"},
}
"""Ours, and adaptive routing as CODES and SST define it."""
BANDWIDTH = 25.0
"""Bytes in a nanosecond on every channel."""


def job(name: str, workload: str, ranks: int, **keys: Any) -> str:
    """The TOML of a `[[job]]`; placed at random unless said otherwise."""
    facts = {"name": name, "workload": workload, "ranks": ranks, "placement": "random-nodes", **keys}
    return "[[job]]\n" + "".join(f"{key} = {_toml(fact)}\n" for key, fact in facts.items())


def _toml(fact: Any) -> str:
    if isinstance(fact, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(value)}" for key, value in fact.items()) + " }"
    return json.dumps(fact)


def scenario(
    title: str,
    network: Mapping[str, int],
    load: Sequence[str],
    *,
    scheme: str = "codes-cc",
    control: str = "off",
    routing: str = "adaptive",
    run: str = 'duration = "100 ms"',
    record: str = "",
    **changes: Any,
) -> Scenario:
    """A scenario of the paper.

    `load` holds `[[job]]`s and `[[traffic]]`s, `control` is "off" or a variant of the scheme.
    """
    margin = _MARGIN[scheme] if control == "drain margin" else {}
    protocol = {"kind": scheme, "variant": control, **_SCHEMES[scheme], **margin, **changes}
    if control == "off":
        protocol = {"kind": "none"}
    tables = {
        "topology": {"kind": "dragonfly", **network},
        "routing": ROUTINGS[routing],
        "congestion_control": protocol,
    }
    lines = [f"title = {json.dumps(title)}"]
    for name, keys in tables.items():
        lines += [f"[{name}]", *(f"{key} = {json.dumps(setting)}" for key, setting in keys.items())]
    lines += [_COMMON, *load, "[run]", run, "[record]", record]
    return Scenario.loads("\n".join(lines) + "\n")


SHORT = "links of a fifth of the length, switches of a fifth of the latency"


def shortened(scenario: Scenario) -> Scenario:
    """With a fifth of all latencies, which the paper does not give.

    So much less is under way when the first order comes.
    """
    short = {"link.host": "6 ns", "link.local": "6 ns", "link.global": "60 ns", "switch.pipeline": "20 ns"}
    return scenario.replace(short)


def only(*names: str) -> str:
    """The `[run]` keys of a run of some of the jobs."""
    return f'duration = "100 ms"\nonly = {json.dumps(names)}'


def time_us(result: Result, name: str) -> float:
    """When the last rank of a job ended, in us after its start; NaN if it did not."""
    time = result.summary["jobs"][name]["time_ns"]
    return float("nan") if time is None else float(time) / 1e3


def slowest(result: Result, names: Iterable[str]) -> float:
    """The longest time of some jobs, in us; NaN if one of them did not end."""
    return largest(time_us(result, name) for name in names)


def least_slowed(slowdowns: Mapping[str, float], among: Sequence[str] = VARIANTS) -> str:
    """The variant under which something is slowed least; one under which it does not end is the worst."""
    return min(among, key=lambda control: math.inf if math.isnan(slowdowns[control]) else slowdowns[control])


def best_variant(slowdowns: Mapping[str, float]) -> tuple[str, str]:
    """The variant under which the victims are slowed least, and a note that tells the default beside it."""
    best = least_slowed(slowdowns)
    return best, f"the default, as published: {slowdowns['as published']:.2f}x; the best: {best}"


def one(data: Data, **labels: Any) -> Result:
    """The only result with these labels."""
    (found,) = data.results(**labels)
    return found


def cases(
    title: str, make: Any, cost: float, controls: Sequence[str] = CONTROLS, **labels: Any
) -> list[Case]:
    """A case per control; `make` gives the scenario."""
    return [
        Case({"control": control, **labels}, make(f"{title}, {control}", control), cost)
        for control in controls
    ]


def told_allowed(result: Result, name: str) -> str:
    """What an incast's senders were allowed from a tenth to half of its time, and when orders began."""
    first = pc.min(result.tables["signals"]["time_ns"]).as_py()
    ordered = "no order" if first is None else f"first order of the run at {first / 1e3:.1f} us"
    start, time = result.summary["jobs"][name]["start_ns"] / 1e3, time_us(result, name)
    if math.isnan(time):
        return f"not told, since it did not end ({ordered})"
    share, let_go = allowed(result, name, (start + 0.1 * time, start + 0.5 * time))
    return f"{share:.2f} times the channel ({ordered}, {let_go} times one was let go)"


def why_allowed(runs: Mapping[str, Result], name: str) -> str:
    """What stands between runs under control: what each allowed the senders of an incast."""
    told = "; ".join(f"{run} {told_allowed(result, name)}" for run, result in runs.items())
    return (
        "What waits in a tree drains while less comes in than its target takes. What the senders of "
        f"{name} were allowed in all, in the mean from a tenth to half of its time (those with nothing left "
        f"to send count too, so that a tree may drain at a little over 1): {told}."
    )


MONITORED = (
    "The paper says that a switch looks at every packet in all of its buffers; its code, and CODES_CC here, "
    "as published too, looks only at what waits for ports to endpoints."
)


def floor_told(senders: int) -> str:
    """Why the floor of CODES_CC is too high for an incast to drain."""
    return (
        f"The floor of the code, 1/100, is our default: {senders} senders at it are allowed "
        f"{senders / 100:.2f} of their target's channel, so that a tree drains at {1 - senders / 100:.2f} of "
        "it at most."
    )


def variants(data: Data, **labels: Any) -> dict[str, Result]:
    """The results under each variant of the scheme."""
    return {control: one(data, control=control, **labels) for control in VARIANTS}


def allowed(result: Result, name: str, span_us: tuple[float, float]) -> tuple[float, int]:
    """What an incast's senders may send to its target in all, and how often one of them was let go.

    In shares of the target's channel, in the mean over a span; let go by its end.
    """
    ranks = [row for row in result.tables["ranks"].to_pylist() if row["job"] == name]
    target = max(ranks, key=lambda row: row["rank"])["endpoint"]
    begin, end = (1e3 * at for at in span_us)
    rates = {row["endpoint"]: 1.0 for row in ranks if row["endpoint"] != target}
    area, last, let_go = 0.0, begin, 0
    table = result.tables["rates"]
    concerned = pc.and_(
        pc.is_in(table["endpoint"], pa.array(list(rates))),
        pc.is_in(table["destination"], pa.array([-1, target])),
    )
    early = pc.less_equal(table["time_ns"], end)
    changes = table.filter(pc.and_(concerned, early)).to_pylist()
    for row in sorted(changes, key=lambda row: row["time_ns"]):
        area += sum(rates.values()) * max(0.0, row["time_ns"] - last)
        last = max(last, row["time_ns"])
        rates[row["endpoint"]] = row["rate"]
        let_go += row["rate"] >= 1
    return (area + sum(rates.values()) * (end - last)) / (end - begin), let_go
