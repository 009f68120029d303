"""What a guarded call with large arguments costs, in times of J on the same arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.fingerprint import GOALS
from benchmarks.line import Line
from benchmarks.materials import contents, plain_hash
from benchmarks.plan import Plan
from benchmarks.timing import Subject, in_turns
from benchmarks.tools import calling, guarded, look_into

NAME = "large-arguments"


def run(plan: Plan) -> Iterator[Line]:
    """Compare guarded calls with J, no two calls with the same arguments."""
    number = 3 if plan.quick else 10
    for size, content in contents().items():
        given = [{"number": each, "content": content} for each in range(1, number + 1)]
        times = in_turns(
            {"J": _hashing(given), "guarded": calling(given, lambda: guarded(look_into))},
            rounds=3 * plan.rounds,
        )
        yield Line(
            benchmark=NAME,
            what=f"guarded call / J, {size}",
            value=times.ratio("guarded", "J"),
            goal=GOALS.get(size),
        )


def _hashing(given: list[dict[str, Any]]) -> Subject:
    def prepared() -> None:
        for arguments in given:
            plain_hash(arguments)

    return lambda: prepared
