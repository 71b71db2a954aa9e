"""srp-oversub: a network whose own channels are over-subscribed."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments.draw import LABELS, grouped_bars, look, seeds_told
from tailback.experiments.measure import accepted, accepted_per_destination, delivered_latency
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard
from tailback.experiments.srp_paper import FAT_TREE, PAPER, cost, scenario
from tailback.figures import style
from tailback.stats import Interval, mean_interval

_TAPERED = FAT_TREE.replace("arity = 16", "arity = 16\ntaper = 16")
"""One port up per leaf switch, and one spine."""
_BESIDE = {"alone": "alone", "one": "beside one destination", "both": "beside both"}
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
    """The baseline and SRP: the victim alone, beside one destination, and beside both."""
    span = Times(1000, 50000 if full else 10000, 100)
    victim = _flow("victim", [20], 36, 0.4)
    first, second = _flow("first", [16, 64, 80], 0, 0.5), _flow("second", [48, 96, 112], 1, 0.5)
    # At most one sender in the victim's leaf: its port up has 0.9 to carry, and is not the bottleneck.
    beside = {"alone": "", "one": first, "both": first + second}
    return [
        Case(
            {"protocol": protocol, "flows": name, "seed": seed},
            scenario(
                f"two destinations behind one link, {protocol}",
                protocol,
                victim + flows,
                span,
                seed,
                network=_TAPERED,
            ),
            cost(1.0, span, 7),
        )
        for protocol in ("none", "srp")
        for name, flows in beside.items()
        for seed in (1, 2, 3)
    ]


def draw(data: Data) -> Figure:
    """Throughput of the victim, a bar per protocol and case."""
    kinds = data.values("protocol")
    bars = {
        LABELS[kind]: [data.mean(_ACCEPTED, protocol=kind, flows=name).scaled(100) for name in _BESIDE]
        for kind in kinds
    }
    with style.styled():
        figure, (axes,) = style.figure(height=2.6)
        grouped_bars(axes, list(_BESIDE.values()), bars, [look(kind) for kind in kinds])
        axes.set_xlabel(seeds_told(data))
        axes.set_ylabel("throughput of the victim\n[% of its channel]")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    one, both = (_of_alone(data, "srp", flows) for flows in ("one", "both"))
    without = [_of_alone(data, "none", flows).scaled(100) for flows in ("one", "both")]
    time = data.mean(_LATENCY, protocol="srp", flows="both").scaled(1e-3)
    link = sum(
        data.mean(accepted_per_destination(name), protocol="srp", flows="both").mean
        for name in ("first", "second")
    )
    return [
        hard(
            "SRP keeps the victim free of one reserved destination (at least 95 % of alone), and not of two "
            "that share a channel (below 60 %)",
            f"of what it gets alone, the victim gets {one.scaled(100)} % beside one destination and "
            f"{both.scaled(100)} % beside both (at least {time} us per packet); without control "
            f"{without[0]} and {without[1]} %; under SRP the shared channel carries {100 * link:.1f} %",
            one.mean >= 0.95 and both.mean < 0.6,
        )
    ]


def _of_alone(data: Data, protocol: str, flows: str) -> Interval:
    """The victim's throughput over that of the same seed without the flows."""
    own, alone = (data.results(protocol=protocol, flows=each) for each in (flows, "alone"))
    return mean_interval([_ACCEPTED(one) / _ACCEPTED(two) for one, two in zip(own, alone, strict=True)])


EXPERIMENT = Experiment(
    id="srp-oversub",
    paper=PAPER,
    title="Two destinations behind one link",
    setup="A tree with one port up per leaf switch. Endpoints 0 and 1, in leaf 0, each get messages of 16 "
    "packets from three endpoints at 50 %: endpoint 0 from leaves 1, 4 and 5, endpoint 1 from leaves 3, 6 "
    "and 7. Each is over-subscribed, and so is the one channel down to both; no channel up is. The victim "
    "sends from leaf 1 to leaf 2 at 40 %, alone, beside the first destination, and beside both. Measured "
    "after 1 ms, for 10 ms (full size: 50 ms), seeds 1 to 3.",
    cases=cases,
    draw=draw,
    claims=claims,
)
