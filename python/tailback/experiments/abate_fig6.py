"""abate-fig6: bandwidth over time of halos and an incast, without and with SST_CM."""

from __future__ import annotations

import math

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailback.experiments import abate_halo as halo
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, hard, ours
from tailback.figures import style
from tailback.figures.tables import middles, series
from tailback.result import Result

ROUTING = "ugal"
"""The one that is judged."""
SST_UGAL = "sst-ugal"
"""The paper's simulator's own adaptive routing, shown beside ours."""
_START_US = 125.0
"""Alone an iteration of the halos takes about 100 us with either routing: this is in the second."""
_SHORT = ("off", "as published", "as coded")
"""Shown with shorter latencies beside."""
_ITERATIONS = 5
_DIP = 0.6


def cases(full: bool) -> list[Case]:
    """Four halos and an incast that joins in their second iteration, with both routings."""
    load = halo.incasts(1, "1 MiB" if full else "256 KiB", f"{_START_US:g} us")
    load += [halo.halo(name, halo.RANKS, _ITERATIONS) for name in halo.HALOS]
    record = 'series = "5 us"\ncontrol = true'
    made = []
    for routing in (ROUTING, SST_UGAL):
        common = {"scheme": "sst-cm", "routing": routing, "record": record}
        made += paper.cases(
            f"Four halos and an incast, {routing}",
            lambda title, control, common=common: paper.scenario(
                title, paper.LARGE, load, control=control, **common
            ),
            12,
            routing=routing,
        )
        alone = paper.scenario(
            f"Four halos, {routing}", paper.LARGE, load, run=paper.only(*halo.HALOS), **common
        )
        made.append(Case({"control": "alone", "routing": routing}, alone, 8))
        if routing == ROUTING:
            own = [case for case in made if case.labels["control"] in (*_SHORT, "alone")]
            made += [
                Case({"short": case.labels["control"]}, paper.shortened(case.scenario), case.cost)
                for case in own
            ]
    return made


def draw(data: Data) -> Figure:
    """Received bandwidth: of a halo's ranks in the mean, and of the incast's target."""
    controls = data.values("control")
    with style.styled():
        figure, panels = style.figure(len(controls), height=1.7)
        for axes, control in zip(panels, controls, strict=True):
            if axes is not panels[0]:
                axes.sharey(panels[0])
            result = paper.one(data, control=control, routing=ROUTING)
            for number, name in enumerate((*halo.HALOS, "incast0")):
                times, rates = series(result, name, "accepted_per_destination")
                axes.plot(middles(times), paper.BANDWIDTH * rates, label=name, **style.line(number))
            axes.set_title(control, fontsize=9)
            axes.set_ylabel("received\n[GB/s]")
        panels[-1].set_xlabel("simulated time [us]")
        style.legend(figure, panels[0])
    return figure


def _halos(result: Result) -> float:
    return paper.slowest(result, halo.HALOS)


def _target(result: Result) -> tuple[float, list[tuple[float, float]]]:
    """Share of its channel that the incast's target takes in the mean; begin and least of each dip in it."""
    times, shares = series(result, "incast0", "accepted_per_destination")
    busy, full = np.flatnonzero(shares > 0.01), np.flatnonzero(shares > 0.9)
    mean = float(shares[busy[0] + 1 : busy[-1]].mean())
    dips: list[tuple[float, float]] = []
    if not len(full):
        return mean, dips
    low = False
    for at in range(full[0], full[-1]):
        if shares[at] < _DIP:
            begin, least = dips.pop() if low else (float(times[at]), 1.0)
            dips.append((begin, min(least, float(shares[at]))))
        low = bool(shares[at] < _DIP)
    return mean, dips


def _let_go_us(result: Result) -> float:
    """When the first sender of the incast was told that it may go at full rate again."""
    table = result.tables["rates"]
    whole = table.filter(pc.greater_equal(table["rate"], 1.0))
    return float(pc.min(whole["time_ns"]).as_py()) / 1e3 if whole.num_rows else math.inf


def _iterations_done(result: Result, at_us: float) -> list[float]:
    """Of how many iterations each halo has received the data by a time."""
    done = []
    for name in halo.HALOS:
        times, rates = series(result, name, "accepted")
        done.append(_ITERATIONS * float(rates[times < at_us].sum() / rates.sum()))
    return done


def _short(data: Data) -> str:
    """What becomes of halos and incast with a fifth of the latencies."""
    runs = {control: paper.one(data, short=control) for control in data.values("short")}
    halos = ", ".join(f"{control} {_halos(result):.0f} us" for control, result in runs.items())
    told = []
    for control in _SHORT[1:]:
        mean, dips = _target(runs[control])
        told.append(f"{control} {mean:.2f} of the target's channel, dips: {_fell(dips)}")
    return (
        "The paper gives no latencies: ours decide how much each source has sent before the first order "
        f"reaches it. With {paper.SHORT}, which is not judged, halos end after {halos}; the incast, "
        f"{'; '.join(told)}."
    )


def _fell(dips: list[tuple[float, float]]) -> str:
    return ", ".join(f"to {least:.2f} at {at:.0f} us" for at, least in dips) or "none"


