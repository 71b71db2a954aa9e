"""srp-fig9: throughput at full offered load by message size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import LABELS, look
from tailback.experiments.measure import accepted
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER, kinds

_ACCEPTED = accepted("uniform")
_BOTH = {"sizes": ["4 packets", "64 packets"], "shares": [0.5, 0.5]}
_SIZES: Mapping[str, Any] = {
    **{f"{size}": f"{size} packets" for size in (1, 2, 4, 8, 16, 32, 64)},
    "Bi": {**_BOTH, "by": "messages"},
    "Bi by volume": {**_BOTH, "by": "volume"},
    "Mix": {"from": "4 packets", "to": "64 packets", "step": "1 packet"},
}
_RESERVED = [name for name in _SIZES if name not in ("1", "2")]


def cases(full: bool) -> list[Case]:
    """Every protocol and size at full offered load."""
    return [
        uniform.case(protocol, 1.0, full, message, seed=seed, size=size)
        for protocol in kinds()
        for size, message in _SIZES.items()
        for seed in uniform.seeds(full)
    ] + uniform.rules()


def draw(data: Data) -> Figure:
    """Bars by message size, one per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        places = np.arange(len(_SIZES))
        for at, protocol in enumerate(data.values("protocol")):
            points = [data.mean(_ACCEPTED, protocol=protocol, size=size).scaled(100) for size in _SIZES]
            halves = [0.0 if point.half != point.half else point.half for point in points]
            heights = [point.mean for point in points]
            bar = {**style.bar(look(protocol)), "label": LABELS[protocol], "width": 0.27}
            axes.bar(places + 0.27 * (at - 1), heights, yerr=halves, capsize=2, **bar)
        axes.set_xticks(places, list(_SIZES), rotation=20)
        axes.set_ylim(60, 100)
        axes.set_xlabel("message size [packets]")
        axes.set_ylabel("accepted at full offered load\n[% of injection bandwidth]")
        axes.grid(visible=False, axis="x")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """Those of claims table row srp-fig9."""
    got = {(p, s): data.mean(_ACCEPTED, protocol=p, size=s) for p in data.values("protocol") for s in _SIZES}
    mean = {key: 100 * point.mean for key, point in got.items()}

    def told(sizes: list[str]) -> str:
        rows = (f"{s}: " + "/".join(f"{mean[p, s]:.1f}" for p in ("srp", "ecn", "none")) for s in sizes)
        return "SRP/ECN/baseline, in %, " + ", ".join(rows)

    out_of_order = [s for s in _RESERVED if not mean["srp", s] > mean["ecn", s] > mean["none", s]]
    small = max(abs(mean[p, s] - mean["none", s]) for p in ("srp", "ecn") for s in ("1", "2"))
    level = {p: abs(mean[p, "64"] - mean[p, "16"]) for p in ("srp", "ecn")}
    return [
        hard(
            "SRP over ECN over the baseline from 4 packets on, mixes included",
            told(_RESERVED) + (f"; not at {', '.join(out_of_order)}" if out_of_order else ""),
            not out_of_order,
            cause=uniform.why_dropped(data),
        ),
        hard("equal at 1 and 2 packets (within 1.5 points)", told(["1", "2"]), small <= 1.5),
        hard(
            "the baseline falls as messages grow",
            told(["4", "16", "64"]),
            mean["none", "4"] > mean["none", "16"] > mean["none", "64"],
        ),
        hard(
            "SRP and ECN level off (16 and 64 packets within 3 points)",
            told(["16", "64"]),
            max(level.values()) <= 3,
            cause=uniform.why_dropped(data),
        ),
        *(
            value(
                f"4 packets: SRP over {name}",
                f"{published:+d} %",
                got["srp", "4"].scaled(100 / got[kind, "4"].mean).shifted(-100),
                (published - 3, published + 3),
                "%",
                cause=uniform.why_dropped(data),
            )
            for kind, name, published in (("none", "the baseline", 6), ("ecn", "ECN", 3))
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-fig9",
    paper=PAPER,
    title="Saturation throughput by message size",
    setup=uniform.SETUP.format("as much as they can, in messages of one size or of several,"),
    cases=cases,
    draw=draw,
    claims=claims,
)
