"""osha-fig6: Zipf traffic on a three-dimensional KNS network."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import REPORT, highest

NUMBER = 2
_QUEUES = (
    "Queues tell, and a second network hardly: SASHA with 2 or 4 queues in each network accepts what BBQ "
    "does with as many in all, as if the trees of endpoints that are asked for too much filled both "
    f"networks (figures: {REPORT}). The two orders differ in x and y alone, so that a third dimension adds "
    "no way to choose."
)


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    weak = zipf.both(data, NUMBER, 1.0)
    told = zipf.in_words(data, NUMBER, 1.0)
    return [
        hard(
            "s = 1: SASHA-4VC is the best (within a point)",
            told,
            all(highest(f, ["SASHA-4VC"]) for _, f in weak),
            cause=_QUEUES,
        ),
        hard(
            "s = 1: SASHA-2VC is like BBQ-4VC (within 3 points)",
            told,
            all(abs(f["SASHA-2VC"] - f["BBQ-4VC"]) <= 3 for _, f in weak),
            cause=_QUEUES,
        ),
    ]


EXPERIMENT = zipf.experiment("osha-fig6", "Zipf traffic on a three-dimensional KNS network", NUMBER, claims)
