"""Compares the engine with the reference simulator, packet by packet, in random scenarios.

`python test_reference.py KIND COUNT [FIRST]` compares more of them, and shrinks the first that differ.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import pytest
from reference import Simulation
from reference_case import Case, Link, Message, Row

import tailback

KINDS = ("cioq", "input-queued", "output-queued", "shared-buffer")
NETS: dict[str, tuple[int, list[tuple[int, int]]]] = {
    "star": (1, []),
    "pair": (2, [(0, 1)]),
    "line": (3, [(0, 1), (1, 2)]),
    "tree": (4, [(0, 1), (0, 2), (0, 3)]),
    "triangle": (3, [(0, 1), (1, 2), (0, 2)]),
    "ring": (4, [(0, 1), (1, 2), (2, 3), (0, 3)]),
}


def toml(case: Case) -> str:
    """The scenario file of a case."""
    switches = 1 + max([*case.hosts, *(max(link.a, link.b) for link in case.links)])
    lines = ["host " + " ".join(f"h{at}" for at in range(len(case.hosts)))]
    lines += ["switch " + " ".join(f"s{at}" for at in range(switches))]
    lines += [f"h{at}, s{switch}" for at, switch in enumerate(case.hosts)]
    lines += [f"s{link.a}, s{link.b}, {_rate(link.rate)}, {link.latency} ps" for link in case.links]
    switch: dict[str, object] = {
        "kind": case.kind,
        "pipeline": f"{case.pipeline} ps",
        "arbitration": case.arbitration,
        "input_buffer": "credit round trip" if case.input_buffer is None else f"{case.input_buffer} flits",
    }
    if case.kind in ("cioq", "output-queued"):
        switch["output_buffer"] = f"{case.output_buffer} flits"
    if case.has_crossbar:
        switch |= {"speedup": case.speedup, "voq": case.voq, "parallel_reads": case.parallel_reads}
    endpoint: dict[str, object] = {"acknowledge": case.acknowledge}
    endpoint["queues"] = "fifo" if case.fifo else "per destination"
    if case.drain is not None:
        endpoint["drain_rate"] = _rate(case.drain)
    deadlock, flit = "hops" if case.levels else "up-down", f"{case.flit_bits} b"
    tables: dict[str, dict[str, object]] = {
        "topology": {"kind": "file", "text": "\n".join(lines)},
        "routing": {"kind": "shortest", "choose": "by-destination", "deadlock": deadlock},
        "link": {"bandwidth": _rate(case.host_rate), "host": f"{case.host_latency} ps"},
        "packet": {"flit": flit, "max": f"{case.packet_max} flits", "control": f"{case.control} flits"},
        "switch": switch,
        "endpoint": endpoint,
        "run": {"warmup": "0 ps", "duration": "1 ms", "drain": "0 ps"},
        "record": {"packets": True},
    }
    for number, message in enumerate(case.messages):
        pair = [message.source, message.destination]
        tables[f"[traffic]#{number}"] = {
            "name": str(number), "pattern": "list", "pairs": [pair], "endpoints": sorted(pair), "share": True,
            "process": "one-shot", "message": f"{message.flits} flits", "start": f"{message.start} ps",
        }  # fmt: skip
    text = ""
    for name, table in tables.items():
        text += f"[{name.partition('#')[0]}]\n"
        text += "".join(f"{key} = {_value(value)}\n" for key, value in table.items())
    return text


def _rate(rate: Fraction) -> str:
    return f"{int(rate * 10**9)} b/s"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"""{value}"""' if "\n" in value else f'"{value}"'
    return str(value)


def engine(case: Case) -> list[Row]:
    """What Tailback says."""
    rows = tailback.Scenario.loads(toml(case)).run().tables["packets"].to_pylist()
    keys = ("kind", "source", "destination", "message", "sequence", "from", "to")
    times = ("start_ns", "head_ns", "tail_ns")
    found = []
    for row in rows:
        start, head, tail = (round(row[time] * 1000) for time in times)
        found.append(Row(start, *(row[key] for key in keys), head, tail))
    return numbered(found)


def numbered(rows: list[Row]) -> list[Row]:
    """Numbers messages within their pair: the engine's numbers are in the order in which it takes them."""
    numbers = defaultdict(set)

    def pair(row: Row) -> tuple[int, int]:
        return (row.source, row.destination) if row.kind == "data" else (row.destination, row.source)

    for row in rows:
        numbers[pair(row)].add(row.message)
    order = {key: sorted(found) for key, found in numbers.items()}
    return sorted(replace(row, message=order[pair(row)].index(row.message)) for row in rows)


def difference(case: Case) -> tuple[list[Row], list[Row]]:
    """The rows that only one has: the engine's, and those of the reference."""
    ours, theirs = engine(case), numbered(Simulation(case).run())
    return sorted(set(ours) - set(theirs)), sorted(set(theirs) - set(ours))


