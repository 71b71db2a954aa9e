"""osha-fig8: Zipf traffic on a three-dimensional torus, beside the KNS network of its size."""

from __future__ import annotations

from tailback.experiments import osha_paper as osha
from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard
from tailback.experiments.osha_paper import REPORT, highest

TORUS, KNS = 4, 2


def _rings(data: Data) -> str:
    return (
        f"{zipf.let_through(data, TORUS)} A torus with rings of 24 in one dimension accepts less than 3/4 of "
        f"the least on KNS (figures: {REPORT})."
    )


def _first(found: dict[str, float]) -> str:
    return max(found, key=found.__getitem__)


def _open(data: Data, voq: bool, found: dict[str, float]) -> str:
    """The points by seed, if these leave it open whether BBQ-4VC is behind by over a point."""
    return zipf.undecided(data, TORUS, 1.0, voq, (_first(found), "BBQ-4VC"), 1)


def _why_two_networks(data: Data, weak: list[tuple[bool, dict[str, float]]]) -> str:
    ahead = " and ".join(
        f"{_first(found)} {osha.switches(voq)} ({found[_first(found)] - found['BBQ-4VC']:.1f} points)"
        for voq, found in weak
        if not highest(found, ["BBQ-4VC"]) and not _open(data, voq, found)
    )
    if not ahead:
        return "The seeds do not decide it."
    return (
        f"At full load BBQ-4VC is behind {ahead}; before saturation and with uniform traffic it is level. "
        "Beyond saturation sources send to their destinations in turn, and what is accepted is no longer "
        "Zipf's mix: the endpoints that are asked for most get more with BBQ-4VC, the others more with two "
        "networks. And bubbles, of which the paper says nothing, hold sources back, which helps these: "
        "with date lines BBQ-4VC is the best. It is neither the size of the queues, nor that all packets of "
        f"BBQ-4VC enter x first (figures: {REPORT})."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    weak = zipf.both(data, TORUS, 1.0)
    told = zipf.in_words(data, TORUS, 1.0)
    return [
        zipf.below(data, TORUS, KNS, cause=lambda: _rings(data)),
        hard(
            "s = 1: BBQ-4VC is the best (within a point)",
            told,
            all(highest(f, ["BBQ-4VC"]) for _, f in weak),
            note=" ".join(
                f"Undecided by three seeds {osha.switches(voq)}: {_first(found)} minus BBQ-4VC is {points}."
                for voq, found in weak
                if (points := _open(data, voq, found))
            ),
            cause=lambda: _why_two_networks(data, weak),
        ),
        zipf.little(data, TORUS),
    ]


EXPERIMENT = zipf.experiment(
    "osha-fig8", "Zipf traffic on a three-dimensional torus", TORUS, claims, beside=KNS
)
