"""What several findings ask of the model requests of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.counters import Noted


def of_script(noted: Sequence[Noted]) -> Iterator[tuple[Noted, Answer]]:
    """The requests that were the script's own and were answered, with their answers."""
    for each in noted:
        if each.answer is not None and not each.answer.auxiliary:
            yield each, each.answer


def conversations(noted: Sequence[Noted]) -> Iterable[list[tuple[Noted, Answer]]]:
    """The same, by conversation."""
    groups: dict[str, list[tuple[Noted, Answer]]] = {}
    for each, answer in of_script(noted):
        groups.setdefault(each.conversation.key, []).append((each, answer))
    return groups.values()


def called(noted: Sequence[Noted]) -> dict[str, str]:
    """The tool of every call that the model made, by the call's id."""
    answers = (each.answer for each in noted if each.answer is not None)
    return {call.call_id: call.tool for answer in answers for call in answer.calls}


def listed(names: Iterable[str]) -> str:
    """Names of tools in a sentence."""
    return ", ".join(f"`{name}`" for name in names)
