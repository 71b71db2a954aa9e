"""peer-ns3-dcqcn: when flows end under DCQCN as NICs have it, beside the simulator of HPCC's authors."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from tailback.experiments import ns3
from tailback.experiments.ends import Ends, near
from tailback.experiments.model import Case, Claim, Data, Experiment
from tailback.figures import style

PACKETS = 1000
"""Of a flow."""

THEIRS: Mapping[str, Ends] = {
    "1 to 1": Ends(
        330.3, 330.3, (330.3, 330.3, 330.3, 330.3, 330.3, 330.3, 330.3, 330.3, 330.3, 330.3, 330.3)
    ),
    "2 to 1": Ends(
        844.0, 870.4, (689.7, 771.5, 807.4, 843.2, 848.1, 852.2, 862.7, 873.6, 880.8, 886.1, 916.3)
    ),
    "4 to 1": Ends(
        1702.1,
        1803.7,
        (1460.9, 1578.8, 1626.4, 1647.9, 1671.3, 1696.0, 1714.7, 1747.0, 1774.8, 1820.4, 2063.1),
    ),
    "8 to 1": Ends(
        3875.5,
        4277.6,
        (2704.8, 3410.4, 3649.6, 3774.5, 3851.8, 3929.7, 3994.7, 4068.9, 4138.9, 4244.9, 4640.2),
    ),
    "16 to 1": Ends(
        6204.2,
        6850.5,
        (1932.0, 5399.8, 5902.3, 6130.5, 6243.6, 6346.1, 6412.8, 6494.7, 6590.0, 6766.8, 7173.0),
    ),
    "32 to 1": Ends(
        9676.9,
        11223.1,
        (7415.8, 8013.5, 8311.2, 8788.2, 9181.5, 9958.8, 10299.7, 10579.0, 10837.6, 11202.1, 11645.4),
    ),
    "8 to 1, in turn": Ends(
        2508.8,
        3160.2,
        (1246.5, 1872.7, 2055.7, 2286.3, 2423.5, 2540.9, 2679.1, 2823.2, 2907.2, 3057.9, 3691.9),
    ),
    "row": Ends(
        3089.1,
        3527.2,
        (1670.0, 2712.1, 2857.4, 2950.6, 3027.6, 3112.9, 3160.8, 3213.2, 3333.7, 3528.8, 3888.9),
    ),
    "long and short": Ends(
        215.3, 3126.3, (35.1, 46.0, 56.4, 67.8, 76.7, 86.8, 98.7, 114.3, 142.7, 171.3, 3799.3)
    ),
    "16 to 1 in a pod": Ends(
        1354.7,
        1563.1,
        (677.4, 1165.8, 1234.8, 1282.4, 1326.8, 1369.3, 1417.8, 1462.9, 1508.1, 1567.9, 1676.8),
        to=0,
    ),
}
"""By pattern."""

CONTROL = 'kind = "dcqcn-connectx"'


def _cases(full: bool) -> list[Case]:
    return [
        Case({"pattern": name, "draw": number}, ns3.scenario(name, PACKETS, number, CONTROL), cost=0.2)
        for name in ns3.PATTERNS
        for number in range(1, ns3.DRAWS + 1)
    ]


def _draw(data: Data) -> Figure:
    with style.styled():
        figure, panels = style.figure(3, height=2.4)
        ns3.panels(panels, THEIRS, data)
        panels[-1].set_xlabel("time [of ns-3's last end]")
    return figure


def _claims(data: Data) -> list[Claim]:
    return [claim for name, theirs in THEIRS.items() for claim in near(name, theirs, data, pattern=name)]


EXPERIMENT = Experiment(
    id="peer-ns3-dcqcn",
    paper=ns3.PAPER,
    title="DCQCN of NICs beside the simulator of HPCC's authors",
    setup=ns3.setup(
        PACKETS,
        "DCQCN with the values that the simulator's `run.py` sets for `dcqcn` at 100 Gb/s, but for the "
        "lowest rate, which is that of its `mix/config.txt`; so are our defaults: marks between 400 and "
        "1600 kB, alpha each 1 us, cuts at most each 4 us, increases each 300 us, no less than 100 Mb/s.",
    ),
    cases=_cases,
    draw=_draw,
    claims=_claims,
)
