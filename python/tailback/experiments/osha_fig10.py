"""osha-fig10: a hot spot on tori."""

from __future__ import annotations

from functools import partial

from tailback.experiments import osha_hot as hot
from tailback.experiments import osha_paper as osha
from tailback.experiments.model import Claim, Data, Experiment
from tailback.experiments.osha_paper import PAPER, highest

NUMBERS = (3, 4)
_Found = list[dict[str, float]]


SETTINGS = (osha.PAPER_TIMES, osha.DATE_LINES)


def _every(data: Data, setting: str) -> _Found:
    return [each for number in NUMBERS for each in hot.both(data, number, setting)]


def _collapsed(every: _Found) -> bool:
    return all(each[bad] < 0.5 * max(each.values()) for each in every for bad in ("1VC", "OSHA-2VC"))


def _near(every: _Found) -> bool:
    return all(each["OSHA-4VC"] >= 0.75 * each["SASHA-4VC"] for each in every)


def _far(data: Data) -> str:
    def ratios(setting: str) -> str:
        found = {number: hot.both(data, number, setting) for number in NUMBERS}
        return "; ".join(
            f"network {number} "
            + " and ".join(f"{each['OSHA-4VC'] / each['SASHA-4VC']:.2f}" for each in both)
            + (", near" if _near(both) else ", not near")
            for number, both in found.items()
        )

    others = "".join(
        f" The same {osha.BESIDE[setting]}: {ratios(setting)}." for setting in osha.settings(data)
    )
    return (
        f"OSHA-4VC over SASHA-4VC, without and with VOQs: {ratios(osha.JUDGED)}.{others} The window comes "
        "before the network is steady, and the paper says nothing of bubbles. As in figure 9 one of the two "
        "queues of each network is jammed, and only a quarter of the destinations is outside both; SASHA-4VC "
        "reaches three quarters of them, but for what the rings let through."
    )


def _holding(small: _Found, large: _Found) -> str:
    """What becomes on the larger network of schemes that have not collapsed on either."""
    pairs = [
        (f"{scheme} {osha.switches(bool(voq))}", before[scheme], after[scheme])
        for voq, (before, after) in enumerate(zip(small, large, strict=True))
        for scheme in before
        if all(found[scheme] >= 0.5 * max(found.values()) for found in (before, after))
    ]
    more = sum(after > before for _, before, after in pairs)
    told = ", ".join(f"{name} {before:.1f} and {after:.1f} %" for name, before, after in pairs)
    return (
        'The paper says that "the traffic load the network can absorb increases". Of the schemes that hold '
        f"(at least half of the best, on both) {more} of {len(pairs)} accept more on network 4: {told}."
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
    small, large = (hot.both(data, number) for number in NUMBERS)

    def more(setting: str) -> bool:
        pairs = zip(hot.both(data, 3, setting), hot.both(data, 4, setting), strict=True)
        return all(after[scheme] > before[scheme] for before, after in pairs for scheme in before)

    judged = partial(osha.judged, data, told=told)
    return [
        judged(
            "1VC and OSHA-2VC collapse (below half of the best)",
            holds=lambda setting: _collapsed(_every(data, setting)),
            note=hot.besides(data, *NUMBERS),
        ),
        judged(
            "OSHA-4VC is near SASHA-4VC (at least 3/4 of it)",
            holds=lambda setting: _near(_every(data, setting)),
            cause=lambda: _far(data),
        ),
        judged(
            "network 4 accepts more than network 3",
            holds=more,
            note=_holding(small, large),
            cause=lambda: _not_more(small, large),
        ),
        judged(
            "network 4: BBQ-4VC is the best (within a point)",
            holds=lambda setting: all(highest(each, ["BBQ-4VC"]) for each in hot.both(data, 4, setting)),
        ),
    ]


EXPERIMENT = Experiment(
    id="osha-fig10",
    paper=PAPER,
    title="A hot spot on tori",
    setup=hot.setup(SETTINGS),
    cases=hot.cases(NUMBERS, SETTINGS),
    draw=hot.draw(NUMBERS),
    claims=claims,
)
