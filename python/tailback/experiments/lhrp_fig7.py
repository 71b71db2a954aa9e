"""lhrp-fig7: uniform traffic of 4-flit messages, which needs no congestion control: what a protocol costs."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import lhrp_uniform
from tailback.experiments.draw import LABELS, OFFERED, curve, finish, look
from tailback.experiments.lhrp_paper import PAPER, PROTOCOLS, SPANS
from tailback.experiments.measure import accepted, latency, per_packet
from tailback.experiments.model import Case, Claim, Data, Experiment, Search, hard, unjudged, value
from tailback.saturation import Saturation
from tailback.stats import Interval


def searches(full: bool) -> list[Search]:
    """The saturation of every protocol."""
    return [lhrp_uniform.search(kind, full, lhrp_uniform.brackets(kind)) for kind in PROTOCOLS]


def draw(data: Data) -> Figure:
    """Message latency over offered load, a line per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        for protocol in data.values("protocol"):
            loads, points = data.curve(latency("uniform", "message"), "load", protocol=protocol)
            shown = [point.scaled(1e-3) for point in points]
            curve(axes, [100 * load for load in loads], shown, LABELS[protocol], look(protocol))
            found = data.saturation(protocol=protocol)
            if found:
                axes.axvline(100 * found.load, linewidth=0.8, **style.line(look(protocol)))
        axes.set_yscale("log")
        finish(
            figure,
            axes,
            OFFERED,
            "mean message latency [us]",
            "vertical: saturation (largest load accepted within 3 %); saturated latencies are not drawn",
        )
    return figure


def _interval(found: Saturation) -> Interval:
    return Interval(100 * found.load, 100 * found.half, found.runs)


def _by_definition(found: Saturation, bound: str) -> str:
    """Why a saturation is over the bound of the channel."""
    full = 100 * found.at_full_load.mean
    return (
        f"It is the definition. {full:.2f} % is accepted at a load of 100 %, below the bound of {bound}; "
        f"where as much is accepted, the largest load of which that is 97 % is {full:.2f} / 0.97 = "
        f"{full / 0.97:.1f} %, and the search finds {_interval(found)} %."
    )


def _last(known: dict[str, Saturation], data: Data) -> Claim:
    """SMSRP below LHRP, which is judged only where the searches are finer than half a point together."""
    text = "SMSRP saturates below LHRP (by over half a point)"
    first, second = known["smsrp"], known["lhrp"]
    told = f"SMSRP {_interval(first)} %, LHRP {_interval(second)} %"
    if first.half + second.half <= 0.005:
        return hard(text, told, first.load < second.load - 0.005, cause=_hardly(data))
    return unjudged(text, "hard", "", f"{told}: not told apart at this size. {_hardly(data)}")


def _hardly(data: Data) -> str:
    """What SMSRP and LHRP refuse and accept where a run can last."""

    def told(protocol: str) -> str:
        of = {"small": protocol, "load": lhrp_uniform.SHARES_LOAD}
        drops = data.mean(per_packet("uniform", "dropped"), **of)
        got = data.mean(accepted("uniform"), **of)
        return f"{LABELS[protocol]} {drops.scaled(100)} and {got.scaled(100)} %"

    return (
        f"On 72 endpoints at {lhrp_uniform.SHARES_LOAD:.0%}, {lhrp_uniform.LONG.duration:g} us after "
        f"{lhrp_uniform.LONG.warmup:g}, of the packets refused, and of the channels accepted: "
        f"{told('smsrp')}, {told('lhrp')}."
    )


def cases(full: bool) -> list[Case]:
    """Every protocol at every load, and the long runs of SMSRP and LHRP."""
    return lhrp_uniform.cases(full) + [
        lhrp_uniform.small(protocol, lhrp_uniform.SHARES_LOAD) for protocol in ("smsrp", "lhrp")
    ]


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = {p: data.saturation(protocol=p) for p in data.values("protocol")}
    known = {protocol: each for protocol, each in found.items() if each}
    told = ", ".join(
        f"{LABELS[p]} {_interval(each)} % ({each.at_full_load.scaled(100)} % at full load)"
        for p, each in known.items()
    )
    base = known["none"].load
    alike = all(abs(known[p].load - base) <= 0.03 for p in ("ecn", "lhrp"))
    return [
        hard(
            "LHRP, ECN and the baseline saturate alike (within 3 points)",
            told,
            alike,
            note=f"LHRP is the baseline while it refuses nothing. {_hardly(data)}",
        ),
        value(
            "the baseline saturates at",
            "80 %",
            _interval(known["none"]),
            (74, 80),
            "%",
            note="bound 4/5 (a 1-flit acknowledgement per 4 flits)",
            cause=_by_definition(known["none"], "4/5"),
        ),
        hard("SRP saturates far below SMSRP", told, known["srp"].load < known["smsrp"].load - 0.05),
        _last(known, data),
        value(
            "SRP saturates at",
            "50 %",
            _interval(known["srp"]),
            (42, 57.1),
            "%",
            cause=_by_definition(known["srp"], "4/7"),
        ),
    ]


EXPERIMENT = Experiment(
    id="lhrp-fig7",
    paper=PAPER,
    title="Uniform traffic of 4-flit messages",
    setup="All 1056 endpoints send 4-flit messages to random others; every data packet is acknowledged. "
    f"One seed. Latencies: {SPANS} At 80 % 10 us after 10, reduced. {lhrp_uniform.SEARCHED}",
    cases=cases,
    draw=draw,
    claims=claims,
    searches=searches,
)
