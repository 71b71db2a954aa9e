"""Random cases for the reference simulator, drawn by a seed."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations

from reference import Simulation
from reference_case import Case, Link, Message, Pauses, Slow, SlowLink
from reference_kns import Kns
from reference_queueing import lanes

NETS: dict[str, tuple[int, list[tuple[int, int]]]] = {
    "star": (1, []),
    "pair": (2, [(0, 1)]),
    "line": (3, [(0, 1), (1, 2)]),
    "tree": (4, [(0, 1), (0, 2), (0, 3)]),
    "triangle": (3, [(0, 1), (1, 2), (0, 2)]),
    "ring": (4, [(0, 1), (1, 2), (2, 3), (0, 3)]),
}

LINES = [Kns(2, 2), Kns(3, 2), Kns(3, 2), Kns(4, 2), Kns(4, 2, 2, 2), Kns(2, 3), Kns(4, 1, 2, 2)]

MOST_VCS = 256
"""Of a port."""


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
        voq=(draw.random() < 0.6,) * 2,
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
        voq=(draw.random() < 0.9,) * 2,
        arbitration=draw.choice(["round-robin", "round-robin", "age"]),
        input_buffer=draw.choice([None, 20 * most, 20 * most, 3 * most]),
        output_buffer=draw.choice([most, 2 * most, 64]),
        packet_max=most,
        acknowledge=draw.random() < 0.3,
    )


def queued_case(kind: str, seed: int) -> Case:
    """A random case with several queues per port, and with their memory divided or shared."""
    draw = random.Random(f"queued {kind} {seed}")
    return with_queues(draw.choice([random_case, random_case, crowded_case])(kind, seed), draw)


def with_queues(case: Case, draw: random.Random) -> Case:
    """Gives a case several queues per port, and divides or shares their memory."""
    queueings = ["single", "voqsw", "voqnet", "dbbm", "dbbq" if case.dims or case.kns else "bbq", "damq"]
    memories = ["vc", "port", "shared"]
    may_share = case.ring != "bubble"
    queueing, queues = draw.choice(queueings[: 5 + may_share]), draw.choice([1, 2, 3, 4])
    per = "shared" if queueing == "damq" else draw.choice(memories[: 2 + may_share])
    voq = draw.random() < 0.7, draw.random() < 0.7
    case = replace(case, queueing=queueing, queues=queues, per=per, voq=voq)
    if case.kind == "cioq" and case.ring != "bubble" and draw.random() < 0.1:
        case = replace(case, speedup=None, voq=(True, True))
    if per != "vc":
        in_use = case.networks * lanes(case) * Simulation(case).levels
        most = case.packet_max * (1 + (case.ring == "bubble"))
        case = replace(case, input_buffer=in_use * most + draw.choice([0, 1, most, 3 * most + 1, 40 * most]))
    return case


def lattice_case(kind: str, seed: int) -> Case:
    """Dimension order on a small HyperX or torus, in one order or in two with a virtual network for each.

    In rings of odd length there is one shortest way.
    """
    draw = random.Random(f"lattice {kind} {seed}")
    case = random_case(kind, seed)
    ring = draw.choice([None, None, "date-line", "bubble" if case.has_crossbar else "date-line"])
    dims = draw.choice([(5, 1), (5, 1), (5, 3), (3, 5)] if ring else [(2, 2), (3, 2), (2, 3)])
    orders = draw.choice([(), ("xy", "yx"), ("yx", "xy"), ("yx",)])
    weighs = len(orders) > 1 and draw.random() < 0.5
    case = replace(case, dims=dims, orders=orders, weighs=weighs, fifo=case.fifo or weighs)
    case = replace(case, levels=False, ring=ring)
    count, each, latency = dims[0] * dims[1], draw.choice([1, 2]), draw.choice([0, 1000, 10_000])
    hosts = tuple(at for at in range(count) for _ in range(each))
    links = tuple(
        Link(a, b, case.host_rate, latency)
        for dim in (0, 1)
        for a, b in combinations(range(count), 2)
        if case.joins(a, b, dim)
    )
    case = replace(case, hosts=hosts, links=links, messages=_folded(case, len(hosts)))
    if ring == "bubble":
        case = in_whole_packets(case)
    return with_queues(case, draw)


def kns_case(kind: str, seed: int) -> Case:
    """Dimension order on a small KNS network, in one order or several."""
    draw = random.Random(f"kns {kind} {seed}")
    case = random_case(kind, seed)
    net = draw.choice(LINES)
    several = [(), ("xy", "yx"), ("yx", "xy"), ("yx",)]
    orders = draw.choice([[()], several, [*several[:2], ("zx", "y", "xyz"), ("zyx", "xyz")]][net.n - 1])
    weighs = len(orders) > 1 and draw.random() < 0.5
    rates, latencies = [case.host_rate, Fraction(200)], [0, 1000, 10_000]
    classes = [(draw.choice(rates), draw.choice(latencies)) for _ in range(net.n)]
    case = replace(case, kns=net, orders=orders, weighs=weighs, fifo=case.fifo or weighs, levels=False)
    case = replace(case, hosts=net.hosts, links=net.links(classes), messages=_folded(case, len(net.hosts)))
    return with_queues(case, draw)


def _folded(case: Case, count: int) -> tuple[Message, ...]:
    """The messages of a case among so many endpoints."""
    ends = [(one, one.source % count, one.destination % count) for one in case.messages]
    messages = [replace(one, source=a, destination=b) for one, a, b in ends if a != b]
    return tuple(messages) or (Message(0, 1, case.packet_max, 0),)


def in_whole_packets(case: Case) -> Case:
    """The case with packets of one length, and with room for two of them, as bubbles need."""
    most = case.packet_max
    messages = tuple(replace(one, flits=-(-one.flits // most) * most) for one in case.messages)
    input_buffer = case.input_buffer and max(case.input_buffer, 2 * most)
    output_buffer = max(case.output_buffer, 2 * most)
    return replace(case, messages=messages, input_buffer=input_buffer, output_buffer=output_buffer)


def graded_case(kind: str, seed: int) -> Case:
    """A case whose messages have two or three priorities."""
    draw = random.Random(f"graded {kind} {seed}")
    case, which = (
        draw.choice([random_case, crowded_case, lattice_case])(kind, seed),
        draw.choice([(0, 1), (2, 0, 7)]),
    )
    case = replace(case, per="vc", queueing="single")
    messages = tuple(replace(message, priority=draw.choice(which)) for message in case.messages)
    case = with_queues(replace(case, messages=messages), draw)
    if Simulation(case).vcs > MOST_VCS:
        case = replace(case, queueing="single")
    return replace(case, interleave=case.has_crossbar and draw.random() < 0.2)


def paired_case(kind: str, seed: int) -> Case:
    """A case whose messages take several queue pairs in turn, with priorities or without."""
    draw = random.Random(f"paired {kind} {seed}")
    case = draw.choice([random_case, crowded_case, queued_case, lattice_case, graded_case])(kind, seed)
    return replace(case, queue_pairs=draw.choice([2, 3, 5]))


def paused_case(kind: str, seed: int) -> Case:
    """A case whose senders are paused, and do not count what fits."""
    draw = random.Random(f"paused {kind} {seed}")
    makers = [random_case, crowded_case, queued_case, lattice_case, kns_case, graded_case]
    return with_pauses(draw.choice(makers)(kind, seed), draw)


def with_pauses(case: Case, draw: random.Random) -> Case:
    """Pauses the senders of a case at random thresholds."""
    case = replace(case, interleave=False, weighs=False)  # which go by credits
    if case.ring == "bubble":  # which goes by credits
        case = replace(case, ring="date-line")
        if Simulation(case).vcs > MOST_VCS:
            case = replace(case, queueing="single")
    most = case.packet_max
    xoff = draw.choice([0, 1, most, 2 * most + 1, 5 * most, 20 * most])
    xon = draw.choice([None, 0, xoff, draw.randint(0, xoff)])
    response = draw.choice([0, 0, 1000, 7000, 30_000])
    pauses = Pauses(xoff, xon, response)
    case = replace(case, pauses=pauses)
    links = [(case.host_rate, case.host_latency), *((link.rate, link.latency) for link in case.links)]
    room = xoff + max(case.headroom(*link) for link in links) + draw.choice([0, 0, 3, 20 * most])
    if draw.random() < 0.2:
        pauses = replace(pauses, xoff=None, xon=None)
    if case.per != "vc":
        room *= case.networks * lanes(case) * Simulation(case).levels
    other = aside(draw)
    if other.random() < 0.5:
        shared = other.choice([0, 1, most, 5 * most, 30 * most, 200 * most])
        alpha, offset = other.choice([0.1, 0.125, 0.5, 1.0, 3.0]), other.choice([None, 0, 1, 3 * most])
        pauses = replace(pauses, xon=None, shared=shared, alpha=alpha, offset=offset)
    return replace(case, pauses=pauses, input_buffer=room)


def slow_case(kind: str, seed: int) -> Case:
    """A case some of whose endpoints are slow at times, and some of whose links."""
    draw = random.Random(f"slow {kind} {seed}")
    makers = [random_case, crowded_case, queued_case, lattice_case, kns_case, graded_case, paused_case]
    case = with_slow(draw.choice(makers)(kind, seed), draw)
    return with_slow_links(replace(case, slow=draw.choice([(), case.slow])), draw)


def with_slow(case: Case, draw: random.Random) -> Case:
    """Makes some endpoints of a case slow for some time, often those that get much."""
    receivers, slow = [message.destination for message in case.messages], []
    for _ in range(draw.randint(1, 4)):
        rate, start, stop = _spell(case, draw)
        members = {draw.choice(receivers), draw.randrange(len(case.hosts))}
        one = Slow(tuple(sorted(members)), rate, start, draw.choice([None, stop]))
        keeps_tick = case.protocol is None or replace(case, slow=(one,)).tick == case.tick
        slow.append(one if rate and keeps_tick else replace(one, rate=None, stop=stop))
    return replace(case, slow=tuple(slow), interleave=False)


def with_slow_links(case: Case, draw: random.Random) -> Case:
    """Makes some links of a case slow for some time."""
    slow, pairs = [], sorted({(min(link.a, link.b), max(link.a, link.b)) for link in case.links})
    for _ in range(draw.randint(1, 4)):
        rate, start, stop = _spell(case, draw)
        host = (draw.randrange(len(case.hosts)),)
        ends = draw.choice([host, draw.choice(pairs)]) if pairs else host
        one = SlowLink(ends, rate, start, draw.choice([None, stop]))
        keeps_tick = case.protocol is None or replace(case, slow_links=(one,)).tick == case.tick
        slow.append(one if rate and keeps_tick else replace(one, rate=None, stop=stop))
    return replace(case, slow_links=tuple(slow), interleave=False)


def _spell(case: Case, draw: random.Random) -> tuple[Fraction | None, int, int]:
    """A rate, a start and a stop. Protocols have been drawn by the tick, which not all rates keep."""
    last = max(message.start for message in case.messages) + 5_000_000
    start = draw.choice([0, draw.randint(0, last)])
    length = draw.choice([1000, 12_345, 100_000, 2_000_000, draw.randint(1, 20_000_000)])
    rate = draw.choice([None, None, Fraction(5), Fraction(20), Fraction(33), Fraction(200)])
    return rate, start, start + length


def stored_case(kind: str, seed: int) -> Case:
    """A case whose switches store packets and forward them."""
    draw = random.Random(f"stored {kind} {seed}")
    makers = [
        random_case,
        crowded_case,
        queued_case,
        lattice_case,
        kns_case,
        graded_case,
        paused_case,
        slow_case,
    ]
    return replace(draw.choice(makers)(kind, seed), stores=True, interleave=False)


def interleaved_case(kind: str, seed: int) -> Case:
    """A case whose control packets go between the flits of others."""
    make = random.Random(f"interleaved {kind} {seed}").choice([random_case, queued_case, lattice_case])
    case = make(kind, seed)
    return replace(case, interleave=case.has_crossbar)


def windowed_case(kind: str, seed: int) -> Case:
    """A random case with acknowledgements, most of whose messages go to one endpoint."""
    return windowed(random_case(kind, seed), random.Random(f"windowed {kind} {seed}"))


def windowed(case: Case, draw: random.Random) -> Case:
    """Gives a case acknowledgements, and has most of its messages go to one endpoint.

    Some come after a time in which send queues were silent. In most there is room to wait in switches.
    """
    messages = list[Message]()
    most, longest = case.packet_max, draw.choice([5, 30, 60])
    hot, often = draw.randrange(len(case.hosts)), draw.choice([0, 0.5, 0.9])
    for one in case.messages[: draw.choice([4, 8, 16])]:
        flits = draw.choice([one.flits, draw.randint(1, longest * most), longest * most])
        start = one.start + draw.choice([0, 0, 0, 500_000, draw.randint(0, 3_000_000)])
        destination = hot if hot != one.source and draw.random() < often else one.destination
        messages.append(Message(one.source, destination, flits, start))
    if draw.random() < 0.7:
        case = replace(case, input_buffer=draw.choice([None, 100 * most]), output_buffer=50 * most)
    if draw.random() < 0.5:
        short = tuple(replace(link, latency=link.latency % 7000) for link in case.links)
        case = replace(case, links=short, host_latency=case.host_latency % 7000)
    return replace(case, messages=tuple(messages), acknowledge=True, fifo=False)


def round_trip(case: Case) -> int:
    """The longest time of a largest packet and its acknowledgement in the empty network."""
    is_large = case.dims is not None or case.kns is not None
    times, step = list[int](), max(1, len(case.hosts) // 3) if is_large else 1  # of many, some
    for source, destination in permutations(range(0, len(case.hosts), step), 2):
        alone = replace(case, messages=(Message(source, destination, case.packet_max, 0),), acknowledge=True)
        times.append(max(row.tail for row in Simulation(replace(alone, protocol=None)).run()))
    return max(times)


def aside(draw: random.Random) -> random.Random:
    """Draws that change none of those that follow: cases that once differed stay what they are."""
    other = random.Random()
    other.setstate(draw.getstate())
    return other
