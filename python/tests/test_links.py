"""Every link between the pages of this project leads to a file that is there, and to a heading in it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]


def headings(page):
    """The names by which a page's headings can be linked to, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for path, heading in re.findall(r"\]\((?!https?:)([^)\s#]*)#?([^)\s]*)\)", page.read_text("utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), f"{path} is not there"
        assert not heading or heading in headings(target), f"{path} has no heading {heading}"
