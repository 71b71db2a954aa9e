"""lhrp-fig6: what a hot spot that sets in does to the traffic of all others, over time."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments.draw import LABELS, finish, look, mark
from tailback.experiments.lhrp_paper import PAPER, hotspot, hotspot_cost, scenario, uniform_cost
from tailback.experiments.measure import accepted_per_destination, mean_series
from tailback.experiments.model import Case, Claim, Data, Experiment, Measure, Times, at_most, hard, value
from tailback.figures import arrivals, style
from tailback.figures.tables import series
from tailback.result import Result
from tailback.stats import Interval, mean_interval

_COLUMN = "message_latency_ns"
_WARMUP_US = 10.0
_ONSET_US = 20.0
_SOURCES, _FLITS, _OVER, _INCREMENT = 60, 4, 7.5, 24
"""The hot spot: sources, flits a message, load per destination; and a mark's step of ECN's delay, cycles."""
_TRAFFIC = """
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = 60
destinations = 4
load = 0.5
message = "4 flits"
start = "20 us"

[[traffic]]
name = "victim"
pattern = "uniform"
endpoints = "rest"
load = 0.4
message = "4 flits"
"""


_KINDS = ("none", "ecn", "smsrp", "lhrp")
_ALONE: dict[str, dict[str, str]] = {
    "growth beyond arrivals": {},
    "that of all behind it": {"stops": "queue"},
    "nothing else": {"stops": "message"},
}
"""LHRP without victims: what first tries a refusal stops; the hot endpoints' load is 7.5."""
_FIRST_US = 12
"""By then the first burst is over."""


def cases(full: bool) -> list[Case]:
    """Every protocol under several seeds, and the hot spot alone, under each rule for refusals."""
    return _protocols(full) + [
        Case(
            {"alone": name, "seed": 1},
            scenario(
                f"60:4 hot spot alone, lhrp, a refusal stops {name}", "lhrp", hotspot(4, _OVER), _SPAN, 1
            ).replace(
                {
                    **{f"congestion_control.{key}": to for key, to in changes.items()},
                    "record.occupancy": _LOOKS,
                }
            ),
            hotspot_cost(4, _OVER, _SPAN),
        )
        for name, changes in _ALONE.items()
    ]


_SPAN = Times(0, 150, 10)
_LOOKS = [f"{time} us" for time in range(1, 150)]


def _protocols(full: bool) -> list[Case]:
    return [
        _case(protocol, seed, full)
        for protocol in _KINDS
        for seed in range(1, 11 if full else 2 if protocol == "none" else 5)
    ]


def _case(protocol: str, seed: int, full: bool) -> Case:
    # Reduced: only ECN needs long, to recover.
    span = Times(_WARMUP_US, 990 if full else 190 if protocol == "ecn" else 130, 20)
    title = f"60:4 hot spot joins 40 % uniform, {protocol}"
    made = scenario(title, protocol, _TRAFFIC, span, seed, series="2 us")
    labels = {"protocol": protocol, "seed": seed, "until_us": span.warmup + span.duration}
    # Where little waits a hop costs half of what it does near saturation.
    return Case(labels, made, uniform_cost(0.25, 4, span))


