"""srp-fig8: packet latency under uniform traffic of 4-packet messages."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import OFFERED, curve, finish, protocol_lines
from tailback.experiments.measure import delivered_latency, ejection_share, is_saturated, latency
from tailback.experiments.model import Case, Claim, Data, Experiment, Measure, hard, value
from tailback.experiments.srp_paper import PAPER, PROTOCOLS
from tailback.figures import style
from tailback.stats import mean_interval

_LATENCY, _DELIVERED = latency("uniform", "packet"), delivered_latency("uniform", "packet")
_SATURATED = is_saturated("uniform", "packet")


def cases(full: bool) -> list[Case]:
    """Every protocol at every load."""
    return [
        uniform.case(protocol, load, full, seed=seed)
        for protocol in PROTOCOLS
        for load in uniform.loads(full)
        for seed in uniform.seeds(full, 2)
    ] + uniform.rules()


def draw(data: Data) -> Figure:
    """Packet latency over load, a line per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        for line in protocol_lines(data):
            loads, points = data.curve(_DELIVERED, "load", **line.where)
            _, saturated = data.curve(_SATURATED, "load", **line.where)
            curve(
                axes,
                [100 * load for load in loads],
                [point.scaled(1e-3) for point in points],
                line.label,
                line.number,
                [point.mean > 0 for point in saturated],
            )
        style.logarithmic(axes, "y")
        note = "hollow: saturated; of what arrived, a lower bound"
        return finish(figure, axes, OFFERED, "mean packet latency [us]", note)


def extra(data: Data, protocol: str) -> dict[float, float]:
    """Latency over the baseline's by load, in percent; seed by seed.

    Where the baseline is saturated, its latency is that of what arrived: what did not takes longer than the
    100 us after the window, and longer than the mean. So its own is higher, and the extra an upper bound.
    Loads at which the protocol itself is saturated are left out.
    """
    return _over(data, protocol, _LATENCY, _DELIVERED)


def _over(data: Data, protocol: str, of: Measure, to: Measure) -> dict[float, float]:
    """A measure over one of the baseline by load, in percent, where both are finite."""
    found = {}
    for load in data.values("load", protocol=protocol):
        own, base = (data.results(protocol=kind, load=load) for kind in (protocol, "none"))
        pairs = zip(own, base, strict=True)
        found[load] = mean_interval([100 * (of(one) / to(two) - 1) for one, two in pairs]).mean
    return {load: more for load, more in found.items() if more == more}


def saturated(data: Data, load: float) -> bool:
    """Whether the baseline is saturated at a load, under any seed."""
    return data.mean(_SATURATED, protocol="none", load=load).mean > 0


def why_delayed(data: Data, load: float) -> str:
    """Where packets wait for longer under ECN than in the baseline."""

    def more(kind: str) -> float:
        own, base = (
            data.mean(latency("uniform", kind), protocol=protocol, load=load).mean
            for protocol in ("ecn", "none")
        )
        return (own - base) / 1000

    told = data.mean(ejection_share("notification"), protocol="ecn", load=load).mean
    return (
        f"Of the {more('packet'):.1f} us more at {load:.0%}, {more('network'):.1f} us are in the network; "
        "the rest is waiting at the source, for the delays that notifications add: queues pass the threshold "
        f"there without any hot spot, and notifications take {told * 100:.2f} % of the ejection channels."
    )


def why_later(data: Data) -> str:
    """Which packets come later under SRP, and which do not."""
    whole, network = (
        _over(data, "srp", latency("uniform", kind), latency("uniform", kind))
        for kind in ("message", "network")
    )
    told = ", ".join(f"{load:.0%}: {more:+.1f} %" for load, more in whole.items())
    top = max(whole, key=lambda load: whole[load])
    times = [more for load, more in network.items() if load in whole]
    return (
        "Whole messages come less late than their packets. Mean message latency over the baseline's: "
        f"{told}. (Section 5.4 and its figure say latency and no more, section 5.3 packet latency, which is "
        f"judged; by that of messages the largest extra would be {whole[top]:+.1f} % at {top:.0%}.) So "
        "mostly the packets before the last come later: those that speculation has not carried "
        "wait at the source for the granted time, while the baseline sends them and queues in the network "
        "spread them. The time that packets spend in the network differs from the baseline's by "
        f"{min(times):+.1f} to {max(times):+.1f} %. {uniform.why_dropped(data)}"
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    srp, ecn = extra(data, "srp"), extra(data, "ecn")
    top = max(srp, key=lambda load: srp[load])
    told = ", ".join(
        f"{load:.0%}: {'at most ' if saturated(data, load) else ''}{more:+.1f} %"
        for load, more in srp.items()
    )
    rising = all(srp[two] > srp[one] for one, two in pairwise(load for load in srp if load <= top))
    low = [more for load, more in srp.items() if load <= 0.4]
    beyond = [more for load, more in srp.items() if saturated(data, load)]
    why = partial(why_later, data)
    apart = {load: more for load, more in ecn.items() if load <= 0.9}
    worst = max(apart, key=lambda load: abs(apart[load]))
    return [
        hard(
            "SRP's latency is the baseline's at low load (within 5 %)",
            told,
            max(map(abs, low)) <= 5,
            cause=why,
        ),
        hard(
            "SRP's extra rises, then vanishes as the baseline saturates (within 5 %)",
            told,
            rising and bool(beyond) and max(beyond) <= 5,
            note="Where the baseline is saturated, against the latency of what of its packets arrived, a "
            "lower bound of its own.",
            cause=why,
        ),
        hard(
            "ECN's latency is the baseline's (within 5 % up to 90 %)",
            f"farthest: {apart[worst]:+.1f} % at {worst:.0%}",
            abs(apart[worst]) <= 5,
            cause=lambda: why_delayed(data, worst),
        ),
        value("SRP's largest extra latency", "25 %", srp[top], (10, 40), "%", cause=why),
        value("load of that largest extra", "near 85 %", 100 * top, (75, 92), "%", cause=why),
    ]


EXPERIMENT = Experiment(
    id="srp-fig8",
    paper=PAPER,
    title="Packet latency under uniform traffic",
    setup=uniform.SETUP.format("4-packet messages") + " Seeds 1 and 2 (full size: 1 to 3).",
    cases=cases,
    draw=draw,
    claims=claims,
)
