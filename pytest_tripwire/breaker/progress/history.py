"""What a run has seen since its last real progress."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field

from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.timeline import Effect

#: Steps that the cycle rule looks back over.
LOOK_BACK = 64


@dataclass(slots=True, kw_only=True)
class History:
    """Owner of a run's progress state, under the controller's lock.

    Where the run names postconditions, only one that advances is progress; where it names none,
    anything new is: an outcome, a version, a written intent not seen before in this epoch. State
    that merely changed is not new: a second time is counted wherever it stood.
    """

    judged: bool = False
    repeats: Counter[tuple[str, str]] = field(default_factory=Counter)
    seqs: defaultdict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    seen: set[str] = field(default_factory=set)
    said: set[str] = field(default_factory=set)
    handoffs: list[Step] = field(default_factory=list)
    echoes: int = 0
    recent: deque[Step] = field(default_factory=lambda: deque(maxlen=LOOK_BACK))
    streak: int = 0

    def add(self, step: Step, *, advanced: bool) -> bool:
        """Take a step; returns whether it was fruitful. `advanced`: a postcondition got better."""
        new = self._is_new(step) and not step.poll  # what is waited for resets no other count
        fruitful = advanced or (new and not self.judged)
        if fruitful and not step.empty:
            self._start_over()
        key = (step.intent, step.outcome)
        self.repeats[key] += 1
        self.seqs[key].append(step.seq)
        again = self.repeats[key] > 1
        if step.effect is Effect.HANDOFF and again:
            self.handoffs.append(step)
            self.echoes += step.exact in self.said
        self.said.add(step.exact)
        if not step.poll:
            self.recent.append(step)
            # Postconditions decide what is progress; a cycle is one only if nothing in it is new.
            self.streak = 0 if (new or fruitful) and not step.empty else self.streak + 1
        return fruitful

    def count(self, step: Step) -> int:
        """How often this intent gave this outcome since the last real progress."""
        return self.repeats[step.intent, step.outcome]

    def evidence(self, step: Step) -> tuple[int, ...]:
        """The events at which it did."""
        return tuple(self.seqs[step.intent, step.outcome])

    def _is_new(self, step: Step) -> bool:
        """New coverage: content for a read, the intent itself for what changes something, and for a
        hand-off what it carries: another colleague alone is nothing new about the task.
        """
        marks = {Effect.READ: step.outcome, Effect.WRITE: step.intent}
        known = f"{step.resource}:{marks.get(step.effect)}"
        if step.effect is Effect.HANDOFF:
            known = f"carried:{step.content}"
        if known in self.seen or (step.effect is not Effect.READ and not step.ok):
            return False
        self.seen.add(known)
        return step.ok

    def _start_over(self) -> None:
        """Progress forgives what came before."""
        self.handoffs.clear()
        self.echoes = 0
        self.repeats.clear()
        self.seqs.clear()
