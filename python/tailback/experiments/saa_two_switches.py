"""The SAA paper's Figure 1: six flows, two switches, and what a full buffer does to the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tailback.experiments.draw import grouped_bars
from tailback.experiments.model import Case, Data
from tailback.experiments.saa_paper import column, scenario
from tailback.figures import style
from tailback.result import Result

NETWORK = "host s1 s2 s3 s4 s5 s6 e1 e2 d\ns1 a\ns2 a\ns3 a\ns4 a\ns5 b\ns6 b\ne1 b\ne2 b\nd b\na b\n"
FLOWS = "0 6\n1 7\n2 8\n3 8\n4 8\n5 8\n"
"""f1 to f6: the first two leave the second switch by links of their own, the others meet at d2."""
FLOW_MS = 1.0
SETUP = (
    "Six flows of 1 ms at line rate; f1 to f4 share the link between the switches, f3 to f6 the one to d2. "
    "Round robin among inputs, virtual output queues, 8 packets of buffer at each input."
)


BY_RATE = "0 6 625 kB\n1 7 625 kB\n2 8 625 kB\n3 8 625 kB\n4 8\n5 8\n"
"""With half as much for f1 to f4: at the rates that no control gives, all six end together."""


def case(
    name: str,
    control: dict[str, Any],
    *,
    acknowledge: bool = False,
    buffer: int = 8,
    flows: str = FLOWS,
    label: str = "control",
) -> Case:
    """The six flows under a control."""
    made = scenario(
        f"two switches, {name}",
        {"kind": "file", "format": "edges", "text": NETWORK},
        {"kind": "minimal"},
        control,
        {"ranks": 9, "flows": "list", "text": flows, "size": "1250 kB"},
        switches={
            "kind": "input-queued",
            "speedup": 4,
            "arbitration": "round-robin",
            "input_buffer": f"{buffer} packets",
        },
        acknowledge=acknowledge,
        record='series = "100 us"',
    )
    return Case({label: name}, made, 2.0)


def ends(result: Result) -> np.ndarray[Any, Any]:
    """When f1 to f6 ended, in ms."""
    return column(result, "flows", "time_ns") / 1e6


def phase_ms(result: Result) -> float:
    """When all had ended."""
    return float(column(result, "phases", "time_ns")[0]) / 1e6


def draw(data: Data) -> Figure:
    """When each flow ends, for each control."""
    bars = {name: list(ends(data.results(control=name)[0])) for name in data.values("control")}
    with style.styled():
        figure, (axes,) = style.figure(height=2.6)
        grouped_bars(axes, [f"f{flow}" for flow in range(1, 7)], bars)
        axes.set_ylabel("end of the flow [ms]")
        style.legend(figure, axes)
    return figure
