"""osha-fig6: Zipf traffic on a three-dimensional KNS network."""

from __future__ import annotations

from tailback.experiments import osha_paper as osha
from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import REPORT, highest

NUMBER = 2
_QUEUES = (
    "Queues tell, and a second network hardly: SASHA with 2 or 4 queues in each network accepts what BBQ "
    f"does with as many in all (figures: {REPORT}). The two orders differ in x and y alone, so that a third "
    "dimension adds no way to choose. That the trees of endpoints that are asked for too much fill both "
    "networks is a conjecture."
)


def _open(data: Data, scheme: str, margin: float) -> str:
    """Where the seeds leave it open whether BBQ-4VC is ahead of a scheme by over a margin."""
    return " ".join(
        f"Undecided by three seeds {osha.switches(voq)}: BBQ-4VC minus {scheme} is {points}."
        for voq in (False, True)
        if (points := zipf.undecided(data, NUMBER, 1.0, voq, ("BBQ-4VC", scheme), margin))
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
            note=_open(data, "SASHA-4VC", 1),
            cause=_QUEUES,
        ),
        hard(
            "s = 1: SASHA-2VC is like BBQ-4VC (within 3 points)",
            told,
            all(abs(f["SASHA-2VC"] - f["BBQ-4VC"]) <= 3 for _, f in weak),
            note=_open(data, "SASHA-2VC", 3),
            cause=_QUEUES,
        ),
    ]


EXPERIMENT = zipf.experiment("osha-fig6", "Zipf traffic on a three-dimensional KNS network", NUMBER, claims)
