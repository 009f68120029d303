"""A call without its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_tripwire.models.call_ids import read_call_id
from pytest_tripwire.models.conversation import Conversation
from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.reading import called


def missing_tool_result(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found where a conversation goes on past a call that has no result. Providers refuse that.
    A call that is left out together with its result is in order.
    """
    tools = called(noted)
    for each, call_id in first_of_each(noted, lambda conversation: conversation.unanswered):
        yield Diagnosis(
            kind=Kind.MISSING_TOOL_RESULT,
            request=each.number,
            subject=tools.get(call_id, ""),
            message=f"the {name(call_id, tools)} has no result, though the conversation goes on",
            remedy=(
                "answer every call that the model makes, one that failed or was refused too; a "
                "provider answers such a request with an error (400)"
            ),
        )


def first_of_each(
    noted: Sequence[Noted], ids: Callable[[Conversation], Iterable[str]]
) -> Iterator[tuple[Noted, str]]:
    """Every one of certain call ids, with the first request whose conversation has it."""
    seen: set[str] = set()
    for each in noted:
        for call_id in ids(each.conversation):
            if call_id not in seen:
                seen.add(call_id)
                yield each, call_id


def name(call_id: str, tools: dict[str, str]) -> str:
    """A call in words. Its id is shown nowhere, as an agent can make any."""
    own = read_call_id(call_id)
    tool = f" of `{tools[call_id]}`" if call_id in tools else ""
    return f"call{tool}" + (f" at turn {own.turn}" if own else "")
