"""What osha-fig5 to osha-fig8 share: Zipf traffic on a network, and on a KNS network beside a torus."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from tailback.experiments import osha_paper as osha
from tailback.experiments.measure import accepted, delivered_latency
from tailback.experiments.model import Case, Cause, Claim, Data, Experiment, at_most, hard
from tailback.stats import Interval, mean_interval
from tailback.words import counted

ORDERS = (1.0, 3.0)
TRAFFIC = '[[traffic]]\nname = "zipf"\npattern = "zipf"\ns = {s}\nload = {load}\nmessage = "4 KiB"\n'
SETUP = (
    "Every endpoint sends 4 KiB packets to others by Zipf's law, each with a ranking of its own; "
    "switches with 128 KiB a port, input-queued, and with virtual output queues, then read at once by any "
    f"number of outputs. {osha.TIMES}"
)
TORUS = " The torus has bubble flow control in every ring and virtual network."


def experiment(
    name: str,
    title: str,
    number: int,
    claims: Callable[[Data], list[Claim]],
    *,
    beside: int | None = None,
    settings: Mapping[tuple[float, str], int] = MappingProxyType({}),
) -> Experiment:
    """All loads and schemes on a network, and, for a torus, full load on the KNS network to compare with.

    `settings` tells how many seeds each setting beside has, and under which Zipf's law.
    """

    def cases(full: bool) -> list[Case]:
        of = osha.network(number, full=full)
        made = [case for s in ORDERS for case in osha.sweep(of, told(s), traffic(s), full=full, s=s)]
        for (s, setting), seeds in ({} if full else settings).items():
            made += osha.beside(of, told(s), traffic(s), setting, seeds=seeds, s=s)
        if beside is None:
            return made
        other = osha.network(beside, full=full)
        for s in ORDERS:
            made += osha.sweep(other, told(s), traffic(s), full=full, at_loads=[osha.TOP], s=s)
        return made

    rows = [(told(s), {"network": number, "s": s}) for s in ORDERS]
    draw = osha.panels(rows, accepted("zipf"), delivered_latency("zipf"), "mean network latency [us]")
    setup = SETUP + (TORUS if beside is not None else "")
    setup += "".join(
        f" Beside it in reduced size, not judged: s = {s:g} {osha.BESIDE[setting]} (full load, "
        f"{counted(seeds, 'seed')})."
        for (s, setting), seeds in settings.items()
    )
    return Experiment(name, osha.PAPER, title, setup, cases, draw, claims)


def told(s: float) -> str:
    """The traffic in words."""
    return f"Zipf s = {s:g}"


def traffic(s: float) -> str:
    """Its TOML, with a place for the load."""
    return TRAFFIC.replace("{s}", str(s))


def below(data: Data, torus: int, kns: int, *, cause: Cause = "") -> Claim:
    """That a torus saturates far below the KNS network."""
    pairs = list(zip(both(data, torus, 1.0), both(data, kns, 1.0), strict=True))
    measured = "; ".join(
        f"torus at most {max(t.values()):.1f} %, KNS at least {min(k.values()):.1f} %"
        for (_, t), (_, k) in pairs
    )
    held = all(t[scheme] <= 0.75 * k[scheme] for (_, t), (_, k) in pairs for scheme in t)
    return hard("s = 1: every scheme accepts at most 3/4 of what it does on KNS", measured, held, cause=cause)


def let_through(data: Data, torus: int) -> str:
    """What the rings of a torus can carry, beside those of the paper's size."""
    (k,), full = data.values("k", network=torus), osha.network(torus, full=True)
    return (
        f"Rings of {k} let through {min(1, 8 / k):.0%} of uniform traffic, those of the paper's size, "
        f"{full.k}, {full.ceiling:.0%}."
    )


def little(data: Data, torus: int) -> Claim:
    """That VOQs are worth little on a torus."""
    cause = (
        f"{let_through(data, torus)} The less they bind, the more queues decide; where rings have 24 routers "
        f"VOQs add next to nothing (figures: {osha.REPORT})."
    )
    (_, without), (_, voqs) = both(data, torus, 1.0)
    most = max(voqs[scheme] - without[scheme] for scheme in without)
    told = f"at most {most:.1f} points"
    return hard("s = 1: VOQs add little (at most 5 points)", told, most <= 5, cause=cause)


def spread(found: dict[str, float]) -> float:
    """Points between the most and the least accepted."""
    return max(found.values()) - min(found.values())


def both(
    data: Data, number: int, s: float, setting: str = osha.JUDGED
) -> list[tuple[bool, dict[str, float]]]:
    """What each scheme accepts at full load, without and with VOQs, mean over the seeds."""
    return [(voq, osha.means(_peaks(data, number, s, setting, voq=voq))) for voq in (False, True)]


def _peaks(data: Data, number: int, s: float, setting: str, *, voq: bool) -> dict[str, Interval]:
    return osha.peaks(data, accepted("zipf"), setting, network=number, s=s, voq=voq)


def in_words(data: Data, number: int, s: float, setting: str = osha.JUDGED) -> str:
    """The same, in words."""
    return "; ".join(
        f"{osha.switches(voq)}: {osha.told(_peaks(data, number, s, setting, voq=voq))}"
        for voq in (False, True)
    )


def besides(data: Data, number: int, s: float) -> str:
    """What was measured in the settings beside, in words."""
    return osha.besides(data, lambda setting: in_words(data, number, s, setting), network=number, s=s)


def undecided(
    data: Data,
    number: int,
    s: float,
    voq: bool,
    schemes: tuple[str, str],
    margin: float,
    setting: str = osha.JUDGED,
) -> str:
    """By how many points a scheme is ahead of another, if the seeds do not tell whether by over a margin."""
    labels = {"network": number, "s": s, "voq": voq, "load": osha.TOP, "setting": setting}
    first, second = (data.results(**labels, scheme=scheme) for scheme in schemes)
    share = accepted("zipf")
    points = [100 * (share(a) - share(b)) for a, b in zip(first, second, strict=True)]
    ahead = mean_interval(points)
    if len(points) < 2 or at_most(ahead, margin) is not None:
        return ""
    return f"{', '.join(f'{each:+.1f}' for each in points)} points by seed (mean {ahead})"


def bound(endpoints: int, s: float) -> float:
    """What ejection channels can take of full load by Zipf's law, with a random ranking per source: one draw.

    A destination takes no more than its channel of what all sources send to it.
    """
    draw = np.random.default_rng(1)
    part = np.arange(1, endpoints) ** -s
    asked = np.zeros(endpoints)
    for source in range(endpoints):
        others = draw.permutation(endpoints - 1)
        asked[others + (others >= source)] += part / part.sum()
    return float(np.minimum(asked, 1.0).mean())


def bounds(data: Data, number: int, s: float) -> str:
    """The bound in words, for this network and the paper's."""
    (k,), full = data.values("k", network=number), osha.network(number, full=True)
    sizes = dict.fromkeys((k**full.dims, 2304))
    told = ", ".join(f"{100 * bound(size, s):.0f} % of {size} endpoints" for size in sizes)
    return f"One draw of what destinations can take: {told}."
