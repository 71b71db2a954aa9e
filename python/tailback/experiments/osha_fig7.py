"""osha-fig7: Zipf traffic on a two-dimensional torus, beside the KNS network of its size."""

from __future__ import annotations

from tailback.experiments import osha_zipf as zipf
from tailback.experiments.model import Claim, Data, hard

TORUS, KNS = 3, 1
_QUEUES = (
    "SASHA-4VC is, the others only for as many queues as BBQ has. On 16² BBQ with 2 and 4 queues accepts "
    "22.4 and 29.5 % without and 26.3 and 30.7 % with VOQs, OSHA with 1, 2 and 4 a network 20.0, 27.8 and"
    " 30.5 % and 26.2, 30.9 and 32.6 %, SASHA 27.6, 32.2 and 35.0 % and 33.0, 34.4 and 36.8 %. The second"
    " order itself is worth little: of what is asked of the rings at full load they could carry 47 % in "
    "one order and 49 % in two."
)


def claims(data: Data) -> list[Claim]:
    """Those of claims table row osha-fig7."""
    strong, beside = zipf.both(data, TORUS, 3.0), zipf.both(data, KNS, 3.0)
    spreads = [(zipf.spread(t), zipf.spread(k)) for (_, t), (_, k) in zip(strong, beside, strict=True)]
    told = "; ".join(f"torus {torus:.1f}, KNS {kns:.1f} points" for torus, kns in spreads)
    adaptive = ("OSHA-2VC", "OSHA-4VC", "SASHA-2VC", "SASHA-4VC")
    return [
        zipf.below(data, TORUS, KNS),
        hard("s = 3: the schemes differ more than on KNS", told, all(torus > kns for torus, kns in spreads)),
        hard(
            "s = 3: OSHA and SASHA above BBQ-4VC",
            zipf.in_words(strong),
            all(f[scheme] > f["BBQ-4VC"] for _, f in strong for scheme in adaptive),
            cause=_QUEUES,
        ),
        zipf.little(data, TORUS),
    ]


EXPERIMENT = zipf.experiment(
    "osha-fig7", "Zipf traffic on a two-dimensional torus", TORUS, claims, beside=KNS
)
