"""osha-fig5: Zipf traffic on a two-dimensional KNS network."""

from __future__ import annotations

from tailback.experiments import osha_paper as osha
from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import REPORT, highest

NUMBER = 1
_ROOM = (
    "With VOQs the head of a queue holds up few, and the room behind it tells: two queues have half a port "
    "each. With twice the memory no scheme is more than a point behind 1VC; neither another rule of "
    f"arbitration nor a faster crossbar does that (figures: {REPORT})."
)
_QUEUES = (
    "The second network does less than queues do. Without VOQs SASHA takes four queues in each network to "
    "accept what BBQ does with four in all, as if the trees of the endpoints that are asked for more than "
    "they can take filled both networks. The crossbar has a part: at twice its speed the two are within the "
    f"tolerance. (Figures: {REPORT}.)"
)


def _why_apart(strong: list[tuple[bool, dict[str, float]]]) -> str:
    points = " and ".join(f"{f['BBQ-4VC'] - f['1VC']:.1f} {osha.switches(voq)}" for voq, f in strong)
    return (
        f"The paper compares 1VC with BBQ-4VC, which here differ by {points}, in points. SASHA is ahead of "
        "both. A source sends 83 % to one endpoint, so that sources of a row whose endpoints lie in one "
        "column share the channel where XY packets turn: these channels could carry less of what they are "
        f"asked than where two orders share the turns, and longer runs change nothing (figures: {REPORT})."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims; points are points of injection bandwidth accepted at full load."""
    weak, strong = zipf.both(data, NUMBER, 1.0), zipf.both(data, NUMBER, 3.0)
    told = zipf.in_words(data, NUMBER, 1.0)
    others = ("OSHA-2VC", "SASHA-2VC")
    return [
        hard(
            "s = 1: 1VC is the worst (within a point)",
            told,
            all(f["1VC"] <= min(f.values()) + 1 for _, f in weak),
            note=zipf.bounds(data, NUMBER, 1.0),
            cause=_ROOM,
        ),
        hard(
            "s = 1: BBQ-4VC is the best (within a point)", told, all(highest(f, ["BBQ-4VC"]) for _, f in weak)
        ),
        hard(
            "s = 1: SASHA-4VC is like BBQ-4VC (within 3 points)",
            told,
            all(abs(f["SASHA-4VC"] - f["BBQ-4VC"]) <= 3 for _, f in weak),
            cause=_QUEUES,
        ),
        hard(
            "s = 1: OSHA-4VC lies between the 2VC schemes and BBQ-4VC (within a point)",
            told,
            all(max(f[o] for o in others) - 1 <= f["OSHA-4VC"] <= f["BBQ-4VC"] + 1 for _, f in weak),
        ),
        hard(
            "s = 3: the schemes differ little (at most 5 points)",
            zipf.in_words(data, NUMBER, 3.0),
            all(zipf.spread(f) <= 5 for _, f in strong),
            note=zipf.bounds(data, NUMBER, 3.0),
            cause=lambda: _why_apart(strong),
        ),
    ]


EXPERIMENT = zipf.experiment("osha-fig5", "Zipf traffic on a two-dimensional KNS network", NUMBER, claims)
