"""srp-resend: what becomes of speculative packets that are not answered when the granted time comes."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailback.experiments import srp_two_switches as switches
from tailback.experiments import srp_uniform as uniform
from tailback.experiments.draw import bars, hold, look, seeds_told
from tailback.experiments.measure import latency, per_packet
from tailback.experiments.model import Case, Claim, Data, Experiment, Measure, Times, hard
from tailback.experiments.srp_paper import PAPER, TWO_SWITCHES, cost, scenario
from tailback.figures import style

_VARIANTS = ("default", "in-order", "fast-resend")
_DUPLICATES, _REORDERED = "duplicate", "reordered"
_LOAD, _WAITS = 0.85, (1.3, 5.2)


def cases(full: bool) -> list[Case]:
    """Each variant under uniform traffic, and where a single path leads to a hot spot."""
    span = Times(1000, 10000 if full else 2000, 0)
    made = []
    for variant in _VARIANTS:
        changes = {"variant": variant}
        made += [
            uniform.case(
                "srp",
                _LOAD,
                full,
                changes={**changes, "time_to_wait": f"{wait} us"},
                seed=seed,
                variant=variant,
                wait=wait,
            )
            for wait in _WAITS
            for seed in uniform.seeds(full, 2)
        ]
        title = f"two switches, srp {variant}"
        made += [
            Case(
                {"variant": variant, "path": "single", "seed": seed},
                scenario(title, "srp", switches.traffic(), span, seed, network=TWO_SWITCHES, changes=changes),
                cost(1.0, span, 6),
            )
            for seed in (1, 2, 3)
        ]
    return made


def draw(data: Data) -> Figure:
    """Duplicates and reordered packets, a bar per variant."""
    with style.styled():
        figure, (above, below) = style.figure(2, height=2.2)
        shown: dict[Axes, tuple[Measure, dict[str, Any]]] = {
            above: (per_packet("uniform", _DUPLICATES), {"wait": 1.3}),
            below: (per_packet("all", _REORDERED), {"path": "single"}),
        }
        told = []
        for axes, (measure, labels) in shown.items():
            found = [data.mean(measure, variant=variant, **labels).scaled(100) for variant in _VARIANTS]
            bars(axes, _VARIANTS, found, [look("srp")] * len(_VARIANTS))
            hold(axes)
            told.append(seeds_told(data, variant=_VARIANTS[0], **labels))
        above.set_ylabel("duplicates\n[% of packets], uniform")
        below.set_ylabel("out of order\n[% of packets], one path")
        below.set_xlabel(f"above: {told[0]}; below: {told[1]}")
    return figure


def claims(data: Data) -> list[Claim]:
    """The paper's claims."""
    copies = {
        v: data.mean(per_packet("uniform", _DUPLICATES), variant=v, wait=1.3).scaled(100) for v in _VARIANTS
    }
    late = {
        v: data.mean(per_packet("all", _REORDERED), variant=v, path="single").scaled(100) for v in _VARIANTS
    }
    times = {
        wait: ", ".join(
            f"{v} {data.mean(latency('uniform', 'message'), variant=v, wait=wait).scaled(1e-3)}"
            for v in _VARIANTS
        )
        for wait in _WAITS
    }
    return [
        hard(
            "the variants cost duplicates, the default none",
            ", ".join(f"{variant} {share} % of packets" for variant, share in copies.items()),
            copies["default"].mean == 0 and min(copies[v].mean for v in _VARIANTS[1:]) > 0,
            note="Message latency in us: "
            + "; ".join(f"TTW {wait} us: {told}" for wait, told in times.items()),
        ),
        hard(
            "in-order never reorders (where the network itself does not)",
            ", ".join(f"{variant} {share} % of packets" for variant, share in late.items()),
            late["in-order"].mean == 0,
        ),
    ]


EXPERIMENT = Experiment(
    id="srp-resend",
    paper=PAPER,
    title="Variants of resending",
    setup=uniform.SETUP.format(f"4-packet messages at {_LOAD:.0%}") + " And the two switches of srp-fig4, in "
    "which every packet of a flow takes the same path, measured after 1 ms, for 2 ms (full size: 10 ms), "
    "under seeds 1 to 3.",
    cases=cases,
    draw=draw,
    claims=claims,
)
