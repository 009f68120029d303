"""Fewer cells than a whole table, and yet each value of a column beside each of any other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

Row = TypeVar("Row")
Each = TypeVar("Each")
Turn = TypeVar("Turn")


def dealt(
    rows: Iterable[Row], each: Sequence[Each], turns: Sequence[Turn]
) -> list[tuple[Row, Each, Turn]]:
    """Every row with every one of `each`, and beside that one of `turns`: these take turns, and
    begin one further at every row. Every row meets every one of `turns` if there are no more of
    them than of `each`, and every one of `each` does if there are no more of them than rows.
    """
    return [
        (row, one, turns[(place + at) % len(turns)])
        for at, row in enumerate(rows)
        for place, one in enumerate(each)
    ]
