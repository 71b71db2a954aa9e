"""Compares the engine with the reference simulator, packet by packet, in random scenarios.

`python test_reference.py KIND COUNT [FIRST]` compares more of them, and shrinks the first that differ.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import isnan
from typing import Any

import pytest
from reference import Simulation
from reference_case import Case, Row, Slow, SlowLink
from reference_draws import (
    crowded_case,
    graded_case,
    interleaved_case,
    kns_case,
    lattice_case,
    paired_case,
    paused_case,
    queued_case,
    random_case,
    slow_case,
    stored_case,
)

import tailback
from tailback.errors import InputError

CROSSBARS = ("cioq", "input-queued")
KINDS = (*CROSSBARS, "output-queued", "shared-buffer")
CONTROLS = ("set-up", "probe", "tear-down", "return")  # of flows
MAKERS = (
    random_case, crowded_case, queued_case, lattice_case, kns_case, interleaved_case, graded_case,
    paired_case, paused_case, slow_case, stored_case,
)  # fmt: skip
SUITED = [
    (make, kind) for make in MAKERS for kind in KINDS if make is not interleaved_case or kind in CROSSBARS
]
"""Flits take turns on a crossbar only."""
CAUGHT = {(interleaved_case, "input-queued"): (20067,)}
"""Rare cases in which the engine once did something else than the page says."""


def toml(case: Case) -> str:
    """The scenario file of a case."""
    switch: dict[str, object] = {
        "kind": case.kind,
        "pipeline": f"{case.pipeline} ps",
        "forwarding": "store-and-forward" if case.stores else "cut-through",
        "arbitration": case.arbitration,
        "input_buffer": _buffer(case),
    }
    if case.kind in ("cioq", "output-queued"):
        switch["output_buffer"] = f"{case.output_buffer} flits"
    if case.has_crossbar:
        names = dict.fromkeys(name.partition(" (")[0] for name in case.classes)
        voq = [name for name in names if case.voq[name.startswith(("data", "speculative"))]]
        switch |= {"speedup": case.speedup, "voq": voq, "parallel_reads": case.parallel_reads}
    elif case.speedup is None:
        switch["speedup"] = "infinite"
    tables: dict[str, dict[str, object]] = _network(case) | {
        "packet": {
            "flit": f"{case.flit_bits} b",
            "max": f"{case.packet_max} flits",
            "control": f"{case.control} flits",
            "interleave": case.interleave,
        },
        "queueing": {"kind": case.queueing},
        "switch": switch,
        "endpoint": _endpoint(case),
        "run": {"warmup": "0 ps", "duration": "1 ms", "drain": "0 ps"},
        "record": {"packets": True},
    }
    tables["link"] |= _on_links(case)
    for number, message in enumerate(case.messages):
        pair = [message.source, message.destination]
        tables[f"[traffic]#{number}"] = {
            "name": str(number), "pattern": "list", "pairs": [pair], "endpoints": sorted(pair), "share": True,
            "process": "one-shot", "message": f"{message.flits} flits", "start": f"{message.start} ps",
            "priority": message.priority, "queue_pairs": case.queue_pairs,
        }  # fmt: skip
    if case.queueing not in ("single", "voqnet"):
        tables["queueing"]["queues"] = case.queues
    if case.protocol is not None:
        tables["congestion_control"] = case.protocol.keys()
    text = ""
    for name, table in tables.items():
        text += f"[{name.partition('#')[0]}]\n"
        text += "".join(f"{key} = {_value(value)}\n" for key, value in table.items())
    return text


def _on_links(case: Case) -> dict[str, object]:
    """What is said of links beside their classes."""
    found: dict[str, object] = {}
    if case.failed:
        found["failed"] = [{"between": [list(pair) for pair in case.failed]}]
    if case.slow_links:
        found["slow"] = [_slow_link(slow) for slow in case.slow_links]
    if case.pauses is not None:
        pauses = case.pauses
        kind: dict[str, object] = {"kind": "pfc", "response": f"{pauses.response} ps"}
        thresholds = {"xoff": pauses.xoff, "xon": pauses.xon}
        if pauses.shared is not None:
            kind |= {"kind": "pfc-dynamic", "alpha": pauses.alpha}
            thresholds = {"reserve": pauses.xoff, "shared": pauses.shared, "xon_offset": pauses.offset}
        given = {key: f"{flits} flits" for key, flits in thresholds.items() if flits is not None}
        found["flow_control"] = kind | given
    return found


def _network(case: Case) -> dict[str, dict[str, object]]:
    link: dict[str, object] = {"bandwidth": _rate(case.host_rate), "host": f"{case.host_latency} ps"}
    if case.tree is not None:
        return case.tree.tables(case)
    if case.kns is not None:
        return case.kns.tables(case)
    if case.dragonfly is not None:
        return case.dragonfly.tables(case)
    if case.dims is not None:
        each = len(case.hosts) // (case.dims[0] * case.dims[1])
        kind = "torus" if case.ring else "hyperx"
        topology = {"kind": kind, "dims": list(case.dims), "concentration": each}
        routing: dict[str, object] = {"kind": "dor"} | ({"deadlock": case.ring} if case.ring else {})
        if case.orders:
            routing |= {"orders": list(case.orders), "choose": "occupancy" if case.weighs else "round-robin"}
        return {
            "topology": topology,
            "routing": routing,
            "link": link | {"latency": f"{case.links[0].latency} ps"},
        }
    switches = 1 + max([*case.hosts, *(max(link.a, link.b) for link in case.links)])
    lines = ["host " + " ".join(f"h{at}" for at in range(len(case.hosts)))]
    lines += ["switch " + " ".join(f"s{at}" for at in range(switches))]
    lines += [f"h{at}, s{switch}" for at, switch in enumerate(case.hosts)]
    lines += [f"s{link.a}, s{link.b}, {_rate(link.rate)}, {link.latency} ps" for link in case.links]
    return {
        "topology": {"kind": "file", "text": "\n".join(lines)},
        "routing": {
            "kind": "shortest",
            "choose": "by-destination",
            "deadlock": "hops" if case.levels else "up-down",
        },
        "link": link,
    }


def _buffer(case: Case) -> str | dict[str, object]:
    if case.input_buffer is None:
        return "credit round trip"
    size = f"{case.input_buffer} flits"
    if case.per == "vc":
        return size
    return {"per": "port", "size": size, "shared": case.per == "shared"}


def _rate(rate: Fraction) -> str:
    return f"{int(rate * 10**9)} b/s"


def _endpoint(case: Case) -> dict[str, object]:
    found: dict[str, object] = {"acknowledge": case.acknowledge}
    found["queues"] = "fifo" if case.fifo else "per destination"
    if case.drain is not None:
        found["drain_rate"] = _rate(case.drain)
    if case.slow:
        found["slow"] = [_slow(slow) for slow in case.slow]
    return found


def _slow(slow: Slow) -> dict[str, object]:
    found: dict[str, object] = {"endpoints": list(slow.endpoints)} | _lasts(slow)
    return found if slow.rate is None else found | {"drain_rate": _rate(slow.rate)}


def _slow_link(slow: SlowLink) -> dict[str, object]:
    ends = list(slow.ends)
    found = {"endpoints": ends} if len(ends) == 1 else {"between": [ends]}
    found |= _lasts(slow)
    return found if slow.rate is None else found | {"bandwidth": _rate(slow.rate)}


def _lasts(slow: Slow | SlowLink) -> dict[str, object]:
    found: dict[str, object] = {"start": f"{slow.start} ps"}
    return found if slow.stop is None else found | {"stop": f"{slow.stop} ps"}


def _value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"""{value}"""' if "\n" in value else f'"{value}"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    return str(value)


def engine(case: Case) -> list[Row]:
    """What Tailback says."""
    return packets(tailback.Scenario.loads(toml(case)).run().tables["packets"].to_pylist())


def packets(rows: list[dict[str, Any]]) -> list[Row]:
    """The table of that name."""
    keys = ("kind", "source", "destination", "message", "sequence", "from", "to")
    times = ("start_ns", "head_ns", "tail_ns")
    found = []
    for row in rows:
        start, head, tail = (round(row[time] * 1000) for time in times)
        granted = -1 if isnan(row["granted_ns"]) else round(row["granted_ns"] * 1000)
        says = row["event"], row["traffic_class"], granted
        found.append(Row(start, *(row[key] for key in keys), head, tail, *says))
    return numbered(found)


def numbered(rows: list[Row]) -> list[Row]:
    """Numbers the messages of a pair as they begin: the engine's numbers are those of all its source's."""
    numbers = defaultdict[tuple[int, int], dict[int, int]](dict)
    asks = ("reservation", "grant", "credit", "notification", *CONTROLS)
    rows = [row._replace(message=-1, sequence=-1) if row.kind in asks else row for row in rows]

    def pair(row: Row) -> tuple[int, int]:
        goes = row.kind in ("data", "reservation", "set-up", "probe", "tear-down")
        return (row.source, row.destination) if goes else (row.destination, row.source)

    for row in sorted(rows):
        known = numbers[pair(row)]
        known.setdefault(row.message, len(known))
    return sorted(row._replace(message=numbers[pair(row)][row.message]) for row in rows)


def difference(case: Case) -> tuple[list[Row], list[Row]]:
    """The rows that only one has: the engine's, and those of the reference."""
    ours, theirs = engine(case), numbered(Simulation(case).run())
    return sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours))


