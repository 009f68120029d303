"""Every link of README.md and the documentation to another file leads somewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ELSEWHERE = ("http://", "https://", "mailto:")


def broken(page: Any, read_page: Callable[[Path], Any]) -> list[str]:
    """The links of a page that lead nowhere, each with its line."""
    wrong = []
    for line, link in page.links():
        if link.startswith(ELSEWHERE):
            continue
        target, _, anchor = link.partition("#")
        file = (page.path.parent / target).resolve() if target else page.path
        if not file.exists():
            wrong.append(f"{page.name}:{line}: {link}: there is no such file")
        elif anchor and anchor not in read_page(file).anchors():
            wrong.append(f"{page.name}:{line}: {link}: no heading of that page is called #{anchor}")
    return wrong


def test_links_lead_somewhere(page: Any, read_page: Callable[[Path], Any]) -> None:
    assert broken(page, read_page) == []


def test_every_page_is_in_the_index(pages: list[Any]) -> None:
    docs = next(page for page in pages if page.name == "docs/README.md")
    linked = {(docs.path.parent / link.partition("#")[0]).resolve() for _, link in docs.links()}
    rest = [page for page in pages if page.name.startswith("docs/") and page is not docs]

    assert [page.name for page in rest if page.path not in linked] == []


@pytest.mark.parametrize(
    ("link", "complaint"),
    [
        ("nothing.md", "no such file"),
        ("page.md#nothing", "no heading"),
        ("#nothing", "no heading"),
        ("#the-page-tripwire", ""),
        ("page.md#the-page-tripwire-1", ""),
        ("page.md", ""),
    ],
)
def test_a_link_is_found_broken(
    written: Callable[[str], Any], read_page: Callable[[Path], Any], link: str, complaint: str
) -> None:
    page = written(
        "# The page: `tripwire`\n\n## The page tripwire\n\n"
        f"See [this]({link}), not `[a](b.md)`.\n\n"
        "```python\n[x](y)\n```\n"
    )

    found = broken(page, read_page)

    assert len(found) == bool(complaint)
    assert complaint in "".join(found)
