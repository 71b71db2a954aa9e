"""What the SAA paper's Table 1 and its neighbour have in common: rates realised, or not, by packets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from tailback.experiments.draw import curve, finish, hold
from tailback.experiments.model import Case, Data
from tailback.experiments.saa_paper import (
    ADAPTIVE,
    HOLD,
    HOLD_NS,
    arity,
    column,
    packet_cost,
    permutations,
    scenario,
    switch,
    tree,
)
from tailback.figures import style
from tailback.result import Result
from tailback.stats import Interval, mean_interval

COUNTS = (1, 2, 3, 4, 5)
BUFFERS = (2, 4, 8, 16)


def cases(
    injection: str,
    full: bool,
    buffers: Sequence[int] = BUFFERS,
    counts: Sequence[int] = COUNTS,
    reduced: int = 2,
) -> list[Case]:
    """Every number of flows a source with every buffer; `reduced` phases, or 50."""
    k, phases = arity(full), 50 if full else reduced
    return [case(injection, count, size, k, phases) for count in counts for size in buffers]


def case(
    injection: str, count: int, packets: int, k: int, phases: int, hold: Mapping[str, str] = HOLD
) -> Case:
    """So many permutations on rows of width 2, with buffers of so many packets."""
    made = scenario(
        f"{injection}, {count} flows a source, buffers of {packets} packets",
        tree(k, 2),
        ADAPTIVE,
        {"kind": "saa", "injection": injection, **hold},
        permutations(count, k, phases),
        switches=switch(packets),
    )
    labels = {"injection": injection, "flows": count, "buffer": packets}
    return Case(labels, made, packet_cost(k, count, phases))


def ratios(data: Data, injection: str, count: int, packets: int) -> list[float]:
    """Least measured over least calculated rate of each phase."""
    (result,) = data.results(injection=injection, flows=count, buffer=packets)
    return realised(result)


def realised(result: Result, hold_ns: float = HOLD_NS) -> list[float]:
    """Least measured over least calculated rate of each phase.

    Flows of equal size: the least rate is that of the last flow, measured from the start of data; the
    calculated one is that of the busiest link.
    """
    times, bounds = column(result, "phases", "time_ns"), column(result, "phases", "bound_ns")
    return [float(bound / (time - hold_ns)) for time, bound in zip(times, bounds, strict=True)]


def ratio(data: Data, injection: str, count: int, packets: int) -> Interval:
    """Least measured over least calculated rate, mean over the phases."""
    return mean_interval(ratios(data, injection, count, packets))


def draw(data: Data, injections: Sequence[str], buffers: Sequence[int]) -> Figure:
    """The ratio over the flows of a source, a line for each buffer."""
    with style.styled():
        figure, (axes,) = style.figure(height=3.0)
        number = 0
        for injection in injections:
            for packets in buffers:
                counts = data.values("flows", injection=injection, buffer=packets)
                points = [ratio(data, injection, count, packets) for count in counts]
                named = f"{injection.replace('-', ' ')}, " if len(injections) > 1 else ""
                curve(axes, counts, points, f"{named}{packets} packets", number)
                number += 1
        hold(axes, 0, 1.05)
        axes.set_xticks(COUNTS)
        finish(figure, axes, "flows per source", "least rate,\nmeasured over calculated")
    return figure
