"""abate-fig6: bandwidth over time of halos and an incast, without and with SST_CM."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailback.experiments import abate_halo as halo
from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, at_most, hard, ours
from tailback.figures import style
from tailback.figures.tables import middles, series
from tailback.result import Result
from tailback.stats import mean_interval

ROUTING = "ugal"
"""The one that is judged."""
SST_UGAL = "sst-ugal"
"""The paper's simulator's own adaptive routing, shown beside ours."""
_START_US = 142.0
"""The middle of the halos' second iteration, which alone lasts from 95 to 188 us under every seed."""
_OTHER_STARTS_US = (125.0, 165.0, 180.0)
"""About a third of it, three quarters and nine tenths."""
_SEEDS = (1, 2, 3, 4)
"""They place the ranks; what is told of one run is of the first."""
_SEEDED = ("off", "as published", "as coded", "alone")
_FIREFLY = {"eager": "12001 B", "copy": "1000 Tb/s", "overhead": "60 ns", "delay": "530 ns"}
"""What SST's messages cost: up to 12,000 B eager; 30 ns to enter and to return; 130 ns to set up sending, 100
receiving, 150 to match and 150 to the host. That copies cost nothing is ours."""
_FIREFLY_START_US = 80.0
"""The middle of the second iteration with these, which alone lasts from 53 to 107 us."""
_SHORT = ("off", "as published", "as coded")
"""Shown with shorter latencies beside."""
_ITERATIONS = 5
_DIP = 0.6


def cases(full: bool) -> list[Case]:
    """Four halos and an incast that joins in their second iteration, with both routings."""
    load = _load(full, _START_US)
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
            made += [
                Case(
                    {"seeded": case.labels["control"], "seed": seed},
                    case.scenario.replace({"run.seed": seed}),
                    case.cost,
                )
                for case in own
                for seed in _SEEDS[1:]
            ]
    return made + _others(full, record)


def _load(full: bool, start_us: float, **keys: Any) -> list[str]:
    load = halo.incasts(1, "1 MiB" if full else "256 KiB", f"{start_us:g} us", **keys)
    return load + [halo.halo(name, halo.RANKS, _ITERATIONS, **keys) for name in halo.HALOS]


def _others(full: bool, record: str) -> list[Case]:
    """Other starts, and what messages cost in SST."""
    common = {"scheme": "sst-cm", "routing": ROUTING, "record": record}
    made = []
    for start in _OTHER_STARTS_US:
        title = f"Four halos and an incast at {start:g} us, {ROUTING}, off"
        scenario = paper.scenario(title, paper.LARGE, _load(full, start), **common)
        made += [
            Case({"start": start, "seed": seed}, scenario.replace({"run.seed": seed}), 12) for seed in _SEEDS
        ]
    load = _load(full, _FIREFLY_START_US, mpi=_FIREFLY)
    for control in _SEEDED:
        how: dict[str, Any] = {"control": control}
        if control == "alone":
            how = {"run": paper.only(*halo.HALOS)}
        title = f"Four halos and an incast, {ROUTING}, messages as in SST, {control}"
        made.append(Case({"mpi": control}, paper.scenario(title, paper.LARGE, load, **common, **how), 12))
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
    told = ", ".join(f"to {least:.2f} at {at:.0f} us" for at, least in dips[:2])
    return f"{told} and {len(dips) - 2} later" if len(dips) > 2 else told or "none"


def _why(runs: dict[str, Result]) -> str:
    under = {control: runs[control] for control in paper.VARIANTS}
    return (
        "A stream ends when nothing of it has come for 1.5 N times of an mtu, 15 us here, and its source "
        "goes at full rate again; but what it sent before the first order is stuck in the tree, so that it "
        "looks silent. "
        f"{paper.why_allowed(under, 'incast0')} As coded, a stream lasts 5 instead of 1.5 N, and every "
        "source that joins makes all pause again."
    )


def _runs(data: Data, control: str) -> list[Result]:
    """By seed."""
    first = paper.one(data, control=control, routing=ROUTING)
    return [first, *(paper.one(data, seeded=control, seed=seed) for seed in _SEEDS[1:])]


