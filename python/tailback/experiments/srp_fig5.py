"""srp-fig5: the senders of a 40:1 hot spot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments.draw import LABELS, bars, hold, look, seeds_told, single_dots
from tailback.experiments.measure import delivered_latency
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard, value
from tailback.experiments.srp_paper import PAPER, PROTOCOLS, ZERO_LOAD_NS, cost, nodes, scenario
from tailback.figures import style
from tailback.result import Result
from tailback.scenario import Scenario

_SENDERS = 40
_LOAD = 0.04
"""What a run costs is that of background traffic at this load."""
_LATENCY = delivered_latency("hot")


_INCREMENTS = ("400 ns", "200 ns")


def cases(full: bool) -> list[Case]:
    """Every protocol, measured after 2.5 ms, and ECN with smaller steps, to tell what they cost.

    Runs of 20 ms take seconds; those of 6 ms tell what ECN still lacks then.
    """
    span, brief = Times(2500, 47500 if full else 17500, 100), Times(2500, 3500, 100)
    made = [
        Case({"protocol": protocol, "seed": seed}, _scenario(protocol, seed, span), cost(_LOAD, span))
        for seed in (1, 2, 3)
        for protocol in PROTOCOLS
    ]
    tried = [(step, seed) for step in _INCREMENTS for seed in (1, 2, 3)]
    made += [
        Case({"brief": protocol, "seed": seed}, _scenario(protocol, seed, brief), cost(_LOAD, brief))
        for seed in (1, 2, 3)
        for protocol in ("none", "ecn")
    ]
    return made + [
        Case(
            {"increment": step, "seed": seed},
            _scenario("ecn", seed, span, {"increment": step}),
            cost(_LOAD, span),
        )
        for step, seed in tried
    ]


def _scenario(protocol: str, seed: int, span: Times, changes: Mapping[str, str] | None = None) -> Scenario:
    hot, senders, _ = nodes(_SENDERS, seed)
    traffic = f"""
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = {senders}
destinations = [{hot}]
load = 1.0
message = "8 packets"
"""
    title = f"40:1 hot spot, {protocol}"
    return scenario(title, protocol, traffic, span, seed, record="sources = true", changes=changes)


def _sources(result: Result) -> dict[int, float]:
    rows = result.tables["sources"].to_pylist()
    return {row["endpoint"]: row["accepted"] for row in rows if row["class"] == "hot"}


def _mean(result: Result) -> float:
    return float(np.mean(list(_sources(result).values())))


def _spread(result: Result) -> float:
    """Standard deviation over mean."""
    accepted = np.array(list(_sources(result).values()))
    return float(accepted.std() / accepted.mean())


def _near_over_far(result: Result) -> float:
    """Throughput of senders in the hot endpoint's leaf over that of the others; NaN if there are none."""
    hot = nodes(_SENDERS, int(result.summary["seed"]))[0]
    near = [share for endpoint, share in _sources(result).items() if endpoint // 16 == hot // 16]
    far = [share for endpoint, share in _sources(result).items() if endpoint // 16 != hot // 16]
    return float(np.mean(near) / np.mean(far)) if near else math.nan


def draw(data: Data) -> Figure:
    """Throughput of the senders with its spread, and in-flight latency, by protocol."""
    kinds = data.values("protocol")
    names, numbers = [LABELS[kind] for kind in kinds], [look(kind) for kind in kinds]
    sent = [data.mean(_mean, protocol=kind).scaled(100) for kind in kinds]
    spread = [data.mean(_spread, protocol=kind) for kind in kinds]
    with style.styled():
        figure, (above, below) = style.figure(2, height=2.2)
        shown = [replace(one, half=one.mean * of.mean) for one, of in zip(sent, spread, strict=True)]
        bars(above, names, shown, numbers)
        hold(above)
        above.set_ylabel("throughput of a sender\n[% of its channel]")
        single_dots(below, names, [data.mean(_LATENCY, protocol=k).scaled(1e-3) for k in kinds], numbers)
        below.set_ylabel("in-flight packet\nlatency [us]")
        style.logarithmic(below, "y")
        told = seeds_told(data, protocol=kinds[0])
        below.set_xlabel(f"{told}; error bars above: standard deviation over the senders")
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    spread = {protocol: data.mean(_spread, protocol=protocol) for protocol in PROTOCOLS}
    flight = {protocol: data.mean(_LATENCY, protocol=protocol).scaled(1e-3) for protocol in spread}
    mean = {protocol: data.mean(_mean, protocol=protocol).scaled(100) for protocol in spread}
    ratios = [ratio for ratio in map(_near_over_far, data.results(protocol="none")) if not math.isnan(ratio)]
    spreads = ", ".join(f"{LABELS[p]} {100 * part.mean:.1f} %" for p, part in spread.items())
    flights = ", ".join(f"{LABELS[p]} {part} us" for p, part in flight.items())
    zero = ZERO_LOAD_NS[1] / 1e3
    brief = data.mean(_mean, brief="none").mean
    low = spread["srp"].mean < spread["ecn"].mean and flight["srp"].mean < flight["ecn"].mean
    low = low and flight["srp"].mean <= 1.2 * zero
    loss = data.mean(_mean, protocol="srp").scaled(100 / mean["none"].mean)
    return [
        hard(
            "senders' throughputs spread less with ECN than without",
            spreads,
            spread["ecn"].mean < spread["none"].mean,
        ),
        hard(
            "in-flight latency: zero load < ECN < baseline",
            flights,
            zero < flight["ecn"].mean < flight["none"].mean,
        ),
        hard(
            "the baseline's near senders get more",
            ", ".join(f"{ratio:.2f}" for ratio in ratios) + " times the others', by seed",
            bool(ratios) and min(ratios) > 1,
        ),
        value(
            "ECN's mean sender throughput over the baseline's",
            "1",
            data.mean(_mean, protocol="ecn").scaled(100 / mean["none"].mean),
            (0.985, 1.015),
            note=f"from 2.5 to 6 ms {data.mean(_mean, brief='ecn').scaled(1 / brief)}",
            cause=lambda: _sawtooth(data, mean["none"].mean),
        ),
        value(
            "baseline's in-flight latency over zero load",
            "several thousand",
            flight["none"].scaled(1 / zero),
            (1000, 5000),
            "x",
        ),
        hard("SRP spreads least, with about zero-load latency (within 20 %)", f"{spreads}; {flights}", low),
        value("SRP's mean sender throughput of the baseline's", "-5 %", loss.scaled(100), (93.5, 96.5), "%"),
    ]


def _sawtooth(data: Data, baseline: float) -> str:
    tried = ", ".join(
        f"{step}: {data.mean(_mean, increment=step).scaled(1e4 / baseline)} % with "
        f"{data.mean(_LATENCY, increment=step).mean / 1e3:.1f} us in flight"
        for step in _INCREMENTS
    )
    usual = data.mean(_mean, protocol="ecn").scaled(1e4 / baseline)
    return (
        f"ECN gives {usual} % of the baseline's throughput because the senders overshoot: every packet that "
        "leaves while the root is over its threshold is marked, and each mark adds a tenth of the delay that "
        "is right for 40 senders, so that the destination idles until the delays are taken off again. With "
        f"increments of {tried}: the smaller the step, the less is lost."
    )


EXPERIMENT = Experiment(
    id="srp-fig5",
    paper=PAPER,
    title="The senders of a 40:1 hot spot",
    setup="40 random endpoints of the 256-endpoint fat tree send 8-packet messages to one at line rate. "
    "Measured after 2.5 ms, for 17.5 ms (full size: 47.5 ms), under seeds 1 to 3; the first 6 ms alone tell "
    "how far ECN has come by then.",
    cases=cases,
    draw=draw,
    claims=claims,
)
