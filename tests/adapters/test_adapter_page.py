"""What the page about writing an adapter says of the adapters' size."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "write-an-adapter.md"
ROWS = re.findall(r"^\| `([\w/]+\.py)` \| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)


def test_the_page_tells_of_some() -> None:
    assert {"callables.py", "adk/native.py"} <= {name for name, _ in ROWS}


@pytest.mark.parametrize(("name", "said"), ROWS)
def test_a_file_has_about_as_many_lines_as_the_page_says(name: str, said: str) -> None:
    lines = (ROOT / "pytest_tripwire" / "adapters" / name).read_text("utf-8").count("\n")

    assert abs(lines - int(said)) <= 10
