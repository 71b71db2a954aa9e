"""osha-fig8: Zipf traffic on a three-dimensional torus, beside the KNS network of its size."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, Experiment, hard
from tailback.experiments.osha_fig7 import below
from tailback.experiments.osha_paper import PAPER, highest

TORUS, KNS = 4, 2


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig8."""
    weak = zipf.both(data, TORUS, 1.0)
    told = zipf.in_words(weak)
    gain = [weak[1][1][scheme] - weak[0][1][scheme] for scheme in weak[0][1]]
    return [
        below(data, TORUS, KNS),
        hard(
            "s = 1: BBQ-4VC is the best (within a point)", told, all(highest(f, ["BBQ-4VC"]) for _, f in weak)
        ),
        hard(
            "VOQs add little (at most 5 points at s = 1)", f"at most {max(gain):.1f} points", max(gain) <= 5
        ),
    ]


EXPERIMENT = Experiment(
    id="osha-fig8",
    paper=PAPER,
    title="Zipf traffic on a three-dimensional torus",
    setup=zipf.SETUP + " The torus has bubble flow control in every ring and virtual network.",
    cases=zipf.cases(TORUS, KNS),
    draw=zipf.draw(TORUS),
    claims=claims,
)
