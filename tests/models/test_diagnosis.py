"""What is noticed of how an agent uses its model, by which request, and what only looks alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.models import (
    Calls,
    Choice,
    Conversation,
    Message,
    ModelServer,
    Move,
    Noted,
    Propose,
    RequestError,
    Say,
    Seen,
    ToolResult,
    read_conversation,
)
from pytest_tripwire.models.answer import Answer, BoundCall
from pytest_tripwire.models.diagnosis import ORDER, Diagnosis, Kind, diagnose, refused_request
from pytest_tripwire.models.faults import CutStream, Drop, ModelFault, Status

SEARCH, WRITE = "search_orders", "refund_order"
TOOLS = (SEARCH, WRITE)
AUTO, REQUIRED, NONE = Choice(), Choice(kind="required"), Choice(kind="none")
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Binder:
    names: Mapping[str, str] = {"search": SEARCH, "write": WRITE, "handoff": "hand_over"}

    def tool_name(self, role: str) -> str:
        return self.names[role]

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        return {"role": role, **slots}


def script(*roles: str) -> Callable[[Seen], Move]:
    """One move for each text of role names, then words."""

    def move(seen: Seen) -> Move:
        if seen.turn >= len(roles):
            return Say(text="Done.")
        return Calls(proposals=tuple(Propose(role=role) for role in roles[seen.turn].split()))

    return move


class Agent:
    """A loop without a wire: it asks, and answers whatever the model calls."""

    def __init__(self, server: ModelServer, prompt: str = "Refund A-1") -> None:
        self.server = server
        self.messages = [
            Message(role="system", text="You are support."),
            Message(role="user", text=prompt),
        ]

    def request(self, offered: Sequence[str] = TOOLS, choice: Choice = AUTO) -> Conversation:
        conversation = read_conversation(self.messages, offered)
        tools = dict.fromkeys(offered, TEXT)
        return msgspec.structs.replace(conversation, choice=choice, tools=tools)

    def ask(self, *, retry: bool = False, usage: bool = True, **more: Any) -> Answer:
        request = self.request(**more)
        answer = self.server.exchange.answer(request, retry=retry, usage=usage).answer
        ids = tuple(call.call_id for call in answer.calls)
        self.messages.append(Message(role="assistant", text=answer.text, call_ids=ids))
        return answer

    def step(self, **more: Any) -> Answer:
        answer = self.ask(**more)
        for call in answer.calls:
            self.messages.append(Message(role="tool", text="ok", call_ids=(call.call_id,)))
        return answer

    def unheard(self, **more: Any) -> None:
        """Ask, and hear nothing of use."""
        try:
            self.ask(**more)
        except RequestError:
            return
        self.messages.pop()

    @property
    def found(self) -> tuple[Diagnosis, ...]:
        return diagnose(self.server.noted)


def agent(*roles: str, faults: Sequence[ModelFault] = (), **more: Any) -> Agent:
    """An agent and a model that proposes these roles, turn by turn."""
    return Agent(
        ModelServer(
            script=script(*roles),
            binder=Binder(),
            observe=lambda _: None,
            roles=("search", "write", "handoff"),
            faults=faults,
        ),
        **more,
    )


def only(kind: Kind, found: tuple[Diagnosis, ...]) -> Diagnosis:
    (diagnosis,) = found
    assert diagnosis.kind == kind
    assert diagnosis.remedy
    return diagnosis


# -- a tool_choice that stays forced


@pytest.mark.parametrize(
    ("choice", "offered"),
    [(REQUIRED, TOOLS), (Choice(kind="tool", tool=SEARCH), (*TOOLS, "final_answer"))],
)
def test_a_choice_that_stays_forced_is_found_where_a_result_is_shown_first(
    choice: Choice, offered: tuple[str, ...]
) -> None:
    one = agent("search", "search", "search")
    for _ in range(3):
        one.step(choice=choice, offered=offered)

    found = only(Kind.FORCED_TOOL_CHOICE, one.found)
    assert (found.request, found.times) == (2, 2)
    assert f"`{choice.tool or 'required'}` all the same: the model cannot finish" in found.message
    assert "turn 1 " in found.message


def test_another_run_that_forces_nothing_excuses_none() -> None:
    one = agent("search", "search", "search")
    other = Agent(one.server)
    for _ in range(2):
        one.step(choice=REQUIRED)
    other.step()

    assert only(Kind.FORCED_TOOL_CHOICE, one.found).request == 2


def test_a_model_that_has_to_repeat_itself_is_found_though_it_may_finish_later() -> None:
    one = agent("write")
    for choice in (AUTO, REQUIRED, AUTO):
        one.step(choice=choice)

    found = only(Kind.FORCED_TOOL_CHOICE, one.found)
    assert found.request == 2
    assert f"had to call `{WRITE}` again where it wanted to answer" in found.message


def test_words_that_end_in_a_tool_from_which_the_agent_asks_again_are_found() -> None:
    one = agent("search")
    for _ in range(4):
        one.step(offered=(*TOOLS, "think"), choice=REQUIRED)

    found = only(Kind.FORCED_TOOL_CHOICE, one.found)
    assert (found.request, found.times) == (3, 2)
    assert "last words go into `think`, and the agent asks again" in found.message


def test_forcing_the_first_request_is_in_order() -> None:
    one = agent("search", "search")
    for choice in (REQUIRED, AUTO, AUTO):
        one.step(choice=choice)

    assert one.found == ()


def test_forcing_the_first_request_after_each_message_of_the_user_is_in_order() -> None:
    one = agent("search")
    one.step(choice=REQUIRED)
    one.step()
    one.messages.append(Message(role="user", text="And A-2?"))
    one.step(choice=REQUIRED)

    assert one.found == ()


def test_a_forced_request_that_is_sent_again_does_not_stay_forced() -> None:
    one = agent("search", "search")
    one.step()
    one.unheard(choice=REQUIRED)
    one.step(choice=REQUIRED)

    assert only(Kind.HIDDEN_RETRY, one.found).request == 3


def test_a_plan_that_forces_another_tool_than_the_scripts_is_a_step_withheld() -> None:
    one = agent("search", "search")
    one.step()
    one.step(choice=Choice(kind="tool", tool=WRITE))

    found = only(Kind.WITHHELD_TOOL, one.found)
    assert found.message.endswith(f"the request's tool_choice names {WRITE}")


def test_a_plan_of_forced_steps_that_ends_is_in_order() -> None:
    one = agent("search", "write")
    for tool in TOOLS:
        one.step(choice=Choice(kind="tool", tool=tool))
    one.step()

    assert one.found == ()


def test_a_plan_of_forced_steps_that_is_stopped_on_its_way_is_in_order() -> None:
    one = agent("search", "write")
    for tool in TOOLS:
        one.step(choice=Choice(kind="tool", tool=tool))

    assert one.found == ()


def test_forcing_that_is_dropped_after_some_turns_is_in_order() -> None:
    one = agent("search", "search")
    for choice in (REQUIRED, REQUIRED, AUTO):
        one.step(choice=choice)

    assert one.found == ()


@pytest.mark.parametrize("choice", [REQUIRED, Choice(kind="tool", tool="final_answer")])
def test_a_tool_to_finish_with_makes_forcing_good(choice: Choice) -> None:
    one = agent("search", "search")
    offered = (*TOOLS, "final_answer")
    for each in (REQUIRED, REQUIRED, choice):
        last = one.step(offered=offered, choice=each)

    assert [call.tool for call in last.calls] == ["final_answer"]
    assert one.found == ()


def test_a_router_that_forces_its_form_is_in_order() -> None:
    one = agent("search", "search")
    one.step()
    one.server.exchange.answer(one.request(offered=("route",), choice=REQUIRED))
    one.step()
    one.server.exchange.answer(one.request(offered=("route",), choice=REQUIRED))
    one.step()

    assert one.found == ()


# -- a tool_choice of none


def test_none_that_keeps_a_step_from_the_model_is_found() -> None:
    one = agent("search", "write")
    one.step()
    one.step(choice=NONE)

    found = only(Kind.TOOL_CHOICE_NONE, one.found)
    assert found.request == 2
    assert f"next step, `{WRITE}`, was not given" in found.message


def test_a_last_summary_without_calls_is_in_order() -> None:
    one = agent("search")
    one.step()
    one.step(choice=NONE)

    assert one.found == ()


def test_a_last_summary_at_the_agents_own_limit_is_in_order() -> None:
    one = agent("search", "search", "write")
    one.step()
    one.step()
    one.step(choice=NONE)

    assert one.found == ()


def test_a_turn_of_words_before_each_step_is_in_order() -> None:
    one = agent("search", "search", "write")
    one.step()
    for _ in range(2):
        one.step(choice=NONE)
        one.step()

    assert one.found == ()


def test_none_that_keeps_the_second_step_from_every_run_is_found() -> None:
    one = agent("search", "write")
    for _ in range(2):
        del one.messages[2:]
        one.step()
        one.step(choice=NONE)

    assert only(Kind.TOOL_CHOICE_NONE, one.found).times == 2


def test_none_from_the_first_request_on_is_a_step_withheld() -> None:
    one = agent("search")
    one.step(choice=NONE)

    found = only(Kind.WITHHELD_TOOL, one.found)
    assert "sets tool_choice to none" in found.message
    assert found.remedy == "Let the agent leave tool_choice out where tools may be called"


def test_none_where_the_tool_is_missing_too_is_a_step_withheld() -> None:
    one = agent("search", "write")
    one.step(offered=(SEARCH,))
    one.step(offered=(SEARCH,), choice=NONE)

    assert "the request offers" in only(Kind.WITHHELD_TOOL, one.found).message


# -- calls and results


def test_a_call_without_its_result_is_found() -> None:
    one = agent("search", "search write", "search")
    one.step()
    one.step()
    one.messages.pop()
    one.step()
    one.step()

    found = only(Kind.MISSING_TOOL_RESULT, one.found)
    assert (found.request, found.times, found.subject) == (3, 1, WRITE)
    assert f"the call of `{WRITE}` at turn 1 has no result" in found.message


def test_each_call_without_its_result_counts_once() -> None:
    one = agent("search", "search", "search")
    for _ in range(4):
        one.ask()

    found = only(Kind.MISSING_TOOL_RESULT, one.found)
    assert (found.request, found.times) == (2, 3)


def test_a_result_without_its_call_is_found() -> None:
    one = agent("search", "write", "search")
    one.step()
    one.step()
    del one.messages[2]
    one.step()

    found = only(Kind.MISSING_TOOL_CALL, one.found)
    assert (found.request, found.subject) == (3, SEARCH)
    assert f"result of the call of `{SEARCH}` at turn 0 is shown without" in found.message


def test_ids_of_others_are_told_by_no_name() -> None:
    one = agent("search")
    one.messages.append(Message(role="tool", text="ok", call_ids=("my-secret",)))
    one.step()

    found = only(Kind.MISSING_TOOL_CALL, one.found)
    assert "my-secret" not in found.line
    assert "the result of the call is shown" in found.message


def test_a_history_that_is_shortened_by_pairs_is_in_order() -> None:
    one = agent("search", "search", "write")
    one.step()
    one.step()
    del one.messages[2:4]
    one.step()
    del one.messages[2:4]
    one.step()

    assert one.found == ()


def test_parallel_calls_told_in_pairs_are_in_order() -> None:
    one = agent("search write", "search")
    answer = one.ask()
    one.messages.pop()
    for call in answer.calls:
        ids = (call.call_id,)
        one.messages += [
            Message(role="assistant", call_ids=ids),
            Message(role="tool", text="ok", call_ids=ids),
        ]
    one.step()
    one.step()

    assert one.found == ()


# -- tools that change


def test_tools_that_change_in_a_conversation_are_found() -> None:
    one = agent("search", "search", "search")
    one.step()
    one.step(offered=(SEARCH, "look_up"))
    one.step(offered=(SEARCH, "look_up"))

    found = only(Kind.TOOLS_CHANGED, one.found)
    assert (found.request, found.times) == (2, 1)
    assert "at turn 1 " in found.message
    assert f"`{WRITE}` may be called no more and `look_up` may be called now" in found.message


def test_a_step_whose_tool_is_not_offered_is_found_with_the_servers_words() -> None:
    one = agent("write")
    one.step(offered=(SEARCH,))

    found = only(Kind.WITHHELD_TOOL, one.found)
    assert (found.request, found.subject) == (1, WRITE)
    assert f"{found.message}. {found.remedy}" == one.server.withheld[0]
    assert found.message.endswith("the request offers: search_orders")


def test_two_agents_with_other_prompts_or_beginnings_are_in_order() -> None:
    one = agent("search", "search")
    other = Agent(one.server, prompt="Refund A-2")
    third = Agent(one.server)
    third.messages[0] = Message(role="system", text="You are a critic.")
    twin = Agent(one.server)
    for _ in range(3):
        one.step()
        other.step(offered=(SEARCH,))
        third.step(offered=(SEARCH,))
        twin.step(offered=(SEARCH,))

    assert one.found == ()


def test_a_hand_off_to_an_agent_with_other_tools_is_in_order() -> None:
    one = agent("handoff", "search")
    one.step(offered=("hand_over",))
    one.step()
    one.step()

    assert one.found == ()


def test_a_router_without_tools_between_is_in_order() -> None:
    one = agent("search", "search")
    for _ in range(3):
        one.server.exchange.answer(one.request(offered=()))
        one.step()

    assert one.found == ()


def test_tools_that_are_gone_when_a_result_is_shown_are_found() -> None:
    one = agent("search", "search")
    one.step()
    one.step(offered=())

    found = only(Kind.TOOLS_DROPPED, one.found)
    assert found.request == 2
    assert "turn 1 shows a tool's result and no longer offers the tools of request 1" in (
        found.message
    )


def test_a_last_summary_without_tools_is_in_order() -> None:
    one = agent("search", "search", "search")
    one.step()
    one.step()
    one.step(offered=())

    assert one.found == ()


# -- whose requests they are


@pytest.mark.parametrize(
    ("offered", "told"), [((), "offer no tools"), (("a", "b"), "offer `a`, `b`")]
)
def test_an_agent_that_offers_no_tool_of_a_part_is_found(
    offered: tuple[str, ...], told: str
) -> None:
    one = agent("search")
    one.step(offered=offered)
    one.step(offered=offered)

    found = only(Kind.AUXILIARY_ONLY, one.found)
    assert (found.request, found.times) == (1, 1)
    assert found.message.endswith(told)


def test_one_request_of_the_scripts_among_many_is_enough() -> None:
    one = agent()
    for _ in range(9):
        one.server.exchange.answer(one.request(offered=()))
    one.step()

    assert one.found == ()


def test_nothing_is_said_of_an_agent_that_asked_for_nothing() -> None:
    assert diagnose(()) == ()


# -- retries


@pytest.mark.parametrize(
    ("fault", "got"),
    [
        (Status(status=503, turn=1), "got an error (503)"),
        (Drop(turn=1), "got no byte"),
        (CutStream(turn=1), "got a part"),
    ],
)
def test_a_turn_that_is_asked_for_again_after_a_failure_is_found(
    fault: ModelFault, got: str
) -> None:
    one = agent("search", "search", faults=(fault,))
    one.step()
    one.unheard()
    one.step()
    one.step()

    found = only(Kind.HIDDEN_RETRY, one.found)
    assert (found.request, found.times) == (3, 1)
    assert f"turn 1 is asked for again, after request 2 {got}" in found.message
    assert "the client does not say that" in found.message


def test_a_first_turn_that_is_asked_for_again_after_a_failure_is_found() -> None:
    one = agent("search", faults=(Status(attempts=(2,)),))
    one.unheard()
    one.unheard()
    one.step()

    found = only(Kind.HIDDEN_RETRY, one.found)
    assert found.request == 3
    assert "after request 2 got an error (500)" in found.message


def test_a_client_that_says_so_is_told_apart() -> None:
    one = agent("search")
    one.unheard()
    one.unheard(retry=True)
    one.step(retry=True)

    found = only(Kind.HIDDEN_RETRY, one.found)
    assert (found.request, found.times) == (2, 2)
    assert "request 1 was answered; the client says that" in found.message


def test_a_turn_that_was_answered_and_comes_again_unsaid_is_found() -> None:
    one = agent("search", "search")
    one.step()
    one.unheard()
    one.unheard()
    one.step()

    found = only(Kind.HIDDEN_RETRY, one.found)
    assert (found.request, found.times) == (3, 2)
    assert "after request 2 was answered; the client does not say" in found.message


def test_a_run_that_begins_anew_is_in_order() -> None:
    one = agent("search", "search")
    for again in (one, Agent(one.server), Agent(one.server)):
        for _ in range(3):
            again.step()

    assert one.found == ()


def test_two_agents_with_one_prompt_in_step_are_in_order() -> None:
    one = agent("search", "search")
    twin = Agent(one.server)
    for _ in range(3):
        one.step()
        twin.step()

    assert one.found == ()


def test_a_turn_that_is_asked_for_in_other_words_is_in_order() -> None:
    one = agent("search", "search")
    one.step()
    one.unheard()
    one.step(choice=REQUIRED)
    one.step()

    assert one.found == ()


# -- sizes, and what was turned down


def test_a_stream_that_does_not_ask_for_its_size_is_found() -> None:
    one = agent("search")
    one.step()
    one.step(usage=False)

    assert only(Kind.MISSING_USAGE, one.found).request == 2


def test_a_router_may_leave_its_size_out() -> None:
    one = agent("search")
    one.server.exchange.answer(one.request(offered=()), usage=False)
    one.step()

    assert one.found == ()


def test_the_latest_refusal_is_told_with_their_number() -> None:
    assert refused_request(()) == ()

    (found,) = refused_request(("404, nothing", "400, no JSON"))

    assert (found.kind, found.times, found.request) == (Kind.REFUSED_REQUEST, 2, 0)
    assert found.message.endswith("400, no JSON")


# -- all of them


def test_a_line_says_where_what_how_often_and_what_to_do() -> None:
    one = Diagnosis(kind=Kind.TOOLS_CHANGED, message="m", remedy="r", request=3, times=2)

    assert one.line == "the model's side: request 3: m (2 times in all) -> r"
    assert msgspec.structs.replace(one, request=0, times=1).line == "the model's side: m -> r"
    assert msgspec.structs.replace(one, kind=Kind.REDELIVERED).line.startswith("below the model")


def test_weightier_kinds_come_first() -> None:
    one = agent("search", "write")
    one.step(usage=False)
    one.unheard(usage=False)
    one.step(usage=False, choice=NONE)
    one.unheard(usage=False, choice=NONE)
    one.step(usage=False, offered=(SEARCH, WRITE, "x"))

    kinds = [each.kind for each in one.found]
    assert len(kinds) > 2
    assert kinds == sorted(kinds, key=list(Kind).index)


@settings(max_examples=40)
@given(
    moves=st.lists(st.sampled_from(["search", "write", "search write", "search search"])),
    pairs=st.booleans(),
    keep=st.integers(1, 4),
    last=st.sampled_from([{}, {"choice": NONE}, {"offered": ()}]),
    first=st.sampled_from([AUTO, REQUIRED]),
)
def test_loops_that_are_in_order_yield_nothing(
    moves: list[str], *, pairs: bool, keep: int, last: dict[str, Any], first: Choice
) -> None:
    one = agent(*moves)
    for turn in range(len(moves)):
        begin = len(one.messages)
        answer = one.step(choice=first if turn == 0 else AUTO)
        if pairs:
            ids = [(call.call_id,) for call in answer.calls]
            one.messages[begin:] = [
                Message(role=role, text="ok", call_ids=each)
                for each in ids
                for role in ("assistant", "tool")
            ]
        else:
            one.messages[2:] = _latest(one.messages[2:], keep)
    if len(moves) > 1:
        one.step(**last)
    else:
        one.step()

    assert one.found == ()


def _latest(history: list[Message], keep: int) -> list[Message]:
    """The latest messages of the model's, each with its results."""
    places = [place for place, each in enumerate(history) if each.role == "assistant"]
    return history[places[-keep:][0] :]


