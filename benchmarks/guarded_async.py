"""What a guarded call of an async tool with small arguments costs, beside a bare one and others."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import peers
from benchmarks.line import Line
from benchmarks.plan import Plan
from benchmarks.timing import Prepared, Subject, in_turns
from benchmarks.tools import RefusedError, calls, guarded, look_up_later, was_refused

NAME = "guarded-async"


def run(plan: Plan) -> Iterator[Line]:
    """Compare a guarded call with a bare one, and with what another makes of it."""
    subjects = {
        "bare": _calling(plan, lambda: look_up_later),
        "guarded": _calling(plan, lambda: guarded(look_up_later)),
    }
    try:
        peers.purgatory_async()
    except ImportError:
        note = "not installed"
    else:
        note = ""
        subjects["purgatory"] = _calling(plan, lambda: peers.purgatory_async()(look_up_later))
    times = in_turns(subjects, rounds=plan.rounds)
    yield Line(
        benchmark=NAME, what="guarded / bare", value=times.ratio("guarded", "bare"), goal=14.0
    )
    against = None if note else times.ratio("guarded", "purgatory")
    yield Line(benchmark=NAME, what="guarded / purgatory", value=against, goal=2.0, note=note)


def _calling(plan: Plan, make: Callable[[], Callable[..., Any]]) -> Subject:
    given = calls(plan.calls)

    def prepare() -> Prepared:
        tool = make()

        async def all_of_them() -> float:
            began = time.process_time()
            for arguments in given:
                result = await tool(**arguments)
            if was_refused(result):
                raise RefusedError(result)
            return time.process_time() - began

        return lambda: asyncio.run(all_of_them())

    return prepare
