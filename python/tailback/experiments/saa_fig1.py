"""saa-fig1: the damage of congestion."""

from __future__ import annotations

import numpy as np

from tailback.experiments import saa_two_switches as switches
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.saa_paper import HOLD, PAPER, column
from tailback.figures.tables import series
from tailback.result import Result

RATES = (1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 3, 1 / 3)


def cases(_full: bool) -> list[Case]:
    """Without control, and with explicit rates; without control once more, with sizes that end together."""
    return [
        switches.case("no control", {"kind": "none"}),
        switches.case("SAA", {"kind": "saa", **HOLD}),
        switches.case("no control", {"kind": "none"}, flows=switches.BY_RATE, label="sizes by rate"),
    ]


def rates(result: Result) -> list[float]:
    """Mean rate of each flow until it ended."""
    full = column(result, "flows", "bytes").max()
    shares = column(result, "flows", "bytes") / full
    return [float(rate) for rate in switches.FLOW_MS * shares / switches.ends(result)]


def crossing(result: Result) -> float:
    """Load of the link between the switches while all flows last: all data there less what f5 and f6 take."""
    times, accepted = series(result, "app", "accepted")
    while_all = (times > 200) & (times < 2800)
    both = 2 * switches.FLOW_MS / float(np.mean(switches.ends(result)[4:]))
    sources = len({flow.split()[0] for flow in switches.FLOWS.splitlines()})
    return float(np.mean(accepted[while_all])) * sources - both


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    (none,), (saa,) = data.results(control="no control"), data.results(control="SAA")
    (together,) = data.results(**{"sizes by rate": "no control"})
    early, lasting = rates(none)[4:], rates(together)
    # f1 to f4 last on when f5 and f6 have ended: while all last they are slower than on the whole.
    link = crossing(none)
    explicit = rates(saa)
    known = column(saa, "flows", "link_load_ns") / 1e6
    return [
        hard(
            "no control: f5 and f6 get 1/3, twice what f3 and f4 get",
            ", ".join(f"{rate:.3f}" for rate in early),
            all(abs(rate - 1 / 3) < 0.02 for rate in early),
        ),
        hard(
            "no control: f1 to f4 get 1/6, f5 and f6 1/3, while all six last",
            ", ".join(f"{rate:.3f}" for rate in lasting),
            all(abs(rate - due) < 0.02 for rate, due in zip(lasting, RATES, strict=True)),
            note=(
                "f1 to f4 with half as much to send, so that all last as long: they end after "
                f"{', '.join(f'{end:.3f}' for end in switches.ends(together))} ms."
            ),
        ),
        hard("no control: sw1→sw2 carries 2/3", f"{link:.3f}", abs(link - 2 / 3) < 0.02),
        hard(
            "SAA: all flows get 1/4",
            ", ".join(f"{rate:.3f}" for rate in explicit),
            all(abs(rate - 0.25) < 0.005 for rate in explicit),
            note=f"Sources were told loads of {', '.join(f'{load:.3f}' for load in known)} ms.",
        ),
        value("no control: all flows have ended", "5 ms", switches.phase_ms(none), (4.9, 5.1), "ms"),
        value("SAA: all flows have ended", "4 ms", switches.phase_ms(saa), (3.92, 4.08), "ms"),
    ]


EXPERIMENT = Experiment(
    id="saa-fig1",
    paper=PAPER,
    title="The damage of congestion, and a phase without it",
    setup=switches.SETUP + " Without control once more with flows of 0.5 ms for f1 to f4, not in the figure.",
    cases=cases,
    draw=switches.draw,
    claims=claims,
)
