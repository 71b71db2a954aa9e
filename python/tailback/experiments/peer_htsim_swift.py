"""peer-htsim-swift: when messages end under Swift, beside htsim."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from tailback.experiments import htsim
from tailback.experiments.ends import Ends, draw, near
from tailback.experiments.model import Case, Claim, Data, Experiment
from tailback.figures import style

BYTES = 489 * 4096
"""Of a message: htsim sends a packet more than it is asked for."""

THEIRS: Mapping[int, Ends] = {
    1: Ends(293.2, 293.2, [293.2] * 11),
    2: Ends(347.4, 347.6, [347.3] * 6 + [347.6] * 5),
    4: Ends(645.7, 648.6, (641.0, 641.0, 641.0, 645.6, 645.6, 645.6, 647.6, 647.6, 648.6, 648.6, 648.6)),
    8: Ends(
        1285.0,
        1294.7,
        (1277.1, 1277.1, 1278.4, 1279.4, 1286.2, 1286.2, 1286.9, 1288.5, 1288.9, 1294.7, 1294.7),
    ),
    16: Ends(
        2545.1,
        2593.2,
        (2474.4, 2474.7, 2532.4, 2540.3, 2556.0, 2557.6, 2561.6, 2564.2, 2564.5, 2567.8, 2593.2),
    ),
    32: Ends(
        5096.0,
        5142.9,
        (4964.1, 5047.4, 5058.2, 5069.6, 5097.2, 5108.0, 5117.5, 5126.7, 5132.8, 5136.4, 5142.9),
    ),
}
"""By the number of sources, in one run each. htsim tells of the last acknowledgement, 6.02 us later."""

_SWIFT = """kind = "swift"
base_target = "20 us"
hop_target = "3.0534 us"
fs_range = "100 us"
max_cwnd = 1000
initial_cwnd = 15"""


def _cases(full: bool) -> list[Case]:
    made = []
    for sources in THEIRS:
        pairs = [(64 + source, 0) for source in range(sources)]
        for seed in range(1, 11 if full else 4):
            scenario = htsim.fat_tree("flow-hash", _SWIFT, pairs, BYTES, seed)
            made.append(Case({"sources": sources, "seed": seed}, scenario, cost=0.1))
    return made


def _draw(data: Data) -> Figure:
    with style.styled():
        figure, (axes,) = style.figure(1, height=3.3)
        for number, (sources, theirs) in enumerate(THEIRS.items()):
            draw(axes, number, f"{sources} to 1", "htsim", theirs, data, sources=sources)
        axes.set_ylabel("messages ended [%]")
        axes.set_xlabel("time [of htsim's last end]")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
    return figure


def _claims(data: Data) -> list[Claim]:
    return [
        claim
        for sources, theirs in THEIRS.items()
        for claim in near(f"{sources} to 1", theirs, data, sources=sources)
    ]


EXPERIMENT = Experiment(
    id="peer-htsim-swift",
    paper=(
        "Broadcom Inc., “htsim” (github.com/Broadcom/csg-htsim at 841d9e7b), GitHub 2026; "
        "what it tells was measured with runs of our own"
    ),
    title="Swift beside that of htsim",
    setup=(
        "Messages of 2 MB in packets of 4096 B, all from time 0, on a fat tree of 128 endpoints with three "
        "levels, 100 Gb/s, 1 us per link: 1 to 32 sources, in the other half of the tree, to one "
        "destination. One way for each flow, drawn; buffers in which nothing is lost, switches that store "
        "and forward. Swift with htsim's values: a target of 20 us and a 6.55th of that for each hop, a "
        "range of 100 us, 15 packets in a new window. htsim smooths the round trip after which a window "
        "may shrink again, and sends a packet if all of it fits the window, where here one may exceed it: "
        "with one source, whose windows only grow, that is the difference (adding up the two rules gives "
        "284.4 and 293.5 us). htsim: `htsim_swift -nodes 128 -tm FILE -flowsize 488 -mtu 4096 -q 100000 "
        "-end 20000 -linkspeed 100000`."
    ),
    cases=_cases,
    draw=_draw,
    claims=_claims,
)
