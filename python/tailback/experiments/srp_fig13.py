"""srp-fig13: the size of reservations and how many speculative packets are dropped."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import over_load, value_lines
from tailback.experiments.model import Case, Claim, Data, Experiment
from tailback.experiments.srp_fig12 import halving
from tailback.experiments.srp_paper import PAPER

_SIZES = (4, 8, 16, 32, 64)
_LOADS = (0.2, 0.4, 0.6, 0.8, 0.9)


def cases(full: bool) -> list[Case]:
    """SRP with 256-packet messages at every load and largest reservation."""
    return [
        uniform.case("srp", load, full, "256 packets", changes={"n_max": f"{size} packets"}, n_max=size)
        for size in _SIZES
        for load in uniform.loads(full, _LOADS)
    ] + uniform.rules()


def draw(data: Data) -> Figure:
    """Drop rate over load, a line per largest reservation."""
    lines = value_lines(data, "n_max", "n_max {} packets")
    return over_load(data, uniform.DROPPED, lines, uniform.DROP_RATE)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-fig13."""
    return halving(data, uniform.DROPPED, "n_max", _SIZES, "n_max", " packets")


EXPERIMENT = Experiment(
    id="srp-fig13",
    paper=PAPER,
    title="Drops by size of reservation",
    setup=uniform.SETUP.format("256-packet messages under SRP"),
    cases=cases,
    draw=draw,
    claims=claims,
)
