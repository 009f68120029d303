"""Two specialists on the OpenAI Agents SDK. Either may hand the customer to the other."""

from __future__ import annotations

from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, function_tool, handoff
from openai import AsyncOpenAI
from pydantic import BaseModel

from pytest_tripwire import Task

#: The SDK's default of 10 would stop good work.
MAX_TURNS = 60
HANDOFF_TOOL = "hand_over"
FIRST = "shipping"


class HandOver(BaseModel):
    """What one specialist tells the other: the arguments of the desk's `hand_over`."""

    to: str
    order_id: str
    note: str
    findings: str = ""


class HandOverRefusedError(Exception):
    """The desk did not let the customer go to the other specialist."""


class Support:
    """Answers customers, and remembers the conversation while an operator decides."""

    def __init__(self) -> None:
        self._history: list[Any] = []
        self._last = FIRST

    async def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on where it was."""
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        heard, speaker = (self._history, self._last) if task.resume else ([], FIRST)
        base_url, api_key = task.model.base_url("openai"), task.model.api_key
        async with AsyncOpenAI(base_url=base_url, api_key=api_key) as client:
            model = OpenAIChatCompletionsModel(model=task.model.name, openai_client=client)
            try:
                result = await Runner.run(
                    specialists(task, model)[speaker],
                    [*heard, {"role": "user", "content": said}],
                    max_turns=MAX_TURNS,
                    run_config=RunConfig(tracing_disabled=True),
                )
            except HandOverRefusedError as refused:
                return f"A colleague will look at this: {refused}"
        self._history, self._last = result.to_input_list(), result.last_agent.name
        return str(result.final_output)


def specialists(task: Task, model: OpenAIChatCompletionsModel) -> dict[str, Agent[None]]:
    """Both have the desk's tools, as either may be asked first."""
    # A strict schema would take away the defaults of the tools' own signatures. What a tool raises
    # is told to the model, which is the SDK's default.
    tools = [
        function_tool(tool, name_override=name, strict_mode=False)
        for name, tool in task.tools.items()
        if name != HANDOFF_TOOL
    ]
    shipping = Agent[None](
        name="shipping",
        instructions="You look after parcels. Hand over to billing what is about money.",
        tools=list(tools),
        model=model,
    )
    billing = Agent[None](
        name="billing",
        instructions="You look after payments. Hand over to shipping what is about parcels.",
        tools=list(tools),
        model=model,
    )
    if HANDOFF_TOOL in task.tools:
        shipping.handoffs = [hand_over(task, sender=shipping, to=billing)]
        billing.handoffs = [hand_over(task, sender=billing, to=shipping)]
    return {each.name: each for each in (shipping, billing)}


def hand_over(task: Task, *, sender: Agent[None], to: Agent[None]) -> Any:
    """The SDK's own hand-off, which asks the desk first. The SDK always tells the model that it
    went well, so a refusal can only be raised: that ends the run before the other one speaks."""

    async def ask(_context: Any, given: HandOver) -> None:
        arguments = given.model_dump()
        result = await task.tools.acall(HANDOFF_TOOL, arguments, agent=sender.name)
        if result.get("refused"):
            raise HandOverRefusedError(result["message"])

    return handoff(to, tool_name_override=HANDOFF_TOOL, input_type=HandOver, on_handoff=ask)