def draw(data: Data) -> Figure:
    """Mean message latency of the victims over time, a line per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        for protocol in data.values("protocol"):
            victims = arrivals.arrivals(data.results(protocol=protocol), "victim")
            arrivals.draw(axes, LABELS[protocol], look(protocol), victims)
        arrivals.explain(axes)
        style.logarithmic(axes, "y")
        axes.margins(y=0.12)
        mark(axes, _ONSET_US)
        finish(
            figure,
            axes,
            "simulated time [us]",
            "mean message latency\nof the victims [us]",
            "by the time of creation",
        )
    return figure


def _before(result: Result) -> float:
    times, means = series(result, "victim", _COLUMN)
    return float(np.nanmean(means[(times >= _WARMUP_US) & (times < _ONSET_US)]))


def _rise(until: float) -> Measure:
    """Mean from the onset until then less that before, ns: all protocols over the same time."""

    def rise(result: Result) -> float:
        times, means = series(result, "victim", _COLUMN)
        part = (times >= _ONSET_US) & (times < until)
        return float(np.nanmean(means[part])) - _before(result)

    return rise


def _late(result: Result) -> float:
    times, means = series(result, "victim", _COLUMN)
    part = means[(times >= times.max() - 60) & (times < times.max() - 20)]
    known = part[~np.isnan(part)]
    return (float(known.mean()) if len(known) else math.nan) - _before(result)


def _missing(data: Data) -> str:
    """What the means leave out."""

    def share(result: Result) -> float:
        victims = result.summary["classes"]["victim"]
        return 100 * float(victims["unfinished"] / victims["messages"])

    told = ", ".join(
        f"{LABELS[p]} {data.mean(share, protocol=p).mean:.2f} %" for p in data.values("protocol")
    )
    return (
        "Means and peaks are of messages that arrived, so that they are lower bounds where some did not. Of "
        f"the victims' messages had not by the end: {told}."
    )


def _told(late: Interval) -> str:
    return "none arrives" if math.isnan(late.mean) else f"{late} ns"


def _peak(result: Result) -> float:
    times, means = series(result, "victim", _COLUMN)
    return float(np.nanmax(means[times >= _ONSET_US])) - _before(result)


def _recovery(data: Data) -> Interval:
    """Time from the onset until ECN's mean is for good within 10 % of that before, us; NaN if never."""
    times, means = mean_series(data.results(protocol="ecn"), "victim", _COLUMN)
    before = float(np.nanmean(means[(times >= _WARMUP_US) & (times < _ONSET_US)]))
    shown = times < times.max() - 20
    high = times[shown & (means > 1.1 * before)]
    last = float(high.max()) if high.size else _ONSET_US
    if last >= times[shown].max() - 10:
        return Interval(math.nan, math.nan, 1)
    return Interval(last - _ONSET_US, math.nan, len(data.results(protocol="ecn")))


def _waiting(result: Result) -> dict[float, float]:
    """Thousands of flits that wait in the whole network, by time in us."""
    table = result.tables["occupancy"]
    times, flits = (np.asarray(table[name].to_numpy(), dtype=float) for name in ("time_ns", "flits"))
    return {float(time) / 1e3: float(flits[times == time].sum()) / 1e3 for time in np.unique(times)}


def _rules(data: Data) -> str:
    """What stands in the network by what a refusal stops."""

    def told(name: str) -> str:
        (result,) = data.results(alone=name)
        waiting = _waiting(result)
        first = max(flits for time, flits in waiting.items() if time < _FIRST_US)
        later = {time: flits for time, flits in waiting.items() if time >= _FIRST_US}
        top = max(later, key=lambda time: later[time])
        return f"{name}: {first:.0f}, later {later[top]:.0f} thousand at {top:.0f} us"

    return (
        "The paper does not say what else of a send queue a refusal stops, and all hangs on it. Here first "
        "tries go on as packets arrive, so that what a queue has under way does not grow. If nothing else is "
        f"stopped, first tries come at {_OVER} times the channel for as long as the hot spot lasts; if all "
        "of the queue is stopped until its last refused packet has gone, queues fall silent and begin again "
        "together, with all that they have to send. Flits waiting anywhere with the hot spot alone, most in "
        f"the first {_FIRST_US} us and later, if a refusal stops {'; '.join(map(told, _ALONE))}."
    )


