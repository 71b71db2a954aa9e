"""Stands in for `tailback._engine` in tests of the Python side: quick, and it fails on demand.

A scenario with `fail` fails, one with `stop` is interrupted as by Ctrl-C, one with `crash` breaks; each line
that holds `wrong` is a mistake; `# network FILE` names a file of its own. Overrides do not change the answer,
except for the title.
"""

import json
import math
import struct


class EngineError(Exception):
    pass


def version():
    return "0.0.0"


def problems(text):
    return [
        {
            "path": "traffic.hot.load",
            "line": number,
            "column": line.index("wrong") + 1,
            "message": "this is wrong",
            "help": "make it right",
        }
        for number, line in enumerate(text.split("\n"), 1)
        if "wrong" in line
    ]


def check(text, overrides, unread):
    found = problems(text)
    for key, message, remedy in unread:
        found.append({"path": key, "line": None, "column": None, "message": message, "help": remedy})
    if any(value == "wrong" for _, value in overrides):
        key = next(key for key, value in overrides if value == "wrong")
        found.append({"path": key, "line": None, "column": None, "message": "not so", "help": "otherwise"})
    return json.dumps(found)


def _demand_right(text, overrides):
    found = check(text, overrides, [])
    if found != "[]":
        raise EngineError("input", found)


def complete(text, overrides):
    _demand_right(text, overrides)
    return text + "".join(f"# {key} = {value}\n" for key, value in overrides)


def describe(text, overrides):
    _demand_right(text, overrides)
    return json.dumps(
        {
            "endpoints": 1056,
            "zero_load_latency_ns": 1234.5,
            "memory_estimate": {"total_bytes": 21_500_000},
            "links": [{"class": "host", "links": 1056, "latency_ns": 5.0, "input_flits": {"per_vc": 60}}],
        }
    )


def remarks(text, overrides):
    _demand_right(text, overrides)
    return json.dumps(
        [line.removeprefix("# told ") for line in text.split("\n") if line.startswith("# told ")]
    )


def channels(text, overrides):
    """Two switches with an endpoint each."""
    _demand_right(text, overrides)
    wires = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 3), (3, 1)]
    return json.dumps({"switches": 2, "blocks": [0, 1], "channels": [[*wire, 1.0, 0] for wire in wires]})


def load(text, overrides):
    _demand_right(text, overrides)
    row = {"traffic": "hot", "throughput_bound": 0.5, "bottleneck": "switch 1 port 2 (x) to switch 2"}
    return json.dumps({"bounds": [row], "channel_loads": [{"traffic": "hot", "link_class": "x"}]})


def files(text, overrides):
    return [("topology.text", line.split()[-1]) for line in text.split("\n") if line.startswith("# network")]


def schema():
    return json.dumps({"$schema": "x", "type": "object"})


def kinds():
    group = {"name": "groups", "type": "integer", "required": True, "default": None}
    group["doc"] = "Number of groups."
    dragonfly = {"name": "dragonfly", "doc": "Groups of switches.\n\n# Paper\n\nMore.", "parameters": [group]}
    return json.dumps(
        {"topologies": [dragonfly], "routings": [{"name": "par", "doc": "x", "parameters": []}]}
    )


def column(name, values):
    if isinstance(values[0], str):
        return name, "text", json.dumps(values).encode()
    kind, code = ("int64", "q") if isinstance(values[0], int) else ("float64", "d")
    return name, kind, struct.pack(f"<{len(values)}{code}", *values)


def class_facts(overrides):
    latency = dict.fromkeys(("mean", "p50", "p95", "p99", "p999", "max"), 1500.0)
    load = float(dict(overrides).get("traffic.hot.load", 0.4))
    return {
        "offered": load,
        "accepted": load,
        "accepted_per_destination": 0.4,
        "messages": 10,
        "packets": 10,
        "unfinished": 0,
        "backlog_growth_ci95": 0.0,
        "hops_mean": 3.5,
        "dropped_packets": 2,
        "resent_packets": 2,
        "packet_latency_ns": latency,
        "network_latency_ns": latency,
        "message_latency_ns": {**dict.fromkeys(latency), "saturated": True},
    }


