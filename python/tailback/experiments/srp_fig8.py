"""srp-fig8: packet latency under uniform traffic of 4-packet messages."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import OFFERED, curves, finish, protocol_lines
from tailback.experiments.measure import ejection_share, latency
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER, kinds
from tailback.stats import mean_interval

_LATENCY = latency("uniform", "packet")


def cases(full: bool) -> list[Case]:
    """Every protocol at every load."""
    return [
        uniform.case(protocol, load, full, seed=seed)
        for protocol in kinds()
        for load in uniform.loads(full)
        for seed in uniform.seeds(full, 2)
    ] + uniform.rules()


def draw(data: Data) -> Figure:
    """Packet latency over load, a line per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        curves(axes, data, _LATENCY, "load", protocol_lines(data), 1e-3)
        axes.set_yscale("log")
        return finish(figure, axes, OFFERED, "mean packet latency [us]", "saturated latencies are not drawn")


def extra(data: Data, protocol: str) -> dict[float, float]:
    """Latency over the baseline's by load, in percent, as long as neither is saturated; seed by seed."""
    found = {}
    for load in data.values("load", protocol=protocol):
        own, base = (data.results(protocol=kind, load=load) for kind in (protocol, "none"))
        pairs = zip(own, base, strict=True)
        found[load] = mean_interval([100 * (_LATENCY(one) / _LATENCY(two) - 1) for one, two in pairs]).mean
    return {load: more for load, more in found.items() if more == more}


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


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-fig8."""
    srp, ecn = extra(data, "srp"), extra(data, "ecn")
    top = max(srp, key=lambda load: srp[load])
    told = ", ".join(f"{load:.0%}: {more:+.1f} %" for load, more in srp.items())
    low = [more for load, more in srp.items() if load <= 0.4]
    last = srp[max(srp)]
    why = uniform.why_dropped(data)
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
            "SRP's extra rises, then vanishes as the baseline saturates", told, last < srp[top] / 2, cause=why
        ),
        hard(
            "ECN's latency is the baseline's (within 5 % up to 90 %)",
            f"farthest: {apart[worst]:+.1f} % at {worst:.0%}",
            abs(apart[worst]) <= 5,
            cause=why_delayed(data, worst),
        ),
        value("SRP's largest extra latency", "25 %", mean_interval([srp[top]]), (10, 40), "%", cause=why),
        value(
            "load of that largest extra", "near 85 %", mean_interval([100 * top]), (75, 92), "%", cause=why
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-fig8",
    paper=PAPER,
    title="Packet latency under uniform traffic",
    setup=uniform.SETUP.format("4-packet messages"),
    cases=cases,
    draw=draw,
    claims=claims,
)
