"""lhrp-fig8: what the ejection channels carry under uniform traffic at 80 %."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments import lhrp_uniform
from tailback.experiments.draw import LABELS
from tailback.experiments.lhrp_paper import FULL, PAPER, PROTOCOLS
from tailback.experiments.measure import ejection_share
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard, unjudged, value
from tailback.figures import style
from tailback.result import Result
from tailback.stats import Interval

_KINDS = {
    "data": "data",
    "ack": "acknowledgements",
    "nack": "refusals (NACK)",
    "reservation": "reservations",
    "grant": "grants",
}
_SHORT = Times(20, 20, 0)
"""Nine round trips each; 1056 channels give a share its third digit in that time, and nothing need drain."""
_LONG, _OVER = lhrp_uniform.LONG, 0.9
_LONGER = (("smsrp", 0.8, _SHORT), ("smsrp", 0.8, _LONG), ("smsrp", _OVER, _LONG), ("lhrp", 0.8, _LONG))
"""Protocol, load and times of runs on 72 endpoints that tell what is refused."""
_WIDE = "150 Gb/s"
"""Injection channels in runs that tell what keeps refusals down; destinations drain as fast as before."""
_WIDE_SPANS = (Times(100, 100, 0), Times(350, 150, 0))


def cases(full: bool) -> list[Case]:
    """Every protocol at 80 %."""
    span = None if full else _SHORT
    made = [lhrp_uniform.case(protocol, lhrp_uniform.SHARES_LOAD, full, span=span) for protocol in PROTOCOLS]
    return (
        made
        + [lhrp_uniform.small(*one) for one in _LONGER]
        + [_wide(name, span) for name in ("smsrp", "lhrp") for span in _WIDE_SPANS]
    )


def _wide(protocol: str, span: Times) -> Case:
    """The same offered data on 72 endpoints that inject faster than they drain."""
    made = lhrp_uniform.small(protocol, 0.8, span)
    changes = {
        "link.bandwidth": {"host": _WIDE, "local": "100 Gb/s", "global": "100 Gb/s"},
        "endpoint.drain_rate": "100 Gb/s",
        "traffic.uniform.load": 80 / 150,
    }
    return Case({"wide": protocol, "until": span.total, "seed": 1}, made.scenario.replace(changes), made.cost)


def _share(data: Data, protocol: str, kind: str) -> Interval:
    return data.mean(ejection_share(kind), protocol=protocol).scaled(100)


def draw(data: Data) -> Figure:
    """A stacked bar per protocol."""
    names = data.values("protocol")
    with style.styled():
        figure, (axes,) = style.figure(height=0.9 + 0.4 * len(names))
        starts = np.zeros(len(names))
        for number, (kind, label) in enumerate(_KINDS.items()):
            widths = np.array([_share(data, protocol, kind).mean for protocol in names])
            axes.barh([LABELS[name] for name in names], widths, left=starts, label=label, **style.bar(number))
            starts += widths
        axes.invert_yaxis()
        axes.set_xlim(0, 100)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("share of the ejection channels' bandwidth [%]")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = _lhrp(data)
    for protocol in ("none", "ecn"):
        label = LABELS[protocol]
        found.append(value(f"{label}: data", "80 %", _share(data, protocol, "data"), (76, 80), "%"))
        found.append(
            value(f"{label}: acknowledgements", "20 %", _share(data, protocol, "ack"), (19, 20), "%")
        )
    control = {
        p: sum(_share(data, p, kind).mean for kind in ("reservation", "grant", "nack"))
        for p in data.values("protocol")
    }
    told = ", ".join(f"{LABELS[p]} {share:.1f} %" for p, share in control.items())
    handshake = _share(data, "srp", "reservation").mean + _share(data, "srp", "grant").mean
    found += [
        hard("SRP's control share is the largest", told, max(control, key=lambda p: control[p]) == "srp"),
        value("SRP: reservations and grants", "30 %", handshake, (24, 36), "%"),
        *(
            value(f"SMSRP: {_KINDS[kind]}", "3.5 %", _share(data, "smsrp", kind), (1, 8), "%", cause=cause)
            for kind, cause in (("nack", _refused(data)), ("reservation", "As above."))
        ),
    ]
    return found


def _lhrp(data: Data) -> list[Claim]:
    """LHRP's, which say nothing where it refused nothing: it is then the baseline."""
    gaps = {
        kind: _share(data, "lhrp", kind).mean - _share(data, "none", kind).mean for kind in ("data", "ack")
    }
    told = f"data {gaps['data']:+.2f}, acknowledgements {gaps['ack']:+.2f} points"
    text, refusals = "LHRP's shares are like the baseline's", "LHRP's refusals"
    if data.mean(_dropped, protocol="lhrp").mean > 0:
        return [
            hard(text, told, all(abs(gap) <= 1 for gap in gaps.values())),
            value(refusals, "0.2 %", _share(data, "lhrp", "nack"), (0, 1), "%", note=_refused(data)),
        ]
    why = "in this window LHRP refused nothing, and is the baseline"
    return [
        unjudged(text, "hard", "", f"{why} ({told})"),
        unjudged(refusals, "value", "0.2 %", f"{why}. {_refused(data)}"),
    ]


