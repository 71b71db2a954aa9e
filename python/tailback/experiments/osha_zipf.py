"""What osha-fig5 to osha-fig8 share: Zipf traffic on a network, and on a KNS network beside a torus."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from tailback import style
from tailback.experiments import osha_paper as osha
from tailback.experiments.draw import curve
from tailback.experiments.measure import accepted, delivered_latency
from tailback.experiments.model import Case, Data

TRAFFIC = '[[traffic]]\nname = "zipf"\npattern = "zipf"\ns = {s}\nload = {load}\nmessage = "4 KiB"\n'
SETUP = (
    "Every endpoint sends 4 KiB packets to others by Zipf's law, each with a ranking of its own; "
    "input-queued switches with and without virtual output queues at the crossbar, 128 KiB a port."
)


def case(of: osha.Network, scheme: str, s: float, load: float, *, voq: bool, full: bool) -> Case:
    """A run."""
    times = osha.span(full)
    title = f"{of.name}, Zipf s = {s:g}, {scheme}, load {load:g}, {osha.switches(voq)}"
    traffic = TRAFFIC.format(s=s, load=load)
    made = osha.scenario(title, of, scheme, voq=voq, traffic=traffic, times=times)
    labels = {"network": of.number, "k": of.k, "scheme": scheme, "s": s, "voq": voq, "load": load}
    return Case(labels, made, osha.cost(of, load, times))


def cases(number: int, beside: int | None = None) -> Callable[[bool], list[Case]]:
    """All loads and schemes on a network, and full load on another to compare with."""

    def listed(full: bool) -> list[Case]:
        of = osha.network(number, full=full)
        made = [
            case(of, scheme, s, load, voq=voq, full=full)
            for voq in (False, True)
            for s in (1.0, 3.0)
            for scheme in osha.SCHEMES
            for load in osha.loads(full)
        ]
        if beside is not None:
            other = osha.network(beside, full=full)
            made += [
                case(other, scheme, s, 1.0, voq=voq, full=full)
                for voq in (False, True)
                for s in (1.0, 3.0)
                for scheme in osha.SCHEMES
            ]
        return made

    return listed


def draw(number: int) -> Callable[[Data], Figure]:
    """Latency over accepted traffic, as the paper draws it: a panel for each order and switch."""

    def drawn(data: Data) -> Figure:
        with style.styled():
            figure = Figure(figsize=(9.6, 7.2), layout="constrained")
            panels = figure.subplots(2, 2, sharey=True)
            for row, s in enumerate((1.0, 3.0)):
                for column, voq in enumerate((False, True)):
                    panel = panels[row][column]
                    for line in osha.lines(data, network=number, s=s, voq=voq):
                        _, took = data.curve(accepted("zipf"), "load", **line.where)
                        _, late = data.curve(delivered_latency("zipf"), "load", **line.where)
                        carried = [100 * point.mean for point in took]
                        curve(panel, carried, [point.scaled(1e-3) for point in late], line.label, line.number)
                    panel.set_title(f"Zipf s = {s:g}, {osha.switches(voq)}", fontsize=10)
                    panel.set_yscale("log")
                    panel.set_xlim(left=0)
                panels[row][0].set_ylabel("mean network latency [us]")
            for panel in panels[1]:
                panel.set_xlabel("accepted traffic [% of injection bandwidth]")
            style.legend(figure, panels[0][0])
        return figure

    return drawn


def spread(found: dict[str, float]) -> float:
    """Points between the most and the least accepted."""
    return max(found.values()) - min(found.values())


def both(data: Data, number: int, s: float) -> list[tuple[bool, dict[str, float]]]:
    """What each scheme accepts at full load, without and with VOQs."""
    return [(voq, osha.peaks(data, accepted("zipf"), network=number, s=s, voq=voq)) for voq in (False, True)]


def in_words(found: list[tuple[bool, dict[str, float]]]) -> str:
    """The same, in words."""
    return "; ".join(f"{osha.switches(voq)}: {osha.told(each)}" for voq, each in found)
