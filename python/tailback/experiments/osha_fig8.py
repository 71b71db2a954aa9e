"""osha-fig8: Zipf traffic on a three-dimensional torus, beside the KNS network of its size."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import highest

TORUS, KNS = 4, 2


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig8."""
    weak = zipf.both(data, TORUS, 1.0)
    told = zipf.in_words(weak)
    return [
        zipf.below(data, TORUS, KNS),
        hard(
            "s = 1: BBQ-4VC is the best (within a point)", told, all(highest(f, ["BBQ-4VC"]) for _, f in weak)
        ),
        zipf.little(data, TORUS),
    ]


EXPERIMENT = zipf.experiment(
    "osha-fig8", "Zipf traffic on a three-dimensional torus", TORUS, claims, beside=KNS
)
