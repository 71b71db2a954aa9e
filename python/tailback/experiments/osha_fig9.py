"""osha-fig9: a hot spot on KNS networks."""

from __future__ import annotations

from tailback.experiments import osha_hot as hot
from tailback.experiments.measure import accepted
from tailback.experiments.model import Claim, Data, Experiment, hard, value
from tailback.experiments.osha_paper import PAPER, REPORT

NUMBERS = (1, 2)
_HOLD = ("BBQ-4VC", "SASHA-4VC")
_COLLAPSE = ("1VC", "OSHA-2VC", "OSHA-4VC")


def _between(every: list[dict[str, float]]) -> str:
    parts = [f"{found['OSHA-4VC'] / found['BBQ-4VC']:.2f}" for found in every]
    return (
        f"OSHA-4VC alone, which accepts {min(parts)} to {max(parts)} of what BBQ-4VC does, and of 2-D "
        "networks the less the larger they are. One queue of each network leads to the hot endpoint, XY to "
        "its half of the rows and YX to its half of the columns. Destinations in neither half get nearly all "
        "of the uniform traffic that is asked, those in one half far less, since a packet keeps the network "
        "of its turn and waits for the jammed one, those in both the least. With a hot tree that stops "
        "everything a quarter would be left, 19 % in all. SASHA-4VC goes round it: only destinations in both "
        f"halves lose (figures: {REPORT})."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims; what collapses accepts less than half of what holds."""
    told = hot.told(data, *NUMBERS)
    every = [found for number in NUMBERS for found in hot.both(data, number)]
    apart = all(found[bad] < 0.5 * found[good] for found in every for bad in _COLLAPSE for good in _HOLD)
    bare = hot.found(data, 1, voq=False)
    escape = {scheme for scheme, percent in bare.items() if percent >= 0.5 * max(bare.values())}
    closed = "ceiling 75 %; closed form 56 % for four bands, one of them hot, and a part of that band"
    full = data.mean(hot.total, network=1, voq=True, scheme="BBQ-4VC", load=1.0).scaled(100)
    adaptive = data.mean(hot.total, network=1, voq=True, scheme="SASHA-4VC", load=1.0).scaled(100)
    victim = 100 * data.mean(accepted("uniform"), network=1, voq=True, scheme="BBQ-4VC", load=1.0).mean
    return [
        hard("1VC and OSHA collapse, BBQ-4VC and SASHA-4VC hold", told, apart, cause=lambda: _between(every)),
        hard(
            "network 1 without VOQs: only BBQ-4VC and SASHA-4VC escape",
            ", ".join(sorted(escape)),
            escape == set(_HOLD),
            cause=lambda: _between(every),
        ),
        value(
            "network 1 with VOQs: BBQ-4VC accepts",
            "60 %",
            full,
            (50, 70),
            "%",
            note=f"{closed}; uniform traffic gets {victim:.1f} % of its sources' channels",
        ),
        value("network 1 with VOQs: SASHA-4VC accepts", "60 %", adaptive, (50, 70), "%"),
    ]


EXPERIMENT = Experiment(
    id="osha-fig9",
    paper=PAPER,
    title="A hot spot on KNS networks",
    setup=hot.SETUP,
    cases=hot.cases(NUMBERS),
    draw=hot.draw(NUMBERS),
    claims=claims,
)
