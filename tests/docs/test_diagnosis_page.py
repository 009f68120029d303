"""The page about diagnosis has a row for every kind, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from pytest_tripwire.models.diagnosis import Kind

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "diagnosis.md"


def test_every_kind_has_its_row_in_order() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)

    assert rows == [each.value for each in Kind]
