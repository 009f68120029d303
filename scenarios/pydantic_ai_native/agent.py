"""One agent on Pydantic AI, with the desk's tools in the framework's own form."""

from __future__ import annotations

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.capabilities import Hooks
from pydantic_ai.usage import UsageLimits

from pytest_tripwire import Task

INSTRUCTIONS = """You work at the service desk of a shop.
Look things up before you change them, and say so when you cannot help."""

#: The framework's default of 50 requests would stop good work.
LIMITS = UsageLimits(request_limit=120)


async def tell_the_model(_context: Any, *, error: Exception, **_call: Any) -> dict[str, str]:
    """What a tool raises would end the run; here the model hears of it."""
    return {"error": type(error).__name__, "message": str(error)}


class Desk:
    """Answers customers, and remembers the conversation while an operator decides."""

    def __init__(self) -> None:
        self._history: list[Any] = []

    async def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on where it was."""
        clerk = Agent(
            task.model.pydantic_ai(),
            name="clerk",
            instructions=INSTRUCTIONS,
            tools=task.tools.pydantic_ai(),
            capabilities=[Hooks(tool_execute_error=tell_the_model)],
        )
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        heard = self._history if task.resume else []
        result = await clerk.run(said, message_history=heard, usage_limits=LIMITS)
        self._history = result.all_messages()
        return result.output
