"""What a guarded call of a sync tool with small arguments costs, beside a bare call and others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks import peers
from benchmarks.line import Line
from benchmarks.plan import Plan
from benchmarks.timing import in_turns
from benchmarks.tools import calling, calls, guarded, look_up

NAME = "guarded-call"

#: The other breaker, and how many times as much as it a guarded call may cost.
PEERS = {"purgatory": (peers.purgatory, 2.0), "aura-guard": (peers.aura_guard, 0.1)}


def run(plan: Plan) -> Iterator[Line]:
    """Compare a guarded call with a bare one, and with what others make of it."""
    given = calls(plan.calls)
    subjects = {"bare": calling(given, lambda: look_up), "guarded": calling(given, _in_a_run)}
    missing = set()
    for name, (peer, _) in PEERS.items():
        try:
            peer()
        except ImportError:
            missing.add(name)
        else:
            subjects[name] = calling(given, functools.partial(_guarded_by, peer))
    times = in_turns(subjects, rounds=plan.rounds)
    yield Line(
        benchmark=NAME,
        what="guarded / bare",
        value=times.ratio("guarded", "bare"),
        goal=16.0,
        note="12 would be better still",
    )
    for name, (_, goal) in PEERS.items():
        if name in missing:
            yield Line(benchmark=NAME, what=f"guarded / {name}", goal=goal, note="not installed")
            continue
        yield Line(
            benchmark=NAME,
            what=f"guarded / {name}",
            value=times.ratio("guarded", name),
            goal=goal,
        )
        yield Line(benchmark=NAME, what=f"{name} / bare", value=times.ratio(name, "bare"))


def _guarded_by(peer: Callable[[], peers.Guard]) -> Callable[..., Any]:
    return peer()(look_up)


def _in_a_run() -> Callable[..., Any]:
    return guarded(look_up)
