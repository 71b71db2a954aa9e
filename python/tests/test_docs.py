import re
from pathlib import Path

import pytest

import tailback
from tailback import docs
from tailback.result import TABLES

ROOT = Path(__file__).parents[2]


@pytest.mark.engine
def test_the_pages_are_those_that_make_docs_makes():
    for name, text in docs.pages().items():
        assert (ROOT / "docs" / "protocols" / name).read_text("utf-8") == text, f"run make docs: {name}"


@pytest.mark.engine
def test_every_protocol_says_what_it_does_where_and_after_which_paper():
    for kind in docs.kinds():
        _, texts = docs.sections(kind["doc"])
        assert tuple(texts) == docs.HEADINGS, kind["name"]
        assert all(texts.values()), kind["name"]
        assert docs.scenario(kind["name"], ROOT / "scenarios" / "trace.toml").check() == []
        assert (ROOT / "docs" / "protocols" / f"{docs.file_name(kind['name'])}.svg").exists()


def test_a_documentation_is_split_at_its_headings():
    assert docs.sections("Lead.\n\n# What it does\n\nIt acts.\n\n# Paper\n\nNone.") == (
        "Lead.",
        {"What it does": "It acts.", "Paper": "None."},
    )


def recorded():
    """Results that together hold every table and every key of a summary."""
    spoken = tailback.Scenario.load(ROOT / "scenarios" / "trace.toml").replace(
        {
            "congestion_control": {"kind": "codes-cc"},
            "link.flow_control": "pfc",
            "record": {
                "pauses": True,
                "series": "1 us",
                "pairs": "1 us",
                "ports": True,
                "sources": True,
                "packets": True,
                "messages": True,
                "control": True,
            }
            | {"occupancy": ["1 us"], "trees": True},
        }
    )
    phases = tailback.Scenario.load(ROOT / "scenarios" / "phases.toml")
    fluid = phases.replace({"run.model": "fluid", "record.ports": True})
    results = [spoken.run(), phases.run(), fluid.run()]
    assert set(TABLES) == {name for result in results for name in result.tables}
    return results


ELSEWHERE = {
    *("engine", "network_hash", "optimum_ns", "failure"),
    *("alone_ns", "slowdown", "alone_communication_ns", "communication_slowdown"),
    *("injection", "ejection"),
}
"""What only sweeps, networks from files, failures and options of the command add, and two link classes."""


def once(names):
    """These names, with a latency or slowdown once for its mean, quantiles and largest."""
    return {re.sub(r"(\w+_(?:latency|slowdown))_(?:mean|p\d+|max)(_ns)?$", r"\1\2", name) for name in names}


def numbers(result):
    """The names of all that a result holds."""
    columns = [column for table in result.tables.values() for column in table.column_names]
    jobs = [facts.keys() for facts in result.summary.get("jobs", {}).values()]
    return {*columns, *result.tables}.union(result.summary, result.summary["classes"].get("all", {}), *jobs)


@pytest.mark.engine
def test_the_model_page_tells_what_every_number_of_a_result_is_and_of_no_others():
    page = (ROOT / "docs" / "model.md").read_text("utf-8")
    known = once(set().union(*map(numbers, recorded())))
    assert known - set(re.findall(r"`(\w+)`", page)) == set()
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert once(re.findall(r"`(\w+)`", " ".join(rows))) - known == ELSEWHERE
