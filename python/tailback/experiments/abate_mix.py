"""What abate-fig8, abate-fig9, abate-fig10 and abate-fig10b share: mixes of jobs that fill the network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tailback.experiments import abate_paper as paper
from tailback.result import Result
from tailback.scenario import Scenario

FIG8 = {"lammps": 5, "strong": 10, "weak": 7, "pairs": 7}
FIG9 = {"lammps": 5, "milc": 4, "strong": 4, "weak": 4}
VICTIMS = ("lammps", "milc", "weak", "pairs")


def cost(full: bool) -> float:
    """CPU seconds that a run of all jobs may take."""
    return 100 if full else 18


def load(counts: Mapping[str, int], full: bool) -> list[str]:
    """The jobs of a mix.

    A strong incast's iteration is that of abate-fig4, as the paper has it. The weak one's messages are
    ours: far smaller, each after some computing.
    """
    times = 5 if full else 1
    makers: dict[str, tuple[str, int, dict[str, Any]]] = {
        "lammps": ("lammps", 1024, {"steps": times}),
        "milc": ("milc", 625, {"message": "31104 B", "iterations": 4 * times}),
        "strong": ("incast", 100, {"message": "1280 KiB", "iterations": times}),
        "weak": ("incast", 40, {"message": "8000 B", "iterations": 40 * times, "compute": "20 us"}),
        "pairs": ("fixed-pairs", 256, {"message": "512 KiB", "iterations": 8 * times, "synchronise": True}),
    }
    return [
        paper.job(f"{kind}{number}", workload, ranks, **keys)
        for kind, (workload, ranks, keys) in makers.items()
        for number in range(counts.get(kind, 0))
    ]


def scenario(
    title: str, counts: Mapping[str, int], full: bool, control: str = "off", only: str = "", **changes: Any
) -> Scenario:
    """The mix, or only the jobs of a kind."""
    names = [f"{only}{number}" for number in range(counts.get(only, 0))]
    run = paper.only(*names) if only else 'duration = "100 ms"'
    return paper.scenario(title, paper.LARGE, load(counts, full), control=control, run=run, **changes)


def kind(job: str) -> str:
    """The kind of a job, by its name."""
    return job.rstrip("0123456789")


def slowest(result: Result, wanted: str) -> float:
    """The longest time of the jobs of a kind, in us; NaN if one of them did not end."""
    return paper.slowest(result, of_kind(result, wanted))


def mean(result: Result, wanted: str) -> float:
    """The mean time of the jobs of a kind, in us; NaN if one of them did not end."""
    times = [paper.time_us(result, name) for name in of_kind(result, wanted)]
    return sum(times) / len(times)


def of_kind(result: Result, wanted: str) -> list[str]:
    """The names of the jobs of a kind."""
    return [name for name in result.summary["jobs"] if kind(name) == wanted]
