"""What one agent reads and says is no repeat of what another has, as neither can know of the other;
and what one and the same repeats is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Breaker, Usage
from pytest_tripwire.breaker.conversation import _HEARD, asked, hears, inside
from pytest_tripwire.breaker.progress.occurrences import SPEAKERS

from .driver import Driver, Mode, Reason, ToolCall, handoff, ok, read

LIMIT = 3
LOOK = read("look", identity=("key",))
SPECS = (LOOK, read("find"), read("show", result_version="v"), handoff("to"))
#: Reads that bring nothing new: what is asked, and what comes back.
READS = {
    "a record": ("look", {"key": "customer-1"}, {"name": "Ada"}),
    "a version": ("show", {"of": "customer-1"}, {"v": "7", "name": "Ada"}),
    "nothing": ("find", {"id": 7}, []),
    "in words": ("find", {"query": "opening hours of the library"}, {"from": 9}),
}
reads = pytest.mark.parametrize("what", list(READS))


def reading(driver: Driver, agent: str, what: str) -> bool:
    tool, arguments, result = READS[what]
    return driver.by(agent, result, tool, **arguments)


# -- agents that have names


@reads
def test_independent_agents_that_read_the_same_once(what: str) -> None:
    driver = Driver(*SPECS)

    assert all(reading(driver, f"agent-{number}", what) for number in range(6))
    assert driver.is_open
    assert not any(driver.hints)


@reads
def test_one_of_them_that_reads_it_again_and_again_is_stopped(what: str) -> None:
    driver = Driver(*SPECS)

    assert all(reading(driver, f"agent-{number}", what) for number in range(4))
    again = driver.executed(lambda: reading(driver, "agent-0", what) for _ in range(10))
    assert again == LIMIT - 1
    assert driver.run.mode is not Mode.OPEN


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("xy")), max_size=40))
def test_agents_that_read_no_record_a_third_time_never_trip(looks: list[tuple[int, str]]) -> None:
    driver = Driver(*SPECS)
    done: dict[tuple[int, str], int] = {}

    for agent, key in looks:
        done[agent, key] = done.get((agent, key), 0) + 1
        if done[agent, key] < LIMIT:
            assert driver.by(f"agent-{agent}", {"of": key}, "look", key=key), driver.reason
    assert driver.is_open


@settings(max_examples=40)
@given(st.lists(st.integers(0, 5), min_size=14, max_size=14))
def test_agents_that_take_turns_with_one_record_always_end(agents: list[int]) -> None:
    driver = Driver(*SPECS)

    steps = (lambda name=f"agent-{each}": reading(driver, name, "a record") for each in agents)
    assert driver.executed(steps) <= 6 * (LIMIT - 1) + 1
    assert driver.reason is not None


@reads
def test_names_that_are_ever_new_are_no_way_out(what: str) -> None:
    driver = Driver(*SPECS)

    steps = (lambda name=f"agent-{each}": reading(driver, name, what) for each in range(100))
    assert driver.executed(steps) <= LIMIT * SPEAKERS
    assert driver.run.mode is not Mode.OPEN


@pytest.mark.parametrize("size", [2, 3, 4, 8])
def test_a_ring_of_agents_that_read_the_same(size: int) -> None:
    driver = Driver(*SPECS)

    def steps() -> Iterator[bool]:
        for number in range(100):
            yield reading(driver, f"agent-{number % size}", "a record")
            to = f"agent-{(number + 1) % size}"
            yield driver.by(f"agent-{number % size}", "ok", "to", colleague=to)

    assert driver.executed(iter([step.__bool__ for step in steps()])) <= 2 * (size + 2) + 1
    assert driver.reason is Reason.HANDOFF_WITHOUT_PROGRESS


WORDS = [
    "opening hours library",
    "library opening hours",
    "the opening hours of the library",
    "opening hours of our library",
    "hours of opening, library",
    "library: hours of opening",
]
#: Calls that ask one thing in other words, or for parts that were read: most of one agent.
LOOSE = {
    "words": [("find", {"query": each}, {"from": 9}) for each in WORDS],
    "parts": [
        ("show", {"of": "log", "offset": at % 5, "limit": 9 - at % 5}, {"v": "7", "at": 0})
        for at in range(6)
    ],
}


@pytest.mark.parametrize("kind", list(LOOSE))
def test_agents_that_each_ask_it_in_their_own_words(kind: str) -> None:
    driver = Driver(*SPECS)

    for number, (tool, arguments, result) in enumerate(LOOSE[kind]):
        assert driver.by(f"agent-{number}", result, tool, **arguments), driver.reason
    assert driver.is_open


@pytest.mark.parametrize("kind", list(LOOSE))
def test_one_agent_that_asks_it_in_all_of_these_words(kind: str) -> None:
    driver = Driver(*SPECS)

    calls = [
        lambda each=each: driver.by("agent", each[2], each[0], **each[1]) for each in LOOSE[kind]
    ]
    assert driver.executed(calls) < len(calls)


def test_what_one_agent_has_asked_too_often_another_may_ask_once() -> None:
    driver = Driver(*SPECS)
    *often, last = LOOSE["words"][:5]

    for tool, arguments, result in often:
        assert driver.by("agent", result, tool, **arguments)
    tool, arguments, result = last
    assert driver.by("another", result, tool, **arguments), "and not the one that it was said of"
    assert not driver.by("agent", result, tool, **arguments)


# -- side by side


def under_way(driver: Driver, agents: list[str]) -> list[bool]:
    calls = [
        ToolCall(call_id=f"c{number}", tool="look", arguments={"key": "k"}, agent=agent)
        for number, agent in enumerate(agents)
    ]
    return [driver.proposed(call)[1].allowed for call in calls]


def test_agents_side_by_side_may_all_ask_the_same() -> None:
    driver = Driver(*SPECS)

    assert all(under_way(driver, [f"agent-{number}" for number in range(12)]))


def test_one_agent_may_not_ask_it_many_times_at_once() -> None:
    driver = Driver(*SPECS)

    assert under_way(driver, ["agent"] * 5) == [True] * LIMIT + [False] * 2


def test_nor_may_any_number_of_them() -> None:
    driver = Driver(*SPECS)

    assert sum(under_way(driver, [f"agent-{each}" for each in range(50)])) == LIMIT * SPEAKERS


def test_children_of_one_name_side_by_side_may_all_ask_the_same() -> None:
    with Breaker(specs={"look": LOOK}).run() as run:
        children = [run.child("worker") for _ in range(6)]
        calls = [ToolCall(call_id=f"c{n}", tool="look", arguments={"key": "k"}) for n in range(6)]
        assert all(each.decide(call).allowed for each, call in zip(children, calls, strict=True))
        for each, call in zip(children, calls, strict=True):
            each.settle(call, ok({"name": "Ada"}))


# -- agents that a call runs


class Team:
    """A boss and a delegate, which a guarded tool runs. `work` is what the delegate does."""

    def __init__(self, work: Callable[[Any], Any], state: bytes | None = None) -> None:
        self.run = Breaker().run(state=state)
        self.work = work
        delegates = {each: read(each, identity=("task",)) for each in ("delegate", "adelegate")}
        specs = {**delegates, "look": LOOK}
        tools = {"delegate": self.delegate, "adelegate": self.adelegate, "look": self.look}
        self.tools = self.run.guard(tools, specs)

    def delegate(self, task: str) -> str:
        return f"{task}: {self.work(self)}"

    async def adelegate(self, task: str) -> str:
        await asyncio.sleep(0)
        said = self.work(self)
        await asyncio.sleep(0)
        return f"{task}: {said}"

    def look(self, key: str) -> str:
        return f"record {key}"

    def says(self, text: str) -> str:
        self.run.before_model()
        self.run.after_model(Usage(), text)
        return text


def looks(team: Team) -> Any:
    return team.tools["look"](key="the guidelines")


def approves(team: Team) -> str:
    return team.says("Approved.")


@pytest.mark.parametrize("work", [looks, approves])
def test_a_delegate_that_is_asked_about_one_thing_after_another(work: Any) -> None:
    team = Team(work)

    for number in range(10):
        team.tools["delegate"](task=f"task {number}")
    assert team.run.mode is Mode.OPEN


@pytest.mark.parametrize("work", [looks, approves])
def test_delegates_side_by_side(work: Any) -> None:
    team = Team(work)

    async def boss() -> None:
        await asyncio.gather(*(team.tools["adelegate"](task=f"task {n}") for n in range(10)))

    asyncio.run(boss())
    assert team.run.mode is Mode.OPEN


@pytest.mark.parametrize(
    ("work", "reason"),
    [(looks, Reason.REPEATED_INTENT_SAME_OUTCOME), (approves, Reason.OUTPUT_REPETITION)],
)
def test_a_delegate_that_goes_in_circles(work: Any, reason: Reason) -> None:
    team = Team(lambda team: [work(team) for _ in range(LIMIT)])

    team.tools["delegate"](task="task")

    assert team.run.mode is not Mode.OPEN
    assert team.run.last_reason is reason


def test_a_delegate_that_says_the_same_before_each_step_of_good_work() -> None:
    team = Team(lambda team: [(approves(team), team.tools["look"](key=f"{n}")) for n in range(8)])

    team.tools["delegate"](task="task")

    assert team.run.mode is Mode.OPEN


def test_delegates_of_one_process_after_another() -> None:
    """What was counted of one that is gone is not counted to another."""
    state = None
    for number in range(2 * LIMIT):
        team = Team(lambda team: [looks(team) for _ in range(LIMIT - 1)], state)
        team.tools["delegate"](task=f"task {number}")
        assert team.run.mode is Mode.OPEN
        state = team.run.snapshot()


def test_a_boss_that_goes_in_circles_is_not_saved_by_what_a_delegate_says() -> None:
    numbers = iter(range(100))
    team = Team(lambda team: team.says(f"Answer {next(numbers)}."))

    for _ in range(LIMIT):
        team.says("Let me ask again.")
        with inside(asked("judge", {"input": "doc"})):
            team.work(team)

    assert team.run.last_reason is Reason.OUTPUT_REPETITION


# -- agents that a tool runs of which no run decides


def judged(inputs: list[str]) -> Any:
    """An agent inside a tool says the same of each input; the run."""
    team = Team(approves)
    for each in inputs:
        with inside(asked("judge", {"input": each})):
            team.says("No violation.")
    return team.run


@pytest.mark.parametrize(
    "what", ["document {}", "Is order o-{} fit to be sent?", "{}", "doc-{}.txt"]
)
def test_the_same_short_answer_about_many_things(what: str) -> None:
    assert judged([what.format(number) for number in range(12)]).mode is Mode.OPEN


@pytest.mark.parametrize(
    "inputs",
    [
        ["document 1"] * LIMIT,
        ["Please check the invoice", "Check the invoice, please", "please check the INVOICE again"],
        ["document 1", "document 2", "document 1", "document 3", "document 1"],
    ],
)
def test_the_same_answer_about_one_thing_in_whatever_words(inputs: list[str]) -> None:
    assert judged(inputs).last_reason is Reason.OUTPUT_REPETITION


@settings(max_examples=40)
@given(st.lists(st.integers(0, 6), max_size=20))
def test_each_input_has_a_window_of_its_own(numbers: list[int]) -> None:
    often = max((numbers.count(each) for each in numbers), default=0)

    assert (judged([f"document {each}" for each in numbers]).mode is Mode.OPEN) == (often < LIMIT)


# -- an application that asks its agent about one thing after another


def told(inputs: list[str]) -> Any:
    """An agent that reads the guidelines and says the same of each input; the run."""
    team = Team(approves)
    for each in inputs:
        hears(each)
        team.tools["look"](key="guidelines")
        team.says("No violation.")
    return team.run


@pytest.fixture(autouse=True)
def nothing_heard() -> Iterator[None]:
    token = _HEARD.set(None)
    yield
    _HEARD.reset(token)


def test_an_application_that_asks_about_one_document_after_another() -> None:
    inputs = [f"Is the following in order? We sell {n} lamps. Line {n}." for n in range(12)]

    assert told(inputs).mode is Mode.OPEN


@pytest.mark.parametrize("between", [[], ["document 2"]])
def test_an_application_that_asks_about_one_document_again(between: list[str]) -> None:
    assert told(["document 1", *between] * LIMIT).mode is not Mode.OPEN


def test_documents_that_are_ever_new_are_no_way_out() -> None:
    assert told([f"document {n}" for n in range(LIMIT * SPEAKERS + 1)]).mode is not Mode.OPEN


def test_what_is_asked_first_goes_on_with_what_an_earlier_process_has_counted() -> None:
    state = told(["document 1"] * (LIMIT - 1)).snapshot()
    team = Team(approves, state)
    hears("document 1")
    team.tools["look"](key="guidelines")

    assert team.run.mode is not Mode.OPEN


def test_what_a_delegate_hears_is_nothing_to_its_boss() -> None:
    team = Team(approves)
    hears("what the boss is asked")
    team.says("Done.")
    hears("what the boss is asked then")
    for _ in range(LIMIT):
        team.says("Let me ask again.")
        with inside():
            hears("what the delegate is asked")

    assert team.run.last_reason is Reason.OUTPUT_REPETITION


def test_what_a_delegate_hears_goes_on_with_the_conversation_that_its_input_has_begun() -> None:
    team = Team(approves)
    for number in range(LIMIT):
        with inside(asked("judge", {"input": "document 1"})):
            hears(f"Document 1, as I was asked the {number}. time")
            team.says("No violation.")

    assert team.run.last_reason is Reason.OUTPUT_REPETITION


# -- answers that were under way together


def answered(run: Any, together: int, times: int, text: str = "Ja.") -> bool:
    """Whether the run goes on after so many requests at a time."""
    for _ in range(times):
        asked_for = [run.before_model().allowed for _ in range(together)]
        if not all(asked_for):
            return False
        for _ in asked_for:
            run.after_model(Usage(), text)
    return run.mode is Mode.OPEN


@pytest.mark.parametrize("together", [3, 8])
def test_the_same_answer_to_a_question_that_was_asked_several_times_at_once(together: int) -> None:
    run = Breaker().run()

    assert answered(run, together, LIMIT - 1)
    assert not answered(run, together, 1)
    assert run.last_reason is Reason.OUTPUT_REPETITION


def test_answers_that_are_read_one_by_one_count_each() -> None:
    run = Breaker().run()

    assert answered(run, 3, 1)
    assert answered(run, 1, LIMIT - 2)
    assert not answered(run, 1, 1)
