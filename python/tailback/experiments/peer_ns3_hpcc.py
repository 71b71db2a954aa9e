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
VARIANTS: Mapping[str, tuple[int, str]] = {
    "max_stage 0": (0, "int"),
    "max_stage 5": (5, "int"),
    "PINT": (0, "pint"),
}
"""`max_stage` and telemetry: of the authors' simulations, of the paper, and of the paper on PINT."""

THEIRS: Mapping[tuple[str, str], Ends] = {
    ("max_stage 0", "1 to 1"): Ends(
        88.5, 88.5, (88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5, 88.5)
    ),
    ("max_stage 0", "2 to 1"): Ends(
        174.6, 178.7, (169.9, 170.1, 170.2, 170.8, 171.0, 171.9, 178.6, 178.6, 178.9, 178.9, 178.9)
    ),
    ("max_stage 0", "4 to 1"): Ends(
        333.5, 353.3, (273.0, 281.8, 316.7, 327.1, 336.1, 345.6, 346.6, 348.7, 351.7, 353.7, 356.3)
    ),
    ("max_stage 0", "8 to 1"): Ends(
        639.3, 708.9, (463.1, 559.4, 578.9, 604.6, 628.3, 648.0, 663.7, 688.0, 695.2, 707.2, 712.4)
    ),
    ("max_stage 0", "16 to 1"): Ends(
        1258.1,
        1407.8,
        (776.8, 1080.2, 1146.2, 1197.1, 1232.3, 1282.9, 1323.0, 1350.8, 1376.3, 1397.9, 1412.6),
    ),
    ("max_stage 0", "32 to 1"): Ends(
        2618.9,
        2809.3,
        (1311.1, 2367.4, 2502.0, 2583.5, 2634.0, 2676.4, 2709.8, 2743.4, 2768.1, 2788.8, 2822.7),
    ),
    ("max_stage 0", "8 to 1, in turn"): Ends(
        538.1, 673.5, (249.3, 286.6, 414.0, 500.4, 560.4, 587.0, 604.3, 618.6, 643.3, 662.2, 706.7)
    ),
    ("max_stage 0", "row"): Ends(
        665.4, 719.5, (487.2, 583.9, 628.2, 653.4, 669.7, 680.5, 689.5, 699.1, 707.0, 715.2, 724.7)
    ),
    ("max_stage 0", "long and short"): Ends(
        52.0, 595.9, (10.7, 15.0, 18.2, 20.7, 22.8, 25.9, 29.1, 34.0, 40.3, 57.1, 613.9)
    ),
    ("max_stage 0", "16 to 1 in a pod"): Ends(
        1469.9,
        1787.8,
        (706.0, 1184.6, 1304.3, 1383.0, 1437.0, 1483.4, 1524.8, 1589.2, 1641.8, 1720.7, 1945.1),
        to=0,
    ),
    ("max_stage 5", "1 to 1"): Ends(
        88.6, 88.6, (88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6, 88.6)
    ),
    ("max_stage 5", "2 to 1"): Ends(
        177.3, 179.3, (174.3, 175.1, 175.2, 175.6, 175.7, 175.9, 178.4, 178.4, 180.1, 180.1, 181.1)
    ),
    ("max_stage 5", "4 to 1"): Ends(
        342.4, 370.3, (290.2, 305.3, 312.2, 323.2, 335.2, 345.3, 357.3, 364.5, 368.5, 370.7, 373.9)
    ),
    ("max_stage 5", "8 to 1"): Ends(
        663.1, 747.0, (528.7, 582.6, 612.0, 629.1, 644.1, 656.2, 678.6, 704.9, 726.1, 738.1, 760.8)
    ),
    ("max_stage 5", "16 to 1"): Ends(
        1348.7,
        1456.1,
        (969.3, 1231.0, 1276.7, 1314.4, 1348.4, 1368.5, 1385.2, 1405.3, 1421.1, 1440.1, 1472.0),
    ),
    ("max_stage 5", "32 to 1"): Ends(
        2709.2,
        2857.5,
        (2290.5, 2551.2, 2617.6, 2668.9, 2702.7, 2731.8, 2760.1, 2785.5, 2807.7, 2834.7, 2875.9),
    ),
    ("max_stage 5", "8 to 1, in turn"): Ends(
        555.7, 713.5, (207.6, 233.7, 381.3, 505.2, 593.9, 625.3, 652.8, 668.5, 684.1, 703.5, 740.9)
    ),
    ("max_stage 5", "row"): Ends(
        681.3, 756.5, (535.7, 601.2, 618.5, 644.5, 662.4, 688.1, 716.1, 727.8, 737.0, 748.6, 767.8)
    ),
    ("max_stage 5", "long and short"): Ends(
        51.5, 703.9, (10.7, 11.4, 13.5, 16.4, 18.3, 20.6, 23.8, 27.8, 32.9, 47.6, 755.4)
    ),
    ("max_stage 5", "16 to 1 in a pod"): Ends(
        1892.5,
        2135.3,
        (994.0, 1543.9, 1711.9, 1839.0, 1908.6, 1967.3, 2009.3, 2046.2, 2078.9, 2113.2, 2226.2),
        to=0,
    ),
    ("PINT", "1 to 1"): Ends(87.5, 87.5, (87.5, 87.5, 87.5, 87.5, 87.5, 87.5, 87.5, 87.5, 87.5, 87.5, 87.5)),
    ("PINT", "2 to 1"): Ends(
        174.8, 180.0, (168.8, 168.9, 169.1, 170.2, 170.2, 170.2, 179.2, 179.4, 180.7, 180.7, 180.7)
    ),
    ("PINT", "4 to 1"): Ends(
        337.1, 357.4, (264.0, 308.7, 320.1, 329.9, 331.6, 344.7, 349.8, 352.7, 355.4, 358.5, 359.9)
    ),
    ("PINT", "8 to 1"): Ends(
        655.4, 718.3, (479.7, 577.4, 610.9, 626.5, 646.2, 661.2, 682.7, 697.7, 710.4, 716.4, 722.5)
    ),
    ("PINT", "16 to 1"): Ends(
        1366.6,
        1428.1,
        (1094.3, 1299.0, 1328.0, 1356.3, 1373.0, 1384.0, 1398.0, 1406.6, 1413.4, 1422.3, 1434.5),
    ),
    ("PINT", "32 to 1"): Ends(
        2769.2,
        2859.8,
        (2283.2, 2648.1, 2708.3, 2745.6, 2771.7, 2794.0, 2812.0, 2825.9, 2836.7, 2850.0, 2869.6),
    ),
    ("PINT", "8 to 1, in turn"): Ends(
        529.5, 697.1, (203.2, 237.2, 350.4, 460.0, 536.8, 591.9, 625.1, 648.0, 673.5, 693.5, 721.9)
    ),
    ("PINT", "row"): Ends(
        661.8, 721.1, (445.0, 566.4, 604.3, 630.7, 663.8, 686.2, 698.4, 705.1, 712.7, 716.9, 736.4)
    ),
    ("PINT", "long and short"): Ends(
        53.0, 605.2, (10.5, 14.8, 18.3, 20.7, 23.6, 26.2, 29.7, 33.8, 41.7, 62.3, 620.0)
    ),
    ("PINT", "16 to 1 in a pod"): Ends(
        1513.1,
        2021.9,
        (556.0, 989.6, 1184.6, 1306.8, 1432.7, 1520.1, 1644.9, 1763.0, 1937.1, 1996.2, 2137.9),
        to=0,
    ),
}
"""By variant and pattern."""

