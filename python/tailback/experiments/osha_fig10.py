"""osha-fig10: a hot spot on tori."""

from __future__ import annotations

from tailback.experiments import osha_hot as hot
from tailback.experiments.model import Claim, Data, Experiment, hard
from tailback.experiments.osha_paper import PAPER, highest

NUMBERS = (3, 4)
_NEAR = (
    "It is on network 3. As in figure 9 one of the two queues of each network is jammed, and only a quarter "
    "of the destinations is outside both; SASHA-4VC reaches three quarters of them. On network 3 the rings "
    "hold SASHA-4VC itself below that."
)
_MORE = (
    "Schemes that have collapsed on both (OSHA-2VC): what they still accept goes with the hot endpoint's "
    "channel, which network 4 has more endpoints to share. BBQ-4VC, OSHA-4VC and SASHA-4VC accept more."
)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig10."""
    told = hot.told(data, *NUMBERS)
    every = [found for number in NUMBERS for found in hot.both(data, number)]
    pairs = zip(hot.both(data, 3), hot.both(data, 4), strict=True)
    return [
        hard(
            "1VC and OSHA-2VC collapse (below half of the best)",
            told,
            all(found[bad] < 0.5 * max(found.values()) for found in every for bad in ("1VC", "OSHA-2VC")),
        ),
        hard(
            "OSHA-4VC is near SASHA-4VC (at least 3/4 of it)",
            told,
            all(found["OSHA-4VC"] >= 0.75 * found["SASHA-4VC"] for found in every),
            cause=_NEAR,
        ),
        hard(
            "network 4 accepts more than network 3",
            told,
            all(large[scheme] > small[scheme] for small, large in pairs for scheme in small),
            cause=_MORE,
        ),
        hard(
            "network 4: BBQ-4VC is the best (within a point)",
            told,
            all(highest(found, ["BBQ-4VC"]) for found in hot.both(data, 4)),
        ),
    ]


EXPERIMENT = Experiment(
    id="osha-fig10",
    paper=PAPER,
    title="A hot spot on tori",
    setup=hot.SETUP,
    cases=hot.cases(NUMBERS),
    draw=hot.draw(NUMBERS),
    claims=claims,
)