def _why_soon(data: Data) -> str:
    accepted = data.mean(accepted_per_destination("hot"), protocol="ecn").scaled(100)
    turn = _SOURCES * _FLITS
    delay = turn - _FLITS
    marks = math.ceil(delay / _INCREMENT)
    trip = 2 * data.mean(_before, protocol="ecn").mean
    slow = (trip + marks * turn) / 1e3
    return (
        f"What has to drain is little, by this reckoning: {_SOURCES} queues fill a destination with a delay "
        f"of {delay} cycles each; {marks} marks of {_INCREMENT} make that, a queue gets one in {turn} ns, "
        f"and the first comes a round trip of {trip / 1e3:.1f} us (twice the latency before) after the "
        f"onset: {slow:.1f} us at {_OVER - 1} times too much are {slow * (_OVER - 1):.0f} us of backlog. "
        f"Marks go on while it drains, so that the hot spot gets no more than {accepted} % of its channels "
        "over the whole run, and disturbs nobody."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    until = min(data.values("until_us"))
    rises, late, peaks = (
        {p: mean_interval([part(result) for result in data.results(protocol=p)]) for p in _KINDS}
        for part in (_rise(until), _late, _peak)
    )
    pairs = zip(*(data.results(protocol=p) for p in ("lhrp", "smsrp")), strict=True)
    more = mean_interval([_rise(until)(lhrp) - _rise(until)(smsrp) for lhrp, smsrp in pairs])
    span = f"mean rise from {_ONSET_US:g} to {until:g} us"
    told = ", ".join(f"{LABELS[p]} {rises[p]} (peak {peaks[p]})" for p in ("lhrp", "smsrp", "ecn"))
    return [
        hard(
            "the baseline's victims suffer much and lastingly",
            f"{span} {rises['none']} ns, at the end {_told(late['none'])}",
            # What is not known at the end is of messages none of which arrived.
            rises["none"].mean > 500 and not late["none"].mean <= 500,
        ),
        hard(
            "ECN: a spike, then recovery",
            f"peak {peaks['ecn']} ns over the latency before, at the end {late['ecn']} ns",
            peaks["ecn"].mean > 200 and late["ecn"].mean < peaks["ecn"].mean / 2,
        ),
        hard(
            "LHRP far below ECN",
            f"{span}: LHRP {rises['lhrp']}, ECN {rises['ecn']} ns; "
            f"peaks {peaks['lhrp']} and {peaks['ecn']} ns",
            rises["lhrp"].mean < rises["ecn"].mean / 2,
            note=f"{_rules(data)} {_missing(data)}",
        ),
        value("LHRP's rise", "below 50 ns", rises["lhrp"], (-math.inf, 50), "ns"),
        value(
            "ECN is back to normal after",
            "several hundred us",
            _recovery(data),
            (100, 1000),
            "us",
            note="back to normal: for good within 10 % of the latency before",
            cause=lambda: _why_soon(data),
        ),
        value("SMSRP's rise", "below 50 ns", rises["smsrp"], (-math.inf, 50), "ns"),
        hard(
            "LHRP at most SMSRP, both far below ECN",
            f"{span}: {told} ns; LHRP less SMSRP, seed by seed, {more} ns",
            at_most(more) if rises["smsrp"].mean < rises["ecn"].mean / 2 else False,
            cause=(
                "It is the mean over the time. ECN's rise is a spike, over after "
                f"{_recovery(data)} us: what is left of it in the mean is {rises['ecn']} ns. That of SMSRP "
                f"({rises['smsrp']} ns) lasts as long as the hot spot, whose reservations go ahead of all. "
                f"At its worst it is {peaks['smsrp']} ns, ECN's {peaks['ecn']} ns."
            ),
        ),
    ]


EXPERIMENT = Experiment(
    id="lhrp-fig6",
    paper=PAPER,
    title="Victims of a hot spot that sets in",
    setup="992 endpoints send uniformly at 40 %; at 20 us, 60 of the others start to send to 4, 7.5 times "
    "what those can take. Warm-up 10 us. Reduced: ECN until 200 us, the others until 140 us, under 4 seeds, "
    "the baseline, which is beyond doubt, under one; full: all until 1 ms under 10. What is compared between "
    "protocols is from the onset to the end of the shortest run.",
    cases=cases,
    draw=draw,
    claims=claims,
)
