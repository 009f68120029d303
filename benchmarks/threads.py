"""What a guarded call costs where several threads share one run, beside a single thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.line import Line
from benchmarks.plan import Plan
from benchmarks.timing import Prepared, Subject, in_turns
from benchmarks.tools import calls, guarded, look_up

NAME = "threads"
NUMBERS = (1, 2, 8)


def run(plan: Plan) -> Iterator[Line]:
    """Compare the time that all calls take together, as many of them with each number."""
    subjects = {str(number): _sharing(plan.calls, number) for number in NUMBERS}
    times = in_turns(subjects, rounds=plan.rounds, clock=time.perf_counter)
    for number in NUMBERS[1:]:
        yield Line(
            benchmark=NAME,
            what=f"{number} threads / 1 thread",
            value=times.ratio(str(number), "1"),
        )


def _sharing(number_of_calls: int, number_of_threads: int) -> Subject:
    given = calls(number_of_calls)
    shares = [given[first::number_of_threads] for first in range(number_of_threads)]

    def prepare() -> Prepared:
        tool = guarded(look_up)

        def work(share: list[dict[str, Any]]) -> None:
            for arguments in share:
                tool(**arguments)

        workers = [threading.Thread(target=work, args=(share,)) for share in shares]

        def prepared() -> None:
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()

        return prepared

    return prepare
