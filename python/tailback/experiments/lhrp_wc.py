"""lhrp-wc: worst-case traffic without a hot spot."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments.draw import OFFERED, curve, finish, hold, seeds_told
from tailback.experiments.lhrp_paper import GROUP_ENDPOINTS, PAPER, SPANS, scenario, times, uniform_cost
from tailback.experiments.measure import accepted
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.figures import style

_ACCEPTED = accepted("wc")
_LOADS = {"minimal": (0.02, 0.04, 0.3), "par": (0.1, 0.4)}
_LOADS_FULL = {"minimal": (0.02, 0.03, 0.04, 0.1, 0.3), "par": (0.1, 0.2, 0.3, 0.4, 0.5)}
_LABELS = {"minimal": "minimal", "par": "PAR-6/2"}
_AHEAD = (1, 4)


def cases(full: bool) -> list[Case]:
    """Minimal and adaptive routing under WC-1 and WC-4."""
    span = times(full)
    return [
        Case(
            {"routing": routing, "n": n, "load": load, "seed": seed},
            scenario(
                f"WC-{n}, {routing}, load {load}", "none", _traffic(n, load), span, seed, routing=routing
            ),
            uniform_cost(min(load, 1 / 32 if routing == "minimal" else 0.45), 4, span),
        )
        for routing, loads in (_LOADS_FULL if full else _LOADS).items()
        for n in _AHEAD
        for load in loads
        for seed in ((1, 2) if full else (1,))
    ]


def _traffic(n: int, load: float) -> str:
    return f"""
[[traffic]]
name = "wc"
pattern = "worst-case"
n = {n}
load = {load}
message = "4 flits"
"""


def draw(data: Data) -> Figure:
    """Accepted over offered load."""
    with style.styled():
        figure, (axes,) = style.figure()
        lines = [(routing, n) for routing in _LOADS for n in _AHEAD]
        for number, (routing, n) in enumerate(lines):
            loads, points = data.curve(_ACCEPTED, "load", routing=routing, n=n)
            shown = [point.scaled(100) for point in points]
            curve(axes, [100 * load for load in loads], shown, f"{_LABELS[routing]}, WC-{n}", number)
        axes.axhline(100 / GROUP_ENDPOINTS, color="#777777", linewidth=0.8)
        hold(axes)
        finish(
            figure,
            axes,
            OFFERED,
            "accepted data\n[% of injection bandwidth]",
            f"grey: 1/32; {seeds_told(data)}",
        )
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    found = []
    for n in _AHEAD:
        minimal = data.mean(_ACCEPTED, routing="minimal", n=n, load=0.3)
        adaptive = data.mean(_ACCEPTED, routing="par", n=n, load=0.4)
        told = f"minimal {minimal.scaled(100)} %, PAR {adaptive.scaled(100)} %"
        far = minimal.mean < 0.05 and adaptive.mean > 5 * minimal.mean
        found.append(hard(f"WC-{n}: minimal collapses, PAR is far above", told, far))
        found.append(
            value(f"WC-{n}: minimal accepts", "1/32 = 3.125 %", minimal.scaled(100), (3.03, 3.22), "%")
        )
    return found


EXPERIMENT = Experiment(
    id="lhrp-wc",
    paper=PAPER,
    title="Worst-case traffic without a hot spot",
    setup=(
        "Every endpoint of group i sends 4-flit messages to random endpoints of group i + n. "
        f"No congestion control. {SPANS} One seed; full: 2."
    ),
    cases=cases,
    draw=draw,
    claims=claims,
)
