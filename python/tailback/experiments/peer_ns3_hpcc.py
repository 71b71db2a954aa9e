"""peer-ns3-hpcc: when flows end under HPCC, beside the simulator of its authors."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from tailback.experiments import ns3
from tailback.experiments.ends import Ends, near
from tailback.experiments.model import Case, Claim, Data, Experiment
from tailback.figures import style

PACKETS = 250
"""Of a flow."""
STAGES = (0, 5)
"""`max_stage`: of the authors' simulations, and of the paper."""

THEIRS: Mapping[tuple[int, str], Ends] = {
    (0, "1 to 1"): Ends(88.5, 88.5, (88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5)),
    (0, "2 to 1"): Ends(
        174.6, 178.7, (169.9, 170.1, 170.2, 170.8, 171.0, 171.9, 178.6, 178.6, 178.9, 178.9, 178.9)
    ),
    (0, "4 to 1"): Ends(
        333.5, 353.3, (273.0, 281.8, 316.7, 327.1, 336.1, 345.6, 346.6, 348.7, 351.7, 353.7, 356.3)
    ),
    (0, "8 to 1"): Ends(
        639.3, 708.9, (463.1, 559.4, 578.9, 604.6, 628.3, 648.0, 663.7, 688.0, 695.2, 707.2, 712.4)
    ),
    (0, "16 to 1"): Ends(
        1258.1,
        1407.8,
        (776.8, 1080.2, 1146.2, 1197.1, 1232.3, 1282.9, 1323.0, 1350.8, 1376.3, 1397.9, 1412.6),
    ),
    (0, "32 to 1"): Ends(
        2618.9,
        2809.3,
        (1311.1, 2367.4, 2502.0, 2583.5, 2634.0, 2676.4, 2709.8, 2743.4, 2768.1, 2788.8, 2822.7),
    ),
    (0, "8 to 1, in turn"): Ends(
        538.1, 673.5, (249.3, 286.6, 414.0, 500.4, 560.4, 587.0, 604.3, 618.6, 643.3, 662.2, 706.7)
    ),
    (0, "row"): Ends(
        665.4, 719.5, (487.2, 583.9, 628.2, 653.4, 669.7, 680.5, 689.5, 699.1, 707.0, 715.2, 724.7)
    ),
    (0, "long and short"): Ends(
        34.3, 466.6, (10.7, 10.7, 10.7, 10.7, 14.4, 16.4, 17.4, 18.1, 21.1, 26.3, 534.7)
    ),
    (0, "16 to 1 in a pod"): Ends(
        1469.9,
        1787.8,
        (706.0, 1184.6, 1304.3, 1383.0, 1437.0, 1483.4, 1524.8, 1589.2, 1641.8, 1720.7, 1945.1),
        to=0,
    ),
    (5, "1 to 1"): Ends(88.6, 88.6, (88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6)),
    (5, "2 to 1"): Ends(
        177.3, 179.3, (174.3, 175.1, 175.2, 175.6, 175.7, 175.9, 178.4, 178.4, 180.1, 180.1, 181.1)
    ),
    (5, "4 to 1"): Ends(
        342.4, 370.3, (290.2, 305.3, 312.2, 323.2, 335.2, 345.3, 357.3, 364.5, 368.5, 370.7, 373.9)
    ),
    (5, "8 to 1"): Ends(
        663.1, 747.0, (528.7, 582.6, 612.0, 629.1, 644.1, 656.2, 678.6, 704.9, 726.1, 738.1, 760.8)
    ),
    (5, "16 to 1"): Ends(
        1348.7,
        1456.1,
        (969.3, 1231.0, 1276.7, 1314.4, 1348.4, 1368.5, 1385.2, 1405.3, 1421.1, 1440.1, 1472.0),
    ),
    (5, "32 to 1"): Ends(
        2709.2,
        2857.5,
        (2290.5, 2551.2, 2617.6, 2668.9, 2702.7, 2731.8, 2760.1, 2785.5, 2807.7, 2834.7, 2875.9),
    ),
    (5, "8 to 1, in turn"): Ends(
        555.7, 713.5, (207.6, 233.7, 381.3, 505.2, 593.9, 625.3, 652.8, 668.5, 684.1, 703.5, 740.9)
    ),
    (5, "row"): Ends(
        681.3, 756.5, (535.7, 601.2, 618.5, 644.5, 662.4, 688.1, 716.1, 727.8, 737.0, 748.6, 767.8)
    ),
    (5, "long and short"): Ends(
        38.8, 583.4, (10.7, 10.7, 10.7, 12.5, 13.5, 15.1, 17.2, 18.0, 19.7, 26.2, 695.3)
    ),
    (5, "16 to 1 in a pod"): Ends(
        1892.5,
        2135.3,
        (994.0, 1543.9, 1711.9, 1839.0, 1908.6, 1967.3, 2009.3, 2046.2, 2078.9, 2113.2, 2226.2),
        to=0,
    ),
}
"""By `max_stage` and pattern."""

_HPCC = 'kind = "hpcc"\nbase_rtt = "{base_rtt} ns"\nmax_stage = {stage}\nwindow_ai = "{steps} flits"'
_BASE_RTT = {"star": 4642, "row": 9284, "pod": 9284}
"""By the network, as ns-3 tells it: two ways without headers."""
_STEPS = {"star": 1, "row": 2, "pod": 2}
"""So many flits in such a time are 172 Mb/s."""


def control(name: str, stage: int) -> str:
    """The keys of the congestion control of a pattern."""
    network = ns3.PATTERNS[name].network
    return _HPCC.format(base_rtt=_BASE_RTT[network], stage=stage, steps=_STEPS[network])


def _cases(full: bool) -> list[Case]:
    return [
        Case(
            {"stage": stage, "pattern": name, "draw": number},
            ns3.scenario(name, PACKETS, number, control(name, stage)),
            cost=0.1,
        )
        for stage in STAGES
        for name in ns3.PATTERNS
        for number in range(1, ns3.DRAWS + 1)
    ]


def _draw(data: Data) -> Figure:
    with style.styled():
        figure, panels = style.figure(6, height=2.4)
        for number, stage in enumerate(STAGES):
            told = {name: THEIRS[stage, name] for name in ns3.PATTERNS}
            three = panels[3 * number : 3 * number + 3]
            ns3.panels(three, told, data, title=f"max_stage {stage}", stage=stage)
        panels[-1].set_xlabel("time [of ns-3's last end]")
    return figure


def _claims(data: Data) -> list[Claim]:
    return [
        claim
        for (stage, name), theirs in THEIRS.items()
        for claim in near(f"max_stage {stage}, {name}", theirs, data, stage=stage, pattern=name)
    ]


EXPERIMENT = Experiment(
    id="peer-ns3-hpcc",
    paper=ns3.PAPER,
    title="HPCC beside its authors' simulator",
    setup=ns3.setup(
        PACKETS,
        "Windows for the round trip that ns-3 reckons with (4.642 and 9.284 us), eta 0.95, steps of 172 Mb/s."
        " Windows there count data without headers of 90 B, which is a 45th more.",
    ),
    cases=_cases,
    draw=_draw,
    claims=_claims,
)
