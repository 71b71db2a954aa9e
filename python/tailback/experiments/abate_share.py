"""abate-share: what else a throttled sender may send."""

from __future__ import annotations

import json

from matplotlib.figure import Figure

from tailback.experiments import abate_paper as paper
from tailback.experiments.model import Case, Claim, Data, Experiment, hard
from tailback.figures import style
from tailback.figures.tables import middles, series
from tailback.result import Result
from tailback.scenario import Scenario
from tailback.stats import Interval, mean_interval

_HOT = list(range(100, 3000, 100))
"""29 senders of an incast."""
_WARMUP_US = 120
_FAST = [162, 1862]
"""Two endpoints that send mostly elsewhere, and a little to the hot target."""


def _traffic(name: str, pairs: list[list[int]], load: float, start: str = "0 us") -> str:
    facts = {
        "name": name,
        "pattern": "list",
        "pairs": pairs,
        "load": load,
        "message": "64 flits",
        "start": start,
    }
    lines = [f"{key} = {json.dumps(fact)}" for key, fact in facts.items()]
    return "\n".join(["[[traffic]]", *lines, "share = true", ""])


def _scenario(scheme: str, control: str, full: bool) -> Scenario:
    hot = [[source, 5] for source in _HOT]
    load = [
        _traffic("incast", hot, 0.5, "80 us"),
        _traffic("others", [[source, 3077 - source] for source in _HOT], 0.3),
        _traffic("touch", [[source, 5] for source in _FAST], 0.01),
        _traffic("fast", [[source, source + 1000] for source in _FAST], 0.6),
    ]
    duration = 400 if full else 150
    run = f'warmup = "{_WARMUP_US} us"\nduration = "{duration} us"\ndrain = "1 us"'
    record = 'series = "5 us"\ncontrol = true'
    title = f"{scheme}, {control}"
    return paper.scenario(
        title, paper.SMALL, load, scheme=scheme, control=control, routing="minimal", run=run, record=record
    )


def cases(full: bool) -> list[Case]:
    """No control and both schemes, under 40 seeds: own rates are measured over few packets."""
    controls = {"none": ("codes-cc", "off")} | {one: (one, "as published") for one in ("sst-cm", "codes-cc")}
    return [
        Case(
            {"scheme": name, "seed": seed}, _scenario(scheme, control, full).replace({"run.seed": seed}), 0.3
        )
        for name, (scheme, control) in controls.items()
        for seed in range(1, 41)
    ]


def draw(data: Data) -> Figure:
    """Throughput over time of what the senders of the incast, and the misidentified ones, send elsewhere."""
    with style.styled():
        figure, panels = style.figure(2, height=2.4)
        titles = (
            ("others", "what the senders of the incast send to others"),
            ("fast", "misidentified endpoints"),
        )
        for axes, (name, title) in zip(panels, titles, strict=True):
            for number, scheme in enumerate(data.values("scheme")):
                times, rates = series(paper.one(data, scheme=scheme, seed=1), name, "accepted")
                axes.plot(middles(times)[:-1], 100 * rates[:-1], label=scheme, **style.line(number))
            axes.set_title(title, fontsize=9)
            axes.set_ylabel("accepted throughput\n[% of the channel]")
            axes.set_ylim(bottom=0)
        panels[-1].set_xlabel("simulated time [us]")
        style.legend(figure, panels[0])
    return figure


def _accepted(data: Data, scheme: str, name: str) -> Interval:
    return data.mean(lambda result: result.summary["classes"][name]["accepted"], scheme=scheme)


def _least(result: Result) -> float:
    """The least rate that a misidentified endpoint was allowed."""
    rates = result.tables["rates"].to_pylist()
    return min((row["rate"] for row in rates if row["endpoint"] in _FAST), default=1.0)


def _ratchet(data: Data) -> str:
    """Why the misidentified endpoints are slowed: what they send at the beginning and at the end."""
    found = []
    for result in data.results(scheme="codes-cc"):
        times, rates = series(result, "fast", "accepted")
        measured = rates[(times >= _WARMUP_US) & (times < times.max())]
        part = max(1, len(measured) // 5)
        found.append((float(measured[:part].mean()), float(measured[-part:].mean())))
    first, last = (mean_interval(part) for part in zip(*found, strict=True))
    return (
        "The longer the incast lasts, the less a misidentified endpoint is allowed: it sends "
        f"{first} of its channel in the first fifth of the window, {last} in the last. It may send as fast "
        "as its packets arrived of late; it cannot send faster, but sends slower at times, since its "
        "messages come at random, and is allowed no more from then on."
    )


def claims(data: Data) -> list[Claim]:
    """The paper's claims, of means over the seeds."""
    named = {"incast": "incast", "others": "its senders to others", "fast": "fast"}
    accepted = {
        (scheme, name): _accepted(data, scheme, name) for scheme in data.values("scheme") for name in named
    }
    told = "; ".join(
        f"{scheme}: " + ", ".join(f"{words} {accepted[scheme, name]}" for name, words in named.items())
        for scheme in data.values("scheme")
    )
    least = [_least(result) for result in data.results(scheme="codes-cc")]
    return [
        hard(
            "SST_CM: a throttled sender's traffic to other targets is not throttled (0.3 offered, at "
            "least 95 % of it)",
            told,
            accepted["sst-cm", "others"].mean >= 0.95 * 0.3,
        ),
        hard(
            "CODES_CC: a misidentified endpoint whose packets are ejected fast is throttled, but barely "
            "slowed (0.6 offered, at least 90 % of it); the senders of the incast are slowed",
            f"{told}; the least rate that a misidentified endpoint was allowed, by the seed: "
            f"{min(least):.2f} to {max(least):.2f}",
            max(least) < 1
            and accepted["codes-cc", "fast"].mean >= 0.54
            and accepted["codes-cc", "others"].mean < 0.27,
            cause=_ratchet(data),
        ),
    ]


EXPERIMENT = Experiment(
    id="abate-share",
    paper=paper.PAPER,
    title="What a throttled sender may still send",
    setup="3078 endpoints, minimal routing. 29 endpoints offer 0.5 to one target and 0.3 to targets of "
    "their own; two others offer 0.6 elsewhere and 0.01 to the hot target, which makes CODES_CC throttle "
    "them too. The incast starts at 80 us, when their own rate has been measured. 40 seeds; the curves are "
    "of the first.",
    cases=cases,
    draw=draw,
    claims=claims,
)
