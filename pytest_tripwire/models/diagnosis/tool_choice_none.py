"""A tool_choice of none that comes too early."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.reading import conversations, listed


def tool_choice_none(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found where a conversation that allowed calls forbids them from the first result on, and the
    script still had one to make. A last summary is in order: of a model that has only words left,
    and of one that was free to call after an earlier result. So is a turn of words after which the
    agent asks for the step.
    """
    for each, answer, others in closed(noted):
        if any(_frees(other.conversation, each.conversation) for other in others):
            continue
        yield Diagnosis(
            kind=Kind.TOOL_CHOICE_NONE,
            request=each.number,
            message=(
                f"turn {each.conversation.turn} sets tool_choice to none, which earlier turns did "
                f"not, so the model's next step, {listed(answer.wanted)}, was not given"
            ),
            remedy="leave tool_choice out as long as the agent is to work; none is for last words",
        )


def closed(noted: Sequence[Noted]) -> Iterator[tuple[Noted, Answer, list[Noted]]]:
    """Requests that forbid what their conversation had allowed, what the model wanted, and all
    requests of the conversation.
    """
    for conversation in conversations(noted):
        opened = False
        for each, answer in conversation:
            opened = opened or each.conversation.may_call
            wants = bool(answer.wanted) and each.conversation.offered.issuperset(answer.wanted)
            if opened and wants and not each.conversation.may_call:
                yield each, answer, [other for other, _ in conversation]


def _frees(other: Conversation, here: Conversation) -> bool:
    """Whether a request leaves the model free to call at that turn, or after an earlier result."""
    return other.may_call and bool(other.results) and other.turn <= here.turn
