"""Taking over an agent that owns its tools: what has no body is told, all of it, once."""

from __future__ import annotations

import pytest

from pytest_tripwire import Harness, HarnessError, Task
from pytest_tripwire.adapters import Adoption, UnknownToolError


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


def test_what_is_of_no_framework_cannot_be_adopted() -> None:
    def agent(task: Task) -> None:
        task.adopt(object())

    with pytest.raises(HarnessError, match=r"task\.adopt\(\) got a object.*openai_agents"):
        Harness("lost-write", agent).run()
