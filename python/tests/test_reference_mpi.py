"""Compares the engine with the second MPI layer: when ranks end, and all messages that have come by then.

`python test_reference_mpi.py COUNT [FIRST]` compares more random programs, and tells which differ.
"""

from __future__ import annotations

import random
import re
import sys
from dataclasses import replace
from fractions import Fraction

import pytest
import reference_collectives as programs
from reference_case import ANY, Case, Job, Link, Mpi, Op
from reference_collectives import Program
from reference_mpi import Sent, World
from test_reference import toml

import tailback
from tailback.errors import RunFailed

Times = dict[tuple[str, int], tuple[int, int]]  # of each rank: its end, and its communication
Stuck = dict[str, dict[int, int]]  # operations that never end, of each rank, by job


def goal(job: Job) -> str:
    """The operations of a job, as a trace."""
    lines = [f"num_ranks {len(job.ranks)}"]
    for number, ops in enumerate(job.ranks):
        lines.append(f"rank {number} {{")
        for at, op in enumerate(ops):
            what = f"calc {op.amount}"
            if op.kind != "calc":
                way = "to" if op.kind == "send" else "from"
                what = f"{op.kind} {op.amount}b {way} {op.peer} tag {op.tag}"
            lines.append(f"l{at}: {what} cpu {op.cpu}")
        for at, op in enumerate(ops):
            lines += [f"l{at} requires l{other}" for other in op.requires]
            lines += [f"l{at} irequires l{other}" for other in op.irequires]
        lines.append("}")
    return "\n".join(lines)


def scenario(case: Case, jobs: list[tuple[Job, str]], mpi: str = "") -> str:
    """A file of jobs, each with the lines that tell its workload."""
    text = toml(case).replace("packets = true", "messages = true").replace('"1 ms"', '"100 ms"')
    for job, workload in jobs:
        own = job.mpi
        slow = ", ".join(f"{{ ranks = [{rank}], compute = {float(times)} }}" for rank, times in job.slow)
        text += f"""[[job]]
{workload}
slow = [{slow}]
placement = {list(job.endpoints[:: job.each])}
ranks_per_endpoint = {job.each}
queue_pairs = {job.queue_pairs}
split = {str(job.split).lower()}
start = "{job.start} ps"
mpi = {{ eager = "{own.eager} B", control = "{own.control} B", overhead = "{own.overhead} ps", \
delay = "{own.delay} ps", copy = "{own.copy} Mb/s", local_latency = "{own.local_latency} ps", \
local_bandwidth = "{own.local_bandwidth} Mb/s" {mpi} }}
"""
    return text


def engine(text: str) -> tuple[Times | Stuck, set[Sent]]:
    """What Tailback says."""
    try:
        tables = tailback.Scenario.loads(text).run().tables
    except RunFailed as failure:
        _, *told = re.split(r'job "(\w+)" is deadlocked', str(failure))
        ranks = [re.findall(r"rank (\d+): (\d+) of its operations", waiting) for waiting in told[1::2]]
        waits = [{int(rank): int(count) for rank, count in one} for one in ranks]
        return dict(zip(told[::2], waits, strict=True)), set()
    times = {}
    for row in tables["ranks"].to_pylist():
        times[row["job"], row["rank"]] = _ps(row["time_ns"]), _ps(row["communication_ns"])
    rows = tables["messages"].to_pylist()
    ends = ("source", "destination", "flits")
    return times, {Sent(_ps(row["created_ns"]), *(row[end] for end in ends)) for row in rows}


def _ps(ns: float) -> int:
    return round(ns * 1000)


def reference(case: Case, jobs: list[Job], ties: int | None = None) -> tuple[Times | Stuck, set[Sent]]:
    """What the second MPI layer says."""
    world = World(case, jobs, ties)
    world.run()
    times: Times = {}
    stuck: Stuck = {}
    for at, (job, ranks) in enumerate(world.ranks.items()):
        for rank in ranks:
            time = rank.end - job.start
            times[f"job{at}", rank.number] = time, time - rank.computed
            if rank.undone:
                stuck.setdefault(f"job{at}", {})[rank.number] = len(rank.undone)
    if stuck:
        return stuck, set()
    end = max(rank.end for ranks in world.ranks.values() for rank in ranks)
    return times, {row for came, row in world.arrivals if came <= end}


