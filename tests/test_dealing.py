"""What is dealt leaves no pair out."""

from __future__ import annotations

import pytest

from .dealing import dealt


@pytest.mark.parametrize(("rows", "each", "turns"), [(8, 4, 3), (7, 4, 2), (20, 3, 2), (2, 2, 2)])
def test_every_value_is_dealt_beside_every_other(rows: int, each: int, turns: int) -> None:
    cells = dealt(range(rows), range(each), range(turns))

    assert len(cells) == len(set(cells)) == rows * each
    assert len({(row, one) for row, one, _ in cells}) == rows * each
    assert len({(row, turn) for row, _, turn in cells}) == rows * turns
    assert len({(one, turn) for _, one, turn in cells}) == each * turns
