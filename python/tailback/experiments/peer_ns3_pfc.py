"""peer-ns3-pfc: pauses at dynamic thresholds, beside the simulator of HPCC's authors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.figure import Figure

from tailback.experiments import ns3
from tailback.experiments.ends import WITHIN, Ends, near
from tailback.experiments.model import Case, Claim, Data, Experiment, value
from tailback.figures import style
from tailback.result import Result
from tailback.scenario import Scenario

PACKETS = 300
"""Of a flow."""
PATTERNS = [name for name, of in ns3.PATTERNS.items() if of.network != "pod" and name != "1 to 1"]
"""Not those of the pod, whose switches share several amounts of memory, nor a flow that meets no other."""
SHARED: Mapping[str, int] = {"star": 7245, "row": 16812}
"""Flits of 2 MiB that 37,500 B and 4096 B for each port leave; in the row, of the switch with the most."""

_SWITCH = {
    "kind": "shared-buffer",
    "arbitration": "age",
    "forwarding": "store-and-forward",
    "input_buffer": "500 flits",
}
"""What waits is counted at the input, and leaves in the order in which it came."""


@dataclass(frozen=True)
class Paused(Ends):
    """When flows end, and for how long endpoints and switches are paused until then."""

    paused: float = 0.0
    """In us, added up; the mean over the seeds."""


THEIRS: Mapping[str, Paused] = {
    "2 to 1": Paused(
        198.7,
        198.8,
        (198.1, 198.5, 198.5, 198.5, 198.6, 198.8, 198.8, 198.8, 198.9, 199.1, 199.1),
        paused=197.0,
    ),
    "4 to 1": Paused(
        394.0,
        395.6,
        (392.6, 392.6, 392.8, 393.0, 393.6, 393.9, 394.2, 394.4, 395.3, 395.7, 395.9),
        paused=1118.9,
    ),
    "8 to 1": Paused(
        780.0,
        789.0,
        (770.5, 770.7, 773.5, 776.1, 778.4, 779.7, 781.7, 784.2, 786.5, 788.8, 789.5),
        paused=5314.6,
    ),
    "16 to 1": Paused(
        1567.6,
        1575.9,
        (1530.8, 1561.0, 1562.8, 1564.7, 1566.3, 1567.9, 1569.6, 1571.2, 1572.7, 1575.6, 1576.2),
        paused=23160.7,
    ),
    "32 to 1": Paused(
        3102.9,
        3150.3,
        (2984.0, 3062.6, 3072.4, 3082.1, 3091.8, 3102.2, 3113.3, 3124.3, 3134.5, 3144.3, 3150.8),
        paused=96167.8,
    ),
    "8 to 1, in turn": Paused(
        566.0,
        643.9,
        (333.6, 346.7, 514.3, 572.8, 579.8, 604.4, 608.3, 621.4, 625.4, 636.5, 668.4),
        paused=3605.4,
    ),
    "row": Paused(
        869.5,
        1071.0,
        (461.0, 477.0, 480.6, 483.2, 1055.7, 1061.5, 1064.8, 1067.2, 1068.8, 1071.3, 1081.0),
        paused=8877.9,
    ),
    "long and short": Paused(
        69.5, 632.1, (21.7, 28.3, 33.7, 37.3, 40.7, 44.6, 48.4, 54.8, 60.5, 70.6, 632.1), paused=600.1
    ),
}
"""By pattern."""


def scenario(name: str, draw: int) -> Scenario:
    """A pattern without a congestion control."""
    control = {
        "kind": "pfc-dynamic",
        "shared": f"{SHARED[ns3.PATTERNS[name].network]} flits",
        "alpha": 0.125,
        "reserve": "82 flits",
        "xon_offset": "31 flits",
    }
    more = {"switch": _SWITCH, "link.flow_control": control, "record.pauses": True}
    return ns3.scenario(name, PACKETS, draw, 'kind = "none"').replace(more)


def paused(result: Result) -> float:
    """For how long endpoints and switches were paused, in us, added up."""
    told = result.tables["pauses"].select(["start_ns", "end_ns"]).to_pylist()
    last = float(result.summary["simulated_ns"])
    ends = (last if row["end_ns"] is None else row["end_ns"] for row in told)
    return sum(end - row["start_ns"] for end, row in zip(ends, told, strict=True)) / 1000


def _cases(full: bool) -> list[Case]:
    return [
        Case({"pattern": name, "draw": number}, scenario(name, number), cost=0.1)
        for name in PATTERNS
        for number in range(1, ns3.DRAWS + 1)
    ]


def _draw(data: Data) -> Figure:
    with style.styled():
        figure, panels = style.figure(2, height=2.4)
        ns3.panels(panels, THEIRS, data)
        panels[-1].set_xlabel("time [of ns-3's last end]")
    return figure


def _claims(data: Data) -> list[Claim]:
    found = []
    for name, theirs in THEIRS.items():
        found += near(name, theirs, data, pattern=name)
        bounds = (round(theirs.paused * (1 - WITHIN), 1), round(theirs.paused * (1 + WITHIN), 1))
        ours = data.mean(paused, pattern=name)
        found.append(value(f"{name}: paused in all", f"{theirs.paused:g} us", ours, bounds, "us"))
    return found


EXPERIMENT = Experiment(
    id="peer-ns3-pfc",
    paper=ns3.PAPER,
    title="Pauses at dynamic thresholds beside the simulator of HPCC's authors",
    setup=(
        f"Flows of {PACKETS} packets of 4100 B at 100 Gb/s over links of 1 us, begun within 1 us, without a "
        "congestion control: 2 to 32 to one, eight that begin 30 us after one another, four over both links "
        "of three switches in a row and four more over each, and one of 1200 packets that 24 of 30 meet at "
        f"times drawn. {ns3.DRAWS} draws of the starts. Switches store and forward; an input may hold an "
        "eighth of what is free of what 37.5 kB of headroom and 4 KiB of its own for each port leave of "
        "2 MiB, and its sender resumes 3 KiB below. A packet counts there when all of it has come, and here "
        "from its head on, which is why an input has two packets of its own here. Added up is for how long "
        "endpoints and switches are paused; how often is not judged: ns-3 gives a packet's room back when it "
        "starts to leave, and here its tail does, so that some pauses are two here, with a packet between "
        "them. How it was run: docs/ns3."
    ),
    cases=_cases,
    draw=_draw,
    claims=_claims,
)
