"""osha-fig5: Zipf traffic on a two-dimensional KNS network."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import highest

NUMBER = 1


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig5; points are points of injection bandwidth accepted at full load."""
    weak, strong = zipf.both(data, NUMBER, 1.0), zipf.both(data, NUMBER, 3.0)
    told = zipf.in_words(weak)
    others = ("OSHA-2VC", "SASHA-2VC")
    return [
        hard(
            "s = 1: 1VC is the worst (within a point)",
            told,
            all(f["1VC"] <= min(f.values()) + 1 for _, f in weak),
        ),
        hard(
            "s = 1: BBQ-4VC is the best (within a point)", told, all(highest(f, ["BBQ-4VC"]) for _, f in weak)
        ),
        hard(
            "s = 1: SASHA-4VC is like BBQ-4VC (within 3 points)",
            told,
            all(abs(f["SASHA-4VC"] - f["BBQ-4VC"]) <= 3 for _, f in weak),
        ),
        hard(
            "s = 1: OSHA-4VC lies between the 2VC schemes and BBQ-4VC (within a point)",
            told,
            all(max(f[o] for o in others) - 1 <= f["OSHA-4VC"] <= f["BBQ-4VC"] + 1 for _, f in weak),
        ),
        hard(
            "s = 3: the schemes differ little (at most 5 points)",
            zipf.in_words(strong),
            all(zipf.spread(f) <= 5 for _, f in strong),
        ),
    ]


EXPERIMENT = zipf.experiment("osha-fig5", "Zipf traffic on a two-dimensional KNS network", NUMBER, claims)
