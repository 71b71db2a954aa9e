"""osha-fig5: Zipf traffic on a two-dimensional KNS network."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tailback.experiments import osha_paper as osha
from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import REPORT, highest

NUMBER = 1
_Found = list[tuple[bool, dict[str, float]]]


def _worst(weak: _Found) -> bool:
    return all(found["1VC"] <= min(found.values()) + 1 for _, found in weak)


def _alike(weak: _Found) -> bool:
    return all(abs(found["SASHA-4VC"] - found["BBQ-4VC"]) <= 3 for _, found in weak)


def _between(weak: _Found) -> bool:
    return all(
        max(found["OSHA-2VC"], found["SASHA-2VC"]) - 1 <= found["OSHA-4VC"] <= found["BBQ-4VC"] + 1
        for _, found in weak
    )


def _best(weak: _Found) -> bool:
    return all(highest(found, ["BBQ-4VC"]) for _, found in weak)


def _why_too_early(data: Data) -> str:
    """Time, of which only runs beside tell."""
    told = []
    for setting in osha.settings(data, network=NUMBER, s=1.0):
        (_, now), (_, later) = zipf.both(data, NUMBER, 1.0)[1], zipf.both(data, NUMBER, 1.0, setting)[1]
        worst = min(now, key=now.__getitem__)
        told.append(
            f"With VOQs the window comes too early: {osha.BESIDE[setting]} 1VC accepts {later['1VC']:.1f} "
            f"instead of {now['1VC']:.1f} %, and {worst} {later[worst]:.1f} instead of {now[worst]:.1f} %. "
            f"What 1VC accepts goes on falling after the window (figures: {REPORT})."
        )
        if points := zipf.undecided(data, NUMBER, 1.0, True, ("1VC", worst), 1, setting):
            told.append(f"It is a near thing, which three seeds leave open: 1VC minus {worst} is {points}.")
    return " ".join(told)


def _why_behind(data: Data) -> str:
    gaps = {
        setting: " and ".join(
            f"{found['BBQ-4VC'] - found['SASHA-4VC']:.1f}"
            for _, found in zipf.both(data, NUMBER, 1.0, setting)
        )
        for setting in (osha.JUDGED, *osha.settings(data, network=NUMBER, s=1.0))
    }
    now = gaps.pop(osha.JUDGED)
    later = "".join(f", {osha.BESIDE[setting]} {gap}" for setting, gap in gaps.items())
    return (
        f"SASHA-4VC is behind by {now} points without and with VOQs{later}. Without VOQs no rule of "
        "arbitration closes the gap; it takes a crossbar of twice the speed, or four queues in each network, "
        f"to come within the tolerance (figures: {REPORT}). That the trees of endpoints that are asked for "
        "too much fill both networks, so that the second does less than queues do, is a conjecture."
    )


def _why_apart(strong: _Found) -> str:
    points = " and ".join(f"{f['BBQ-4VC'] - f['1VC']:.1f} {osha.switches(voq)}" for voq, f in strong)
    return (
        f"The paper compares 1VC with BBQ-4VC, which here differ by {points}, in points. SASHA is ahead of "
        "both. A source sends 83 % to one endpoint, so that sources of a row whose endpoints lie in one "
        "column share the channel where XY packets turn: these channels could carry less of what they are "
        f"asked than where two orders share the turns, and longer runs change nothing (figures: {REPORT})."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims; points are points of injection bandwidth accepted at full load."""
    strong, told = zipf.both(data, NUMBER, 3.0), zipf.in_words(data, NUMBER, 1.0)

    def judged(text: str, rule: Callable[[_Found], bool], **more: Any) -> Claim:
        def holds(setting: str) -> bool:
            return rule(zipf.both(data, NUMBER, 1.0, setting))

        return osha.judged(data, text, told, holds, network=NUMBER, s=1.0, **more)

    return [
        judged(
            "s = 1: 1VC is the worst (within a point)",
            _worst,
            note=f"{zipf.bounds(data, NUMBER, 1.0)} {zipf.besides(data, NUMBER, 1.0)}".strip(),
            cause=lambda: _why_too_early(data),
        ),
        judged("s = 1: BBQ-4VC is the best (within a point)", _best),
        judged("s = 1: SASHA-4VC is like BBQ-4VC (within 3 points)", _alike, cause=lambda: _why_behind(data)),
        judged("s = 1: OSHA-4VC lies between the 2VC schemes and BBQ-4VC (within a point)", _between),
        hard(
            "s = 3: the schemes differ little (at most 5 points)",
            zipf.in_words(data, NUMBER, 3.0),
            all(zipf.spread(f) <= 5 for _, f in strong),
            note=zipf.bounds(data, NUMBER, 3.0),
            cause=lambda: _why_apart(strong),
        ),
    ]


EXPERIMENT = zipf.experiment(
    "osha-fig5",
    "Zipf traffic on a two-dimensional KNS network",
    NUMBER,
    claims,
    settings={(1.0, osha.PAPER_TIMES): 3},
)