def random_case(kind: str, seed: int) -> Case:
    """A small case with many ties."""
    draw = random.Random(f"{kind} {seed}")
    net = draw.choice(list(NETS))
    switches, pairs = NETS[net]
    hosts = [*range(switches), *draw.choices(range(switches), k=draw.randint(1, 4))]
    draw.shuffle(hosts)
    rates = draw.choice([(100,), (100,), (25, 50, 100, 200, 400), (97, 300, 3200, 128)])
    most = draw.choice([1, 2, 3, 4, 8])
    horizon, hot = draw.choice([0, 5, 20, 60, 200]), draw.randrange(len(hosts))
    messages = []
    for _ in range(draw.randint(2, 80)):
        source, destination = draw.randrange(len(hosts)), draw.choice([hot, draw.randrange(len(hosts))])
        flits = draw.choice([1, 2, most, draw.randint(1, draw.choice([5, 20]) * most)])
        if source != destination:
            messages.append(Message(source, destination, flits, draw.randint(0, horizon) * 1000))
    voq = draw.random() < 0.6
    levels = net in ("triangle", "ring") or draw.random() < 0.3
    latencies = [latency * 1000 for latency in (0, 1, 2, 3, 5, 10, 20, 50)]
    return Case(
        hosts=tuple(hosts),
        links=tuple(Link(a, b, Fraction(draw.choice(rates)), draw.choice(latencies)) for a, b in pairs),
        messages=tuple(messages) or (Message(0, 1, 1, 0),),
        kind=kind,
        host_rate=Fraction(draw.choice(rates)),
        host_latency=draw.choice(latencies),
        speedup=draw.choice([1, 1, 2, 4]),
        voq=voq,
        parallel_reads=draw.random() < 0.2,
        arbitration=draw.choice(["round-robin", "age"]),
        pipeline=draw.choice([0, 0, 1000, 3000, 10_000]),
        input_buffer=draw.choice([None, most, most + 1, 2 * most, 3 * most + 1, 16 * most]),
        output_buffer=draw.choice([most, most + 1, 2 * most, 3 * most, 16 * most]),
        flit_bits=draw.choice([100, 100, 100, 512, 77]),
        packet_max=most,
        control=draw.choice([1, 1, draw.randint(1, most)]),
        acknowledge=draw.random() < 0.5,
        fifo=draw.random() < 0.3,
        drain=draw.choice([None] * 5 + [Fraction(40), Fraction(10)]),
        levels=levels,
    )


def crowded_case(kind: str, seed: int) -> Case:
    """An input that fills up with packets for one output, and then is kept busy by another, out of step."""
    draw = random.Random(f"crowded {kind} {seed}")
    count, most = draw.randint(4, 5), draw.choice([3, 4, 5, 8])
    *sources, first, second = draw.sample(range(count), count)
    size, messages = draw.choice([most, most, draw.randint(1, most)]), []
    for source in sources:
        busy = source == sources[0]
        start, number = draw.randint(0, most), draw.randint(4, 12) if busy else 40
        messages += [Message(source, first, size if busy else most, start * 1000)] * number
        if busy or draw.random() < 0.2:
            start += (number - draw.randint(0, 3)) * size + draw.randint(0, most)
            messages += [Message(source, second, most, start * 1000)] * 40
    draw.shuffle(messages)
    return Case(
        hosts=(0,) * count,
        links=(),
        messages=tuple(messages),
        kind=kind,
        host_latency=draw.choice([0, 1000, 10_000]),
        speedup=draw.choice([1, 1, 1, 2]),
        voq=draw.random() < 0.9,
        arbitration=draw.choice(["round-robin", "round-robin", "age"]),
        input_buffer=draw.choice([None, 20 * most, 20 * most, 3 * most]),
        output_buffer=draw.choice([most, 2 * most, 64]),
        packet_max=most,
        acknowledge=draw.random() < 0.3,
    )


@pytest.mark.engine
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [random_case, crowded_case])
def test_every_packet_goes_when_the_reference_says(kind, make):
    for seed in range(40):
        assert difference(make(kind, seed)) == ([], []), f"{make.__name__}({kind!r}, {seed})"


SIMPLER = {
    "acknowledge": False, "fifo": False, "pipeline": 0, "input_buffer": None, "output_buffer": 128,
    "speedup": 1, "voq": True, "parallel_reads": False, "host_latency": 0, "control": 1, "drain": None,
    "flit_bits": 100, "arbitration": "round-robin",
}  # fmt: skip


def shrunk(case: Case) -> Case:
    """The same difference with fewer messages, shorter ones, and more defaults."""

    def smaller() -> list[Case]:
        them = case.messages
        fewer = [them[:at] + them[at + 1 :] for at in range(len(them))] if len(them) > 1 else []
        found = [replace(case, messages=messages) for messages in fewer]
        for at, one in enumerate(them):
            changed = [replace(one, flits=1), replace(one, flits=one.flits - 1)] if one.flits > 1 else []
            changed += [
                replace(one, start=start) for start in (0, one.start // 2000 * 1000) if start < one.start
            ]
            found += [replace(case, messages=(*them[:at], other, *them[at + 1 :])) for other in changed]
        plainer = {key: value for key, value in SIMPLER.items() if getattr(case, key) != value}
        found += [replace(case, **{key: value}) for key, value in plainer.items()]
        plain = tuple(replace(link, latency=0, rate=case.host_rate) for link in case.links)
        return [*found, replace(case, links=plain)] if plain != case.links else found

    while True:
        better = next((other for other in smaller() if difference(other) != ([], [])), None)
        if better is None:
            return case
        case = better


def main(kind: str, count: str, first: str = "0") -> None:
    """Compares many, and tells the least difference."""
    wrong = [
        case
        for seed in range(int(first), int(first) + int(count))
        for case in (random_case(kind, seed), crowded_case(kind, seed))
        if difference(case) != ([], [])
    ]
    print(f"{kind}: {2 * int(count) - len(wrong)} agree, {len(wrong)} do not")
    if wrong:
        least = shrunk(min(wrong, key=lambda case: sum(message.flits for message in case.messages)))
        ours, theirs = difference(least)
        print(toml(least), "only the engine:", *ours, "only the reference:", *theirs, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
