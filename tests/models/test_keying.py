"""A script is never led astray: whatever an agent does to its history, the next move is the right
one, by the request alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.models import (
    Calls,
    Conversation,
    Message,
    Move,
    Propose,
    Say,
    Seen,
    read_conversation,
)
from pytest_tripwire.models.actor import Actor
from pytest_tripwire.models.answer import Answer

SYSTEM = Message(role="system", text="You are support.")
PROMPT = Message(role="user", text="Refund A-1, then B-2.")
MORE = Message(role="user", text="And what else?")
TOOLS = ("search_orders", "refund_order")
#: Moves of the script: numbers of parallel calls, 0 for one of words.
MOVES = (1, 2, 0, 1, 1, 3, 0, 0, 1, 1, 0)


class Names:
    """Binds roles to tools; an argument tells which move a call is of."""

    def tool_name(self, role: str) -> str:
        return {"search": "search_orders", "write": "refund_order"}[role]

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return {"role": role, **slots}


def numbered(seen: Seen) -> Move:
    """Every move says its number."""
    calls = MOVES[seen.turn] if seen.turn < len(MOVES) else 0
    if not calls:
        return Say(text=f"move {seen.turn}")
    return Calls(proposals=(Propose(role="search", slots={"move": seen.turn}),) * calls)


ACTOR = Actor(script=numbered, binder=Names(), roles=frozenset({"search"}))


def read(messages: Sequence[Message], offered: Sequence[str] = TOOLS) -> Conversation:
    return read_conversation(messages, offered)


def ask(messages: Sequence[Message], offered: Sequence[str] = TOOLS) -> Answer:
    return ACTOR.answer(read(messages, offered))


def number(answer: Answer) -> int:
    """Which move of the script an answer is."""
    if answer.calls:
        (move,) = {call.arguments["move"] for call in answer.calls}
        return int(move)
    return int(answer.text.removeprefix("move "))


def said(answer: Answer) -> Message:
    """How an answer stands in the history."""
    ids = tuple(call.call_id for call in answer.calls)
    return Message(role="assistant", text="" if ids else answer.text, call_ids=ids)


def results(answer: Answer, text: str = "found") -> list[Message]:
    return [
        Message(role="tool", text=f"{text} {number(answer)}.{place}", call_ids=(call.call_id,))
        for place, call in enumerate(answer.calls)
    ]


def after(answer: Answer) -> list[Message]:
    """What follows an answer: its results, or the user again."""
    return results(answer) or [MORE]


def played(turns: int, *, first: Sequence[Message] = (SYSTEM, PROMPT)) -> list[list[Message]]:
    """A conversation, one list for what stands before it and one for each move that was made."""
    rounds = [list(first)]
    for _ in range(turns):
        answer = ask([message for each in rounds for message in each])
        rounds.append([said(answer), *after(answer)])
    return rounds


def joined(rounds: Sequence[Sequence[Message]]) -> list[Message]:
    return [message for each in rounds for message in each]


def test_untouched_history_gets_move_after_move() -> None:
    for turn in range(len(MOVES)):
        assert number(ask(joined(played(turn)))) == turn


# -- trimmed


@st.composite
def trimmed(draw: st.DrawFn) -> tuple[list[Message], list[Message]]:
    """A history, and what an agent has left of it: at least the latest round that has calls, and
    all that was said since.
    """
    turns = draw(st.integers(1, len(MOVES)))
    rounds = played(turns)
    called = [place for place in range(1, turns + 1) if MOVES[place - 1]]
    begin = called[-1]
    kept = [rounds[place] for place in range(1, begin) if draw(st.booleans())]
    latest = rounds[begin]
    if draw(st.booleans()):
        latest = latest[1:]  # results whose call was cut off
    first = draw(st.sampled_from([(SYSTEM, PROMPT), (SYSTEM,), (SYSTEM, MORE)]))
    return joined(rounds), [*first, *joined(kept), *latest, *joined(rounds[begin + 1 :])]


@settings(max_examples=40)
@given(trimmed())
def test_trimming_changes_neither_move_nor_conversation(
    histories: tuple[list[Message], list[Message]],
) -> None:
    whole, left = map(read, histories)

    assert number(ask(histories[1])) == number(ask(histories[0]))
    assert left.key == whole.key
    assert left.results == whole.results
    assert set(left.results) <= set(left.all_results) <= set(whole.all_results)


@settings(max_examples=40)
@given(histories=trimmed(), data=st.data())
def test_answers_to_trimmed_histories_have_the_ids_of_whole_ones(
    histories: tuple[list[Message], list[Message]], data: st.DataObject
) -> None:
    whole, left = map(ask, histories)
    again = ask(data.draw(st.sampled_from(histories)))

    assert [call.call_id for call in left.calls] == [call.call_id for call in whole.calls]
    assert again == whole, "a request that is sent again gets the same answer"


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_summary_in_the_place_of_what_was_cut(role: Any) -> None:
    rounds = played(5)
    summary = Message(role=role, text="Until now A-1 was looked for.")

    for kept in range(1, 5):
        assert number(ask([SYSTEM, PROMPT, summary, *joined(rounds[-kept:])])) == 5


def test_parallel_calls_in_pairs_of_which_the_first_was_cut() -> None:
    rounds = played(6)
    latest, *answers = rounds[-1]
    pairs = [
        message
        for call_id, result in zip(latest.call_ids, answers, strict=True)
        for message in (Message(role="assistant", call_ids=(call_id,)), result)
    ]

    conversation = read([SYSTEM, *pairs[2:]])

    assert conversation.turn == 6
    assert [each.text for each in conversation.results] == ["found 5.1", "found 5.2"]


@settings(max_examples=40)
@given(prompts=st.lists(st.text(max_size=20), min_size=1, max_size=4, unique=True))
def test_system_prompt_that_tells_the_time_costs_no_move(prompts: list[str]) -> None:
    rounds = played(4)

    for text in prompts:
        now = Message(role="system", text=text)
        assert number(ask([now, PROMPT, *joined(rounds[1:])])) == 4


# -- other conversations within one run


INNER = Message(role="system", text="You look for orders.")
TASK = Message(role="user", text="Look for A-1")


def inner(turns: int) -> list[list[Message]]:
    return played(turns, first=(INNER, TASK))


def test_agent_as_tool_has_a_script_of_its_own() -> None:
    outer = played(3)

    for turn in range(5):
        assert number(ask(joined(inner(turn)))) == turn
    assert number(ask(joined(outer))) == 3
    assert read(joined(inner(2))).key != read(joined(outer)).key
    assert read([INNER, PROMPT]).key != read([SYSTEM, PROMPT]).key, "told apart by its prompt"


def test_agent_as_tool_that_shares_prompt_and_task_is_told_apart_by_its_tools() -> None:
    messages = [SYSTEM, PROMPT]

    assert read(messages, TOOLS[:1]).key != read(messages).key
    assert number(ask(messages, TOOLS[:1])) == 0


def test_same_sub_agent_twice_with_the_same_task_begins_twice() -> None:
    for _ in range(2):
        assert [number(ask(joined(inner(turn)))) for turn in range(4)] == [0, 1, 2, 3]


def test_restarted_conversation_begins_with_the_first_move() -> None:
    first = [number(ask(joined(played(turn)))) for turn in range(4)]
    again = [number(ask(joined(played(turn)))) for turn in range(4)]

    assert first == again == [0, 1, 2, 3]


@settings(max_examples=40)
@given(st.lists(st.sampled_from("AB"), min_size=1, max_size=12))
def test_agents_side_by_side_with_equal_prompts_get_a_script_each(order: list[str]) -> None:
    histories = {name: [SYSTEM, PROMPT] for name in "AB"}
    moves: dict[str, list[int]] = {name: [] for name in "AB"}
    for name in order:
        answer = ask(histories[name])
        moves[name].append(number(answer))
        histories[name] += [said(answer), *after(answer)]

    assert moves == {name: list(range(order.count(name))) for name in "AB"}


@settings(max_examples=40)
@given(st.lists(st.booleans(), min_size=1, max_size=10))
def test_specialists_that_share_a_history_share_a_script(changes: list[bool]) -> None:
    specialists = (SYSTEM, Message(role="system", text="You are billing."))
    history = [PROMPT]
    now = 0
    for turn, change in enumerate(changes):
        now = 1 - now if change else now
        answer = ask([specialists[now], *history])
        assert number(answer) == turn
        history += [said(answer), *after(answer)]


def test_history_that_is_handed_over_keeps_its_results_apart_by_turn() -> None:
    rounds = played(2)
    billing = Message(role="system", text="You are billing.")

    answer = ask([billing, *joined(rounds)[1:]])
    conversation = read([billing, *joined(rounds)[1:]])

    assert number(answer) == 2
    assert conversation.key != read(joined(rounds)).key
    assert [each.text for each in conversation.results] == ["found 1.0", "found 1.1"]


# -- what others write in the model's name


ROUTER = Message(role="system", text="You choose who answers.")


def routed(history: Sequence[Message]) -> Message:
    """What a router says to a history, as some agents put it into that history."""
    answer = ask([ROUTER, *history[1:]], ())
    assert answer.auxiliary
    return said(answer)


@pytest.mark.parametrize("offered", [(), ("plan",)])
def test_request_without_a_part_in_the_case_is_no_move(offered: tuple[str, ...]) -> None:
    rounds = played(3)

    answer = ask([ROUTER, *joined(rounds)[1:]], offered)

    assert answer.auxiliary
    assert answer.calls == ()
    assert number(ask(joined(rounds))) == 3


@settings(max_examples=40)
@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_words_of_a_router_in_the_history_cost_no_move(asked: list[bool]) -> None:
    history = [SYSTEM, PROMPT]
    for turn, first in enumerate(asked):
        if first:
            history.append(routed(history))
        answer = ask(history)
        assert number(answer) == turn
        history += [said(answer), *after(answer)]


def test_words_of_a_router_do_not_hide_the_results() -> None:
    history = joined(played(2))

    conversation = read([*history, routed(history), MORE])

    assert [each.text for each in conversation.results] == ["found 1.0", "found 1.1"]


HANDED_BACK = (
    Message(role="assistant", text="Handing back.", call_ids=("7c0ffee",)),
    Message(role="tool", text="Handed back.", call_ids=("7c0ffee",)),
)


def test_calls_that_the_framework_writes_are_no_moves() -> None:
    history = [*joined(played(2)), *HANDED_BACK]

    assert number(ask(history)) == 2
    assert [each.text for each in read(history).results] == ["found 1.0", "found 1.1"]


def test_where_ids_are_rewritten_every_call_is_a_move() -> None:
    rewritten = [
        msgspec.structs.replace(message, call_ids=tuple(f"x{n}" for n in range(len(ids))))
        if (ids := message.call_ids)
        else message
        for message in joined(played(5))
    ]

    assert number(ask(rewritten)) == 5
    assert [each.text for each in read(rewritten).results] == ["found 4.0"]


def test_move_that_was_withheld_is_made_when_it_may_be() -> None:
    conversation = read([SYSTEM, PROMPT], ("search_orders",))
    withheld = ACTOR.answer(
        msgspec.structs.replace(
            conversation, choice=msgspec.structs.replace(conversation.choice, kind="none")
        )
    )
    assert withheld.withheld

    assert number(ask([SYSTEM, PROMPT, said(withheld), MORE])) == 0
