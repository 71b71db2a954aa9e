"""saa-window: a window of one packet does not keep congestion from spreading."""

from __future__ import annotations

from tailback.experiments import saa_two_switches as switches
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.saa_paper import PAPER

BUFFERS = (1, 2, 4, 8)


def cases(_full: bool) -> list[Case]:
    """A one-packet window with small and with larger buffers."""
    return [
        switches.case(
            f"window of 1 packet, buffers of {packets}",
            {"kind": "none", "window": 1},
            acknowledge=True,
            buffer=packets,
        )
        for packets in BUFFERS
    ]


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    times = {
        packets: switches.phase_ms(data.results(control=f"window of 1 packet, buffers of {packets}")[0])
        for packets in BUFFERS
    }
    told = ", ".join(f"{time:.2f} ms with {packets}" for packets, time in times.items())
    small = [times[packets] for packets in BUFFERS if packets <= 2]
    return [
        hard(
            "with small buffers congestion spreads all the same",
            told,
            all(time > 4.08 for time in small),
            note=(
                "4 ms is the best on these routes, 5 ms what no control takes; small is what the windows of "
                "the two flows that meet at d2 fill, 1 or 2 packets, and 2 % over 4 ms is the tolerance of "
                "Figure 1. Larger buffers hold both windows, and nothing spreads: with two flows only."
            ),
        )
    ]


EXPERIMENT = Experiment(
    id="saa-window",
    paper=PAPER,
    title="A window of one packet is still too large",
    setup=switches.SETUP + " Each source waits for the acknowledgement of a packet before the next.",
    cases=cases,
    draw=switches.draw,
    claims=claims,
)