def _incast(control: str, runs: dict[str, Result], data: Data) -> list[Claim]:
    """How fast the incast goes, and whether it dips when its sources pause and when streams time out."""
    result = runs[control]
    found = [(*_target(run), _let_go_us(run)) for run in _runs(data, control)]
    shares = mean_interval([mean for mean, *_ in found])
    told = "; ".join(f"{_fell(dips)} (first let go at {let_go:.0f} us)" for _, dips, let_go in found)
    early, late = (
        [any((at < let_go) == before for at, _ in dips) for _, dips, let_go in found]
        for before in (True, False)
    )
    note = (
        "In steps of 5 us, of which none is counted before the target first takes 0.9, or after it last does."
    )
    return [
        hard(
            f"on, {control}: the incast goes near its ejection rate (0.8)",
            f"{shares} of the target's channel, mean over the seeds",
            at_most(shares.scaled(-1).shifted(0.8)),
            cause=lambda: _why(runs),
        ),
        hard(
            f"on, {control}: a dip below {_DIP} from the start-up pause, before any stream times out, under "
            "every seed",
            f"under {sum(early)} of {len(early)} seeds; dips by seed: {told}",
            all(early),
            note=note,
            cause=lambda: _why_no_pause(result, _let_go_us(result)),
        ),
        hard(
            f"on, {control}: another dip below {_DIP} when streams have timed out, under every seed",
            f"under {sum(late)} of {len(late)} seeds; dips by seed: {told}",
            all(late),
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


def _ends(result: Result, name: str) -> list[float]:
    """When each iteration of a job was done, in us."""
    rows = [row for row in result.tables["iterations"].to_pylist() if row["job"] == name]
    return sorted(row["end_ns"] / 1e3 for row in rows)


def _incast_end(result: Result, start_us: float = _START_US) -> float:
    return start_us + paper.time_us(result, "incast0")


def _stopped(results: list[Result], start_us: float) -> tuple[bool, str]:
    """Whether each halo ends iteration 2 while the incast lasts and 3 after it, and how many do.

    An iteration that ends in the second half of the incast's time has waited for it too.
    """
    second, early, third = [], [], []
    for result in results:
        incast = _incast_end(result, start_us)
        ends = [_ends(result, name) for name in halo.HALOS]
        second += [own[1] < incast for own in ends]
        early += [own[1] < (start_us + incast) / 2 for own in ends]
        third += [own[2] > incast for own in ends]
    told = (
        f"of {len(second)} halos {sum(second)} end iteration 2 before, {sum(early)} in the first half of its "
        f"time, and {sum(third)} end iteration 3 after it"
    )
    return all(early) and all(third), told


def _span(results: list[Result], number: int) -> str:
    """When an iteration ended: the first halo's and the last's, of all runs."""
    ends = [_ends(result, name)[number - 1] for result in results for name in halo.HALOS]
    return f"{min(ends):.0f} to {max(ends):.0f} us"


def _received(results: list[Result], at_us: list[float]) -> str:
    """Of how many iterations halos have received the data by a time in each run: the fewest and the most."""
    done = [part for run, at in zip(results, at_us, strict=True) for part in _iterations_done(run, at)]
    return f"{min(done):.2f} to {max(done):.2f}"


def _waits(data: Data) -> Claim:
    """Without control, which iterations of the halos end before the incast."""
    off, alone = _runs(data, "off"), _runs(data, "alone")
    held, told = _stopped(off, _START_US)
    ends = [_incast_end(run) for run in off]
    others = []
    for start in _OTHER_STARTS_US:
        runs = [paper.one(data, start=start, seed=seed) for seed in _SEEDS]
        received = _received(runs, [_incast_end(run, start) for run in runs])
        others.append(f"at {start:g} us, {_stopped(runs, start)[1]} (data of {received} iterations)")
    return hard(
        "off: iteration 2 completes (in the first half of the incast's time), later ones wait until it ends",
        f"the incast ends at {min(ends):.0f} to {max(ends):.0f} us: {told}; iteration 2 ends at "
        f"{_span(off, 2)}, 3 at {_span(off, 3)}; {len(_SEEDS)} seeds",
        held,
        note=(
            f"The incast begins in the middle of iteration 2, which alone begins at {_span(alone, 1)} and "
            f"ends at {_span(alone, 2)}. When it ends halos have the data of {_received(off, ends)} "
            f"iterations. If it begins {'; '.join(others)}."
        ),
        cause=(
            f"When the incast begins halos have the data of {_received(off, [_START_US] * len(off))} "
            "iterations: what is left of iteration 2 is its allreduce, of which some messages wait behind "
            "the tree. Other ranks go on with iteration 3."
        ),
    )


def _messages(data: Data) -> str:
    """What becomes of halos and incast with SST's costs of messages."""
    runs = {control: paper.one(data, mpi=control) for control in data.values("mpi")}
    halos = ", ".join(f"{control} {_halos(result):.0f} us" for control, result in runs.items())
    _, told = _stopped([runs["off"]], _FIREFLY_START_US)
    shares = ", ".join(f"{control} {_target(runs[control])[0]:.2f}" for control in _SHORT[1:])
    return (
        "Messages cost what they do in CODES. With what they cost in SST (up to 12,000 B eager, 60 ns of "
        f"overhead, 530 ns of delay), one seed, the incast at {_FIREFLY_START_US:g} us, in the middle of "
        f"iteration 2, halos end after {halos}; off, the incast ends at "
        f"{_incast_end(runs['off'], _FIREFLY_START_US):.0f} us and {told}; it gets {shares} of the target's "
        "channel."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims: of the default, as published, and of the code."""
    runs, beside = (
        {control: paper.one(data, control=control, routing=routing) for control in data.values("control")}
        for routing in (ROUTING, SST_UGAL)
    )
    halos = {control: [_halos(result) for result in _runs(data, control)] for control in _SEEDED}
    theirs = (
        f"With SST's own adaptive routing ({SST_UGAL}), which is not judged, the halos end after "
        + ", ".join(f"{_halos(result):.0f} us ({control})" for control, result in beside.items())
        + f"; the incast, off, after {_incast_end(beside['off']):.0f} us."
    )
    incast = [_incast_end(run) for run in _runs(data, "off")]
    told = ", ".join(f"{name} {_numbers(times)} us" for name, times in halos.items())
    found = [
        hard(
            "off: the halos end only when the incast does, under every seed",
            f"halos {_numbers(halos['off'])} us (alone {_numbers(halos['alone'])}), incast "
            f"{_numbers(incast)} us",
            all(
                off > 0.9 * end and off > 1.5 * alone
                for off, end, alone in zip(halos["off"], incast, halos["alone"], strict=True)
            ),
            note=f"{theirs} {_messages(data)}",
        ),
        _waits(data),
    ]
    for control in paper.VARIANTS[:2]:
        slow = mean_interval([on / alone for on, alone in zip(halos[control], halos["alone"], strict=True)])
        under = [
            hard(
                f"on, {control}: near their own speed (within 1.5x)",
                f"{slow}x in the mean over the seeds; {told}; drain margin, the first, "
                f"{_halos(runs['drain margin']):.0f} us",
                at_most(slow.shifted(-1.5)),
                note=_short(data) if control == paper.VARIANTS[0] else "",
                cause=lambda: _why(runs),
            ),
            *_incast(control, runs, data),
        ]
        # The paper tells of the scheme that it describes.
        found += under if control == paper.VARIANTS[0] else map(ours, under)
    return found


def _numbers(times: list[float]) -> str:
    return ", ".join(f"{time:.0f}" for time in times)


EXPERIMENT = Experiment(
    id="abate-fig6",
    paper=paper.PAPER,
    title="Four halos and an incast over time",
    setup="8192 endpoints, UGAL (ours; as SST defines it beside it), SST_CM. Four halo exchanges of 1728 "
    "ranks, 5 iterations, placed at random; at 142 us, in the middle of their second iteration, 63 random "
    "endpoints send 256 KiB each to one (ours; full: 1 MiB). Four seeds, which place the halos; the figure "
    "is of the first. Once more with a fifth of all latencies, at other starts, and with SST's costs of "
    "messages.",
    cases=cases,
    draw=draw,
    claims=claims,
)
