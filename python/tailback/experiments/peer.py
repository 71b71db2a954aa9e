"""What the comparisons with BookSim2 share: its router as a scenario, and how near to it ours must come."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from matplotlib.figure import Figure

from tailback.experiments.draw import OFFERED, curve, finish, hold
from tailback.experiments.measure import accepted, latency
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.figures import style
from tailback.scenario import Scenario
from tailback.stats import Interval

_SOURCE = (
    "N. Jiang and others, “A detailed and flexible cycle-accurate network-on-chip simulator” (BookSim2), "
    "ISPASS 2013; its curves were measured with runs of our own"
)
_ACCEPTED, _LATENCY = accepted("uniform"), latency("uniform", "packet")
_NEAR, _FAR = (0.6, 0.03), (0.85, 0.10)
"""Up to this part of saturation, latencies must agree to this part."""


@dataclass(frozen=True)
class Peer:
    """A network, and BookSim2's packet latency in cycles by offered load (flits per cycle and endpoint)."""

    network: str
    flits: int
    """In a packet."""
    buffer: int
    """Flits of a VC at an input."""
    latency: Mapping[float, float]
    saturation: float
    """The highest load that BookSim2 accepts."""
    beyond: tuple[float, ...]
    """Loads past saturation."""
    cycles: tuple[int, int]
    """Warm-up and window of a reduced run."""


_ROUTER = """
[switch]
kind = "cioq"
speedup = 2
voq = false
input_buffer = "{buffer} flits"
output_buffer = "1000 flits"
pipeline = "2 ns"

[link]
bandwidth = "100 Gb/s"
latency = "0 ns"
host = "0.5 ns"

[packet]
flit = "100 b"
max = "{flits} flits"

[endpoint]
queues = "fifo"
acknowledge = false

[[traffic]]
name = "uniform"
pattern = "uniform"
self = true
load = {load}
message = "{flits} flits"

[run]
warmup = "{warmup} ns"
duration = "{duration} ns"
seed = {seed}
"""


def _cases(peer: Peer) -> Callable[[bool], list[Case]]:
    """Every load that BookSim2 was run at. A flit takes 1 ns on a channel, so that a cycle is a nanosecond.

    BookSim2's router takes two cycles from the arrival of a head to the start of the link (the pipeline); its
    link of one cycle is our flit time without latency; its injection takes a cycle more than ours: the 0.5 ns
    of the host links at both ends.
    """

    def listed(full: bool) -> list[Case]:
        warmup, duration = (span * (4 if full else 1) for span in peer.cycles)
        return [
            Case(
                {"load": load, "seed": seed},
                Scenario.loads(
                    f'title = "BookSim2\'s network, load {load}"\n{peer.network}'
                    + _ROUTER.format(
                        flits=peer.flits,
                        buffer=peer.buffer,
                        load=load,
                        warmup=warmup,
                        duration=duration,
                        seed=seed,
                    )
                ),
                cost=5.0 * load * (4 if full else 1),
            )
            for load in (*peer.latency, *peer.beyond)
            for seed in ((1, 2, 3) if full else (1, 2))
        ]

    return listed


def _draw(peer: Peer) -> Callable[[Data], Figure]:
    """Packet latency over offered load, ours and BookSim2's."""

    def drawn(data: Data) -> Figure:
        with style.styled():
            figure, (axes,) = style.figure()
            loads = list(peer.latency)
            ours = [data.mean(_LATENCY, load=load) for load in loads]
            percent = [100 * load for load in loads]
            curve(axes, percent, ours, "Tailback", 0)
            theirs = [Interval(mean, math.nan, 1) for mean in peer.latency.values()]
            curve(axes, percent, theirs, "BookSim2", 1)
            axes.axvline(100 * peer.saturation, color="#777777", linewidth=0.8)
            hold(axes)
            note = "grey: BookSim2's highest accepted load"
            finish(figure, axes, OFFERED, "packet latency [cycles]", note)
        return figure

    return drawn


def _claims(peer: Peer) -> Callable[[Data], list[Claim]]:
    """Latency within 3 % up to 60 % of saturation, 10 % up to 85 %; saturation at most 2 points below."""

    def judged(data: Data) -> list[Claim]:
        found = []
        for load, theirs in peer.latency.items():
            part, within = _NEAR if load <= _NEAR[0] * peer.saturation else _FAR
            if load <= part * peer.saturation:
                ours = data.mean(_LATENCY, load=load)
                bounds = (theirs * (1 - within), theirs * (1 + within))
                found.append(value(f"latency at load {load:g}", f"{theirs:g} cycles", ours, bounds, "cycles"))
        most = max(
            (data.mean(_ACCEPTED, load=load) for load in (*peer.latency, *peer.beyond)),
            key=lambda point: point.mean,
        )
        told = f"{most.scaled(100)} %, BookSim2 {100 * peer.saturation:.1f} %"
        found.append(
            hard("saturation at most two points below BookSim2's", told, most.mean >= peer.saturation - 0.02)
        )
        return found

    return judged


def experiment(name: str, title: str, setup: str, peer: Peer) -> Experiment:
    """The comparison on a network."""
    return Experiment(name, _SOURCE, title, setup, _cases(peer), _draw(peer), _claims(peer))