def job_facts(only):
    """A job is twice as slow beside another."""
    time = 1e6 if only else 2e6
    return {
        "workload": "ring-exchange",
        "ranks": 12,
        "unfinished_ranks": 0,
        "start_ns": 0.0,
        "time_ns": time,
        "communication_ns": {"min": time / 2, "mean": time / 2, "max": time / 2},
        "messages": 120,
        "delivered_messages": 120,
        "bytes": 1000,
        "operations": {"exchange": {"count": 120, "mean_ns": 5.0, "max_ns": 9.0}},
    }


def tables():
    bins = range(120)
    names = [name for name in ("hot", "victim") for _ in bins]
    series = {"class": names, "time_ns": [1000 * time for _ in range(2) for time in bins]}
    for number, name in enumerate(("offered", "accepted", "accepted_per_destination")):
        series[name] = [0.1 * number + 0.001 * time for _ in range(2) for time in bins]
    series["created"] = [5] * 240
    series["messages"] = [5] * 240
    for name in ("message", "packet", "network"):
        series[f"{name}_latency_ns"] = [
            math.nan if time < 2 else 900.0 + time for _ in range(2) for time in bins
        ]
        series[f"{name}_latency_missing"] = [0] * 240
    return {
        "classes": {"class": ["hot", "victim"], "offered": [0.5, 0.4], "accepted": [0.1, 0.4]},
        "series": series,
        "ports": {
            "switch": [0, 0],
            "port": [0, 1],
            "link_class": ["host", "local"],
            "active_ns": [10.0, 20.0],
            "idle_ns": [70.0, 60.0],
            "stalled_ns": [20.0, 20.0],
        },
        "shares": {"link_class": ["host", "host"], "kind": ["data", "ack"], "share": [0.4, 0.1]},
        "sources": {"class": ["hot"] * 3, "endpoint": [1, 5, 9], "accepted": [0.1, 0.3, 0.2]},
        "occupancy": {"time_ns": [1000, 1000, 2000, 2000], "switch": [0, 1, 0, 1], "flits": [5, 3, 9, 1]},
        "histograms": {
            "class": ["hot"] * 3 + ["all"] * 3,
            "latency": ["message", "message", "network"] * 2,
            "low_ns": [100.0, 1000.0, 1010.0] * 2,
            "high_ns": [101.0, 1010.0, 1020.0] * 2,
            "count": [10, 20, 5] * 2,
        },
    }


def run(text, overrides, watch=None):
    _demand_right(text, overrides)
    if "fail" in text:
        raise EngineError("failed", json.dumps("deadlock: switch 3 waits for switch 4"))
    if "crash" in text:
        raise ZeroDivisionError("a bug")
    failure = "deadlock: switch 5 waits for switch 6" if "jam" in text else None
    interrupted = "stop" in text or failure is not None
    for step in range(1, 4):
        interrupted = interrupted or (watch is not None and not watch(step * 10**6, 3 * 10**6, step * 1000))
        if interrupted:
            break
    summary = {
        "title": dict(overrides).get("title", "fake"),
        "seed": 1,
        "simulated_ns": 120000.0,
        "packet_hops": 9_000_000,
        "events": 1,
        "stable": False,
        "classes": {name: class_facts(overrides) for name in ("hot", "victim", "all")},
    }
    only = dict(overrides).get("run.only", "")
    if "job" in text:
        summary["jobs"] = {
            name: job_facts(only) for name in ("a", "b") if not only or name in json.loads(only)
        }
    columns = {
        name: [column(key, values) for key, values in table.items()] for name, table in tables().items()
    }
    if failure is not None:
        summary["failure"] = failure
    return json.dumps(summary), columns, interrupted, failure
