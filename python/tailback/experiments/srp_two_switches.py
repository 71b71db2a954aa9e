"""The two switches of the SRP paper's Figures 1 and 4: a hot spot, and a flow that shares a link with it."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments.draw import LABELS, grouped_bars, hold, look, seeds_told
from tailback.experiments.model import Case, Data, Measure, Times
from tailback.experiments.srp_paper import TWO_SWITCHES, cost, scenario
from tailback.figures import style
from tailback.result import Result
from tailback.stats import Interval

SETUP = (
    "Two switches. S0 to S2 on the first, S3 to S5, D0 and D1 on the second; S0 sends to D0, all others "
    "to D1, at line rate, messages of 16 packets. L0 joins the switches, L1 leads to D0, L2 to D1. Measured "
    "after 1 ms, for 2 ms (full size: 10 ms), under seeds 1 to 3."
)
SENDERS = {"S0": (0, 8), "S1": (1, 9), "S2": (2, 9), "S3": (5, 9), "S4": (6, 9), "S5": (7, 9)}
"""Source and destination by name: D0 is endpoint 8, D1 is 9; S0 to S2 are on the other switch."""
LINKS = {"L0": ("S0", "S1", "S2"), "L1": ("S0",), "L2": ("S1", "S2", "S3", "S4", "S5")}
"""Who uses a link."""


def traffic() -> str:
    """Every sender at line rate."""
    return "".join(
        f"""
[[traffic]]
name = "{name}"
pattern = "list"
pairs = [[{source}, {destination}]]
load = 1.0
message = "16 packets"
share = true
"""
        for name, (source, destination) in SENDERS.items()
    )


def cases(protocol: str, full: bool) -> list[Case]:
    """The network under a protocol."""
    span = Times(1000, 10000 if full else 2000, 0)
    name = "no control" if protocol == "none" else protocol
    return [
        Case(
            {"protocol": protocol, "seed": seed},
            scenario(f"two switches, {name}", protocol, traffic(), span, seed, network=TWO_SWITCHES),
            cost(1.0, span, 6),
        )
        for seed in (1, 2, 3)
    ]


def throughput(*names: str) -> Measure:
    """Accepted throughput of senders together, in channels."""

    def measure(result: Result) -> float:
        return sum(float(result.summary["classes"][name]["accepted"]) for name in names)

    return measure


def measured(data: Data, protocol: str) -> dict[str, Interval]:
    """Throughput of every sender and link."""
    senders = {name: data.mean(throughput(name), protocol=protocol) for name in SENDERS}
    links = {link: data.mean(throughput(*names), protocol=protocol) for link, names in LINKS.items()}
    return senders | links


def draw(data: Data) -> Figure:
    """A bar per sender and link, for each protocol."""
    kinds = data.values("protocol")
    bars = {LABELS[kind]: list(measured(data, kind).values()) for kind in kinds}
    with style.styled():
        figure, (axes,) = style.figure(height=2.6)
        grouped_bars(axes, [*SENDERS, *LINKS], bars, [look(kind) for kind in kinds])
        hold(axes, 0, 1.05)
        axes.set_xlabel(seeds_told(data))
        axes.set_ylabel("throughput\n[share of a channel]")
        style.legend(figure, axes)
    return figure
