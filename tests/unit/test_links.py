"""Every relative link in what people read leads to a file, and to a heading of it where it names one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md"))
)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
HEADING = re.compile(r"^#+ +(.+?) *$", re.M)
OUTSIDE = ("http://", "https://", "mailto:")


def links(page: str) -> list[str]:
    """Return the relative links of a page, those in code left out."""
    text = CODE.sub("", (ROOT / page).read_text(encoding="utf-8"))
    return [one for one in LINK.findall(text) if not one.startswith(OUTSIDE)]


def anchors(page: Path) -> set[str]:
    """Return what a page's headings are called in a link."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.mark.parametrize("page", PAGES)
def test_each_relative_link_leads_somewhere(page: str) -> None:
    lost = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


def test_the_front_page_leads_to_the_others() -> None:
    assert "docs/architecture.md" in links("README.md")
