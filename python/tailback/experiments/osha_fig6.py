"""osha-fig6: Zipf traffic on a three-dimensional KNS network."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import highest

NUMBER = 2
_QUEUES = (
    "Queues tell, and a second network hardly: on 8³ SASHA with 1, 2 and 4 queues a network accepts 72.2,"
    " 75.2 and 79.9 % without and 75.7, 79.3 and 84.7 % with VOQs, BBQ with 1, 2, 4 and 8 in all 64.8, "
    "73.6, 79.7 and 83.8 % without and 74.6, 78.4, 84.2 and 88.2 % with. So SASHA with 2 or 4 queues in "
    "each network is as good as BBQ with as many in all, within 1.6 points, as if the trees of endpoints "
    "that are asked for too much filled both networks. The two orders differ in x and y alone, so that a "
    "third dimension adds no way to choose."
)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig6."""
    weak = zipf.both(data, NUMBER, 1.0)
    told = zipf.in_words(weak)
    return [
        hard(
            "SASHA-4VC is the best (within a point)",
            told,
            all(highest(f, ["SASHA-4VC"]) for _, f in weak),
            cause=_QUEUES,
        ),
        hard(
            "SASHA-2VC is like BBQ-4VC (within 3 points)",
            told,
            all(abs(f["SASHA-2VC"] - f["BBQ-4VC"]) <= 3 for _, f in weak),
            cause=_QUEUES,
        ),
    ]


EXPERIMENT = zipf.experiment("osha-fig6", "Zipf traffic on a three-dimensional KNS network", NUMBER, claims)
