"""The catalogue: published experiments, one module each, by the name that `tailback reproduce` takes."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module

from tailback.errors import InputError, Problem
from tailback.experiments.model import Experiment

IDS = (
    "srp-fig1",
    "srp-fig4",
    "srp-fig5",
    "srp-fig6",
    "srp-fig7",
    "srp-ecn-fan",
    "srp-ecn-thr",
    "srp-fig8",
    "srp-fig9",
    "srp-fig10",
    "srp-fig11",
    "srp-fig12",
    "srp-ttw-hot",
    "srp-fig13",
    "srp-nmax-fair",
    "srp-resend",
    "srp-small",
    "srp-oversub",
    "srp-scale",
    "srp-fig14",
    "lhrp-fig2",
    "lhrp-fig5a",
    "lhrp-fig5b",
    "lhrp-fig6",
    "lhrp-fig7",
    "lhrp-fig8",
    "lhrp-fig9",
    "lhrp-fig10",
    "lhrp-fig11",
    "lhrp-fig12",
    "lhrp-fig13",
    "lhrp-wc",
    "saa-fig1",
    "saa-window",
    "saa-fig5",
    "saa-fig6",
    "saa-table1",
    "saa-svc",
    "saa-cca",
    "saa-converge",
    "saa-optimal",
    "saa-cost",
    "osha-fig5",
    "osha-fig6",
    "osha-fig7",
    "osha-fig8",
    "osha-fig9",
    "osha-fig10",
    "osha-fig11",
    "osha-table2",
    "osha-map",
    "abate-fig2",
    "abate-fig3",
    "abate-fig4",
    "abate-fig5",
    "abate-fig6",
    "abate-fig7",
    "abate-fig8",
    "abate-fig9",
    "abate-fig10",
    "abate-fig10b",
    "abate-share",
    "abate-margin",
    "peer-torus",
    "peer-fat-tree",
    "peer-htsim",
    "peer-htsim-pfc",
    "peer-htsim-swift",
    "peer-ns3-hpcc",
    "peer-ns3-dcqcn",
    "peer-ns3-pfc",
)


def experiment(name: str) -> Experiment:
    """The experiment of this name."""
    found: Experiment = import_module(f"tailback.experiments.{name.replace('-', '_')}").EXPERIMENT
    return found


def find(names: Sequence[str]) -> list[Experiment]:
    """Experiments by name, or all whose names begin with what is given, such as `lhrp`; all if nothing is."""
    if not names:
        return [experiment(name) for name in IDS]
    chosen: dict[str, None] = {}
    problems = []
    for name in names:
        if not name:  # such as a variable of the shell that is not set
            problems.append(Problem("the name of an experiment is empty", help="--list shows them all"))
            continue
        matching = [name] if name in IDS else [known for known in IDS if known.startswith(name)]
        chosen |= dict.fromkeys(matching)
        if not matching:
            near = get_close_matches(name, IDS, n=3)
            remedy = f"did you mean {' or '.join(near)}?" if near else "--list shows them all"
            problems.append(Problem(f"there is no experiment {name!r}", help=remedy))
    if problems:
        raise InputError(problems)
    return [experiment(name) for name in IDS if name in chosen]
