"""What osha-fig9 and osha-fig10 share: a quarter of the endpoints send to one, the others to all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from tailback.experiments import osha_paper as osha
from tailback.experiments.measure import accepted, delivered_latency
from tailback.experiments.model import Case, Data
from tailback.result import Result
from tailback.stats import Interval

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
    "others but that one uniformly to all at the same load; latency, from creation, of the uniform packets "
    f"created after the warm-up that arrived. {osha.TIMES}"
)


def total(result: Result) -> float:
    """Accepted traffic of both classes as a fraction of the injection channels of all endpoints."""
    # The endpoint that all send to sends nothing itself: less than a thousandth of the network.
    return 0.25 * accepted("hot")(result) + 0.75 * accepted("uniform")(result)


def setup(settings: Sequence[str]) -> str:
    """The set-up, with the settings beside."""
    others = " and ".join(osha.BESIDE[setting] for setting in settings)
    return f"{SETUP} Beside it in reduced size, not judged: full load {others} (one seed)."


def cases(numbers: Sequence[int], settings: Sequence[str]) -> Callable[[bool], list[Case]]:
    """All loads and schemes on these networks, and full load in the settings beside."""

    def on(of: osha.Network, full: bool) -> list[Case]:
        traffic = TRAFFIC.replace("{quarter}", str(of.endpoints // 4))
        made = osha.sweep(of, "hot spot", traffic, full=full)
        for setting in () if full else settings:
            made += osha.beside(of, "hot spot", traffic, setting)
        return made

    return lambda full: [case for number in numbers for case in on(osha.network(number, full=full), full)]


def draw(numbers: Sequence[int]) -> Callable[[Data], Figure]:
    """Latency of uniform packets over all accepted traffic: a row for each network."""
    rows = [(f"network {number}", {"network": number}) for number in numbers]
    late = delivered_latency("uniform", "packet")
    return osha.panels(rows, total, late, "mean latency of uniform packets [us]")


def _peaks(data: Data, number: int, setting: str, *, voq: bool) -> dict[str, Interval]:
    return osha.peaks(data, total, setting, network=number, voq=voq)


def both(data: Data, number: int, setting: str = osha.JUDGED) -> list[dict[str, float]]:
    """What each scheme accepts in all at full load, in percent, mean over seeds: without and with VOQs."""
    return [osha.means(_peaks(data, number, setting, voq=voq)) for voq in (False, True)]


def besides(data: Data, *numbers: int) -> str:
    """The same in the settings beside, in words."""
    return osha.besides(data, lambda setting: told(data, *numbers, setting=setting))


def told(data: Data, *numbers: int, setting: str = osha.JUDGED) -> str:
    """The same in words."""
    return "; ".join(
        f"network {number} {osha.switches(voq)}: {osha.told(_peaks(data, number, setting, voq=voq))}"
        for number in numbers
        for voq in (False, True)
    )
