"""srp-ecn-fan: how long ECN and SRP take to deal with hot spots of more and fewer senders."""

from __future__ import annotations

import math

from matplotlib.figure import Figure

from tailback.experiments.draw import LABELS, Line, look
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.srp_fig7 import no_step, over_time
from tailback.experiments.srp_hotspot import ACCEPTED, LATENCY, onset, phases, recovery_ms, seeds
from tailback.experiments.srp_paper import PAPER

_SENDERS = (10, 20, 40)
_KINDS = ("ecn", "srp")


def cases(full: bool) -> list[Case]:
    """ECN and SRP with each number of senders."""
    return [
        onset(protocol, seed, full, senders=senders)
        for protocol in _KINDS
        for senders in _SENDERS
        for seed in seeds(full)
    ]


def draw(data: Data) -> Figure:
    """The background over time, a line per protocol and number of senders."""
    return over_time(
        data,
        [
            Line(f"{LABELS[kind]}, {senders}:1", look(kind), {"protocol": kind, "senders": senders}, at)
            for kind in _KINDS
            for at, senders in enumerate(_SENDERS)
        ],
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    times = {senders: recovery_ms(data.results(protocol="ecn", senders=senders)) for senders in _SENDERS}
    srp = {senders: data.results(protocol="srp", senders=senders) for senders in _SENDERS}
    steps = {f"{senders}:1": (phases(runs, LATENCY), phases(runs, ACCEPTED)) for senders, runs in srp.items()}
    return [
        hard(
            "ECN takes longer to recover from more senders",
            ", ".join(f"{senders}:1 {time:.2f} ms" for senders, time in times.items()),
            times[10] < times[20] < times[40] < math.inf,
        ),
        no_step("SRP shows no step with any number of senders", steps),
    ]


EXPERIMENT = Experiment(
    id="srp-ecn-fan",
    paper=PAPER,
    title="Recovery by number of senders",
    setup="As srp-fig7, times and seeds too, with 10, 20 and 40 senders.",
    cases=cases,
    draw=draw,
    claims=claims,
)
