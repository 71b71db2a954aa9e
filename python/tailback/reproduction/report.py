"""The report of reproduced experiments: one HTML file that needs nothing else, and the same as Markdown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from tailback import __version__, experiments
from tailback.console import minutes
from tailback.experiments.model import Claim
from tailback.files import refuse_other, replace_text
from tailback.reproduction import runs
from tailback.words import counted, in_runs

if TYPE_CHECKING:
    from tailback.reproduction.reproduce import Reproduced

_HEADINGS = ("verdict", "kind", "claim", "published", "measured", "tolerance")


def write(done: Sequence[Reproduced], folder: Path, *, full: bool) -> list[Path]:
    """Writes `report.html` and `report.md`, and `runs.csv` beside them; returns all."""
    refuse_foreign(folder)
    files = [folder / name for name in _BEGINNINGS]
    named = runs.written((one.experiment.id, one.ran) for one in done)
    for file, text in zip(files, (_html(done, full), _markdown(done, full), named), strict=True):
        replace_text(file, text)
    return files


def refuse_foreign(folder: Path) -> None:
    """Raises `InputError` if the folder has files of the report's names that are no report."""
    for name, beginning in _BEGINNINGS.items():
        refuse_other(folder / name, beginning, "report of tailback reproduce")


def shown(folder: Path) -> list[str]:
    """The experiments that the report in a folder shows; none if there is no report."""
    with suppress(OSError, UnicodeDecodeError):
        text = (folder / "report.md").read_text("utf-8")
        if text.startswith(_BEGINNINGS["report.md"]):
            headed = re.findall(r"^## ([\w-]+): ", text, re.MULTILINE)
            return [name for name in headed if name in experiments.IDS]
    return []


_NAME = "Published experiments, "
_HTML = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>"""
_BEGINNINGS = {"report.html": f"{_HTML}{_NAME}", "report.md": f"# {_NAME}", "runs.csv": runs.HEADING}
"""The files of a report, and how each begins: by this one is known, so that no other file is replaced."""


def _title(full: bool) -> str:
    return f"{_NAME}{'full' if full else 'reduced'} size"


def _overall(done: Sequence[Reproduced]) -> str:
    claims = [claim for one in done for claim in one.claims]
    parts = []
    for kind, name in (("hard", "hard claims"), ("value", "values")):
        judged = [claim for claim in claims if claim.kind == kind and claim.verdict != "not judged"]
        held = sum(claim.verdict == "held" for claim in judged)
        parts.append(f"{held} of {len(judged)} {name} held")
    own = [claim for claim in claims if claim.kind == "ours"]
    if own:
        held = sum(claim.verdict == "held" for claim in own)
        parts.append(f"{held} of {counted(len(own), 'claim')} of ours beside them")
    open_claims = sum(claim.verdict == "not judged" for claim in claims)
    if open_claims:
        parts.append(f"{open_claims} not judged")
    return f"Tailback {__version__}. {', '.join(parts)}. {_WHERE}"


_WHERE = "runs.csv, written with this report, names the folder of each run, with its scenario and result."


def _what_ran(one: Reproduced) -> str:
    seeds = f"seed{'' if len(one.seeds) == 1 else 's'} {in_runs(one.seeds)}"
    part = f"In part: only {one.experiment.part}. " if one.experiment.part else ""
    return (
        f"{part}{counted(one.runs, 'run')}, {seeds}, {minutes(one.cpu_seconds)} CPU minutes, engine "
        f"{', '.join(one.engines)}. {_unsteady(one)}± is a 95 % confidence interval over the seeds, "
        "or what the text says; of a saturation it is half of the bracket that was searched."
    )


def _unsteady(one: Reproduced) -> str:
    """How many runs warned that their window is not steady: what they measured depends on its time."""
    some, judged = one.unsteady
    if not some:
        return ""
    what = "judged runs, searches apart," if one.experiment.searches(False) else "judged runs"
    return f"{some} of {judged} {what} warned that their window is not steady. "


def _cells(claim: Claim) -> tuple[str, ...]:
    return (claim.verdict, claim.kind, claim.text, claim.published, claim.measured, claim.tolerance)


def _remarks(one: Reproduced) -> Iterator[tuple[str, str]]:
    for claim in one.claims:
        if claim.verdict == "missed":
            yield f"Missed: {claim.text}", claim.cause or "The cause is not known yet."
        if claim.note:
            yield f"{claim.text}", claim.note


def _markdown(done: Sequence[Reproduced], full: bool) -> str:
    lines = [f"# {_title(full)}", "", _overall(done), ""]
    for one in done:
        lines += [f"## {one.experiment.id}: {one.experiment.title}", "", one.experiment.setup, ""]
        picture = f"![{one.shows or one.experiment.title}](figures/{one.experiment.id}.png)"
        lines += [f"No figure: {one.undrawn}." if one.undrawn else picture, ""]
        lines += ["| " + " | ".join(_HEADINGS) + " |", "|" + "---|" * len(_HEADINGS)]
        lines += ["| " + " | ".join(_bar_free(cell) for cell in _cells(claim)) + " |" for claim in one.claims]
        lines.append("")
        for heading, text in _remarks(one):
            lines += [f"**{heading}.** {text}", ""]
        lines += [_what_ran(one), "", f"Paper: {one.experiment.paper}", ""]
    return "\n".join(lines)


def _bar_free(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color:
#222; } table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem; border-bottom: 1px solid #ddd; }
img { max-width: 100%; } p { max-width: 46rem; } .wide { overflow-x: auto; }
.held { color: #00664b; } .missed { color: #a23b00; font-weight: bold; } .not { color: #666; }
.small { color: #555; font-size: 0.85rem; } pre { overflow-x: auto; background: #f6f6f6; padding: 0.6rem; }
"""


