"""A bicycle hire on the Agent Development Kit: two agents that own their tools."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.genai import types

from pytest_tripwire import Task

HIRE, GUEST = "bicycle_hire", "guest"
#: Good work reads what it is told before it acts again.
MONEY = "Pay back what the guest was charged too much. What may have been paid is looked up first."
BIKES = "You look after bicycles and bookings. What is about money goes to the till."


def search_handbook(subject: str, words: str, leaf: int = 1) -> dict:
    """Look something up in the handbook.

    Args:
        subject: the model or the part that it is about.
        words: what to look for.
        leaf: which leaf of what was found.
    """
    raise NotImplementedError(subject, words, leaf)


def look_up_booking(booking: str) -> dict:
    """Show a booking.

    Args:
        booking: its number.
    """
    raise NotImplementedError(booking)


def look_up_payment(booking: str) -> dict:
    """Show what was paid back on a booking.

    Args:
        booking: its number.
    """
    raise NotImplementedError(booking)


def pay_back(booking: str, euros: float, because: str, slip: str) -> dict:
    """Pay a guest back.

    Args:
        booking: its number.
        euros: how much.
        because: why, for the books.
        slip: a new number for each payment.
    """
    raise NotImplementedError(booking, euros, because, slip)


def give_voucher(booking: str, euros: float, because: str, slip: str) -> dict:
    """Give a guest a voucher.

    Args:
        booking: its number.
        euros: how much it is worth.
        because: why, for the books.
        slip: a new number for each voucher.
    """
    raise NotImplementedError(booking, euros, because, slip)


def pass_on(colleague: str, booking: str, because: str, known: str = "") -> dict:
    """Pass a guest on to another house, which will get in touch.

    Args:
        colleague: who is to go on.
        booking: the booking's number.
        because: why.
        known: what was found out so far.
    """
    raise NotImplementedError(colleague, booking, because, known)


TOOLS = (search_handbook, look_up_booking, look_up_payment, pay_back, give_voucher, pass_on)


def tell_the_model(tool: Any, args: Any, tool_context: Any, error: Exception) -> dict[str, str]:
    """What a tool raises would end the run; here the model hears of it."""
    return {"error": type(error).__name__, "message": str(error)}


def workshop(model: Any, wanted: Collection[str]) -> LlmAgent:
    """The agent whom guests meet first, and who may transfer them to the till."""
    tools = [each for each in TOOLS if each.__name__ in wanted]
    told = {"tools": tools, "model": model, "on_tool_error_callback": tell_the_model}
    till = LlmAgent(name="till", description="Pays guests back.", instruction=MONEY, **told)
    return LlmAgent(name="workshop", instruction=BIKES, sub_agents=[till], **told)


class Hire:
    """Answers guests; the session goes on when an operator resumes."""

    def __init__(self) -> None:
        self._sessions: Any = None

    async def __call__(self, task: Task) -> str:
        """Answer the task's prompt; with the operator's word, go on where it was."""
        words = f"The operator says: {task.resume.decision}." if task.resume else task.prompt
        # A case has some of the desk's tools; the agent is built with those that it has.
        agent = task.adopt(workshop(task.model.adk(), task.tools))
        runner = InMemoryRunner(agent=agent, app_name=HIRE)
        if task.resume:
            runner.session_service = self._sessions
        else:
            self._sessions = runner.session_service
            await self._sessions.create_session(app_name=HIRE, user_id=GUEST, session_id=GUEST)
        said = types.Content(role="user", parts=[types.Part(text=words)])
        answer = ""
        async for event in runner.run_async(user_id=GUEST, session_id=GUEST, new_message=said):
            if event.is_final_response() and event.content:
                answer = "".join(part.text or "" for part in event.content.parts)
        return answer
