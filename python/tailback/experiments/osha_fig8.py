"""osha-fig8: Zipf traffic on a three-dimensional torus, beside the KNS network of its size."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import highest

TORUS, KNS = 4, 2
_RINGS = (
    "Rings of 8, as in the reduced size, let all uniform traffic through (8/k = 1), rings of 24 as the "
    "paper has a third: a torus of 24 x 4 x 4 accepts 27.4 (1VC) and 28.0 % (OSHA-2VC) without VOQs and "
    "29.1 % (BBQ-4VC) with, below 3/4 of the least on KNS (64.8 and 73.9 %)."
)
_TWO = (
    "Without VOQs OSHA-2VC is 2.4 points ahead and SASHA-2VC 1.7; with VOQs, and at s = 3, BBQ-4VC is the"
    " best. The cause is not known. It is not the size of the queues: with 16 packets each BBQ-4VC "
    "accepts 63.5 % and OSHA-4VC 62.4 %."
)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig8."""
    weak = zipf.both(data, TORUS, 1.0)
    told = zipf.in_words(weak)
    return [
        zipf.below(data, TORUS, KNS, cause=_RINGS),
        hard(
            "s = 1: BBQ-4VC is the best (within a point)",
            told,
            all(highest(f, ["BBQ-4VC"]) for _, f in weak),
            cause=_TWO,
        ),
        zipf.little(data, TORUS),
    ]


EXPERIMENT = zipf.experiment(
    "osha-fig8", "Zipf traffic on a three-dimensional torus", TORUS, claims, beside=KNS
)