def _html(done: Sequence[Reproduced], full: bool) -> str:
    title = escape(_title(full))
    parts = [
        f"{_HTML}{title}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{title}</h1><p>{escape(_overall(done))}</p><ul>",
    ]
    parts += [
        f'<li><a href="#{one.experiment.id}">{one.experiment.id}</a>: {escape(one.experiment.title)} '
        f"({one.count('held')} held, {one.count('missed')} missed, {one.count('not judged')} not judged)</li>"
        for one in done
    ]
    parts.append("</ul>")
    for one in done:
        parts += _section(one)
    parts.append("</body></html>\n")
    return "\n".join(parts)


def _section(one: Reproduced) -> Iterator[str]:
    experiment = one.experiment
    yield f'<h2 id="{experiment.id}">{experiment.id}: {escape(experiment.title)}</h2>'
    yield f"<p>{escape(experiment.setup)}</p>"
    for svg in (file for file in one.files if file.suffix == ".svg"):
        picture = base64.b64encode(svg.read_bytes()).decode()
        shows = escape(one.shows or experiment.title)
        yield f'<img alt="{shows}" src="data:image/svg+xml;base64,{picture}">'
    if one.undrawn:
        yield f"<p>No figure: {escape(one.undrawn)}.</p>"
    heads = "".join(f'<th scope="col">{heading}</th>' for heading in _HEADINGS)
    yield f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>'
    for claim in one.claims:
        first, *rest = _cells(claim)
        mark = first.split()[0]
        yield (
            f'<tr><td class="{mark}">{first}</td>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
            + "</tr>"
        )
    yield "</tbody></table></div>"
    for heading, text in _remarks(one):
        yield f"<p><b>{escape(heading)}.</b> {escape(text)}</p>"
    yield f'<p class="small">{escape(_what_ran(one))}<br>Paper: {escape(experiment.paper)}</p>'
    yield "<details><summary>The first run's scenario, every default filled in</summary>"
    yield f"<pre>{escape(one.example)}</pre></details>"
