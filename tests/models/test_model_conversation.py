"""Which conversation a request belongs to, and at which turn it is."""

from __future__ import annotations

import pytest

from pytest_tripwire.models import Conversation, Message, read_conversation
from pytest_tripwire.models.call_ids import make_call_id

TOOLS = ("search", "write")
SYSTEM = Message(role="system", text="You are support.")
PROMPT = Message(role="user", text="Refund A-1")
KEY = read_conversation([SYSTEM, PROMPT], TOOLS).key


def moves(*turns: int, key: str = KEY) -> list[Message]:
    """A call and its result for each turn."""
    history = []
    for turn in turns:
        call_id = make_call_id(key, turn, 0)
        history.append(Message(role="assistant", call_ids=(call_id,)))
        history.append(Message(role="tool", text=f"result {turn}", call_ids=(call_id,)))
    return history


def read(*history: Message, first: tuple[Message, ...] = (SYSTEM, PROMPT)) -> Conversation:
    return read_conversation([*first, *history], TOOLS)


def test_a_fresh_conversation_is_at_turn_zero() -> None:
    conversation = read()

    assert (conversation.turn, conversation.results) == (0, ())


def test_the_turn_follows_the_highest_own_call_id() -> None:
    assert read(*moves(0, 1, 2)).turn == 3


def test_a_trimmed_history_keeps_the_turn() -> None:
    assert read(*moves(7)).turn == 8


def test_a_result_alone_still_tells_the_turn() -> None:
    assert read(moves(4)[1]).turn == 5


def test_a_history_that_lost_its_first_user_message_keeps_the_key() -> None:
    trimmed = read(*moves(3), first=(SYSTEM, Message(role="user", text="Go on")))

    assert trimmed.key == KEY


def test_an_own_id_of_another_agent_does_not_lend_its_key() -> None:
    other = read_conversation([Message(role="system", text="You are billing."), PROMPT], TOOLS)

    assert read(*moves(0, key=other.key)).key == KEY


def test_foreign_call_ids_fall_back_to_the_count_of_assistant_turns() -> None:
    call = Message(role="assistant", call_ids=("toolu_1",))
    result = Message(role="tool", text="found", call_ids=("toolu_1",))
    conversation = read(call, result, call, result)

    assert conversation.turn == 2
    assert [r.text for r in conversation.results] == ["found"]


def test_words_after_the_latest_call_count_as_a_move() -> None:
    conversation = read(
        *moves(0), Message(role="assistant", text="Done."), Message(role="user", text="And B-2?")
    )

    assert (conversation.turn, conversation.results) == (2, ())
    assert len(conversation.all_results) == 1


def test_results_are_those_of_the_latest_move_alone() -> None:
    conversation = read(*moves(0, 1))

    assert [result.text for result in conversation.results] == ["result 1"]
    assert [result.text for result in conversation.all_results] == ["result 0", "result 1"]


def test_parallel_calls_split_into_pairs_are_one_turn() -> None:
    history = []
    for index in range(2):
        call_id = make_call_id(KEY, 0, index)
        history.append(Message(role="assistant", call_ids=(call_id,)))
        history.append(Message(role="tool", text=f"part {index}", call_ids=(call_id,)))
    conversation = read(*history)

    assert conversation.turn == 1
    assert [result.text for result in conversation.results] == ["part 0", "part 1"]


def test_an_own_id_that_a_user_writes_does_not_count() -> None:
    assert read(Message(role="user", call_ids=(make_call_id(KEY, 9, 0),))).turn == 0


@pytest.mark.parametrize(
    ("system", "prompt", "tools"),
    [
        ("You are billing.", PROMPT.text, TOOLS),
        (SYSTEM.text, "Refund B-2", TOOLS),
        (SYSTEM.text, PROMPT.text, ("search",)),
    ],
    ids=["system", "first user message", "tools"],
)
def test_each_part_of_the_key_tells_conversations_apart(
    system: str, prompt: str, tools: tuple[str, ...]
) -> None:
    messages = [Message(role="system", text=system), Message(role="user", text=prompt)]

    assert read_conversation(messages, tools).key != KEY


def test_the_key_is_the_same_on_every_machine() -> None:
    assert KEY == "1734413054524034"


def test_the_order_of_tools_and_later_reminders_do_not_change_the_key() -> None:
    messages = [SYSTEM, PROMPT, Message(role="system", text="Be brief.")]

    assert read_conversation(messages, reversed(TOOLS)).key == KEY


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ('{"refused": true, "reason": "denied"}', True),
        ("{'refused': True, 'reason': None}", True),
        ('{"refused": false}', False),
        ('{"refused": "true"}', False),
        ('[{"refused": true}]', False),
        ("the order was refused", False),
        ("{refused", False),
        ("{'refused': " * 5000, False),
        ('{"refused":' * 50_000, False),
    ],
)
def test_a_result_is_refused_when_it_is_an_object_that_says_so(text: str, refused: bool) -> None:  # noqa: FBT001
    result = Message(role="tool", text=text, call_ids=(make_call_id(KEY, 0, 0),))

    assert read(result).results[0].refused is refused