_HPCC = """kind = "hpcc"
base_rtt = "{base_rtt} ns"
max_stage = {stage}
telemetry = "{telemetry}"
window_ai = "{steps} flits\""""
_BASE_RTT = {
    "int": {"star": 4642, "row": 9284, "pod": 9284},
    "pint": {"star": 4648, "row": 9296, "pod": 9296},
}
"""By telemetry and network, as ns-3 tells it: two ways, of data without headers one of them."""
_STEPS = {"star": 1, "row": 2, "pod": 2}
"""So many flits in such a time are 172 Mb/s."""


def control(name: str, variant: str) -> str:
    """The keys of the congestion control of a pattern."""
    network, (stage, telemetry) = ns3.PATTERNS[name].network, VARIANTS[variant]
    base_rtt = _BASE_RTT[telemetry][network]
    return _HPCC.format(base_rtt=base_rtt, stage=stage, telemetry=telemetry, steps=_STEPS[network])


_CAUSES = {
    ("PINT", "16 to 1 in a pod"): (
        "In ns-3 an acknowledgement that leaves between two data packets takes the time before it out of the "
        "mean, which then falls too slowly: links with acknowledgements seem busier than they are. Where "
        "only data set the time (docs/ns3/pint.patch), ns-3 tells 1415.3 and 1868.2 us. Here "
        "acknowledgements count as what is sent. Rounding is not the cause: with powers of 1.001 in place of "
        "1.05 ns-3 tells 1508.3 and 2028.9 us."
    ),
}


def _cases(full: bool) -> list[Case]:
    return [
        Case(
            {"variant": variant, "pattern": name, "draw": number},
            ns3.scenario(name, PACKETS, number, control(name, variant)),
            cost=0.1,
        )
        for variant in VARIANTS
        for name in ns3.PATTERNS
        for number in range(1, ns3.DRAWS + 1)
    ]


def _draw(data: Data) -> Figure:
    with style.styled():
        figure, panels = style.figure(9, height=2.4)
        for number, variant in enumerate(VARIANTS):
            told = {name: THEIRS[variant, name] for name in ns3.PATTERNS}
            three = panels[3 * number : 3 * number + 3]
            ns3.panels(three, told, data, title=variant, variant=variant)
        panels[-1].set_xlabel("time [of ns-3's last end]")
    return figure


def _claims(data: Data) -> list[Claim]:
    return [
        claim
        for (variant, name), theirs in THEIRS.items()
        for claim in near(
            f"{variant}, {name}",
            theirs,
            data,
            _CAUSES.get((variant, name), ""),
            variant=variant,
            pattern=name,
        )
    ]


EXPERIMENT = Experiment(
    id="peer-ns3-hpcc",
    paper=ns3.PAPER,
    title="HPCC beside its authors' simulator",
    setup=ns3.setup(
        PACKETS,
        "Telemetry by INT with `max_stage` 0 and 5, and by PINT, which there rounds at random to powers of "
        "1.05. Windows for the round trip that ns-3 reckons with (4.64 and 9.28 us), eta 0.95, steps of "
        "172 Mb/s. Windows there count data without headers, with INT a 45th more.",
    ),
    cases=_cases,
    draw=_draw,
    claims=_claims,
)
