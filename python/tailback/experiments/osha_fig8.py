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
    "Without VOQs OSHA-2VC leads at full load, by 2.4, 3.0 and 3.9 points for three seeds, and not at "
    "0.65 (BBQ-4VC 56.7, OSHA-2VC 54.4 %; at 0.75 58.2 and 58.5 %), nor with uniform traffic (73.9 and "
    "72.6 %). Beyond saturation sources send to their destinations in turn, and what is accepted is no "
    "longer Zipf's mix: the tenth of the endpoints that are asked for most get 75.8 % with BBQ-4VC and "
    "72.8 % with OSHA-2VC (1VC: 67.8 %), the others 61.3 and 64.4 % (61.0 %). And bubbles, of which the "
    "paper says nothing, hold sources back, which helps two networks: with date lines BBQ-4VC is the "
    "best, 64.9 %, 1VC accepts 60.5, OSHA-2VC 59.9, OSHA-4VC 58.4, SASHA-2VC 53.7 and SASHA-4VC 57.3 %. "
    "It is not the size of the queues (with 16 packets each BBQ-4VC accepts 63.5, OSHA-4VC 62.4 %), nor "
    "that all packets of BBQ-4VC enter x first (orders XYZ and XZY: 67.4 %)."
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
