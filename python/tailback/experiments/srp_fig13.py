"""srp-fig13: the size of reservations and how many speculative packets are dropped."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import over_load, value_lines
from tailback.experiments.measure import packets_share
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
    ]


def draw(data: Data) -> Figure:
    """Drop rate over load, a line per largest reservation."""
    lines = value_lines(data, "n_max", "n_max {} packets")
    return over_load(data, uniform.DROPPED, lines, uniform.DROP_RATE)


_SENT = packets_share("uniform", "speculative")


def _why(data: Data) -> str:
    """The two factors of the drops: how many packets are speculative, and how many of those are dropped."""

    def told(load: float) -> str:
        sent = [100 * data.mean(_SENT, n_max=size, load=load).mean for size in _SIZES]
        lost = [100 * data.mean(uniform.DROPPED, n_max=size, load=load).mean for size in _SIZES]
        shares = (f"{100 * part / whole:.0f}" for whole, part in zip(sent, lost, strict=True))
        return (
            f"at {load:.0%} " + ", ".join(f"{part:.2f}" for part in sent) + " % are sent speculatively, and "
            f"{', '.join(shares)} % of those are dropped"
        )

    return (
        "The number of speculative packets halves with each doubling, as the paper argues, but the share of "
        f"them that is dropped does not stay: with n_max of 4 to 64 packets, "
        f"{'; '.join(map(told, (0.4, 0.6, 0.8)))}. Longer blocks give a destination away for longer at a "
        "time, so that a first packet finds it taken more often; why the share falls again with the longest "
        "was not isolated."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    return halving(data, "n_max", _SIZES, "n_max", " packets", lambda: _why(data))


EXPERIMENT = Experiment(
    id="srp-fig13",
    paper=PAPER,
    title="Drops by size of reservation",
    setup=uniform.SETUP.format("256-packet messages under SRP") + " Seed 1.",
    cases=cases,
    draw=draw,
    claims=claims,
)
