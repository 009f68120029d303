"""What a person is asked about the calls of one message, and which of them the yes meets."""

from __future__ import annotations

from threading import Event as Flag
from typing import Any

import pytest
from langchain.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from pytest_tripwire.adapters import Adoption
from pytest_tripwire.adapters.langchain import adopt, guarded_tool_node
from pytest_tripwire.breaker import Breaker, tool_spec
from pytest_tripwire.timeline import Settled, Status

from .langchain_kit import (
    ASKED,
    WAYS,
    agent_of,
    answers,
    by_hand,
    driven,
    untraced,  # noqa: F401 - a fixture
)

NEEDS = ("langchain", "langgraph")

THREAD: dict[str, Any] = {"configurable": {"thread_id": "t"}}
ONE, OTHER = ("wire", {"to": "A"}), ("wire", {"to": "B"})
LOOK, ASKS = ("look", {}), ("choose", {})
YES, NO = True, False


class Bank:
    """Money that was really sent, and tools of which one needs a yes and one asks by itself."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.looked: list[str] = []
        self.chosen: list[Any] = []
        #: A tool that asks by itself does so when whatever runs beside it has come to its end.
        self.quiet = Flag()

        @tool
        @tool_spec(effect="write", identity=("to",), requires_approval=True)
        def wire(to: str) -> str:
            """Send money."""
            self.sent.append(to)
            return f"sent to {to}"

        @tool
        @tool_spec(effect="read")
        def look() -> str:
            """Look."""
            self.looked.append("")
            return "here"

        @tool
        @tool_spec(effect="read")
        def choose() -> str:
            """Ask the person which it is."""
            assert self.quiet.wait(10)
            self.chosen.append(interrupt("Which?"))
            return f"chose {self.chosen[-1]}"

        self.tools = [wire, look, choose]


class Desk:
    """A graph at one thread; each `anew` is another process, with nothing but the checkpoints and
    the store of writes.
    """

    def __init__(self, *calls: Any, **options: Any) -> None:
        self.bank, self.kept = Bank(), InMemorySaver()
        self.breaker = Breaker(on_event=self.heard)
        self.options = options
        self.graph = self.anew([*calls])

    def heard(self, event: Any) -> None:
        if isinstance(event, Settled) and event.status is Status.OK:
            self.bank.quiet.set()

    def anew(self, *turns: Any) -> Any:
        run = self.breaker.run(workflow="w@1", request_id="message-1")
        node = guarded_tool_node(self.bank.tools, run, ask=True, **self.options)
        self.graph = by_hand(node, *turns, checkpointer=self.kept)
        return self.graph

    def ask(self, way: str) -> Any:
        return questions(driven(self.graph, ASKED, way, THREAD))

    def answer(self, answer: Any, way: str) -> Any:
        return driven(self.graph, Command(resume=answer), way, THREAD)


def questions(ended: Any) -> list[Any]:
    return [each.value for each in ended.get("__interrupt__", ())]


def last_first() -> dict[str, Any]:
    """Wrappers of a node that let what is sent to A begin when what is sent to B has ended."""
    ended = Flag()

    def wrap(request: Any, execute: Any) -> Any:
        if request.tool_call["args"] == {"to": "A"}:
            assert ended.wait(10)
            return execute(request)
        try:
            return execute(request)
        finally:
            ended.set()

    return {"wrap_tool_call": wrap}


@pytest.mark.parametrize(
    ("yes", "sent"),
    [
        (["c1.0"], ["A"]),
        (["c1.1"], ["B"]),
        (["c1.0", "c1.1"], ["B", "A"]),
        (["c1.7"], []),
        ([], []),
    ],
)
def test_a_yes_meets_the_call_that_it_names_whichever_thread_comes_first(
    yes: list[str], sent: list[str]
) -> None:
    desk = Desk(ONE, OTHER, **last_first())

    (question,) = desk.ask("invoke")
    assert [each["args"]["to"] for each in question["calls"]] == ["A", "B"]
    assert [each["call_id"] for each in question["calls"]] == ["c1.0", "c1.1"]
    found = answers(desk.answer({"approved": yes}, "invoke"))

    assert desk.bank.sent == sent
    assert [each == f"sent to {to}" for each, to in zip(found, "AB", strict=True)] == [
        to in sent for to in "AB"
    ]


@pytest.mark.parametrize("where", ["here", "another process"])
@pytest.mark.parametrize("way", WAYS)
def test_a_named_yes_meets_its_call_alone(way: str, where: str) -> None:
    desk = Desk(ONE, OTHER)
    desk.ask(way)
    if where != "here":
        desk.anew()

    desk.answer({"approved": ["c1.1"]}, way)

    assert desk.bank.sent == ["B"]


@pytest.mark.parametrize("where", ["here", "another process"])
@pytest.mark.parametrize("way", WAYS)
def test_a_bare_yes_to_several_calls_is_a_yes_to_none_and_is_asked_for_again(
    way: str, where: str
) -> None:
    desk = Desk(ONE, OTHER)
    desk.ask(way)
    if where != "here":
        desk.anew()

    (question,) = questions(desk.answer(YES, way))
    assert (desk.bank.sent, len(question["calls"])) == ([], 2)
    desk.answer({"approved": ["c1.0"]}, way)

    assert desk.bank.sent == ["A"]


@pytest.mark.parametrize("way", WAYS)
def test_a_bare_no_lets_none_run(way: str) -> None:
    desk = Desk(ONE, OTHER)
    desk.ask(way)

    found = answers(desk.answer(NO, way))

    assert desk.bank.sent == []
    assert [each["refused"] for each in found] == [True, True]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_a_message_runs_before_the_answer(way: str) -> None:
    desk = Desk(LOOK, ONE)

    (question,) = desk.ask(way)
    assert (question["tool"], question["args"], desk.bank.looked) == (*ONE, [])
    desk.answer(YES, way)

    assert (desk.bank.looked, desk.bank.sent) == ([""], ["A"])


@pytest.mark.parametrize("way", WAYS)
def test_in_another_process_a_bare_yes_beside_other_calls_is_asked_for_again(way: str) -> None:
    desk = Desk(LOOK, ONE)
    desk.ask(way)
    desk.anew()

    (question,) = questions(desk.answer(YES, way))
    assert (question["call_id"], desk.bank.sent) == ("c1.1", [])
    desk.answer(NO, way)

    assert desk.bank.sent == []


@pytest.mark.parametrize("calls", [(ONE,), (LOOK, ONE), (ONE, OTHER)])
@pytest.mark.parametrize("way", WAYS)
def test_a_question_says_what_is_a_yes_to_it_in_whichever_process(way: str, calls: Any) -> None:
    desk = Desk(*calls)
    (question,) = desk.ask(way)
    (yes, *_) = [each["resume"] for each in question.get("calls", [question])]
    desk.anew()

    ended = desk.answer(yes, way)

    assert (questions(ended), desk.bank.sent) == ([], ["A"])


@pytest.mark.parametrize("where", ["here", "another process"])
@pytest.mark.parametrize("way", WAYS)
def test_the_yes_to_a_call_is_no_answer_to_a_tool_that_asks_by_itself(way: str, where: str) -> None:
    desk = Desk(ASKS, ONE)
    desk.ask(way)
    assert questions(desk.answer({"approved": ["c1.1"]}, way)) == ["Which?"]
    assert desk.bank.sent == ["A"]
    if where != "here":
        desk.anew()

    found = answers(desk.answer("this one", way))

    assert desk.bank.chosen == ["this one"]
    assert found[0] == "chose this one"
    assert found[1]["reason"] == "duplicate_write"
    assert desk.bank.sent == ["A"]


@pytest.mark.parametrize("way", WAYS)
def test_the_answer_of_a_tool_that_asks_by_itself_is_no_yes(way: str) -> None:
    desk = Desk(ASKS, LOOK)
    desk.bank.quiet.set()
    assert desk.ask(way) == ["Which?"]

    driven(desk.graph, Command(resume=True), way, THREAD)

    assert (desk.bank.chosen, desk.bank.sent) == ([True], [])


@pytest.mark.parametrize("way", WAYS)
def test_the_same_write_twice_in_one_message_is_made_once_by_one_yes(way: str) -> None:
    desk = Desk(ONE, ONE)

    (question,) = desk.ask(way)
    desk.answer({"approved": [question["call_id"]]}, way)

    assert desk.bank.sent == ["A"]


@pytest.mark.parametrize("way", WAYS)
def test_a_message_that_is_answered_twice_writes_once(way: str) -> None:
    desk = Desk(ONE, OTHER)
    desk.ask(way)
    saved = desk.graph.get_state(THREAD).config
    yes = Command(resume={"approved": ["c1.0", "c1.1"]})

    driven(desk.graph, yes, way, saved)
    twice = answers(driven(desk.graph, yes, way, saved))

    assert sorted(desk.bank.sent) == ["A", "B"]
    assert [each["reason"] for each in twice] == ["duplicate_write"] * 2


@pytest.mark.parametrize("calls", [[ONE], [ONE, OTHER]], ids=["alone", "beside another"])
@pytest.mark.parametrize("way", WAYS)
def test_a_yes_from_before_the_record_changed_is_not_renewed(way: str, calls: Any) -> None:
    desk = Desk()
    run = desk.breaker.run()
    node = guarded_tool_node(desk.bank.tools, run, ask=True)
    desk.graph = by_hand(node, calls, checkpointer=desk.kept)
    desk.ask(way)
    saved = desk.graph.get_state(THREAD).config
    run.changed("A")
    yes = Command(resume={"approved": ["c1.0"]})

    for _ in range(3):
        driven(desk.graph, yes, way, saved)

    assert desk.bank.sent == []


@pytest.mark.parametrize("way", WAYS)
def test_what_was_approved_elsewhere_is_made_and_asked_about_no_more(way: str) -> None:
    desk = Desk(ONE, OTHER)
    run = desk.breaker.run()
    node = guarded_tool_node(desk.bank.tools, run, ask=True)
    run.call("wire", {"to": "A"}, call_id="elsewhere")
    run.approve("elsewhere")
    desk.graph = by_hand(node, [ONE, LOOK], checkpointer=desk.kept)

    assert desk.ask(way) == []

    assert desk.bank.sent == ["A"]


@pytest.mark.parametrize("way", WAYS)
def test_a_stopped_run_asks_nobody(way: str) -> None:
    desk = Desk(ONE, OTHER)
    run = desk.breaker.run()
    node = guarded_tool_node(desk.bank.tools, run, ask=True)
    run.interrupt("Off.")
    desk.graph = by_hand(node, [ONE, OTHER], checkpointer=desk.kept)

    ended = driven(desk.graph, ASKED, way, THREAD)

    assert questions(ended) == []
    assert [each["reason"] for each in answers(ended)] == ["cancelled"] * 2


def test_a_node_that_is_taken_over_asks_all_the_same() -> None:
    desk = Desk(ONE, OTHER)
    taken = adopt(desk.graph, Adoption(Names(), ["wire", "look", "choose"]))

    (question,) = questions(taken.invoke(ASKED, THREAD))
    ended = taken.invoke(Command(resume={"approved": ["c1.1"]}), THREAD)

    assert [each["call_id"] for each in question["calls"]] == ["c1.0", "c1.1"]
    assert answers(ended)[1] == "body of B"
    assert desk.bank.sent == []


class Names:
    """Bodies that say for whom they are."""

    def call(self, name: str, arguments: Any, **_: Any) -> Any:
        return f"body of {arguments['to']}"

    async def acall(self, name: str, arguments: Any, **_: Any) -> Any:
        return self.call(name, arguments)


# -- the middleware: each call is a task of its own


def pending(agent: Any) -> dict[str, str]:
    """By call, the id under which its question is answered."""
    state = agent.get_state(THREAD)
    return {e.value["call_id"]: e.id for task in state.tasks for e in task.interrupts}


def cashier() -> tuple[Bank, Any]:
    bank, run = Bank(), Breaker().run()
    return bank, agent_of(run, bank, [ONE, OTHER], ask=True, checkpointer=InMemorySaver())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("yes", "sent"), [("c1.0", ["A"]), ("c1.1", ["B"])])
def test_in_the_middleware_each_question_has_its_own_answer(
    way: str, yes: str, sent: list[str]
) -> None:
    bank, agent = cashier()
    driven(agent, ASKED, way, THREAD)

    said = {name: call == yes for call, name in pending(agent).items()}
    driven(agent, Command(resume=said), way, THREAD)

    assert bank.sent == sent


@pytest.mark.parametrize("way", WAYS)
def test_in_the_middleware_a_yes_that_names_another_call_is_none(way: str) -> None:
    bank, agent = cashier()
    driven(agent, ASKED, way, THREAD)

    said = {each: {"approved": ["c1.1"]} for each in pending(agent).values()}
    driven(agent, Command(resume=said), way, THREAD)

    assert bank.sent == ["B"]
