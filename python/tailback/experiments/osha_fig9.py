"""osha-fig9: a hot spot on KNS networks."""

from __future__ import annotations

from tailback.experiments import osha_hot as hot
from tailback.experiments import osha_paper as osha
from tailback.experiments.measure import accepted
from tailback.experiments.model import Claim, Data, Experiment, value
from tailback.experiments.osha_paper import PAPER, REPORT

NUMBERS = (1, 2)
_HOLD = ("BBQ-4VC", "SASHA-4VC")
_COLLAPSE = ("1VC", "OSHA-2VC", "OSHA-4VC")


SETTINGS = (osha.PAPER_TIMES,)
_Found = list[dict[str, float]]


def _every(data: Data, setting: str) -> _Found:
    return [found for number in NUMBERS for found in hot.both(data, number, setting)]


def _between(data: Data) -> str:
    def parts(setting: str) -> str:
        return "; ".join(
            f"network {number} "
            + " and ".join(
                f"{each['OSHA-4VC'] / each['BBQ-4VC']:.2f}" for each in hot.both(data, number, setting)
            )
            for number in NUMBERS
        )

    later = "".join(
        f" The same {osha.BESIDE[setting]}: {parts(setting)}. Where these differ, the window comes before "
        "the network is steady."
        for setting in osha.settings(data)
    )
    return (
        "OSHA-4VC alone. Of what BBQ-4VC accepts it does, without and with VOQs: "
        f"{parts(osha.JUDGED)}.{later} One queue of each network leads to the hot endpoint, XY to its half "
        "of the rows and YX to its half of the columns. Destinations in neither half get nearly all of the "
        "uniform traffic that is asked, those in one half less, since a packet keeps the network of its turn "
        "and waits for the jammed one, those in both the least. SASHA-4VC goes round it: with VOQs only "
        f"destinations in both halves lose (figures: {REPORT})."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims; what collapses accepts less than half of what holds."""

    def apart(setting: str) -> bool:
        return all(
            found[bad] < 0.5 * found[good]
            for found in _every(data, setting)
            for bad in _COLLAPSE
            for good in _HOLD
        )

    def escape(setting: str) -> set[str]:
        bare = hot.both(data, 1, setting)[0]
        return {scheme for scheme, percent in bare.items() if percent >= 0.5 * max(bare.values())}

    def only_these(setting: str) -> bool:
        return escape(setting) == set(_HOLD)

    closed = "ceiling 75 %; closed form 56 % for four bands, one of them hot, and a part of that band"
    labels = {"network": 1, "setting": osha.JUDGED, "voq": True, "load": osha.TOP}
    full = data.mean(hot.total, **labels, scheme="BBQ-4VC").scaled(100)
    adaptive = data.mean(hot.total, **labels, scheme="SASHA-4VC").scaled(100)
    victim = 100 * data.mean(accepted("uniform"), **labels, scheme="BBQ-4VC").mean
    return [
        osha.judged(
            data,
            "1VC and OSHA collapse, BBQ-4VC and SASHA-4VC hold",
            hot.told(data, *NUMBERS),
            apart,
            note=hot.besides(data, *NUMBERS),
            cause=lambda: _between(data),
        ),
        osha.judged(
            data,
            "network 1 without VOQs: only BBQ-4VC and SASHA-4VC escape",
            ", ".join(sorted(escape(osha.JUDGED))),
            only_these,
            cause=lambda: _between(data),
        ),
        value(
            "network 1 with VOQs: BBQ-4VC accepts",
            "60 %",
            full,
            (50, 70),
            "%",
            note=f"{closed}; uniform traffic gets {victim:.1f} % of its sources' channels",
        ),
        value("network 1 with VOQs: SASHA-4VC accepts", "60 %", adaptive, (50, 70), "%"),
    ]


EXPERIMENT = Experiment(
    id="osha-fig9",
    paper=PAPER,
    title="A hot spot on KNS networks",
    setup=hot.setup(SETTINGS),
    cases=hot.cases(NUMBERS, SETTINGS),
    draw=hot.draw(NUMBERS),
    claims=claims,
)
