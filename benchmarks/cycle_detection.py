"""What the progress rules cost for each step, beside a detector that only looks for cycles.

The detector keeps, for every period up to 8, how many steps in a row have repeated what lay one
period back. It is the plainest that is fast, and knows neither outcomes nor wording.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator

from benchmarks.line import Line
from benchmarks.plan import Plan
from benchmarks.timing import Prepared, Subject, in_turns
from pytest_tripwire.breaker import Effect, ToolCall, ToolSpec
from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import intent_of
from pytest_tripwire.breaker.progress import NO_PROGRESS_LIMIT, History, Step, judge_step, step_of
from pytest_tripwire.breaker.progress.cycle import cycle
from pytest_tripwire.timeline import Outcome, Status

NAME = "cycle-detection"

PERIODS = 8
ROUNDS_OF_A_CYCLE = 3
#: More intents than a cycle has: nothing new, and still nothing to stop.
MANY = 12

_SPEC = ToolSpec(name="look_up", effect=Effect.READ)


class RunLengths:
    """The detector that ours is compared with."""

    def __init__(self) -> None:
        self._recent: deque[str] = deque(maxlen=PERIODS)
        self._lengths = [0] * PERIODS

    def add(self, step: Step) -> bool:
        """Whether some period has come round so many times."""
        mark, lengths, recent = step.intent, self._lengths, self._recent
        came_round = False
        for back, earlier in enumerate(reversed(recent)):
            lengths[back] = lengths[back] + 1 if earlier == mark else 0
            came_round |= lengths[back] >= (ROUNDS_OF_A_CYCLE - 1) * (back + 1)
        recent.append(mark)
        return came_round


def run(plan: Plan) -> Iterator[Line]:
    """Compare them on steps that are all new, that go round, and that are many but nothing new."""
    number = 4 * plan.calls
    for name, steps in {
        "all new": _steps(range(number)),
        "a cycle of 8": _steps([each % PERIODS for each in range(number)]),
        "12 at random": _steps(_drawn(number)),
    }.items():
        subjects = {
            "list": _detecting(steps),
            "history": _judging(steps, lambda *_: False),
            "cycle": _judging(steps, _cycle_stops),
            "all rules": _judging(steps, _any_stops),
        }
        times = in_turns(subjects, rounds=plan.rounds)
        yield Line(
            benchmark=NAME,
            what=f"cycle rule / run-length list, {name}",
            value=times.ratio_beyond("cycle", "history", "list"),
            goal=1.5,
        )
        yield Line(
            benchmark=NAME,
            what=f"all that a step costs / run-length list, {name}",
            value=times.ratio("all rules", "list"),
        )


def _steps(numbers: range | list[int]) -> list[Step]:
    return [_step(seq, number) for seq, number in enumerate(numbers, 1)]


def _drawn(number: int) -> list[int]:
    draw = random.Random(8)  # noqa: S311 - the same steps every time
    return [draw.randrange(MANY) for _ in range(number)]


def _step(seq: int, number: int) -> Step:
    call = ToolCall(call_id=f"call_{seq}", tool=_SPEC.name, arguments={"order": f"A-{number}"})
    proposal = Proposal(call=call, spec=_SPEC, intent=intent_of(call, _SPEC, ""))
    return step_of(proposal, Outcome(status=Status.OK, result={"order": number}), seq=seq)


def _detecting(steps: list[Step]) -> Subject:
    def prepare() -> Prepared:
        detector = RunLengths()

        def prepared() -> None:
            for step in steps:
                detector.add(step)

        return prepared

    return prepare


def _judging(steps: list[Step], stops: Callable[[History, Step], bool]) -> Subject:
    def prepare() -> Prepared:
        def prepared() -> None:
            history = History()
            for step in steps:
                history.add(step, advanced=False)
                if stops(history, step):
                    history = History()  # such a run is over

        return prepared

    return prepare


def _cycle_stops(history: History, step: Step) -> bool:
    trip = cycle(history, step, NO_PROGRESS_LIMIT)
    return trip is not None and trip.stops


def _any_stops(history: History, step: Step) -> bool:
    trip = judge_step(history, step, NO_PROGRESS_LIMIT)
    return trip is not None and trip.stops