def _dropped(result: Result) -> float:
    return float(result.summary["classes"]["uniform"]["dropped_packets"])


def _refused(data: Data) -> str:
    """What is refused in longer runs, and what sources and destinations carry."""

    def told(protocol: str, load: float, span: Times) -> str:
        of = {"small": protocol, "load": load, "window": span.duration}
        share = {kind: 100 * data.mean(ejection_share(kind), **of).mean for kind in ("nack", "data", "ack")}
        return (
            f"{LABELS[protocol]} at {load:.0%}, {span.duration:g} us: {data.mean(_dropped, **of).mean:.0f} "
            f"packets refused, refusals {share['nack']:.3f} %, data "
            f"{share['data']:.1f} %, acknowledgements {share['ack']:.1f} %"
        )

    return (
        "Data at 80 % and a flit of acknowledgement for 4 of data load an ejection channel to just 100 %, "
        "and every injection channel as well, so that sources keep back what is over that, and the queue at "
        "a destination grows slowly; nothing is refused before it is longer than time-out or threshold "
        "allow. On 72 endpoints (p = 2, a = 4, h = 2, 9 groups): "
        + "; ".join(told(*one) for one in _LONGER)
        + f". Where endpoints inject at {_WIDE} and drain at 100 Gb/s, offered as much data (not judged), "
        f"refusals take of the ejection channels, {' and '.join(map(_wide_time, _WIDE_SPANS))} after the "
        f"start, {_wide_share(data, 'smsrp')} under SMSRP and {_wide_share(data, 'lhrp')} under LHRP: "
        "equally fast injection is what keeps SMSRP's down."
    )


def _wide_share(data: Data, protocol: str) -> str:
    """Refusals with wide injection channels, by window."""
    of = ({"wide": protocol, "until": span.total} for span in _WIDE_SPANS)
    return " and ".join(f"{100 * data.mean(ejection_share('nack'), **one).mean:.2f} %" for one in of)


def _wide_time(span: Times) -> str:
    return f"{span.warmup:g} to {span.total:g} us"


EXPERIMENT = Experiment(
    id="lhrp-fig8",
    paper=PAPER,
    title="What the ejection channels carry at 80 % uniform load",
    setup="All 1056 endpoints send 4-flit messages to random others at 80 % of their channel. "
    f"Reduced: {_SHORT.duration:g} us after a warm-up of {_SHORT.warmup:g}; full: {FULL.duration:g} after "
    f"{FULL.warmup:g}. One seed.",
    cases=cases,
    draw=draw,
    claims=claims,
)