def agrees(case: Case, jobs: list[Job], ties: int = 3) -> bool | None:
    """Whether both say the same; `None` if it depends on the order of what happens at one time."""
    theirs, sent = reference(case, jobs)
    if any(reference(case, jobs, seed) != (theirs, sent) for seed in range(ties)):
        return None
    header = 'workload = "goal"\nunit_ps = 1\ntext = """'
    ours, came = engine(scenario(case, [(job, f'{header}{goal(job)}"""') for job in jobs]))
    told = {key: theirs.get(key) for key in ours}  # of several jobs that are stuck, the first
    return ours == told and sent <= came


def random_job(draw: random.Random, endpoints: list[int]) -> Job:
    """Messages and computing in random order, each with up to three that it waits for."""
    eager = draw.choice([8192, 1000, 1, 20_000])
    mpi = Mpi(
        eager=eager,
        control=draw.choice([64, 1, 500]),
        overhead=draw.choice([10_000, 0, 5003, 1_234_567, 317]),
        delay=draw.choice([3_500_000, 0, 1, 777_777]),
        copy=draw.choice([14_500, 100_000, 1_000_000]),
        local_latency=draw.choice([200_000, 0, 1, 5_000_000]),
        local_bandwidth=draw.choice([80_000, 500, 3333, 1_000_000]),
    )
    each = draw.choice([1, 1, 2, 3])
    places = [endpoint for endpoint in endpoints for _ in range(each)]
    places = places[: len(places) - draw.randrange(each)]
    ranks: list[list[Op]] = [[] for _ in places]
    any_rank, any_tag = draw.choice([0, 0, 0.3, 1]), draw.choice([0, 0, 0.3, 1])
    for _ in range(draw.randint(1, 12)):
        if draw.random() < 0.7:
            source, target, tag = draw.randrange(len(ranks)), draw.randrange(len(ranks)), draw.randint(0, 1)
            size = draw.choice([0, 1, 100, eager - 1, eager, 3000, draw.randint(1, 20_000)])
            ranks[source].append(Op("send", size, target, tag))
            origin, label = draw.random() < any_rank, draw.random() < any_tag
            ranks[target].append(Op("recv", size, ANY if origin else source, ANY if label else tag))
        else:
            time = draw.choice([0, 1, draw.randint(1, 5_000_000), draw.randint(1, 50_000)])
            draw.choice(ranks).append(Op("calc", time))
    cpus = draw.randint(1, 3)
    for ops in ranks:
        if draw.random() < 0.3:
            draw.shuffle(ops)
        for at, op in enumerate(ops):
            before = draw.sample(range(at), min(at, draw.choice([0, 1, 1, 2, 3])))
            ended = draw.choice([len(before), len(before), len(before) // 2])
            waits = tuple(sorted(before[:ended])), tuple(sorted(before[ended:]))
            ops[at] = replace(op, cpu=draw.randrange(cpus), requires=waits[0], irequires=waits[1])
    start = draw.choice([0, 0, draw.randint(1, 10_000_000)])
    aside = random.Random()  # which changes none of the draws that follow
    aside.setstate(draw.getstate())
    pairs = aside.choice([1, 1, 2, 3])
    split = pairs > 1 and aside.choice([True, False])
    slow = tuple(
        (rank, aside.choice([Fraction(3, 2), Fraction(11, 4), Fraction(100)]))
        for rank in range(len(ranks))
        if aside.random() < 0.2
    )
    return Job(tuple(tuple(ops) for ops in ranks), tuple(places), mpi, start, each, pairs, split, slow)


def random_jobs(seed: int) -> tuple[Case, list[Job]]:
    """Up to three jobs beside each other on one or two switches."""
    draw = random.Random(seed)
    endpoints = draw.sample(range(8), draw.randint(2, 8))
    jobs = []
    while endpoints and len(jobs) < 3:
        count = draw.randint(1, len(endpoints))
        jobs.append(random_job(draw, endpoints[:count]))
        endpoints = endpoints[count:]
    links = draw.choice([(), (Link(0, 1, Fraction(100), 20_000),)])
    case = Case(
        hosts=tuple(draw.randrange(len(links) + 1) for _ in range(8)),
        links=links,
        messages=(),
        host_rate=Fraction(draw.choice([100, 400])),
        host_latency=draw.choice([100_001, 1, 1000, 50_000]),
        flit_bits=512,
        packet_max=draw.choice([4, 64]),
        acknowledge=draw.random() < 0.5,
        fifo=draw.random() < 0.2,
    )
    return case, jobs


@pytest.mark.engine
def test_every_rank_ends_when_the_reference_says():
    found = {seed: agrees(*random_jobs(seed)) for seed in range(20)}
    assert [seed for seed, same in found.items() if same is False] == []
    assert sum(same is True for same in found.values()) > 10


PROGRAMS: list[tuple[str, str, Program]] = [
    ("barrier", "", programs.barrier),
    ("broadcast", "", programs.broadcast),
    ("reduce", "", programs.reduce),
    ("alltoall", "pairwise", programs.alltoall),
    ("alltoall", "at-once", programs.alltoall_at_once),
    ("allgather", "ring", programs.allgather_ring),
    ("allgather", "bruck", programs.bruck),
    ("reduce-scatter", "ring", programs.reduce_scatter_ring),
    ("reduce-scatter", "pairwise", programs.reduce_scatter_pairwise),
    ("reduce-scatter", "halving", programs.reduce_scatter_halving),
    ("allreduce", "ring", programs.allreduce_ring),
    ("allreduce", "recursive-doubling", programs.recursive_doubling),
    ("allreduce", "reduce-scatter-allgather", programs.rabenseifner),
    ("ring-exchange", "", programs.ring_exchange),
]


def runs_as_told(
    workload: str, way: str, program: Program, count: int, mpi: Mpi, size: int, each: int
) -> bool | None:
    """Whether a program of so many ranks, so many on each endpoint, run twice, goes as the reference says.

    `None` if it depends on the order of what happens at one time, as it may where ranks share an endpoint.
    """
    case = Case((0,) * 9, (), (), flit_bits=8, packet_max=1024, output_buffer=1024, acknowledge=False)
    ranks = programs.operations(program, count, size, compute=1234, times=2)
    job = Job(tuple(tuple(ops) for ops in ranks), tuple(at // each for at in range(count)), mpi, each=each)
    keys = f'workload = "{workload}"\nranks = {count}\niterations = 2\ncompute = "1234 ps"'
    keys += f'\nmessage = "{size} B"' if workload != "barrier" else ""
    key = f', {workload.replace("-", "_")} = "{way}"' if way else ""
    times, sent = reference(case, [job])
    if each > 1 and any(reference(case, [job], seed) != (times, sent) for seed in range(3)):
        return None
    ours, came = engine(scenario(case, [(job, keys)], key))
    return ours == times and sent <= came


@pytest.mark.engine
@pytest.mark.parametrize(("workload", "way", "program"), PROGRAMS)
def test_collective_operations_take_the_time_of_their_steps(workload, way, program):
    for count in range(1, 10):
        for mpi in (Mpi(), Mpi(eager=100, overhead=7)):
            told = runs_as_told(workload, way, program, count, mpi, 1001, 1)
            assert told, f"{count} ranks, {mpi}"


@pytest.mark.engine
@pytest.mark.parametrize(("workload", "way", "program"), PROGRAMS)
def test_so_they_do_where_three_ranks_share_an_endpoint(workload, way, program):
    found = {count: runs_as_told(workload, way, program, count, Mpi(), 1001, 3) for count in range(1, 10)}
    assert [count for count, same in found.items() if same is False] == []
    assert sum(same is True for same in found.values()) >= 3


def main(count: str, first: str = "0") -> None:
    """Compares many."""
    seeds = range(int(first), int(first) + int(count))
    found = {seed: agrees(*random_jobs(seed), ties=5) for seed in seeds}
    wrong = [seed for seed, same in found.items() if same is False]
    ties = sum(same is None for same in found.values())
    print(f"{len(seeds) - len(wrong) - ties} agree, {ties} depend on the order of ties, wrong: {wrong}")


if __name__ == "__main__":
    main(*sys.argv[1:])
