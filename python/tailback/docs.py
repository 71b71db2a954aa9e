"""Makes `docs/protocols`: a page per congestion control from its documentation, with a diagram of a real run.

python -m tailback.docs docs/protocols
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tailback import _engine
from tailback.errors import engine_errors
from tailback.scenario import Scenario, inline

HEADINGS = ("What it does", "Where it acts", "Parameters", "Paper", "Differences from the paper")
"""What a protocol's documentation has to say."""

_SCENARIO = "scenarios/trace.toml"
_ONE_MESSAGE = {"traffic.data.message": "6 packets", "traffic.data.process": "one-shot"}
_CHANGES: Mapping[str, Mapping[str, Any]] = {
    **{
        kind: {"traffic.data.stop": "260 ns"}
        for kind in ("ecn", "dcqcn", "dcqcn-connectx", "swift", "hpcc", "nscc", "nscc+rccc")
    },
    "srp": _ONE_MESSAGE,
    "saa": _ONE_MESSAGE,
    "max-min": _ONE_MESSAGE,
}
"""By kind: what else is changed in the scenario, so that the protocol has something to act on."""
_DIAGRAMS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "ecn": (
        "Here there are eleven packets; the second is marked, so that the source waits before the eighth.",
        {"threshold": "30 flits", "increment": "40 ns"},
    ),
    "srp": ("Here the six packets are one message.", {"n_min": "1 packet", "time_to_wait": "50 ns"}),
    "saa": ("Here the six packets are one message.", {"probe_period": "100 ns", "hold": "250 ns"}),
    "max-min": ("Here the six packets are one message.", {"probe_period": "100 ns", "hold": "250 ns"}),
    "smsrp": ("", {"time_to_wait": "50 ns"}),
    "lhrp": ("", {"threshold": "30 flits"}),
    "lhrp+srp": ("", {"threshold_message": "48 flits", "threshold": "30 flits", "time_to_wait": "50 ns"}),
    "dcqcn": (
        "Here there are eleven packets, and all that leave more than 30 flits behind them are marked.",
        {"mark_from": "30 flits", "mark_all": "30 flits", "cnp_interval": "100 ns"},
    ),
    "dcqcn-connectx": (
        "Here there are eleven packets, and all that leave more than 30 flits behind them are marked; "
        "told of it, the source looks every 50 ns whether to cut its rate.",
        {"mark_from": "30 flits", "mark_all": "30 flits", "alpha_timer": "50 ns", "cut_timer": "50 ns"},
    ),
    "swift": ("Here there are eleven packets.", {"base_target": "100 ns", "fs_range": "50 ns"}),
    "hpcc": ("Here there are eleven packets.", {"base_rtt": "100 ns", "max_stage": 0}),
    "nscc": (
        "Here there are eleven packets; the delays of the first shrink the window.",
        {
            "base_rtt": "100 ns",
            "target": "20 ns",
            "mark_from": "0 flits",
            "mark_all": "24 flits",
            "gain": 0.5,
        },
    ),
    "rccc": ("", {"unsolicited": "2 packets"}),
    "nscc+rccc": (
        "Here there are eleven packets, of which two may go without credit.",
        {
            "nscc": {"base_rtt": "100 ns", "target": "20 ns", "mark_from": "0 flits", "gain": 0.5},
            "rccc": {"unsolicited": "2 packets"},
        },
    ),
    "codes-cc": ("", {"buffer": "100 flits", "signals": "in band", "period": "60 ns", "windows": 2}),
    "sst-cm": (
        "",
        {"variant": "drain margin", "streams": 1, "outstanding": "30 flits", "signals": "in band"},
    ),
}
"""By kind: a remark, and parameters small enough that something happens within a few packets."""

Kind = Mapping[str, Any]


def kinds() -> list[Kind]:
    """Every congestion control with its documentation."""
    with engine_errors():
        listed: list[Kind] = json.loads(_engine.kinds())["congestion_controls"]
    return listed


def file_name(kind: str) -> str:
    """The name of a kind's page, without its ending."""
    return kind.replace("+", "-")


def scenario(kind: str, source: Path) -> Scenario:
    """The run that is drawn for a kind."""
    return Scenario.load(source).replace(_changes(kind))


def _changes(kind: str) -> Mapping[str, Any]:
    _, settings = _DIAGRAMS.get(kind, ("", {}))
    return {"congestion_control": {"kind": kind, **settings}, **_CHANGES.get(kind, {})}


def pages() -> dict[str, str]:
    """The text of every page by file name."""
    listed = kinds()
    made = {f"{file_name(kind['name'])}.md": "\n".join(_page(kind)) for kind in listed}
    made["README.md"] = "\n".join(_index(listed))
    return made


_MADE = "<!-- Made by `make docs` from the documentation in crates/engine/src/protocol/: change that. -->"


def _index(listed: Sequence[Kind]) -> Iterator[str]:
    yield from (_MADE, "", "# Congestion control", "")
    for kind in listed:
        yield f"- [`{kind['name']}`]({file_name(kind['name'])}.md): {kind['doc'].split(chr(10))[0]}"
    yield ""


def sections(doc: str) -> tuple[str, dict[str, str]]:
    """The first paragraph of a documentation, and the texts under its headings."""
    lead, *rest = re.split(r"^# (.+)$", doc, flags=re.MULTILINE)
    return lead.strip(), dict(zip(rest[::2], map(str.strip, rest[1::2]), strict=True))


def _page(kind: Kind) -> Iterator[str]:
    lead, texts = sections(kind["doc"])
    remark, _ = _DIAGRAMS.get(kind["name"], ("", {}))
    changes = " ".join(f"--set '{key}={inline(value)}'" for key, value in _changes(kind["name"]).items())
    yield from (_MADE, "", f"# `{kind['name']}`", "", lead, "")
    yield f"![Time diagram of a run under {kind['name']}]({file_name(kind['name'])}.svg)"
    yield from (
        "",
        f"*{remark} Every packet is an arrow for its head and a band as long as it takes.*".replace(
            "* ", "*"
        ),
    )
    yield from ("", "```sh", f".venv/bin/tailback trace {_SCENARIO} {changes}", "```", "")
    for heading in HEADINGS:
        yield from (f"## {heading}", "", texts[heading], "")
        if heading == "Parameters" and kind["parameters"]:
            yield from _parameters(kind["parameters"])


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield from ("| parameter | type | default | |", "|---|---|---|---|")
    for parameter in parameters:
        default = "-" if parameter["default"] is None else f"`{json.dumps(parameter['default'])}`"
        words = "".join(f" `{word['name']}`: {word['doc']}" for word in parameter.get("values", ()))
        cells = (f"`{parameter['name']}`", parameter["type"], default, _line(parameter["doc"] + words))
        yield "| " + " | ".join(cells) + " |"
    yield ""


def _line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def write(folder: Path) -> None:
    """Writes every page and every diagram."""
    from tailback.figures import gallery, trace  # late: the text needs no matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, "utf-8")
    for kind in kinds():
        drawn = trace.diagram(trace.run(scenario(kind["name"], Path(_SCENARIO))))
        gallery.save_as(drawn, folder / f"{file_name(kind['name'])}.svg")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
