"""srp-oversub: a network whose own channels are over-subscribed."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments.draw import LABELS, look
from tailback.experiments.lhrp_paper import Times
from tailback.experiments.measure import accepted, accepted_per_destination, delivered_latency
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.experiments.srp_paper import FAT_TREE, PAPER, cost, scenario

_TAPERED = FAT_TREE.replace("arity = 16", "arity = 16\ntaper = 16")
"""One port up per leaf switch, and one spine."""
_ACCEPTED, _LATENCY = accepted("victim"), delivered_latency("victim", "packet")


def _flow(name: str, sources: list[int], to: int, load: float) -> str:
    return f"""
[[traffic]]
name = "{name}"
pattern = "hotspot"
sources = {sources}
destinations = [{to}]
load = {load}
message = "16 packets"
share = true
"""


def cases(full: bool) -> list[Case]:
    """The baseline and SRP, with and without the two flows."""
    span = Times(1000, 10000 if full else 2000, 100)
    victim = _flow("victim", [20], 36, 0.4)
    flows = _flow("first", [16, 17, 18], 0, 1.0) + _flow("second", [48, 49, 50], 1, 1.0)
    return [
        Case(
            {"protocol": protocol, "flows": shared, "seed": seed},
            scenario(
                f"two destinations behind one link, {protocol}",
                protocol,
                victim + (flows if shared else ""),
                span,
                seed,
                network=_TAPERED,
            ),
            cost(1.0, span, 7),
        )
        for protocol in ("none", "srp")
        for shared in (True, False)
        for seed in (1, 2, 3)
    ]


def draw(data: Data) -> Figure:
    """Throughput of the victim, a bar per protocol and case."""
    with style.styled():
        figure, (axes,) = style.figure(height=2.6)
        for protocol in data.values("protocol"):
            for shared, name in ((False, "alone"), (True, "beside both")):
                point = data.mean(_ACCEPTED, protocol=protocol, flows=shared)
                axes.bar(f"{LABELS[protocol]}, {name}", 100 * point.mean, **style.bar(look(protocol)))
        axes.set_ylabel("throughput of the victim\n[% of its channel]")
        axes.grid(visible=False, axis="x")
    return figure


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-oversub."""
    got = {
        (kind, shared): data.mean(_ACCEPTED, protocol=kind, flows=shared).scaled(100)
        for kind in ("none", "srp")
        for shared in (True, False)
    }
    time = data.mean(_LATENCY, protocol="srp", flows=True).scaled(1e-3)
    link = sum(
        data.mean(accepted_per_destination(name), protocol="srp", flows=True).mean
        for name in ("first", "second")
    )
    return [
        hard(
            "SRP does not relieve a channel that two reserved destinations share",
            f"the victim gets {got['srp', True]} % ({time} us) beside both, {got['srp', False]} % alone; "
            f"without control {got['none', True]} %; the shared link carries {100 * link:.1f} %",
            got["srp", True].mean < 0.9 * got["srp", False].mean,
        )
    ]


EXPERIMENT = Experiment(
    id="srp-oversub",
    paper=PAPER,
    title="Two destinations behind one link",
    setup="A tree with one port up per leaf switch. Three endpoints of leaf 1 send to endpoint 0 and three "
    "of leaf 3 to endpoint 1, at line rate: both destinations are in leaf 0. The victim sends from leaf 1 to "
    "leaf 2 at 40 %.",
    cases=cases,
    draw=draw,
    claims=claims,
)
