"""One thing is looked for in other and other words, and it is not there.

Empty results for different things are no loop: looking a customer up by mail, phone and name and
then creating it is good work. Declared wording is what tells the two apart; where none is
declared, the texts do, and only one more search of the kind is stopped.
"""

from __future__ import annotations

from pytest_tripwire.breaker.loose import Loose
from pytest_tripwire.breaker.progress.armed import Armed
from pytest_tripwire.breaker.progress.history import History
from pytest_tripwire.breaker.progress.repeated_intent import others_between
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.breaker.words import Wording, names_another
from pytest_tripwire.timeline import Reason

#: Empty turns of one tool in a row.
LIMIT = 6
#: The same while one certain thing after another is looked for, such as the names of a list.
LIST_LIMIT = 40
#: Spellings of one thing.
SPELLINGS_LIMIT = 4


def empty_results(history: History, step: Step, limit: int) -> Trip | None:
    """Counts empty results of one intent."""
    if history.waits or not step.empty:
        return None
    turns = others_between(history, step)
    evidence, limit = history.evidence(step, limit)
    return Trip(
        reason=Reason.INTENT_CYCLE if turns else Reason.EMPTY_RESULTS,
        count=len(evidence),
        limit=limit,
        evidence=evidence,
        what=f"{step.tool} found nothing, in whatever words it was asked",
    )


def empty_streak(history: History, step: Step, _limit: int) -> Armed | None:
    """Counts empty results of one tool of which nothing is declared."""
    spec = step.spec
    declared = bool(spec.wording) or spec.identity is not None
    if history.waits or not step.empty or (declared and not spec.cursor):
        return None
    streak = history.empties.of(step.tool)
    trip = Trip(
        reason=Reason.EMPTY_RESULTS,
        count=streak.finished(history.siblings),
        limit=LIST_LIMIT if _is_list(history, step) else LIMIT,
        evidence=tuple(streak.seqs),
        what=f"{step.tool} found nothing, whatever it was asked",
    )
    return Armed(trip=trip, tool=step.tool)


def empty_spellings(history: History, step: Step, _limit: int) -> Armed | None:
    """Counts empty results of one tool for one thing in other spellings, such as glob patterns."""
    spelled = history.spelled
    if history.waits or not step.empty or spelled is None:
        return None
    members = history.spellings.like(spelled, step.heard, new=history.new, same=Loose.respells)
    trip = Trip(
        reason=Reason.EMPTY_RESULTS,
        count=len(members),
        limit=SPELLINGS_LIMIT,
        evidence=tuple(each.seq for each in members),
        what=f"{step.tool} found nothing, however it was spelled",
    )
    return Armed(trip=trip, tool=step.tool, spelling=spelled, speaker=step.speaker)


def _is_list(history: History, step: Step) -> bool:
    """Whether the last calls of the tool are one call with one certain thing after another."""
    if step.spec.result_progress is not None or step.spec.cursor:
        return False
    if history.loose is None or history.loose.words is None:
        return True
    before = [each for each in history.recent if each.tool == step.tool and each is not step]
    known = [history.free.loosen(each.call, each.spec) for each in before[-2:]]
    return any(
        each.words is not None and _is_next(each.words, history.loose.words) for each in known
    )


def _is_next(one: Wording, other: Wording) -> bool:
    """Whether a text asks for the next thing of a list: another name in one sentence, or one word
    that has nothing to do with the last.
    """
    alone = len(one.pieces) == len(other.pieces) == 1 and one.tokens.isdisjoint(other.tokens)
    return alone or names_another(one, other)
