"""osha-fig5: Zipf traffic on a two-dimensional KNS network."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import highest

NUMBER = 1
_QUEUES = (
    "The second network does less than queues do. On 16² without VOQs SASHA with 1, 2 and 4 queues a "
    "network accepts 71.7, 76.3 and 79.2 %, BBQ with 1, 2, 4 and 8 in all 60.6, 71.3, 79.6 and 84.7 %: "
    "with 4 queues each they are level, as if the trees of the 117 of 256 endpoints that are asked for "
    "more than they can take filled both networks. With VOQs the claim holds. The crossbar has a part: at"
    " twice the speed they accept 80.3 and 82.9 %."
)
_TURN = (
    "The paper compares 1VC with BBQ-4VC, which here differ by 6.2 points without VOQs and 3.0 with. "
    "SASHA is ahead. A source sends 83 % to one endpoint, so that sources of a row whose endpoints lie in"
    " one column share the channel where XY packets turn: of what is asked of these channels on 16² "
    "(measured at 0.15 load) they could carry 73 % at full load, but 86 % and 87 % of what two orders ask"
    " of x and y channels. Endpoints could take 68.8 %. Thrice the time changes nothing (with VOQs 55.0, "
    "58.0 and 60.8 % for 1VC, BBQ-4VC and SASHA-4VC)."
)


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
            cause=_QUEUES,
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
            cause=_TURN,
        ),
    ]


EXPERIMENT = zipf.experiment("osha-fig5", "Zipf traffic on a two-dimensional KNS network", NUMBER, claims)
