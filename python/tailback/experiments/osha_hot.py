"""What osha-fig9 and osha-fig10 share: a quarter of the endpoints send to one, the others to all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import osha_paper as osha
from tailback.experiments.draw import curve
from tailback.experiments.measure import accepted, delivered_latency
from tailback.experiments.model import Case, Data
from tailback.result import Result

TRAFFIC = """
[[traffic]]
name = "hot"
pattern = "hotspot"
sources = {quarter}
destinations = 1
load = {load}
message = "4 KiB"
share = true

[[traffic]]
name = "uniform"
pattern = "uniform"
endpoints = "rest"
destinations = "all"
load = {load}
message = "4 KiB"
share = true
"""
SETUP = (
    "A quarter of the endpoints, drawn by the seed, send to one endpoint at the load of the point, all "
    "others but that one uniformly to all at the same load; latency of the uniform packets created after "
    "the warm-up."
)


def total(result: Result) -> float:
    """Accepted traffic of both classes as a fraction of the injection channels of all endpoints."""
    # The endpoint that all send to sends nothing itself: less than a thousandth of the network.
    return 0.25 * accepted("hot")(result) + 0.75 * accepted("uniform")(result)


def cases(numbers: Sequence[int]) -> Callable[[bool], list[Case]]:
    """All loads and schemes on these networks."""

    def case(of: osha.Network, scheme: str, load: float, voq: bool, full: bool) -> Case:
        times = osha.span(full)
        title = f"{of.name}, hot spot, {scheme}, load {load:g}, {osha.switches(voq)}"
        traffic = TRAFFIC.format(quarter=of.endpoints // 4, load=load)
        made = osha.scenario(title, of, scheme, voq=voq, traffic=traffic, times=times)
        labels = {"network": of.number, "k": of.k, "scheme": scheme, "voq": voq, "load": load}
        return Case(labels, made, osha.cost(of, 0.75 * load, times))

    return lambda full: [
        case(osha.network(number, full=full), scheme, load, voq, full)
        for number in numbers
        for voq in (False, True)
        for scheme in osha.SCHEMES
        for load in osha.loads(full)
    ]


def draw(numbers: Sequence[int]) -> Callable[[Data], Figure]:
    """Latency of uniform packets over all accepted traffic: a panel for each network and switch."""

    def drawn(data: Data) -> Figure:
        with style.styled():
            figure = Figure(figsize=(9.6, 7.2), layout="constrained")
            panels = figure.subplots(2, 2, sharey=True)
            for row, number in enumerate(numbers):
                for column, voq in enumerate((False, True)):
                    panel = panels[row][column]
                    for line in osha.lines(data, network=number, voq=voq):
                        _, took = data.curve(total, "load", **line.where)
                        _, late = data.curve(delivered_latency("uniform"), "load", **line.where)
                        carried = [100 * point.mean for point in took]
                        curve(panel, carried, [point.scaled(1e-3) for point in late], line.label, line.number)
                    panel.set_title(f"network {number}, {osha.switches(voq)}", fontsize=10)
                    panel.set_yscale("log")
                    panel.set_xlim(left=0)
                panels[row][0].set_ylabel("mean latency of uniform packets [us]")
            for panel in panels[1]:
                panel.set_xlabel("accepted traffic [% of injection bandwidth]")
            style.legend(figure, panels[0][0])
        return figure

    return drawn


def found(data: Data, number: int, *, voq: bool) -> dict[str, float]:
    """What each scheme accepts in all at full load, in percent."""
    return osha.peaks(data, total, network=number, voq=voq)


def both(data: Data, number: int) -> list[dict[str, float]]:
    """The same without and with VOQs."""
    return [found(data, number, voq=voq) for voq in (False, True)]


def told(data: Data, *numbers: int) -> str:
    """The same in words."""
    return "; ".join(
        f"network {number} {osha.switches(voq)}: {osha.told(found(data, number, voq=voq))}"
        for number in numbers
        for voq in (False, True)
    )
