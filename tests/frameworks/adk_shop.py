"""A small shop on the Agent Development Kit: its tools, its agents, and a model that replies by
rote.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from pydantic import Field

from pytest_tripwire.breaker import tool_spec
from pytest_tripwire.timeline import Effect, ToolSpec

MODES = {"whole": StreamingMode.NONE, "stream": StreamingMode.SSE}


def declared(name: str, effect: Effect, **more: Any) -> ToolSpec:
    return ToolSpec(name=name, effect=effect, **more)


def said(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


class Driven:
    """A runner with one session, and what its model was told of its calls."""

    def __init__(self, agent: Any, *, sessions: Any = None) -> None:
        self.runner = InMemoryRunner(agent=agent, app_name="shop")
        if sessions is not None:
            self.runner.session_service = sessions
        self.events: list[Any] = []

    async def go(self, message: Any = None, mode: str = "whole") -> str:
        known = {"app_name": "shop", "user_id": "u", "session_id": "s"}
        if await self.runner.session_service.get_session(**known) is None:
            await self.runner.session_service.create_session(**known)
        config = RunConfig(streaming_mode=MODES[mode])
        answer = ""
        async for event in self.runner.run_async(
            user_id="u", session_id="s", new_message=message or said("Go on."), run_config=config
        ):
            self.events.append(event)
            if event.is_final_response() and event.content:
                answer = "".join(part.text or "" for part in event.content.parts)
        return answer

    @property
    def told(self) -> list[Any]:
        """The answers to calls, in order."""
        found = (each.get_function_responses() for each in self.events)
        return [each.response for responses in found for each in responses]

    @property
    def reasons(self) -> list[Any]:
        return [each.get("reason") for each in self.told]


def go(agent: Any) -> Driven:
    driven = Driven(agent)
    asyncio.run(driven.go())
    return driven


def confirmation(driven: Driven, *, confirmed: bool = True) -> types.Content:
    """A person's word on what the kit has put up last."""
    calls = [call for each in driven.events for call in each.get_function_calls()]
    asked = [each for each in calls if each.name == "adk_request_confirmation"][-1]
    answer = types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": confirmed})
    return types.Content(role="user", parts=[types.Part(function_response=answer)])


class Replies(BaseLlm):
    """Makes these calls, message by message, and then says goodbye."""

    model: str = "replies"
    turns: list[Any] = Field(default_factory=list)
    asked: int = 0

    async def generate_content_async(
        self,
        request: Any,
        stream: bool = False,  # noqa: FBT001, FBT002 - theirs
    ) -> AsyncIterator[Any]:
        turn, self.asked = self.asked, self.asked + 1
        made = self.turns[turn] if turn < len(self.turns) else []
        parts = [
            types.Part(
                function_call=types.FunctionCall(id=f"call-{turn}.{at}", name=name, args=args)
            )
            for at, (name, args) in enumerate(made)
        ]
        if stream:
            yield LlmResponse(content=types.Content(role="model", parts=parts), partial=True)
        yield LlmResponse(
            content=types.Content(role="model", parts=parts or [types.Part(text="Goodbye.")]),
            model_version="replies",
            usage_metadata=types.GenerateContentResponseUsageMetadata(
                prompt_token_count=10,
                candidates_token_count=2,
                thoughts_token_count=3,
                total_token_count=15,
            ),
        )


def replies(*turns: Any) -> Replies:
    return Replies(turns=[list(each) for each in turns])


def tell(tool: Any, args: Any, tool_context: Any, error: Any) -> dict[str, str]:
    """What a tool raises would end the run; the model is told of it."""
    return {"error": type(error).__name__}


class Shop:
    """What the tools below have done."""

    def __init__(self) -> None:
        self.paid: list[str] = []
        self.fails: type[BaseException] | None = None
        self.under_way: asyncio.Event | None = None

    def tools(self) -> list[Any]:
        @tool_spec(effect="write", identity=("order",), wording=("note",), result_id="payment")
        async def pay(order: str, cents: int, note: str) -> dict[str, Any]:
            """Pay."""
            self.paid.append(order)
            if self.under_way is not None:
                await self.under_way.wait()
            if self.fails:
                raise self.fails("lost")
            return {"payment": f"P-{order}", "cents": cents}

        @tool_spec(effect="read", identity=("order",))
        def find_payment(order: str) -> dict[str, Any]:
            """Look a payment up."""
            return {"payment": f"P-{order}"} if order in self.paid else {}

        @tool_spec(effect="read")
        async def look() -> str:
            """Look, and have whatever waits go on."""
            if self.under_way is not None:
                self.under_way.set()
            return "seen"

        return [pay, find_payment, look]


def pays(order: str = "A-1", note: str = "sorry") -> tuple[str, dict[str, Any]]:
    return ("pay", {"order": order, "cents": 40, "note": note})


def clerk(shop: Shop, model: BaseLlm, **options: Any) -> LlmAgent:
    return LlmAgent(name="clerk", model=model, tools=shop.tools(), **options)


def ring(shop: Shop, first: BaseLlm, second: BaseLlm) -> LlmAgent:
    till = LlmAgent(name="till", model=second, tools=shop.tools(), description="Pays.")
    return LlmAgent(name="front", model=first, tools=shop.tools(), sub_agents=[till])


def transfer(to: str) -> tuple[str, dict[str, Any]]:
    return ("transfer_to_agent", {"agent_name": to})


# -- the desk of the standard cases


def support(task: Any, tools: Any, **options: Any) -> LlmAgent:
    model = task.model.adk()
    return LlmAgent(
        name="support", model=model, tools=tools, on_tool_error_callback=tell, **options
    )


REFUND: dict[str, Any] = {
    "operation": "refund",
    "identity": ("order_id",),
    "result_id": "refund_id",
}
DESK = {
    each.name: each
    for each in (
        declared("search_articles", Effect.READ, identity=("topic",), wording=("query",)),
        declared("issue_refund", Effect.WRITE, wording=("reason",), **REFUND),
        declared("issue_credit", Effect.WRITE, wording=("note",), **REFUND),
        declared("get_refund", Effect.READ, identity=("order_id",)),
        declared("get_order", Effect.READ, identity=("order_id",), result_version="version"),
        declared(
            "hand_over",
            Effect.HANDOFF,
            identity=("to", "order_id"),
            wording=("note",),
            required_fields=("findings",),
        ),
    )
}
