"""Replays many traces, one after the other; whatever is wrong with one, the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import TypeAlias

import msgspec

from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.replay.budgets import DEFAULT_CLASS, Budgets
from pytest_tripwire.replay.declarations import line_for
from pytest_tripwire.replay.prepare import prepared, undeclared
from pytest_tripwire.replay.problem import Item, Problem
from pytest_tripwire.replay.score import Judgement, judge
from pytest_tripwire.replay.seen import Seen
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.trace import Trace, TraceVerdict

#: Feeds one trace to a breaker.
Replay: TypeAlias = Callable[[Trace, Settings], TraceVerdict]

#: Tools that are told of one by one when nobody says what they do.
_MOST_TOOLS = 100


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """One trace and what came of it.

    Args:
        trace: as it was replayed.
        verdict: what the breaker would have done.
        judgement: whether that was right, where somebody has said what is.
        args_unknown: steps whose arguments were not recorded.
        results_unknown: steps whose result was not recorded.
    """

    trace: Trace
    verdict: TraceVerdict
    judgement: Judgement | None = None
    args_unknown: int = 0
    results_unknown: int = 0


def run(
    items: Iterable[Item],
    *,
    settings: Settings,
    replay: Replay,
    budgets: Budgets | None = None,
) -> Iterator[Replayed | Problem]:
    """Replay every trace of `items`, and pass on what is wrong.

    Args:
        items: traces and problems, as they are read.
        settings: how to replay; its budget holds where `budgets` has none.
        replay: feeds one trace to a breaker.
        budgets: limits by workflow class.
    """
    missing = Missing()
    for trace in unique(items):
        if isinstance(trace, Problem):
            yield trace
            continue
        budget = settings.budget if budgets is None else budgets.of(trace.workflow)
        if budgets is not None and budget is None:
            missing.classless(trace)
        if missing.undeclared(trace, settings):
            continue
        yield _one(trace, settings, budget, replay)
    yield from missing.problems()


def unique(items: Iterable[Item]) -> Iterator[Item]:
    """`items`, but of two traces with one id the second is a problem."""
    with closing(Seen()) as seen:
        for item in items:
            if isinstance(item, Trace) and not seen.is_new(item.id):
                yield Problem(
                    file=item.source,
                    line=item.line,
                    reason=f"a trace with the id {item.id!r} was read before; this one is left out",
                )
            else:
                yield item


class Missing:
    """Collects what nobody has declared, to be told once however many traces lack it."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[Trace, int]] = {}
        self._classes: dict[str, tuple[Trace, int]] = {}

    def undeclared(self, trace: Trace, settings: Settings) -> bool:
        """Whether nobody says what some of the trace's tools do."""
        tools = undeclared(trace, settings)
        for tool in tools:
            _count(self._tools, tool, trace)
        return bool(tools)

    def classless(self, trace: Trace) -> None:
        """There are budgets, and none for this trace."""
        _count(self._classes, trace.workflow or DEFAULT_CLASS, trace)

    def problems(self) -> Iterator[Problem]:
        """One for each tool and each class."""
        for number, (tool, (first, times)) in enumerate(self._tools.items()):
            if number == _MOST_TOOLS:
                rest = len(self._tools) - number
                yield _problem(first, f"{rest} more tools of which nobody says what they do")
                break
            yield _problem(
                first,
                f"nobody says what the tool {tool!r} does, so {_traces(times)} not replayed; "
                f"write into the file of --specs: {line_for(tool)}; or pass --default-effect",
            )
        for name, (first, times) in self._classes.items():
            yield _problem(
                first,
                f"there is no budget for the class {name!r}, so {_traces(times)} replayed with "
                "the limits that the trace has",
            )


def _one(
    trace: Trace, settings: Settings, budget: RunBudget | None, replay: Replay
) -> Replayed | Problem:
    whole = prepared(trace, settings)
    try:
        verdict = replay(whole, msgspec.structs.replace(settings, budget=budget))
    except Exception as error:  # noqa: BLE001 - one trace must not cost the report on the others
        return failed(trace, error)
    calls = [step for step in trace.steps if not step.is_event]
    return Replayed(
        trace=whole,
        verdict=verdict,
        judgement=judge(trace, verdict, hints=settings.hints),
        args_unknown=sum(step.repeat for step in calls if not step.args_known),
        results_unknown=sum(step.repeat for step in calls if not step.result_known),
    )


def failed(trace: Trace, error: Exception) -> Problem:
    """What is said of a trace that breaks what it is fed to."""
    said = f"{type(error).__name__}: {error}".encode("utf-8", "replace").decode()
    return _problem(trace, f"{trace.id} could not be replayed: {said}")


def _count(counts: dict[str, tuple[Trace, int]], name: str, trace: Trace) -> None:
    first, times = counts.get(name, (msgspec.structs.replace(trace, steps=()), 0))
    counts[name] = (first, times + 1)


def _problem(trace: Trace, reason: str) -> Problem:
    return Problem(file=trace.source, line=trace.line, reason=reason)


def _traces(number: int) -> str:
    return "1 trace was" if number == 1 else f"{number} traces were"
