"""abate-margin: which change makes throttling drain what was sent before the first orders (ours)."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, ours
from tailback.figures import style
from tailback.scenario import Scenario

NETWORK = {"p": 4, "a": 8, "h": 4, "groups": 9}
"""288 endpoints."""
_RESCUED = 1.2
_CHANGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "CODES_CC as published": ("codes-cc", "as published", {}),
    "CODES_CC as coded": ("codes-cc", "as coded", {}),
    "CODES_CC, margin 0.9": ("codes-cc", "drain margin", {"margin": 0.9, "hold": 2.0}),
    "CODES_CC, margin 0.9, patient": ("codes-cc", "drain margin", {"margin": 0.9, "hold": 20.0}),
    "CODES_CC, margin 0.5": ("codes-cc", "drain margin", {"margin": 0.5, "hold": 2.0}),
    "CODES_CC, margin 0.5, patient": ("codes-cc", "drain margin", {"margin": 0.5, "hold": 20.0}),
    "SST_CM as published": ("sst-cm", "as published", {}),
    "SST_CM as published, patient": ("sst-cm", "as published", {"expiry": 20.0}),
    "SST_CM as coded": ("sst-cm", "as coded", {}),
    "SST_CM, margin 0.9, patient": ("sst-cm", "drain margin", {"margin": 0.9, "expiry": 20.0}),
    "SST_CM, margin 0.5": ("sst-cm", "drain margin", {"margin": 0.5, "expiry": 1.5}),
    "SST_CM, margin 0.5, patient": ("sst-cm", "drain margin", {"margin": 0.5, "expiry": 5.0}),
}
"""By name: scheme, variant, parameters. Patient: orders last long after the last packet of their source."""


def _scenario(title: str, full: bool, **keys: Any) -> Scenario:
    load = [
        paper.job("lammps", "lammps", 128, steps=3 if full else 1, replicas=[2, 1, 1]),
        paper.job("incast", "incast", 64, message="640 KiB", iterations=3 if full else 1),
    ]
    return paper.scenario(title, NETWORK, load, **keys)


def cases(full: bool) -> list[Case]:
    """LAMMPS alone, beside the incast, and under every change."""
    made = [
        Case({"change": "alone"}, _scenario("alone", full, run=paper.only("lammps"))),
        Case({"change": "off"}, _scenario("off", full)),
    ]
    for name, (scheme, control, keys) in _CHANGES.items():
        made.append(Case({"change": name}, _scenario(name, full, scheme=scheme, control=control, **keys)))
    return made


def _slowdowns(data: Data, job: str, base: str) -> dict[str, float]:
    alone = paper.time_us(paper.one(data, change=base), job)
    names = [name for name in data.values("change") if name != "alone"]
    return {name: paper.time_us(paper.one(data, change=name), job) / alone for name in names}


def draw(data: Data) -> Figure:
    """How much slower LAMMPS is than alone, and the incast than without control."""
    slow = {"LAMMPS": _slowdowns(data, "lammps", "alone"), "incast": _slowdowns(data, "incast", "off")}
    names = list(slow["LAMMPS"])
    with style.styled():
        figure, (axes,) = style.figure(height=5.2)
        for number, (job, found) in enumerate(slow.items()):
            places = [at + 0.4 * number for at in range(len(names))]
            axes.barh(places, [found[name] for name in names], height=0.4, label=job, **style.bar(number))
        axes.set_yticks([at + 0.2 for at in range(len(names))], names)
        axes.invert_yaxis()
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("time over that of LAMMPS alone, and of the incast without control")
        style.legend(figure, axes)
    return figure


def claims(data: Data) -> list[Claim]:
    """Ours."""
    lammps, incast = _slowdowns(data, "lammps", "alone"), _slowdowns(data, "incast", "off")
    told = ", ".join(f"{name} {slow:.2f}x" for name, slow in lammps.items())
    both = [name for name in lammps if "0.5, patient" in name]
    published = [name for name in lammps if name.endswith("as published")]
    return [
        ours(
            hard(
                "as published, neither scheme brings LAMMPS within 1.5x of its time alone",
                told,
                all(lammps[name] > 1.5 for name in published),
            )
        ),
        ours(
            hard(
                f"a margin of a half with patience brings it within {_RESCUED}x, under both",
                f"{told}; it slows the incast: " + ", ".join(f"{name} {incast[name]:.2f}x" for name in both),
                all(lammps[name] <= _RESCUED for name in both),
            )
        ),
    ]


EXPERIMENT = Experiment(
    id="abate-margin",
    paper=paper.PAPER,
    title="What drains the backlog",
    setup="A dragonfly of 288 endpoints (p = 4, a = 8, h = 4, 9 groups), PAR: LAMMPS on 128, and 63 ranks "
    "that send 640 KiB each to one. The first orders come when the tree of the incast is there; what decides "
    "is how soon it drains, and whether a source whose packets are stuck in it is let go.",
    cases=cases,
    draw=draw,
    claims=claims,
)
