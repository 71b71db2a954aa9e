"""srp-nmax-fair: long and short messages to one endpoint, by the size of the largest reservation."""

from __future__ import annotations

from itertools import pairwise

from matplotlib.figure import Figure

from tailback.experiments.draw import Line, curves, finish, look, plain_ticks
from tailback.experiments.measure import latency
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, hard
from tailback.experiments.srp_paper import PAPER, cost, nodes, scenario
from tailback.figures import style

_SIZES = (4, 16, 64, 256)
_SENDERS = 8
_SHORT = latency("short", "message")


def cases(full: bool) -> list[Case]:
    """Each largest reservation under three seeds."""
    span = Times(2000, 50000 if full else 20000, 1000)
    return [
        Case(
            {"n_max": size, "seed": seed},
            scenario(
                f"long and short messages, n_max {size} packets",
                "srp",
                _traffic(seed),
                span,
                seed,
                changes={"n_max": f"{size} packets"},
            ),
            cost(0.02, span),
        )
        for size in _SIZES
        for seed in (1, 2, 3)
    ]


def _traffic(seed: int) -> str:
    hot, senders, _ = nodes(_SENDERS, seed)
    half = _SENDERS // 2
    return "".join(
        f"""
[[traffic]]
name = "{name}"
pattern = "hotspot"
sources = {sources}
destinations = [{hot}]
load = {load}
message = "{packets} packets"
share = true
"""
        for name, sources, load, packets in (
            ("long", senders[:half], 1.0, 256),
            ("short", senders[half:], 0.001, 4),
        )
    )


def draw(data: Data) -> Figure:
    """Latency of the short messages over the size of the largest reservation."""
    with style.styled():
        figure, (axes,) = style.figure()
        curves(axes, data, _SHORT, "n_max", [Line("short messages", look("srp"), {})], 1e-3)
        style.logarithmic(axes, "x")
        style.logarithmic(axes, "y")
        plain_ticks(axes, _SIZES)
        return finish(figure, axes, "n_max [packets]", "mean message latency\nof short messages [us]")


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    times = {size: data.mean(_SHORT, n_max=size).scaled(1e-3) for size in _SIZES}
    told = ", ".join(f"{size} packets: {time} us" for size, time in times.items())
    rising = all(times[two].mean > times[one].mean for one, two in pairwise(_SIZES))
    return [hard("the larger n_max, the longer short messages wait", told, rising)]


EXPERIMENT = Experiment(
    id="srp-nmax-fair",
    paper=PAPER,
    title="Long and short messages to one endpoint",
    setup="Four endpoints send 256-packet messages to one at line rate, four others 4-packet ones at 0.1 %. "
    "Measured after 2 ms, for 20 ms (full size: 50 ms), under seeds 1 to 3.",
    cases=cases,
    draw=draw,
    claims=claims,
)
