"""What a run has seen since its last real progress."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.loose import FreeText, Loose
from pytest_tripwire.breaker.progress.armed import Armed
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.progress.coverage import Coverage, Part, part_of
from pytest_tripwire.breaker.progress.occurrences import (
    FORGIVEN_AFTER,
    FOUND_AFTER,
    MOST,
    SPEAKERS,
    Occurrences,
)
from pytest_tripwire.breaker.progress.paraphrases import Paraphrases
from pytest_tripwire.breaker.progress.step import Step, content_of
from pytest_tripwire.breaker.progress.streaks import Streak, Streaks
from pytest_tripwire.breaker.progress.waiting import Waiting
from pytest_tripwire.breaker.progress.ways import Way, Ways, colleague_of, is_declared
from pytest_tripwire.breaker.repetition import RepeatedError
from pytest_tripwire.timeline import Effect, Reason, Status

#: Steps that the cycle rule looks back over.
LOOK_BACK = 64
#: Things seen that are remembered; what was seen longer ago looks new again.
_SEEN = 4096
_ARMED = 8
#: Calls whose failures are remembered.
_FAILING = 256
#: Turns in a row that bring errors only, before the run is stopped.
MOST_ERRORS = 5


class History:
    """Owner of a run's progress state, under the controller's lock.

    Real progress clears what was counted: where the run names postconditions, one that advances;
    where it names none, a write of something not written before in this epoch, or one that brings
    a new version. Reading something new only lets older repeats fade. Failures, denials and writes
    that are repeated forgive nothing.
    """

    def __init__(self) -> None:
        #: Whether the run names postconditions, so that only they are progress.
        self.judged = False
        self.most_errors = MOST_ERRORS
        #: Watches for one class of error, where a team asks for it, and what it has said of the
        #: last failure.
        self.errors_seen: RepeatedError | None = None
        self.returned: bool | None = None
        self.repeats = Occurrences()
        self.stubborn = Occurrences()
        self.paraphrases = Paraphrases()
        self.spellings = Paraphrases()
        self.free = FreeText()
        self.coverage = Coverage()
        self.waiting = Waiting()
        self.errors = Streak()
        self.tool_errors = Streaks()
        self.empties = Streaks()
        self.handoffs: list[Step] = []
        self.echoes = 0
        self.recent: deque[Step] = deque(maxlen=LOOK_BACK)
        #: What each of them asked, and who asked it; of a hand-off, which way it went.
        self.asked: deque[tuple[str, str]] = deque(maxlen=LOOK_BACK)
        self.streak = 0
        self.armed: list[Armed] = []
        self.new = 0
        #: Calls of the turn of the step taken last that have not come back.
        self.siblings = 0
        #: Of the step taken last: whether it is a look at what is waited for, its wording, its
        #: part, and whether that part adds anything to what was read of the same version.
        self.waits = False
        self.quiet = False
        self.loose: Loose | None = None
        self.spelled: Loose | None = None
        self.part: Part | None = None
        self.covered = False
        self._failing: Bounded[str, set[str]] = Bounded(_FAILING)
        self._seen: Bounded[str, bool] = Bounded(_SEEN)
        self._ways = Ways()
        #: How often the task has advanced: by what was written, or found.
        self._advances = 0

    def add(self, step: Step, *, advanced: bool) -> bool:
        """Take a step; returns whether it was fruitful. `advanced`: a postcondition got better."""
        self.loose = self._loosened(step)
        self.waits = self.waiting.is_waiting(step, self._asked(step), new=self.new)
        again = self._is_written_again(step)
        new = self._is_new(step) and not (
            self.waits or again
        )  # what is waited for resets no other count
        fruitful = advanced or (new and not self.judged)
        if advanced or (fruitful and step.effect is Effect.WRITE):
            self._advances += 1
            self.start_over()
        elif fruitful and not step.empty:
            self._fade(step)
        self._count(step)
        way = self._hand_off(step) if step.effect is Effect.HANDOFF else None
        if not self.waits and not step.spec.repeatable:
            self.recent.append(step)
            self.asked.append(step.asked if way is None else (step.intent, way.mark))
            # Postconditions decide what is progress; a cycle is one only if nothing in it is new.
            self.streak = 0 if (new or fruitful) and not step.empty else self.streak + 1
        # Nothing can have been repeated where a read has brought something for the first time, but
        # in other words or in part.
        self.quiet = new and step.ok and step.effect is Effect.READ and not step.empty
        self.quiet = self.quiet and self.loose is None and self.part is None
        return fruitful

    @property
    def seen(self) -> tuple[str, ...]:
        """Fingerprints of what is nothing new any more, what was seen longest ago first."""
        return tuple(self._seen.items())

    @property
    def said(self) -> tuple[str, ...]:
        """The same of what was handed off."""
        return self._ways.said

    def recall(self, seen: Iterable[str], said: Iterable[str]) -> None:
        """Take both from an earlier part of the run."""
        for mark in seen:
            self._seen.put(mark, True)  # noqa: FBT003 - a set that forgets
        self._ways.recall(said, self._advances)

    def evidence(self, step: Step, limit: int) -> tuple[tuple[int, ...], int]:
        """The events that a step repeats, and how many are too many: of the agent that asks, in
        its conversation, or of all of them, whichever is nearer to its end.
        """
        after = FOUND_AFTER if step.ok and not step.empty else FORGIVEN_AFTER
        own = self.repeats.seqs(step.kind, new=self.new, after=after)
        every = self.repeats.seqs(_of_all(step), new=self.new, after=after)
        most = min(limit * SPEAKERS, MOST)
        return (every, most) if most - len(every) < limit - len(own) else (own, limit)

    def arm(self, armed: Armed) -> None:
        """Let a rule wait for the next call of its kind."""
        self.armed = [*self.armed, armed][-_ARMED:]

    def start_over(self) -> None:
        """Progress forgives what came before, but not an error that comes back all the same."""
        self.repeats.clear()
        self.paraphrases.clear()
        self.spellings.clear()
        self.coverage.clear()
        self.errors.clear()
        self.tool_errors.clear()
        self.empties.clear()
        self.armed.clear()
        self._forget_handoffs()

    def new_epoch(self) -> None:
        """The user has spoken, or the world has changed: everything may be tried anew."""
        self.start_over()
        self.stubborn.clear()
        self._seen.clear()
        self._ways.clear()
        self.recent.clear()
        self.asked.clear()
        self.streak = 0

    def _loosened(self, step: Step) -> Loose | None:
        """A call without its free text; of a write only where its version tells what it did."""
        if step.effect is Effect.WRITE and not (step.ok and step.version):
            return None
        if step.effect is not Effect.HANDOFF and not self.free.says_something(step.call, step.spec):
            return None
        return self.free.loosen(step.call, step.spec)

    def _is_written_again(self, step: Step) -> bool:
        """Whether a write has left the version that the same in other words has left before."""
        if step.effect is not Effect.WRITE or self.loose is None:
            return False
        known = self.paraphrases.like(self.loose, step.heard, new=self.new)
        return bool(known)

    def _asked(self, step: Step) -> str:
        return self.loose.rest if self.loose is not None and self.loose.drawn else step.intent

    def _fade(self, step: Step) -> None:
        self.new += 1
        found = step.effect is not Effect.HANDOFF
        self._advances += found
        if found or is_declared(step):
            self._forget_handoffs()

    def _count(self, step: Step) -> None:
        if not self.waits:
            self.repeats.add(step.kind, seq=step.seq, new=self.new, since=step.since)
            if step.speaker:
                self.repeats.add(_of_all(step), seq=step.seq, new=self.new, since=step.since)
        self._count_failures(step)
        if step.effect is Effect.READ and step.ok:
            self._count_read(step)
        elif step.effect is Effect.WRITE and self.loose is not None:
            self.paraphrases.add(self.loose, step.heard, seq=step.seq, new=self.new)

    def _count_failures(self, step: Step) -> None:
        self._watch_errors(step)
        streaks = (self.errors, self.tool_errors.of(step.tool))
        if step.ok:
            for each in streaks:
                each.right(step.turn)
            self._disarm(step.tool, Reason.ERROR_STREAK)
            self._forgive(step.intent)
        elif step.status is not Status.DENIED:
            self.errors.wrong(step.turn, step.seq)
            if step.status is Status.DEFINITE:
                streaks[1].wrong(step.turn, step.seq)
            failed = (step.intent, step.outcome)
            self.stubborn.add(failed, seq=step.seq, new=0, since=step.since)
            self._failing.of(step.intent, set).add(step.outcome)

    def _disarm(self, tool: str, reason: Reason) -> None:
        """Something that was under way has gone well, so what was said of its tool is over."""
        self.armed = [each for each in self.armed if not each.says(tool, reason)]

    def _forgive(self, intent: str) -> None:
        for outcome in self._failing.get(intent) or ():
            self.stubborn.drop((intent, outcome))
        self._failing.drop(intent)

    def _watch_errors(self, step: Step) -> None:
        if self.errors_seen is None:
            return
        if step.ok:
            self.errors_seen.succeeded(step.turn)
        else:
            self.returned = self.errors_seen.failed(step.error, step.turn)

    def _count_read(self, step: Step) -> None:
        self.part = self.spelled = None
        self.covered = False
        if self.waits:
            return
        empties = self.empties.of(step.tool)
        if step.empty:
            empties.wrong(step.turn, step.seq)
            self._spell(step)
        else:
            empties.right(step.turn)
            self._disarm(step.tool, Reason.EMPTY_RESULTS)
        if self.loose is not None:
            self.paraphrases.add(self.loose, step.heard, seq=step.seq, new=self.new)
        if step.version and not step.empty:
            self.part = part_of(step.call, step.spec, step.speaker)
            if self.part is not None:
                content = digest(content_of(step.result, step.spec))
                self.covered = not self.coverage.adds(self.part, step.version, content)
                if self.covered:
                    kind = ("part", self.part.thing, step.version)
                    self.repeats.add(kind, seq=step.seq, new=self.new, since=step.since)

    def _spell(self, step: Step) -> None:
        if step.spec.wording or step.spec.identity is not None:
            return
        self.spelled = self.free.spelled(step.call, step.spec)
        self.spellings.add(self.spelled, step.heard, seq=step.seq, new=self.new)

    def _hand_off(self, step: Step) -> Way:
        # Whoever comes back to a colleague after the task has advanced goes on with it.
        way = self._ways.take(step, self.loose, self._advances)
        if way.gone:
            self.handoffs.append(step)
            self.echoes += way.echoes
        return way

    def _forget_handoffs(self) -> None:
        self.handoffs.clear()
        self.echoes = 0

    def _is_new(self, step: Step) -> bool:
        """New coverage: content for a read, the intent or the version for what changes something,
        and for a hand-off what it carries, or a colleague who has not had the task yet.
        """
        if not step.ok:
            return False
        new = [mark for mark in self._marks(step) if mark not in self._seen]
        for mark in new:
            self._seen.put(mark, True)  # noqa: FBT003 - a set that forgets
        return bool(new)

    def _marks(self, step: Step) -> tuple[str, ...]:
        if step.effect is Effect.READ:
            return (f"{_place(step)}:{step.outcome}",)
        if step.effect is Effect.WRITE:
            return (f"{step.resource}:{step.intent}:{step.version}",)
        return f"carried:{step.content}", f"colleague:{colleague_of(step, self.loose)}"


def _of_all(step: Step) -> tuple[str, str, str]:
    return "all", step.intent, step.outcome


def _place(step: Step) -> str:
    """What was looked at: with a declared cursor, where in it too."""
    return step.exact if step.spec.cursor else step.resource
