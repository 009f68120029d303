"""A turn that a client asks for more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind

_Place: TypeAlias = tuple[str, int]


def hidden_retry(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found where the same request comes again: the client says so, or the one before it failed,
    or a turn is asked for more often than its conversation was begun. An agent that begins anew,
    and two agents with one prompt, ask for every turn as often as for the first.
    """
    asked: dict[_Place, list[Noted]] = {}
    rounds: Counter[_Place] = Counter()
    first: dict[str, int] = {}
    for each in noted:
        key, turn = each.conversation.key, each.conversation.turn
        first[key] = min(turn, first.get(key, turn))
        before = _same(each, asked.setdefault((key, turn), []))
        begun = rounds[key, first[key]]
        asked_enough = turn > first[key] and rounds[key, turn] >= begun
        if before is not None and (each.retry or before.told or asked_enough):
            yield _told(each, before)
        else:
            rounds[key, turn] += 1
        asked[key, turn].append(each)


def _same(each: Noted, earlier: Sequence[Noted]) -> Noted | None:
    """The latest of the earlier requests that was the same."""
    same = (other for other in reversed(earlier) if other.conversation == each.conversation)
    return next(same, None)


def _told(each: Noted, before: Noted) -> Diagnosis:
    got = f"got {_error(before.told)}" if before.told else "was answered"
    says = "says" if each.retry else "does not say"
    return Diagnosis(
        kind=Kind.HIDDEN_RETRY,
        request=each.number,
        subject="told" if each.retry else "untold",
        message=(
            f"turn {each.conversation.turn} is asked for again, after request {before.number} "
            f"{got}; the client {says} that it only tries again"
        ),
        remedy=(
            "count the client's retries in the agent's own limits, or turn them off (max_retries)"
            if each.retry
            else "retry in one place, with a limit: each of these requests is a turn to pay for"
        ),
    )


def _error(told: str) -> str:
    return f"an error ({told})" if told.isdigit() else told
