"""A repair shop on the OpenAI Agents SDK: a triage agent that only hands over, and two specialists
who own their tools and may hand back.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from agents import Agent, ModelBehaviorError, RunConfig, Runner, function_tool

from pytest_tripwire import Task

#: The SDK's default of 10 would stop good work.
MAX_TURNS = 60
TRIAGE = "You are the first whom customers meet. Hand over to billing or to shipping."
BILLING = "You look after money. What may have been paid is looked up first."
SHIPPING = "You look after parcels and orders."


@function_tool
async def search_guide(subject: str, words: str, leaf: int = 1) -> str:
    """Look something up in the repair guide.

    Args:
        subject: the device or the part that it is about.
        words: what to look for.
        leaf: which leaf of what was found.
    """
    raise NotImplementedError(subject, words, leaf)


@function_tool
async def look_up_order(order: str) -> str:
    """Show an order.

    Args:
        order: its number.
    """
    raise NotImplementedError(order)


@function_tool
async def look_up_payment(order: str) -> str:
    """Show what was paid back on an order.

    Args:
        order: its number.
    """
    raise NotImplementedError(order)


@function_tool
async def pay_back(order: str, euros: float, because: str, slip: str) -> str:
    """Pay a customer back.

    Args:
        order: its number.
        euros: how much.
        because: why, for the books.
        slip: a new number for each payment.
    """
    raise NotImplementedError(order, euros, because, slip)


@function_tool
async def give_voucher(order: str, euros: float, because: str, slip: str) -> str:
    """Give a customer a voucher.

    Args:
        order: its number.
        euros: how much it is worth.
        because: why, for the books.
        slip: a new number for each voucher.
    """
    raise NotImplementedError(order, euros, because, slip)


MONEY = (look_up_payment, pay_back, give_voucher)
GOODS = (search_guide, look_up_order)


def shop(model: Any, wanted: Collection[str] = ()) -> tuple[Agent[None], ...]:
    """Triage, billing and shipping, with hand-offs as the SDK makes them of an agent."""
    billing = Agent[None](name="billing", instructions=BILLING, model=model)
    billing.tools = [each for each in MONEY if each.name in wanted]
    shipping = Agent[None](name="shipping", instructions=SHIPPING, model=model)
    shipping.tools = [each for each in GOODS if each.name in wanted]
    triage = Agent[None](
        name="triage", instructions=TRIAGE, handoffs=[billing, shipping], model=model
    )
    billing.handoffs = [triage]
    shipping.handoffs = [triage]
    return triage, billing, shipping


class Shop:
    """Answers customers, and remembers the conversation while an operator decides."""

    def __init__(self) -> None:
        self._heard: list[Any] = []

    async def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on where it was."""
        said = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        heard = self._heard if task.resume else []
        # A case has some of the desk's tools; the specialists are built with those that it has.
        first, *_ = shop(task.model.openai_agents(), task.tools)
        try:
            result = await Runner.run(
                task.adopt(first),
                [*heard, {"role": "user", "content": said}],
                max_turns=MAX_TURNS,
                run_config=RunConfig(tracing_disabled=True),
            )
        except ModelBehaviorError as error:
            return f"A colleague will look at this: {error}"
        self._heard = result.to_input_list()
        return str(result.final_output)
