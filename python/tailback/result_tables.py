"""The tables of results, of one run or of several side by side, and what must be said beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isnan
from typing import Any

from rich.table import Table

from tailback.congestion_trees import by_root, held
from tailback.console import duration, number, printable, share
from tailback.result import Result
from tailback.words import NOT_KNOWN, SATURATED, withheld

Summary = Mapping[str, Any]

_Number = int | float
_LATENCIES = ("network", "packet", "message")
_QUANTITIES = {"mean": "mean", "p50": "p50", "p99": "p99", "p999": "p99.9", "max": "max"}
BOUND_TOLD = "≥: what had not arrived at the end counts with its age then (run.drain lets it arrive)"
"""Of a mean latency that is a lower bound."""
BOUNDS_TOLD = f"{BOUND_TOLD}; ≤: so it does where the point compared with lacks some"
"""Of the difference of two, of which one is."""
_TOTAL = "all"
"""The classes together."""
_TREES = 5
"""Congestion trees that are shown of a run: the largest."""
_WORDS = ("class", "channels", "congestion tree of", "job", "result", "workload", "latency")
"""Columns that hold words; the others hold numbers."""


def shown(results: Mapping[str, Result]) -> Iterator[Table | str]:
    """The tables and then the remarks of runs by their names, which are told where there are several."""
    yield from results_tables(results)
    yield from map(printable, results_remarks(results))


def results_remarks(results: Mapping[str, Result]) -> Iterator[str]:
    """What must be said beside the tables of runs by their names, which are told where there are several."""
    for label, result in results.items():
        of_run, *others = run_remarks(result.summary)
        yield from [of_run, *others] if len(results) == 1 else (f"{label}: {told}" for told in others)


def results_tables(results: Mapping[str, Result]) -> list[Table]:
    """Jobs, traffic and latencies of runs by name: a row per class or job, and per run if there are more."""
    summaries = {label: result.summary for label, result in results.items()}
    several = _several(summaries)
    jobs, classes = job_table(summaries), list(_rows(summaries, "classes"))
    tables = [jobs] if jobs else []
    if classes:
        has_fairness = any("fairness" in row.facts for row in classes)
        fairness = ("fairness", "slowest source") if has_fairness else ()
        counts = ("per destination", *fairness, "hops", "dropped", "resent", "unfinished")
        traffic = _table("class", *several, "offered", "accepted", *counts)
        titles = {str(summary.get("title", "")) for summary in summaries.values()}
        traffic.title = printable(titles.pop()) or None if len(titles) == 1 else None
        traffic.title_justify = "left"
        for row in classes:
            traffic.add_row(row.name, *row.label, *_traffic_cells(row.facts, fairness))
        tables += [traffic, _latency_table(classes, several)]
    others = (slowdown_table(results), pause_table(summaries), tree_table(results))
    return [*tables, *(table for table in others if table)]


def _several(summaries: Mapping[str, object]) -> tuple[str, ...]:
    """The column that tells runs apart, if there is one."""
    return ("result",) if len(summaries) > 1 else ()


@dataclass(frozen=True)
class _Row:
    """A class or job of a run; the run has a label where there are several."""

    name: str
    label: tuple[str, ...]
    facts: Summary
    run: Summary


def _rows(summaries: Mapping[str, Summary], part: str) -> Iterator[_Row]:
    names = dict.fromkeys(name for summary in summaries.values() for name in summary.get(part) or ())
    for name in sorted(names, key=lambda name: name == _TOTAL):
        for label, run in summaries.items():
            if name in (run.get(part) or ()):
                labels = (printable(label),) if len(summaries) > 1 else ()
                yield _Row(printable(name), labels, run[part][name], run)


def _table(*columns: str) -> Table:
    table = Table()
    for name in columns:
        table.add_column(name, justify="left" if name in _WORDS else "right", no_wrap=True)
    return table


def _latency_table(classes: Sequence[_Row], several: tuple[str, ...]) -> Table:
    table = _table("class", "latency", *several, *_QUANTITIES.values())
    for name, group in groupby(classes, lambda row: row.name):
        rows = list(group)
        for kind in _LATENCIES:
            for row in rows:
                table.add_row(name, kind, *row.label, *_latency_cells(row.facts, kind))
            if several:
                table.add_section()
        for row in rows:
            if isinstance(slowdowns := row.facts.get("message_slowdown"), Mapping):
                cells = [number(slowdowns.get(key), ".2f") for key in _QUANTITIES]
                why = withheld(row.facts, "message")
                table.add_row(name, "slowdown", *row.label, why or cells[0], *cells[1:])
        table.add_section()
    return table


def slowdown_table(results: Mapping[str, Result]) -> Table | None:
    """Slowdowns by the length of messages; none if no class of any result has messages of several lengths.

    Of results whose table `slowdowns` is loaded.
    """
    rows = [
        (row["class"], label, row)
        for label, result in results.items()
        if "slowdowns" in result.tables
        for row in result.tables["slowdowns"].to_pylist()
        if row["class"] != _TOTAL or set(result.summary["classes"]) == {_TOTAL}
    ]
    if max(Counter((name, label) for name, label, _ in rows).values(), default=0) < 2:
        return None
    rows.sort(key=lambda row: (row[0], row[2]["flits_from"]))
    mean, *others = _QUANTITIES.values()
    table = _table("class", "flits", *_several(results), "messages", f"{mean} slowdown", *others)
    for name, group in groupby(rows, lambda row: row[0]):
        for _, label, row in group:
            first, last = row["flits_from"], row["flits_to"]
            length = f"{first}" if first == last else f"{first} to {last}"
            labels = (printable(label),) if len(results) > 1 else ()
            cells = [number(None if isnan(row[key]) else row[key], ".2f") for key in _QUANTITIES]
            table.add_row(printable(name), length, *labels, f"{row['messages']:,}", *cells)
        table.add_section()
    return table


def pause_table(summaries: Mapping[str, Summary]) -> Table | None:
    """How often and how long senders were paused, by kind of channel; none under credits."""
    table = _table("channels", *_several(summaries), "pauses", "ever paused", "paused, mean", "most")
    for row in _rows(summaries, "pauses"):
        of_all = f"{row.facts['channels_paused']:,} of {row.facts['channels']:,}"
        shares = (share(row.facts[key]) for key in ("time_share", "time_share_max"))
        table.add_row(row.name, *row.label, f"{row.facts['count']:,}", of_all, *shares)
    return table if table.row_count else None


def tree_table(results: Mapping[str, Result]) -> Table | None:
    """What congestion trees grew from and how far they reached, of results whose table `trees` is loaded."""
    reach = ("endpoints held", "channels held", "deepest", "strangers", "held itself")
    table = _table("congestion tree of", *_several(results), "snapshots", *reach, "first at", "last at")
    for label, result in results.items():
        trees = result.tables.get("trees")
        for tree in by_root(held(trees))[:_TREES] if trees else []:
            labels = (printable(label),) if len(results) > 1 else ()
            counts = (f"{count:,}" for count in (tree.endpoints, tree.channels, tree.depth))
            others = NOT_KNOWN if isnan(tree.strangers) else share(tree.strangers)
            times = map(duration, (tree.first_ns, tree.last_ns))
            cells = (f"{tree.snapshots:,}", *counts, others, f"{tree.held_itself:,}", *times)
            table.add_row(tree.root, *labels, *cells)
        table.add_section()
    return table if table.row_count else None


def job_table(summaries: Mapping[str, Summary]) -> Table | None:
    """A row for each job, and for each run if there are more; none if there are no jobs."""
    jobs = list(_rows(summaries, "jobs"))
    if not jobs:
        return None
    has_alone = any("slowdown" in job.facts for job in jobs)
    alone = ("alone", "slowdown") if has_alone else ()
    has_phases = any("phases" in job.facts for job in jobs)
    has_optimum = any("optimum_ns" in _within(job.facts, "phases") for job in jobs)
    optimum = ("optimum",) if has_optimum else ()
    phases = ("phases", "mean phase", "mean bound", *optimum) if has_phases else ()
    columns = ("workload", "ranks", "unfinished ranks", "time", *alone, *phases)
    table = _table("job", *_several(summaries), *columns, "mean communication", "messages")
    for job in jobs:
        facts, end_ns = job.facts, job.run.get("simulated_ns")
        cells = [number(facts.get(key)) for key in ("ranks", "unfinished_ranks")]
        least, start_ns = None, facts.get("start_ns")
        if facts.get("time_ns") is None and isinstance(end_ns, _Number) and isinstance(start_ns, _Number):
            least = float(end_ns) - float(start_ns)
        cells.append(_at_least(duration, facts.get("time_ns"), least, "#.4g"))
        if has_alone:
            alone_ns, slowdown = facts.get("alone_ns"), facts.get("slowdown")
            ratio = (
                least / alone_ns if least is not None and isinstance(alone_ns, _Number) and alone_ns else None
            )
            cells += [duration(alone_ns, "#.4g"), _at_least(number, slowdown, ratio, ".2f")]
        if has_phases:
            cells += _phase_cells(_within(facts, "phases"), optimum)
        communication = _within(facts, "communication_ns")
        cells += [duration(communication.get("mean"), "#.4g"), number(facts.get("messages"))]
        table.add_row(job.name, *job.label, printable(str(facts.get("workload", "-"))), *cells)
    return table


def _within(facts: Summary, key: str) -> Summary:
    """What stands under a key, which files of others may leave out or fill with anything."""
    found = facts.get(key)
    return found if isinstance(found, Mapping) else {}


def _at_least(told: Callable[[Any, str], str], value: Any, least: float | None, digits: str) -> str:
    """A number of a job; of one that did not end, what it is over."""
    return f"> {told(least, digits)}" if value is None and least is not None else told(value, digits)


def _phase_cells(phases: Mapping[str, Any], optimum: Sequence[str]) -> list[str]:
    keys = ("phase_time_ns", "bound_ns", *(f"{name}_ns" for name in optimum))
    means = [_within(phases, key).get("mean") for key in keys]
    return [number(phases.get("phases")), *(duration(mean, "#.4g") for mean in means)]


def _traffic_cells(facts: Mapping[str, Any], fairness: Sequence[str]) -> list[str]:
    shares = [share(facts.get("offered")), share(facts.get("accepted"), facts.get("accepted_ci95"))]
    shares.append(share(facts.get("accepted_per_destination")))
    if fairness:
        shares += [number(facts.get("fairness"), ".3f"), share(facts.get("source_accepted_min"))]
    counts = [number(facts.get(key)) for key in ("dropped_packets", "resent_packets", "unfinished")]
    return [*shares, number(facts.get("hops_mean"), ".2f"), *counts]


def _latency_cells(facts: Summary, kind: str) -> list[str]:
    values = facts.get(f"{kind}_latency_ns")
    if isinstance(values, Mapping) and not (why := withheld(facts, kind)):
        mean, *others = (values.get(key) for key in _QUANTITIES)
        told = duration(mean, "#.4g", values.get("mean_ci95"))
        return [
            f"≥ {told}" if _is_bound(facts, kind) else told,
            *(duration(value, "#.4g") for value in others),
        ]
    told = why if isinstance(values, Mapping) else "-" if values is None else str(values)
    return [told] + ["-"] * (len(_QUANTITIES) - 1)


def _is_bound(facts: Summary, kind: str) -> bool:
    """Whether a mean counts what had not arrived, with the age that it had then."""
    latency = _within(facts, f"{kind}_latency_ns")
    return (
        bool(latency.get("missing"))
        and isinstance(latency.get("mean"), _Number)
        and not withheld(facts, kind)
    )


def run_remarks(summary: Mapping[str, Any]) -> list[str]:
    """What must be said beside the tables."""
    seconds, hops = summary.get("cpu_seconds"), summary.get("packet_hops")
    remarks = [f"simulated {duration(summary.get('simulated_ns'))}"]
    if isinstance(seconds, int | float) and isinstance(hops, int | float):
        speed = f", {hops / seconds / 1e6:.1f} million a second" if seconds > 0 else ""
        remarks[0] += f", {hops:,} packet-hops in {seconds:.1f} CPU seconds{speed}"
    interrupted = bool(summary.get("interrupted"))
    if summary.get("stable") is False and not interrupted:
        remarks.append(
            "not stable: the network does not accept what is offered, and latencies grow with the window"
        )
    if "stable" in summary and summary["stable"] is None and not interrupted:
        remarks.append("stable or not: not to be told of so few messages, or after so short a warm-up")
    classes = list(summary.get("classes", {}).values())
    told = {withheld(facts, kind) for facts in classes for kind in _LATENCIES}
    if any(facts.get("accepted_ci95") for facts in classes):
        remarks.append("±: 95 % confidence of a mean, by the means of parts of the window")
    if any(_is_bound(facts, kind) for facts in classes for kind in _LATENCIES):
        remarks.append(BOUND_TOLD)
    remarks += [why for word, why in _WITHHELD.items() if word in told]
    if interrupted:
        why = str(summary.get("failure", "")).partition("\n")[0].rstrip(":")
        what = f"the run failed ({why})" if why else "interrupted"
        remarks.append(f"{what}: the numbers are those of the part that was simulated")
    warnings = summary.get("warnings")
    return remarks + [str(warning) for warning in warnings] if isinstance(warnings, list) else remarks


_WITHHELD = {
    SATURATED: "saturated: the network accepts less than 97 % of what is offered, and over 1 % of these had "
    "not arrived at the end, so their latency is not known",
    NOT_KNOWN: "not known: over 1 % of these were under way when the run ended, and would be missing in "
    "their latency (a longer run.drain lets them arrive)",
}
"""What is called so, and why."""
