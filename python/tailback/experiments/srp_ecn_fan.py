"""srp-ecn-fan: how long ECN and SRP take to deal with hot spots of more and fewer senders."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments.draw import LABELS, Line
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.srp_fig7 import over_time
from tailback.experiments.srp_hotspot import LATENCY, onset, phases, recovery_ms
from tailback.experiments.srp_paper import PAPER

_SENDERS = (10, 20, 40)
_KINDS = ("ecn", "srp")


def cases(full: bool) -> list[Case]:
    """ECN and SRP with each number of senders."""
    return [
        onset(protocol, seed, full, senders=senders)
        for protocol in _KINDS
        for senders in _SENDERS
        for seed in range(1, 21 if full else 5)
    ]


def draw(data: Data) -> Figure:
    """The background over time, a line per protocol and number of senders."""
    pairs = [(protocol, senders) for protocol in _KINDS for senders in _SENDERS]
    return over_time(
        data,
        [
            Line(f"{LABELS[protocol]}, {senders}:1", number, {"protocol": protocol, "senders": senders})
            for number, (protocol, senders) in enumerate(pairs)
        ],
    )


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-ecn-fan."""
    times = {senders: recovery_ms(data, protocol="ecn", senders=senders) for senders in _SENDERS}
    steps = {senders: phases(data.results(protocol="srp", senders=senders), LATENCY) for senders in _SENDERS}
    return [
        hard(
            "ECN takes longer to recover from more senders",
            ", ".join(f"{senders}:1 {time:.2f} ms" for senders, time in times.items()),
            times[10] < times[20] < times[40],
        ),
        hard(
            "SRP shows no step with any number of senders",
            ", ".join(
                f"{senders}:1 {step.before / 1e3:.2f} us before, {step.largest / 1e3:.2f} us at most after"
                for senders, step in steps.items()
            ),
            all(step.largest < 1.25 * step.before for step in steps.values()),
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-ecn-fan",
    paper=PAPER,
    title="Recovery by number of senders",
    setup="As srp-fig7, with 10, 20 and 40 senders.",
    cases=cases,
    draw=draw,
    claims=claims,
)
