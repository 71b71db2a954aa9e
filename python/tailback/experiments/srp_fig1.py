"""srp-fig1: what congestion does to a flow that has no part in it."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.lhrp_paper import Times
from tailback.experiments.model import Case, Claim, Data, Experiment, Measure, hard, value
from tailback.experiments.srp_paper import PAPER, TWO_SWITCHES, cost, scenario
from tailback.result import Result
from tailback.stats import Interval

_SENDERS = {"S0": (0, 8), "S1": (1, 9), "S2": (2, 9), "S3": (5, 9), "S4": (6, 9), "S5": (7, 9)}
"""Source and destination by name: D0 is endpoint 8, D1 is 9; S0 to S2 are on the other switch."""


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
        for name, (source, destination) in _SENDERS.items()
    )


def cases(full: bool) -> list[Case]:
    """One network without control."""
    span = Times(1000, 10000 if full else 2000, 0)
    return [
        Case(
            {"protocol": "none", "seed": seed},
            scenario("two switches, no control", "none", traffic(), span, seed, network=TWO_SWITCHES),
            cost(1.0, span, 6),
        )
        for seed in (1, 2, 3)
    ]


def throughput(*names: str) -> Measure:
    """Accepted throughput of senders together, in channels."""

    def measure(result: Result) -> float:
        return sum(float(result.summary["classes"][name]["accepted"]) for name in names)

    return measure


def draw(data: Data) -> Figure:
    """A bar per sender and link."""
    with style.styled():
        figure, (axes,) = style.figure(height=2.6)
        bars = {name: data.mean(throughput(name)) for name in _SENDERS}
        bars["L0"] = data.mean(throughput("S0", "S1", "S2"))
        bars["L1"] = data.mean(throughput("S0"))
        bars["L2"] = data.mean(throughput("S1", "S2", "S3", "S4", "S5"))
        axes.bar(list(bars), [bar.mean for bar in bars.values()], color=style.COLOURS[0])
        axes.set_ylim(0, 1.05)
        axes.set_ylabel("throughput [share of a channel]")
        axes.grid(visible=False, axis="x")
    return figure


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-fig1."""
    senders = {name: data.mean(throughput(name)) for name in _SENDERS}
    links = {
        "L0": data.mean(throughput("S0", "S1", "S2")),
        "L1": senders["S0"],
        "L2": data.mean(throughput("S1", "S2", "S3", "S4", "S5")),
    }
    far = data.mean(throughput("S1", "S2")).scaled(1 / 2)
    near = data.mean(throughput("S3", "S4", "S5")).scaled(1 / 3)
    told = ", ".join(f"{name} {link}" for name, link in links.items())
    found = [
        hard("L2 is fully used", f"{links['L2']}", links["L2"].mean > 0.995),
        hard("L0 and L1 are under-used", told, links["L0"].mean < 0.9 and links["L1"].mean < 0.9),
        hard("S1 and S2 get half of S3, S4, S5", f"{far} and {near}", abs(far.mean / near.mean - 0.5) < 0.05),
    ]
    for names, published in ((("S0", "S1", "S2"), 1 / 8), (("S3", "S4", "S5"), 1 / 4)):
        worst: Interval = max(
            (senders[name] for name in names), key=lambda point: abs(point.mean - published)
        )
        limits = (published - 0.01, published + 0.01)
        found.append(value(f"{', '.join(names)}: farthest from it", f"{published:g} each", worst, limits))
    found.append(value("L0", "3/8", links["L0"], (0.365, 0.385)))
    return found


EXPERIMENT = Experiment(
    id="srp-fig1",
    paper=PAPER,
    title="Congestion reaches a flow that has no part in it",
    setup=(
        "Two switches. S0 to S2 on the first, S3 to S5, D0 and D1 on the second; S0 sends to D0, all others "
        "to D1, at line rate, messages of 16 packets. L0 joins the switches, L1 leads to D0, L2 to D1."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
