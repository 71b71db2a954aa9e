from pathlib import Path

import pytest

from tailback import docs

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
