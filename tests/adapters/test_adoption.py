"""Taking over an agent that owns its tools: what has no body is told, all of it, once."""

from __future__ import annotations

import asyncio

import pytest

from pytest_tripwire import Harness, HarnessError, Task
from pytest_tripwire.adapters import Adoption, UnknownToolError
from pytest_tripwire.adapters.adoption import IDLE


class Nothing:
    """Calls nothing."""

    def call(self, *_: object, **__: object) -> None: ...

    async def acall(self, *_: object, **__: object) -> None: ...


def adoption(*names: str) -> Adoption:
    return Adoption(Nothing(), names)


def test_tools_that_there_are_bodies_for_are_known() -> None:
    one = adoption("search", "pay")

    one.need("search", "support")
    one.check()

    assert (one.knows("pay"), one.knows("delete")) == (True, False)


def test_every_tool_without_a_body_is_told_with_its_agent_and_what_to_write() -> None:
    one = adoption("search")

    for name, agent in (("delete", "admin"), ("search", "admin"), ("mail", ""), ("delete", "b")):
        one.need(name, agent)
    with pytest.raises(UnknownToolError) as raised:
        one.check()

    assert str(raised.value) == (
        "the agent has tools that play no role: 'delete' of admin, 'mail' of the agent. Say what "
        'each does in tripwire_tools, such as {"search": Role(delete, {...})}, or build the agent '
        "without it"
    )


class Echo:
    """Says what it is asked."""

    def call(self, name: str, *_: object, **__: object) -> str:
        return name

    async def acall(self, name: str, *_: object, **__: object) -> str:
        return name


def test_a_tool_that_plays_a_part_elsewhere_is_in_order_and_only_says_so() -> None:
    one = Adoption(Echo(), ["search"], ["search", "refund"])

    one.need("refund", "support")
    one.check()

    assert (one.knows("search"), one.knows("refund")) == (True, False)
    assert [one.caller.call(name, {}) for name in ("search", "refund")] == ["search", IDLE]
    assert asyncio.run(one.caller.acall("refund", {})) == IDLE
    assert asyncio.run(one.caller.acall("search", {})) == "search"


def test_a_task_knows_the_tools_of_the_other_cases() -> None:
    seen = {}

    def agent(task: Task) -> None:
        seen[frozenset(task.tools)] = task.idle

    Harness("lost-write", agent).run()

    ((own, idle),) = seen.items()
    assert own == {"issue_refund", "get_refund"}
    assert {"search_articles", "hand_over", "issue_credit"} <= idle
    assert not own & idle


def test_what_is_of_no_framework_cannot_be_adopted() -> None:
    def agent(task: Task) -> None:
        task.adopt(object())

    with pytest.raises(HarnessError, match=r"task\.adopt\(\) got a object.*openai_agents"):
        Harness("lost-write", agent).run()
