"""saa-svc: an injection scheme that lets the flows of a source burst together."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments import saa_injection as injection
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.saa_paper import PAPER

KINDS = ("periodic-selection", "shaped-virtual-clock")
BUFFERS = (2, 4, 8)


def cases(full: bool) -> list[Case]:
    """Both schemes; the runs of the first are those of saa-table1."""
    return [case for kind in KINDS for case in injection.cases(kind, full, BUFFERS)]


def draw(data: Data) -> Figure:
    """Both schemes beside each other."""
    return injection.draw(data, KINDS, BUFFERS)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row saa-svc."""
    pairs = {
        (count, packets): [injection.ratio(data, kind, count, packets) for kind in KINDS]
        for count in injection.COUNTS
        for packets in BUFFERS
    }
    told = "; ".join(
        f"{packets} packets: " + ", ".join(f"{pairs[n, packets][1].mean:.2f}" for n in injection.COUNTS)
        for packets in BUFFERS
    )
    # A difference inside the noise of the phases is none.
    worse = [key for key, (ps, svc) in pairs.items() if svc.mean > ps.mean + max(0.02, ps.half, svc.half)]
    where = ", ".join(f"{n} flows and {packets} packets" for n, packets in worse)
    text = "its ratio is at most that of periodic selection"
    return [
        hard(text, f"n = 1 to 5, {told}", not worse, note=f"More at {where}." if where else "", cause=CAUSE)
    ]


CAUSE = ""

EXPERIMENT = Experiment(
    id="saa-svc",
    paper=PAPER,
    title="Shaped Virtual Clock lets bursts of a source pass",
    setup="As saa-table1, with periodic selection and with Shaped Virtual Clock at the sources.",
    cases=cases,
    draw=draw,
    claims=claims,
)
