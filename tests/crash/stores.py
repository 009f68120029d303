"""Which test is played on which store: all on SQLite, and on PostgreSQL where a server may do
otherwise, which is in its transactions and where many want the same at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

SQLITE, POSTGRESQL = "sqlite", "postgresql"
on_both = pytest.mark.parametrize("new_case", [SQLITE, POSTGRESQL], indirect=True)


def at(points: Mapping[str, Any], *, server: Iterable[str] = ()) -> pytest.MarkDecorator:
    """Play each of the points on SQLite, and those that are named on a server too."""
    played = [(SQLITE, each) for each in points] + [(POSTGRESQL, each) for each in server]
    return pytest.mark.parametrize(
        ("new_case", "where"),
        [(store, points[name]) for store, name in played],
        indirect=["new_case"],
        ids=[f"{store}-{name}" for store, name in played],
    )
