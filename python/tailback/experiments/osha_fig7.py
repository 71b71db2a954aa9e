"""osha-fig7: Zipf traffic on a two-dimensional torus, beside the KNS network of its size."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, Experiment, hard
from tailback.experiments.osha_paper import PAPER

TORUS, KNS = 3, 1


def below(data: Data, torus: int, kns: int) -> Claim:
    """That a torus saturates far below the KNS network."""
    pairs = list(zip(zipf.both(data, torus, 1.0), zipf.both(data, kns, 1.0), strict=True))
    told = "; ".join(
        f"torus at most {max(t.values()):.1f} %, KNS at least {min(k.values()):.1f} %"
        for (_, t), (_, k) in pairs
    )
    held = all(t[scheme] <= 0.75 * k[scheme] for (_, t), (_, k) in pairs for scheme in t)
    return hard("s = 1: every scheme accepts at most 3/4 of what it does on KNS", told, held)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig7."""
    strong, beside = zipf.both(data, TORUS, 3.0), zipf.both(data, KNS, 3.0)
    spreads = [(zipf.spread(t), zipf.spread(k)) for (_, t), (_, k) in zip(strong, beside, strict=True)]
    told = "; ".join(f"torus {torus:.1f}, KNS {kns:.1f} points" for torus, kns in spreads)
    adaptive = ("OSHA-2VC", "OSHA-4VC", "SASHA-2VC", "SASHA-4VC")
    weak = zipf.both(data, TORUS, 1.0)
    gain = [weak[1][1][scheme] - weak[0][1][scheme] for scheme in weak[0][1]]
    return [
        below(data, TORUS, KNS),
        hard("s = 3: the schemes differ more than on KNS", told, all(torus > kns for torus, kns in spreads)),
        hard(
            "s = 3: OSHA and SASHA above BBQ-4VC",
            zipf.in_words(strong),
            all(f[scheme] > f["BBQ-4VC"] for _, f in strong for scheme in adaptive),
        ),
        hard(
            "VOQs add little (at most 5 points at s = 1)", f"at most {max(gain):.1f} points", max(gain) <= 5
        ),
    ]


EXPERIMENT = Experiment(
    id="osha-fig7",
    paper=PAPER,
    title="Zipf traffic on a two-dimensional torus",
    setup=zipf.SETUP + " The torus has bubble flow control in every ring and virtual network.",
    cases=zipf.cases(TORUS, KNS),
    draw=zipf.draw(TORUS),
    claims=claims,
)
