"""The runs that Figures 5a and 5b of the LHRP paper share: a 60:4 hot spot under each protocol."""

from __future__ import annotations

from dataclasses import replace

from tailback.experiments.lhrp_paper import (
    ENDPOINTS,
    FULL,
    PROTOCOLS,
    SPANS,
    hotspot,
    hotspot_cost,
    scenario,
    times,
)
from tailback.experiments.measure import (
    accepted_per_destination,
    ejection_share,
    mean_series,
    per_packet,
)
from tailback.experiments.model import Case, Data, Times

SETUP = (
    "60 random sources send 4-flit messages to 4 random destinations of the 1056-endpoint dragonfly; each "
    "message picks "
    "one of the four; the load per destination goes up to 15 times its channel. Nobody else sends. "
    f"{SPANS} 3 seeds. ECN's warm-up is 300 us up to 2x and 1 ms past it; SMSRP at 0.98x and 1x is "
    f"measured for {FULL.duration:g} us after {FULL.warmup:g} in either size, since its drops make each "
    "other only slowly."
)
JUDGED = (0.5, 0.9, 1.5, 2, 7.5, 15)
"""Loads that claims look at."""
_REDUCED = (0.25, 0.5, 0.75, 0.9, 0.98, 1.0, 1.1, 1.5, 2, 4, 7.5, 15)
_FULL = (0.25, 0.5, 0.75, 0.9, 0.98, 1.0, 1.1, 1.25, 1.5, 2, 3, 4, 5, 7.5, 10, 12.5, 15)


def ecn_times(full: bool, load: float) -> Times:
    """ECN needs hundreds of microseconds to settle, and 1 ms after a first burst of many times the channel.

    A hot spot alone is cheap enough to give it them.
    """
    span = times(full)
    return replace(span, warmup=max(span.warmup, 300 if load <= 2 else 1000))


def _times(full: bool, protocol: str, load: float) -> Times:
    if protocol == "ecn":
        return ecn_times(full, load)
    return FULL if protocol == "smsrp" and load in (0.98, 1) else times(full)


def cases(full: bool) -> list[Case]:
    """Every protocol at every load."""
    made = []
    for protocol in PROTOCOLS:
        for load in _FULL if full else _REDUCED:
            span = _times(full, protocol, load)
            for seed in (1, 2, 3):
                title = f"60:4 hot spot, {protocol}, {load:g}x"
                made.append(
                    Case(
                        {"protocol": protocol, "load": load, "seed": seed},
                        scenario(title, protocol, hotspot(4, load), span, seed, series="10 us"),
                        _cost(protocol, load, span),
                    )
                )
    return made


def _cost(protocol: str, load: float, span: Times) -> float:
    """Expected CPU seconds; past saturation, reservations that stand in the network take five times that."""
    return hotspot_cost(4, load, span) * (5 if load > 1 and protocol in ("srp", "smsrp") else 1)


def why_smsrp_declines(data: Data) -> str:
    """What the ejection channels of the hot endpoints carry under SMSRP."""

    def shares(load: float) -> str:
        of = {"protocol": "smsrp", "load": load}
        reserved = data.mean(ejection_share("reservation"), **of).mean * ENDPOINTS / 4
        dropped = 100 * data.mean(per_packet("hot", "dropped"), **of).mean
        return (
            f"{load:g}x: {dropped:.1f} % dropped of what is created, "
            f"reservations {100 * reserved:.1f} %, "
            f"data {100 * data.mean(accepted_per_destination('hot'), **of).mean:.1f} % of the channel"
        )

    return (
        "Past saturation first tries are dropped: granted packets and reservations go first at every switch, "
        "and each drop makes the next reservation. While first tries come at the load L, drops D leave "
        "1 - D - D/4 of the channel to them, so that the next drops are L - 1 + 5/4 D: they grow at every L "
        "over 1 until all is dropped. Then a first try goes for each packet that arrives, and so "
        "does a reservation, a flit for 4 of data: data have 4/5 of the channel, as much as SRP has at best. "
        f"Measured: {'; '.join(map(shares, (1, 1.1, 1.5, 2)))}. At 1x, where a queue of random arrivals "
        f"grows too, but slowly, {_over_time(data)}."
    )


def _over_time(data: Data) -> str:
    """What the destinations accept at 1x under SMSRP, soon and late."""
    times, accepted = mean_series(data.results(protocol="smsrp", load=1), "hot", "accepted_per_destination")
    soon, late = (times >= 10) & (times < 100), times >= times.max() - 90
    return (
        f"they accept {100 * accepted[soon].mean():.1f} % between 10 and 100 us after the start and "
        f"{100 * accepted[late].mean():.1f} % in the last 100 us of the run"
    )
