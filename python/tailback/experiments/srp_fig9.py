"""srp-fig9: throughput at full offered load by message size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import LABELS, dots, hold, look
from tailback.experiments.measure import accepted
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, value
from tailback.experiments.srp_paper import PAPER, PROTOCOLS
from tailback.figures import style

_ACCEPTED = accepted("uniform")
_BOTH = {"sizes": ["4 packets", "64 packets"], "shares": [0.5, 0.5]}
_SIZES: Mapping[str, Any] = {
    **{f"{size}": f"{size} packets" for size in (1, 2, 4, 8, 16, 32, 64)},
    "Bi": {**_BOTH, "by": "messages"},
    "Bi by volume": {**_BOTH, "by": "volume"},
    "Mix": {"from": "4 packets", "to": "64 packets", "step": "1 packet"},
}
_CHANGES: Mapping[str, Mapping[str, Any]] = {
    "n_max of 8 packets": {"congestion_control.n_max": "8 packets"},
    "messages created at regular intervals": {"traffic.uniform.process": "periodic"},
    "epsilon of 0": {"congestion_control.epsilon": 0.0},
}
"""What tells why SRP accepts less with messages of 16 packets."""
_RESERVED = [name for name in _SIZES if name not in ("1", "2")]


def cases(full: bool) -> list[Case]:
    """Every protocol and size at full offered load."""
    return [
        uniform.case(protocol, 1.0, full, message, seed=seed, size=size)
        for protocol in PROTOCOLS
        for size, message in _SIZES.items()
        for seed in uniform.seeds(full)
    ] + [_changed(name, full) for name in _CHANGES]


def _changed(name: str, full: bool) -> Case:
    whole = uniform.case("srp", 1.0, full, "16 packets", changed=name)
    return replace(whole, scenario=whole.scenario.replace(_CHANGES[name]))


def draw(data: Data) -> Figure:
    """Points by message size, one per protocol."""
    with style.styled():
        figure, (axes,) = style.figure()
        kinds = data.values("protocol")
        points = {
            LABELS[kind]: [data.mean(_ACCEPTED, protocol=kind, size=size).scaled(100) for size in _SIZES]
            for kind in kinds
        }
        dots(axes, [size.replace(" ", "\n", 1) for size in _SIZES], points, [look(kind) for kind in kinds])
        hold(axes, 60, 100)
        axes.set_xlabel("message size [packets]")
        axes.set_ylabel("accepted at full offered load\n[% of injection bandwidth]")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
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
            cause=lambda: _why(data, mean),
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
            cause=lambda: _why(data, mean),
        ),
        *(
            value(
                f"4 packets: SRP over {name}",
                f"{published:+d} %",
                got["srp", "4"].scaled(100 / got[kind, "4"].mean).shifted(-100),
                (published - 3, published + 3),
                "%",
                cause=lambda: _why(data, mean),
            )
            for kind, name, published in (("none", "the baseline", 6), ("ecn", "ECN", 3))
        ),
    ]


def _why(data: Data, mean: Mapping[tuple[str, str], float]) -> str:
    changed = ", ".join(f"{name} {100 * data.mean(_ACCEPTED, changed=name).mean:.1f} %" for name in _CHANGES)
    srp, base = mean["srp", "4"], mean["none", "4"]
    return (
        "SRP cannot accept more than 1/(1 + epsilon) = 95.2 %, and with 4-packet messages accepts "
        f"{srp:.1f} %: 6 % over the baseline means that the paper's accepts at most 89.8 %, where ours "
        f"accepts {base:.1f} %. With longer "
        "messages, reservations alone do not prevent congestion: a destination gives its time away once, but "
        "several may give a source the same time, and what it sends late comes in the time of others; the "
        "longer the blocks, the later. Accepted with 16-packet messages: as above "
        f"{mean['srp', '16']:.1f} %, {changed}."
    )


EXPERIMENT = Experiment(
    id="srp-fig9",
    paper=PAPER,
    title="Saturation throughput by message size",
    setup=uniform.SETUP.format("as much as they can, in messages of one size or of several,")
    + " Seed 1 (full size: 1 to 3).",
    cases=cases,
    draw=draw,
    claims=claims,
)