def _why(runs: dict[str, Result]) -> str:
    under = {control: runs[control] for control in paper.VARIANTS}
    return (
        "A stream ends when nothing of it has come for 1.5 N times of an mtu, 15 us here, and its source "
        "goes at full rate again; but what it sent before the first order is stuck in the tree, so that it "
        "looks silent. "
        f"{paper.why_allowed(under, 'incast0')} As coded, a stream lasts 5 instead of 1.5 N, and every "
        "source that joins makes all pause again."
    )


def _incast(control: str, runs: dict[str, Result]) -> list[Claim]:
    """How fast the incast goes, and whether it dips when its sources pause and when streams time out."""
    result = runs[control]
    mean, dips = _target(result)
    let_go = _let_go_us(result)
    told = f"dips: {_fell(dips)}; the first source was let go at {let_go:.0f} us"
    note = (
        "In steps of 5 us, of which none is counted before the target first takes 0.9, or after it last does."
    )
    return [
        hard(
            f"on, {control}: the incast goes near its ejection rate (0.8)",
            f"{mean:.2f} of the target's channel",
            mean > 0.8,
            cause=lambda: _why(runs),
        ),
        hard(
            f"on, {control}: a dip below {_DIP} from the start-up pause, before any stream times out",
            told,
            any(at < let_go for at, _ in dips),
            note=note,
            cause=lambda: _why_no_pause(result, let_go),
        ),
        hard(
            f"on, {control}: another dip below {_DIP} when streams have timed out",
            told,
            any(at >= let_go for at, _ in dips),
            note=note,
            cause=lambda: _why(runs),
        ),
    ]


def _why_no_pause(result: Result, let_go_us: float) -> str:
    orders = result.tables["signals"]
    orders = orders.filter(pc.less(orders["time_ns"], 1e3 * let_go_us))
    orders = orders.filter(pc.greater(orders["pause_ns"], 0.0))
    if not orders.num_rows:
        return "No pause is ordered before."
    first = pc.min(orders["time_ns"]).as_py() / 1e3
    pauses = np.asarray(orders["pause_ns"].to_numpy()) / 1e3
    times, shares = series(result, "incast0", "accepted_per_destination")
    paused = (times > first + 5) & (times < let_go_us - 5)
    least = float(shares[paused].min()) if paused.any() else math.nan
    return (
        f"Sources are ordered to pause from {first:.0f} us on, {np.median(pauses):.0f} us in the median; "
        f"until the first is let go their target still takes {least:.2f} of its channel at least, from what "
        "was sent before."
    )


def _waits(result: Result, incast_us: float, alone_us: float) -> Claim:
    """Without control, how far halos are when the incast ends."""
    stands = _START_US + 1.5 * alone_us / _ITERATIONS
    early, done = (_iterations_done(result, at) for at in (stands, incast_us))
    return hard(
        "off: iteration 2 completes, later ones wait until the incast ends",
        f"when it ends at {incast_us:.0f} us halos have the data of "
        f"{', '.join(f'{part:.2f}' for part in done)} iterations",
        min(done) > 1.995 and max(done) < 2.995,
        note="Judged by the data received, in steps of 5 us: iterations have no times of their own.",
        cause=(
            "The tree does not stand at once, nor in the way of all: when as much time has passed as one and "
            f"a half iterations take alone, at {stands:.0f} us, halos have the data of "
            f"{', '.join(f'{part:.2f}' for part in early)} iterations. What they get after that, to the step "
            "of the series in which the incast ends, makes the rest."
        ),
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims: of the default, as published, and of the code."""
    runs, beside = (
        {control: paper.one(data, control=control, routing=routing) for control in data.values("control")}
        for routing in (ROUTING, SST_UGAL)
    )
    halos = {control: _halos(result) for control, result in runs.items()}
    theirs = (
        f"With SST's own adaptive routing ({SST_UGAL}), which is not judged, the halos end after "
        + ", ".join(f"{_halos(result):.0f} us ({control})" for control, result in beside.items())
        + f"; the incast, off, after {_START_US + paper.time_us(beside['off'], 'incast0'):.0f} us."
    )
    incast = _START_US + paper.time_us(runs["off"], "incast0")
    found = [
        hard(
            "off: the halos end only when the incast does",
            f"halos {halos['off']:.0f} us (alone {halos['alone']:.0f}), incast {incast:.0f} us",
            halos["off"] > 0.9 * incast and halos["off"] > 1.5 * halos["alone"],
            note=theirs,
        ),
        _waits(runs["off"], incast, halos["alone"]),
    ]
    for control in paper.VARIANTS[:2]:
        under = [
            hard(
                f"on, {control}: near their own speed (within 1.5x)",
                ", ".join(f"{name} {time:.0f} us" for name, time in halos.items()),
                halos[control] <= 1.5 * halos["alone"],
                note=_short(data) if control == paper.VARIANTS[0] else "",
                cause=lambda: _why(runs),
            ),
            *_incast(control, runs),
        ]
        # The paper tells of the scheme that it describes.
        found += under if control == paper.VARIANTS[0] else map(ours, under)
    return found


EXPERIMENT = Experiment(
    id="abate-fig6",
    paper=paper.PAPER,
    title="Four halos and an incast over time",
    setup="8192 endpoints, UGAL (ours; as SST defines it beside it), SST_CM. Four halo exchanges of 1728 "
    "ranks, 5 iterations, placed one after the other; at 125 us (in their second iteration) 63 random "
    "endpoints send 256 KiB each to one (ours; full: 1 MiB). Once more with a fifth of all latencies.",
    cases=cases,
    draw=draw,
    claims=claims,
)
