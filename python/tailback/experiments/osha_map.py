"""osha-map: the queue of every destination under BBQ and DBBQ, equations 1 to 3."""

from __future__ import annotations

from matplotlib.figure import Figure

from tailback.experiments import osha_paper as osha
from tailback.experiments.model import Case, Claim, Data, Experiment, Times, value
from tailback.figures import style
from tailback.scenario import Scenario

_NETWORKS = (osha.Network(1, "kns", 4, 2), osha.Network(2, "kns", 4, 3), osha.Network(3, "torus", 15, 2))
_TRAFFIC = '[[traffic]]\npattern = "uniform"\nload = 0.1\nmessage = "4 KiB"\n'
_TIMES = Times(0, 1, 0)


def cases(full: bool) -> list[Case]:
    """A short run for each network and scheme: the queues are told before it begins."""
    return [
        Case(
            {"network": of.number, "scheme": scheme},
            osha.scenario(f"{of.name}, {scheme}", of, scheme, voq=False, traffic=_TRAFFIC, times=_TIMES),
            0.1,
        )
        for of in _NETWORKS
        for scheme in ("BBQ-4VC", "OSHA-4VC")
    ]


def _ours(data: Data, number: int, scheme: str) -> list[list[int]]:
    scenario = Scenario.loads(data.results(network=number, scheme=scheme)[0].scenario)
    networks: list[dict[int, int]] = [{}, {}]
    for row in scenario.describe()["queues"]:
        networks[row["network"]] |= dict.fromkeys(row["destinations"], row["queue"])
    return [[queue for _, queue in sorted(queues.items())] for queues in networks]


def equations(of: osha.Network) -> tuple[list[int], list[int], list[int]]:
    """Equations 1 (four queues), 2 and 3 (two queues a network) for every destination."""
    every = range(of.endpoints)
    return (
        [destination * 4 // of.endpoints for destination in every],
        [destination * 2 // of.endpoints for destination in every],
        [destination % of.k * 2 // of.k for destination in every],
    )


def draw(data: Data) -> Figure:
    """The bands of the 4 x 4 network, as figures 3 and 4 show them."""
    with style.styled():
        figure = Figure(figsize=(9.6, 3.4), layout="constrained")
        two = _ours(data, 1, "OSHA-4VC")
        maps = {
            "BBQ": _ours(data, 1, "BBQ-4VC")[0],
            "DBBQ, first virtual network": two[0],
            "DBBQ, second virtual network": two[1],
        }
        for panel, (name, queues) in zip(figure.subplots(1, 3), maps.items(), strict=True):
            panel.imshow([queues[row * 4 : row * 4 + 4] for row in range(4)], cmap="cividis", vmin=0, vmax=3)
            for destination, queue in enumerate(queues):
                x, y = destination % 4, destination // 4
                colour = "black" if queue > 1 else "white"
                panel.text(x, y, str(queue), ha="center", va="center", color=colour)
            panel.set_title(name, fontsize=10)
            panel.set_xticks(range(4))
            panel.set_yticks(range(4))
            panel.set_xlabel("x")
            panel.set_ylabel("y")
            panel.grid(visible=False)
    return figure


def claims(data: Data) -> list[Claim]:
    """Every destination of every network."""
    equal, all_of = [], 0
    for of in _NETWORKS:
        bbq, (first, second) = _ours(data, of.number, "BBQ-4VC")[0], _ours(data, of.number, "OSHA-4VC")
        for ours, theirs in zip((bbq, first, second), equations(of), strict=True):
            equal.append(sum(a == b for a, b in zip(ours, theirs, strict=True)))
            all_of += of.endpoints
    return [
        value(
            "destinations whose queue is that of equations 1 to 3",
            "all",
            100 * sum(equal) / all_of,
            (100, 100),
            "%",
            note="Equations 1 to 3 in turn, on a "
            + ", on a ".join(of.name for of in _NETWORKS)
            + f": {', '.join(map(str, equal))} destinations.",
        )
    ]


EXPERIMENT = Experiment(
    id="osha-map",
    paper=osha.PAPER,
    title="The queue of a destination",
    setup="BBQ with 4 queues and DBBQ with 2 queues in each of 2 virtual networks.",
    cases=cases,
    draw=draw,
    claims=claims,
)