TEXTS = st.sampled_from(["", "a", "b", SEARCH, WRITE, "call_0123456789abcdef_1_0"])
IDS = st.lists(TEXTS, max_size=3).map(tuple)
ANSWERS = st.builds(
    Answer,
    move=st.sampled_from([Say(text="x"), Calls(proposals=(Propose(role="handoff"),))]),
    calls=st.lists(
        st.builds(BoundCall, call_id=TEXTS, tool=TEXTS, arguments=st.just({})), max_size=2
    ).map(tuple),
    auxiliary=st.booleans(),
    forced=st.booleans(),
    withheld=st.sampled_from(["", "no dot", "One. Two"]),
    wanted=IDS,
)
NOTED = st.builds(
    Noted,
    number=st.integers(1, 9),
    conversation=st.builds(
        Conversation,
        key=TEXTS,
        turn=st.integers(0, 3),
        offered=st.frozensets(TEXTS),
        thread=TEXTS,
        unanswered=IDS,
        unasked=IDS,
        results=st.sampled_from([(), (ToolResult(call_id="a", text="", refused=False),)]),
        choice=st.builds(
            Choice, kind=st.sampled_from(["auto", "none", "required", "tool"]), tool=TEXTS
        ),
    ),
    attempt=st.integers(1, 3),
    retry=st.booleans(),
    answer=st.none() | ANSWERS,
    told=st.sampled_from(["", "500", "no byte"]),
    usage=st.booleans(),
    played=st.frozensets(TEXTS),
)


@settings(max_examples=40)
@given(st.lists(NOTED, max_size=8))
def test_whatever_was_noted_is_diagnosed_each_thing_once(noted: list[Noted]) -> None:
    found = diagnose(tuple(noted))

    subjects = [(each.kind, each.subject) for each in found]
    assert len(set(subjects)) == len(subjects)
    assert {each.request for each in found} <= {each.number for each in noted}
    assert all(each.message and each.times > 0 for each in found)
    assert sum(each.times for each in found) == sum(len(list(f(noted))) for f in ORDER)
    assert msgspec.json.decode(msgspec.json.encode(found), type=tuple[Diagnosis, ...]) == found
