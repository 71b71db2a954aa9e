"""osha-fig10: a hot spot on tori."""

from __future__ import annotations

from tailback.experiments import osha_hot as hot
from tailback.experiments import osha_paper as osha
from tailback.experiments.model import Claim, Data, Experiment, hard
from tailback.experiments.osha_paper import PAPER, highest

NUMBERS = (3, 4)
_Found = list[dict[str, float]]


def _far(found: dict[int, _Found]) -> str:
    ratios = "; ".join(
        f"network {number} " + " and ".join(f"{each['OSHA-4VC'] / each['SASHA-4VC']:.2f}" for each in both)
        for number, both in found.items()
    )
    return (
        f"OSHA-4VC over SASHA-4VC, without and with VOQs: {ratios}. As in figure 9 one of the two queues of "
        "each network is jammed, and only a quarter of the destinations is outside both; SASHA-4VC reaches "
        "three quarters of them, but for what the rings let through."
    )


def _not_more(small: _Found, large: _Found) -> str:
    fell = [
        f"{scheme} {osha.switches(bool(voq))} {before[scheme]:.1f} and {after[scheme]:.1f} %"
        for voq, (before, after) in enumerate(zip(small, large, strict=True))
        for scheme in before
        if after[scheme] <= before[scheme]
    ]
    return (
        f"Not so: {'; '.join(fell)}. What has collapsed moves no faster than the hot endpoint takes packets, "
        "which more endpoints share on network 4."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    told = hot.told(data, *NUMBERS)
    found = {number: hot.both(data, number) for number in NUMBERS}
    every = [each for both in found.values() for each in both]
    pairs = zip(found[3], found[4], strict=True)
    return [
        hard(
            "1VC and OSHA-2VC collapse (below half of the best)",
            told,
            all(each[bad] < 0.5 * max(each.values()) for each in every for bad in ("1VC", "OSHA-2VC")),
        ),
        hard(
            "OSHA-4VC is near SASHA-4VC (at least 3/4 of it)",
            told,
            all(each["OSHA-4VC"] >= 0.75 * each["SASHA-4VC"] for each in every),
            cause=lambda: _far(found),
        ),
        hard(
            "network 4 accepts more than network 3",
            told,
            all(large[scheme] > small[scheme] for small, large in pairs for scheme in small),
            cause=lambda: _not_more(found[3], found[4]),
        ),
        hard(
            "network 4: BBQ-4VC is the best (within a point)",
            told,
            all(highest(each, ["BBQ-4VC"]) for each in found[4]),
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
