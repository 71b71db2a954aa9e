"""lhrp-fig7: uniform traffic of 4-flit messages, which needs no congestion control: what a protocol costs."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments import bracket, lhrp_uniform
from tailback.experiments.draw import LABELS, OFFERED, finish, seeds_told, whole_decades
from tailback.experiments.lhrp_paper import PAPER, PROTOCOLS, SPANS
from tailback.experiments.measure import accepted, per_packet
from tailback.experiments.model import Case, Claim, Data, Experiment, Search, hard, value
from tailback.figures import style
from tailback.sweeps.found import Saturation


def searches(full: bool) -> list[Search]:
    """The saturation of every protocol."""
    return [lhrp_uniform.search(kind, full, lhrp_uniform.brackets(kind, full)) for kind in PROTOCOLS]


def draw(data: Data) -> Figure:
    """Message latency over offered load, a line per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        for protocol in data.values("protocol"):
            lhrp_uniform.draw_latency(axes, data, protocol, 4)
        style.logarithmic(axes, "y")
        whole_decades(axes)
        finish(
            figure,
            axes,
            OFFERED,
            "mean message latency [us]",
            "vertical: saturation (largest load accepted within 3 %); saturated latencies are not drawn; "
            f"latencies: {seeds_told(data)}; {lhrp_uniform.SHORT}",
        )
    return figure


def _by_definition(found: Saturation, bound: str) -> str:
    """Why a saturation is over the bound of the channel."""
    full = 100 * found.at_full_load.mean
    return (
        f"It is the definition. {full:.2f} % is accepted at a load of 100 %, below the bound of {bound}; "
        f"where as much is accepted, the largest load of which that is 97 % is {full:.2f} / 0.97 = "
        f"{full / 0.97:.1f} %, and the search finds {bracket.told(found)}."
    )


def _last(found: dict[str, Saturation], data: Data) -> Claim:
    """SMSRP below LHRP, which is judged where the brackets of the searches tell."""
    smsrp, lhrp = found["smsrp"], found["lhrp"]
    return hard(
        "SMSRP saturates below LHRP (by over half a point)",
        f"SMSRP {bracket.told(smsrp)}, LHRP {bracket.told(lhrp)}",
        bracket.is_below(smsrp, lhrp, by=0.005),
        cause=lambda: _hardly(data),
    )


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
    told = ", ".join(
        f"{LABELS[p]} {bracket.told(each)} ({each.at_full_load.scaled(100)} % at full load)"
        for p, each in found.items()
    )
    others = [found[p] for p in ("ecn", "lhrp")]
    base, srp = found["none"], found["srp"]
    alike = hard(
        "LHRP, ECN and the baseline saturate alike (within 3 points)",
        told,
        all(abs(other.load - base.load) <= 0.03 for other in others),
        note=f"LHRP is the baseline while it refuses nothing. {_hardly(data)}",
    )
    at = value(
        "the baseline saturates at",
        "80 %",
        bracket.percent(base),
        (74, 80),
        "%",
        note="bound 4/5 (a 1-flit acknowledgement per 4 flits)",
        cause=lambda: _by_definition(base, "4/5"),
    )
    srp_at = value(
        "SRP saturates at",
        "50 %",
        bracket.percent(srp),
        (42, 57.1),
        "%",
        cause=lambda: _by_definition(srp, "4/7"),
    )
    return [
        bracket.if_bracketed(alike, base, *others),
        bracket.if_bracketed(at, base),
        hard("SRP saturates far below SMSRP", told, bracket.is_below(srp, found["smsrp"], by=0.05)),
        _last(found, data),
        bracket.if_bracketed(srp_at, srp),
    ]


EXPERIMENT = Experiment(
    id="lhrp-fig7",
    paper=PAPER,
    title="Uniform traffic of 4-flit messages",
    setup="All 1056 endpoints send 4-flit messages to random others; every data packet is acknowledged. "
    f"One seed. Latencies: {SPANS} At 50 % and 80 % 10 us after 10, reduced. {lhrp_uniform.SEARCHED}",
    cases=cases,
    draw=draw,
    claims=claims,
    searches=searches,
)