@pytest.mark.engine
@pytest.mark.parametrize(("make", "kind"), SUITED)
def test_every_packet_goes_when_the_reference_says(make, kind):
    for seed in (*range(6), *CAUGHT.get((make, kind), ())):
        assert difference(make(kind, seed)) == ([], []), f"{make.__name__}({kind!r}, {seed})"


SIMPLER = {
    "acknowledge": False, "fifo": False, "pipeline": 0, "input_buffer": None, "output_buffer": 128,
    "speedup": 1, "per": "vc", "voq": (True, True), "parallel_reads": False, "host_latency": 0, "control": 1,
    "interleave": False, "drain": None, "slow": (), "slow_links": (), "failed": (), "flit_bits": 100,
    "arbitration": "round-robin", "stores": False,
}  # fmt: skip


def shrunk(case: Case, difference: Callable[[Case], object] = difference) -> Case:
    """The same difference with fewer messages, shorter ones, and more defaults."""

    def smaller() -> list[Case]:
        them = case.messages
        fewer = [them[:at] + them[at + 1 :] for at in range(len(them))] if len(them) > 1 else []
        found = [replace(case, messages=messages) for messages in fewer]
        for at, one in enumerate(them):
            step = case.packet_max if case.ring == "bubble" else 1  # bubbles are for packets of one length
            shorter = {step, one.flits - step} if one.flits > step else set()
            changed = [replace(one, flits=flits) for flits in sorted(shorter)]
            changed += [
                replace(one, start=start) for start in (0, one.start // 2000 * 1000) if start < one.start
            ]
            found += [replace(case, messages=(*them[:at], other, *them[at + 1 :])) for other in changed]
        plainer = {key: value for key, value in SIMPLER.items() if getattr(case, key) != value}
        if case.protocol is not None and case.protocol.needs_acknowledgements:
            plainer.pop("acknowledge", None)
        if case.queueing == "damq" or case.weighs:
            plainer = {key: value for key, value in plainer.items() if key not in ("per", "fifo")}
        found += [replace(case, **{key: value}) for key, value in plainer.items()]
        plain = tuple(replace(link, latency=0, rate=case.host_rate) for link in case.links)
        return [*found, replace(case, links=plain)] if plain != case.links else found

    def differs(other: Case) -> bool:
        with suppress(InputError):  # its buffers may not have room for what comes until a pause is obeyed
            return difference(other) != ([], [])
        return False

    while True:
        better = next((other for other in smaller() if differs(other)), None)
        if better is None:
            return case
        case = better


def compare(name: str, seeds: Sequence[int], make: Callable[[int], Case]) -> None:
    """Compares a case for each seed, and tells the least difference."""
    wrong = {seed: case for seed in seeds if difference(case := make(seed)) != ([], [])}
    print(f"{name}: {len(seeds) - len(wrong)} agree, {len(wrong)} do not: {list(wrong)}")
    if wrong:
        tell(wrong.values())


def tell(wrong: Iterable[Case]) -> None:
    """Tells the least difference of several cases."""
    least = shrunk(min(wrong, key=lambda case: sum(message.flits for message in case.messages)))
    ours, theirs = difference(least)
    print(toml(least), "only the engine:", *ours, "only the reference:", *theirs, sep="\n")


def main(kind: str, count: str, first: str = "0") -> None:
    """Compares many, and tells the least difference."""
    wrong = [
        case
        for seed in range(int(first), int(first) + int(count))
        for case in (make(kind, seed) for make in MAKERS)
        if difference(case) != ([], [])
    ]
    print(f"{kind}: {len(MAKERS) * int(count) - len(wrong)} agree, {len(wrong)} do not")
    if wrong:
        tell(wrong)


if __name__ == "__main__":
    main(*sys.argv[1:])
