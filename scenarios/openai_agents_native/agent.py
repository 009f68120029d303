"""A bicycle hire on the OpenAI Agents SDK, whose agents own their tools and their hand-offs."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from agents import Agent, ModelBehaviorError, RunConfig, Runner, function_tool, handoff
from pydantic import BaseModel

from pytest_tripwire import Task

#: The SDK's default of 10 would stop good work.
MAX_TURNS = 60
#: Good work reads what it is told before it acts again.
MONEY = "Pay back what the guest was charged too much. What may have been paid is looked up first."
BIKES = "You look after bicycles and bookings. What is about money goes to the till."


@function_tool
async def search_handbook(subject: str, words: str, leaf: int = 1) -> str:
    """Look something up in the handbook.

    Args:
        subject: the model or the part that it is about.
        words: what to look for.
        leaf: which leaf of what was found.
    """
    raise NotImplementedError(subject, words, leaf)


@function_tool
async def look_up_booking(booking: str) -> str:
    """Show a booking.

    Args:
        booking: its number.
    """
    raise NotImplementedError(booking)


@function_tool
async def look_up_payment(booking: str) -> str:
    """Show what was paid back on a booking.

    Args:
        booking: its number.
    """
    raise NotImplementedError(booking)


@function_tool
async def pay_back(booking: str, euros: float, because: str, slip: str) -> str:
    """Pay a guest back.

    Args:
        booking: its number.
        euros: how much.
        because: why, for the books.
        slip: a new number for each payment.
    """
    raise NotImplementedError(booking, euros, because, slip)


@function_tool
async def give_voucher(booking: str, euros: float, because: str, slip: str) -> str:
    """Give a guest a voucher.

    Args:
        booking: its number.
        euros: how much it is worth.
        because: why, for the books.
        slip: a new number for each voucher.
    """
    raise NotImplementedError(booking, euros, because, slip)


class PassOn(BaseModel):
    """What goes along when a colleague takes over."""

    colleague: str
    booking: str
    because: str
    known: str = ""


TOOLS = (search_handbook, look_up_booking, look_up_payment, pay_back, give_voucher)


async def note(_context: Any, given: PassOn) -> None:
    """Write it into the day book."""
    raise NotImplementedError(given)


def pass_on(to: Agent[None]) -> Any:
    """The SDK's own hand-off, under one name for whoever it leads to."""
    return handoff(
        to,
        tool_name_override="pass_on",
        tool_description_override="Pass the guest on to a colleague: till or workshop.",
        input_type=PassOn,
        on_handoff=note,
    )


def workshop(model: Any, wanted: Collection[str]) -> Agent[None]:
    """The agent whom guests meet first, and who may pass them on to the till and get them back."""
    tools: list[Any] = [each for each in TOOLS if each.name in wanted]
    first = Agent[None](name="workshop", instructions=BIKES, tools=tools, model=model)
    till = Agent[None](name="till", instructions=MONEY, tools=tools, model=model)
    first.handoffs, till.handoffs = [pass_on(till)], [pass_on(first)]
    return first


class Hire:
    """Answers guests, and remembers the conversation while an operator decides."""

    def __init__(self) -> None:
        self._heard: list[Any] = []

    async def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on where it was."""
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        heard = self._heard if task.resume else []
        # A case has some of the desk's tools; the agent is built with those that it has.
        agent = task.adopt(workshop(task.model.openai_agents(), task.tools))
        try:
            result = await Runner.run(
                agent,
                [*heard, {"role": "user", "content": said}],
                max_turns=MAX_TURNS,
                run_config=RunConfig(tracing_disabled=True),
            )
        except ModelBehaviorError as error:
            return f"A colleague will look at this: {error}"
        self._heard = result.to_input_list()
        return str(result.final_output)
