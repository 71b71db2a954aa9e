"""peer-htsim: when messages end under the control of Ultra Ethernet, beside its authors' simulator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from tailback.experiments import htsim
from tailback.experiments.ends import Ends, draw, near
from tailback.experiments.model import Case, Claim, Data, Experiment
from tailback.figures import style

BYTES = 497 * 4096
"""Of a message: htsim cuts 2 MB into packets of 4096 B with 64 B of header, all of one size."""

THEIRS: Mapping[tuple[str, str], Ends] = {
    ("NSCC", "8 to 1"): Ends(
        1199.0,
        1328.5,
        (835.7, 1049.0, 1085.0, 1161.7, 1198.9, 1233.2, 1267.6, 1295.1, 1304.9, 1318.2, 1344.5),
    ),
    ("RCCC", "8 to 1"): Ends(
        1302.2,
        1308.0,
        (1283.3, 1293.0, 1297.7, 1301.0, 1302.9, 1304.0, 1305.8, 1306.5, 1307.4, 1308.0, 1308.0),
    ),
    ("NSCC and RCCC", "8 to 1"): Ends(
        1145.0,
        1311.6,
        (961.2, 1041.3, 1057.1, 1066.1, 1068.5, 1071.2, 1142.6, 1262.9, 1291.9, 1309.9, 1315.1),
    ),
    ("NSCC", "32 to 1"): Ends(
        4790.0,
        5217.5,
        (3682.5, 4214.5, 4416.1, 4561.9, 4739.8, 4915.6, 4985.6, 5069.2, 5148.3, 5190.3, 5226.1),
    ),
    ("RCCC", "32 to 1"): Ends(
        5154.8,
        5209.1,
        (5065.4, 5103.7, 5117.2, 5123.8, 5135.6, 5153.5, 5169.2, 5190.6, 5202.1, 5207.1, 5209.1),
    ),
    ("NSCC and RCCC", "32 to 1"): Ends(
        4369.7,
        5209.5,
        (2757.9, 3325.4, 3577.4, 3863.9, 4158.7, 4492.7, 4890.2, 5077.8, 5163.8, 5193.1, 5211.3),
    ),
    ("NSCC", "each to one"): Ends(
        187.4, 196.5, (181.0, 183.6, 184.7, 185.4, 186.3, 187.1, 188.0, 188.8, 190.0, 191.4, 201.0)
    ),
    ("RCCC", "each to one"): Ends(
        188.5, 197.6, (182.3, 184.6, 185.7, 186.5, 187.3, 188.1, 189.1, 190.2, 191.2, 192.5, 202.6)
    ),
    ("NSCC and RCCC", "each to one"): Ends(
        188.5, 197.4, (182.3, 185.0, 185.9, 186.6, 187.3, 188.3, 189.1, 189.9, 191.0, 192.4, 202.1)
    ),
}
"""By control and traffic, with five seeds. htsim tells of the last acknowledgement, 6.03 us later."""

_CREDIT = '{ unsolicited = "4100 flits", outstanding = "100000 flits" }'
_MARKS = '{ mark_from = "576 flits", mark_all = "2240 flits" }'
CONTROLS: Mapping[str, str] = {
    "NSCC": f'kind = "nscc"\n{_MARKS[2:-2].replace(", ", chr(10))}',
    "RCCC": f'kind = "rccc"\n{_CREDIT[2:-2].replace(", ", chr(10))}',
    "NSCC and RCCC": f'kind = "nscc+rccc"\nnscc = {_MARKS}\nrccc = {_CREDIT}',
}
PAIRS: Mapping[str, Sequence[tuple[int, int]]] = {
    "8 to 1": [(source, 0) for source in range(64, 72)],
    "32 to 1": [(source, 0) for source in range(64, 96)],
    "each to one": [(source, (source + 64) % 128) for source in range(128)],
}


def _cases(full: bool) -> list[Case]:
    made = []
    for control, keys in CONTROLS.items():
        for traffic, pairs in PAIRS.items():
            for seed in range(1, 6 if full else 4):
                scenario = htsim.fat_tree("random", keys, pairs, BYTES, seed)
                labels = {"control": control, "traffic": traffic, "seed": seed}
                made.append(Case(labels, scenario, cost=0.25))
    return made


def _draw(data: Data) -> Figure:
    with style.styled():
        figure, panels = style.figure(len(CONTROLS), height=2.2)
        for axes, control in zip(panels, CONTROLS, strict=True):
            for number, traffic in enumerate(PAIRS):
                theirs = THEIRS[control, traffic]
                draw(axes, number, traffic, "htsim", theirs, data, control=control, traffic=traffic)
            axes.set_title(control)
            axes.set_ylabel("messages ended [%]")
        panels[-1].set_xlabel("time [of htsim's last end]")
        style.legend(figure, panels[0])
    return figure


def _claims(data: Data) -> list[Claim]:
    return [
        claim
        for (control, traffic), theirs in THEIRS.items()
        for claim in near(f"{control}, {traffic}", theirs, data, control=control, traffic=traffic)
    ]


EXPERIMENT = Experiment(
    id="peer-htsim",
    paper=(
        "Ultra Ethernet Consortium, “htsim” (github.com/ultraethernet/uet-htsim at 40ccb052), GitHub 2025; "
        "what it tells was measured with runs of our own"
    ),
    title="Ultra Ethernet's congestion control beside its authors' simulator",
    setup=(
        "Messages of 2 MB in packets of 4096 B, all from time 0, on a fat tree of 128 endpoints with "
        "three levels, 100 Gb/s, 1 us per link: 8 and 32 sources, in the other half of the tree, to one "
        "destination, and each endpoint to one in the other half. Any way up for each packet, an "
        "acknowledgement for each, buffers in which nothing is lost, switches that store and forward. "
        "NSCC, RCCC, and both, with htsim's lengths from which packets are marked, and its unsolicited "
        "data. htsim: `htsim_uec -topo fat_tree_128_1os.topo -tm FILE -mtu 4096 -sack_threshold 1 "
        "-load_balancing_algo oblivious -paths 4096 -disable_trim -q 100000 -end 100000 -seed 1` to 5, "
        "with `-sender_cc_only`, `-receiver_cc_only`, or `-sender_cc -receiver_cc`. 32 to 1 under both "
        "led to a change of that control here, before which its mean end was 4916 us."
    ),
    cases=_cases,
    draw=_draw,
    claims=_claims,
)
