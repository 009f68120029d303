"""A tool_choice that stays forced when the model could finish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.counters import Noted
from pytest_tripwire.models.diagnosis.diagnosis import Diagnosis, Kind
from pytest_tripwire.models.diagnosis.reading import conversations, listed

_REMEDY = (
    "force a tool in the first request alone, and leave tool_choice out once a result is shown"
)
_SPINS = "leave tool_choice out once a result is shown, or end the run with that tool"


def forced_tool_choice(noted: Sequence[Noted]) -> Iterator[Diagnosis]:
    """Found in a request that shows the result of the latest move, and forces the next call,
    though nothing that may be called lets the model finish. A tool that no role plays may do so,
    as frameworks take final answers that way; it does not where the agent only asks again.
    """
    for conversation in conversations(noted):
        spoken: set[int] = set()
        for place, (each, answer) in enumerate(conversation):
            if each.conversation.choice.forced and each.conversation.results:
                others = conversation[:place], conversation[place + 1 :]
                if (wrong := _wrong(each, answer, *others, spoken)) is not None:
                    yield wrong
            if _spoken_by(answer, each):
                spoken.add(each.conversation.turn)


def _wrong(
    each: Noted,
    answer: Answer,
    before: Sequence[tuple[Noted, Answer]],
    after: Sequence[tuple[Noted, Answer]],
    spoken: set[int],
) -> Diagnosis | None:
    tools = listed(dict.fromkeys(call.tool for call in answer.calls))
    if _spoken_by(answer, each):
        if each.conversation.turn - 1 not in spoken:
            return None
        return _told(
            each, f"the model's last words go into {tools}, and the agent asks again", _SPINS
        )
    if answer.forced and not answer.withheld:
        return _told(each, f"the model had to call {tools} again where it wanted to answer")
    if _stays(each, before) and not _exit(each) and not _dropped(each, after):
        return _told(each, "the model cannot finish")
    return None


def _spoken_by(answer: Answer, each: Noted) -> bool:
    """Whether the model's words went into a call of a tool that no role plays."""
    return answer.forced and any(call.tool not in each.played for call in answer.calls)


def _stays(each: Noted, before: Sequence[tuple[Noted, Answer]]) -> bool:
    """Whether it is what an earlier turn was forced to as well; a plan of steps is not."""
    wanted, turn = each.conversation.choice, each.conversation.turn
    earlier = (other.conversation for other, _ in before)
    return any(other.choice == wanted and other.turn < turn for other in earlier)


def _exit(each: Noted) -> bool:
    """Whether the model may call a tool that may be there to finish with."""
    choice = each.conversation.choice
    callable_ = {choice.tool} if choice.tool else each.conversation.offered
    return not each.played.issuperset(callable_)


def _dropped(each: Noted, after: Sequence[tuple[Noted, Answer]]) -> bool:
    """Whether a later turn is forced no more."""
    turn = each.conversation.turn
    later = (other.conversation for other, _ in after)
    return any(not other.choice.forced and other.turn > turn for other in later)


def _told(each: Noted, harm: str, remedy: str = _REMEDY) -> Diagnosis:
    choice = each.conversation.choice
    word = f"`{choice.tool or choice.kind}`"
    return Diagnosis(
        kind=Kind.FORCED_TOOL_CHOICE,
        request=each.number,
        subject=choice.tool or choice.kind,
        message=(
            f"turn {each.conversation.turn} shows a tool's result, and its tool_choice is "
            f"{word} all the same: {harm}"
        ),
        remedy=remedy,
    )
