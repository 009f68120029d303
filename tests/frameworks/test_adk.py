"""The Agent Development Kit, in its own process and over Anthropic's protocol."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models import LlmRequest
from google.adk.models.anthropic_llm import AnthropicLlm
from google.adk.runners import InMemoryRunner
from google.genai import errors, types
from pydantic import BaseModel

from pytest_tripwire import Task
from pytest_tripwire.models import Calls, Exchange, Propose, Say, Seen
from pytest_tripwire.models.faults import CutStream, Drop, MalformedArguments, NoUsage, Status
from pytest_tripwire.models.inprocess import native

NEEDS = ("google-adk", "anthropic")

#: So that a retry costs no time.
AT_ONCE = {"retry-after-ms": "1"}
MODES = {"whole": StreamingMode.NONE, "stream": StreamingMode.SSE}
WAYS = [(kind, mode) for kind in ("anthropic", "in-process") for mode in MODES]


class Verdict(BaseModel):
    """What a team may want in place of words."""

    resolved: bool
    note: str


def telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a tool raises would end the run; the model is told of it, as it might know better."""

    @functools.wraps(function)
    def told(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TimeoutError as error:
            return {"error": f"TimeoutError: {error}"}

    return told


@asynccontextmanager
async def model_of(kind: str, task: Task) -> Any:
    if kind == "in-process":
        yield task.model.adk()
        return
    url = task.model.base_url("anthropic")
    async with AsyncAnthropic(base_url=url, api_key="any") as client:
        yield AnthropicLlm(model=task.model.name, client=client)


def agent_of(kind: str, mode: str, *, used: list[int], output: Any = None) -> Any:
    """An agent; `used` gets the tokens that its events tell of."""

    async def agent(task: Task) -> str:
        async with model_of(kind, task) as model:
            return await answer(task, model)

    async def answer(task: Task, model: Any) -> str:
        support = LlmAgent(
            name="support",
            model=model,
            tools=[telling(each) for each in task.tools.values()],
            instruction="Help.",
            output_schema=output,
        )
        runner = InMemoryRunner(agent=support, app_name="shop")
        session = await runner.session_service.create_session(app_name="shop", user_id="anybody")
        asked = types.Content(role="user", parts=[types.Part(text=task.prompt)])
        said, counted = "", 0
        async for event in runner.run_async(
            user_id="anybody",
            session_id=session.id,
            new_message=asked,
            run_config=RunConfig(streaming_mode=MODES[mode]),
        ):
            if event.usage_metadata and not event.partial:
                counted += event.usage_metadata.total_token_count
            if event.is_final_response() and event.content:
                said = "".join(part.text or "" for part in event.content.parts)
        used.append(counted)
        return said

    return agent


@pytest.mark.parametrize("case", ["empty-search", "lost-write"])
@pytest.mark.parametrize(("kind", "mode"), WAYS)
def test_a_stubborn_model_is_contained(play: Any, case: str, kind: str, mode: str) -> None:
    play(agent_of(kind, mode, used=[]), case)


@pytest.mark.parametrize(("kind", "mode"), WAYS)
def test_a_compliant_model_comes_to_its_end_and_its_tokens_are_counted(
    play: Any, kind: str, mode: str
) -> None:
    used: list[int] = []

    played = play(agent_of(kind, mode, used=used), "empty-search", persona="compliant")

    assert used == [played.tokens]
    assert played.run.answer


@pytest.mark.parametrize(("kind", "mode"), WAYS)
def test_whatever_goes_wrong_has_an_end_and_a_name(
    ends: Any, fault: Any, kind: str, mode: str
) -> None:
    # Broken JSON and a missing usage come through as whatever they break in this framework.
    ends(agent_of(kind, mode, used=[]), fault, also=(ValueError, TypeError))


@pytest.mark.parametrize("mode", MODES)
def test_hidden_retries_cause_no_wrong_turn(play: Any, mode: str) -> None:
    busy = Status(turn=0, status=529, headers=AT_ONCE)
    broken = Status(turn=1, status=500, attempts=(1, 2), headers=AT_ONCE)
    agent = agent_of("anthropic", mode, used=[])

    struck = play(agent, "empty-search", faults=[busy, broken])

    assert struck.requests == len(struck.moves) + 3


@pytest.mark.parametrize("mode", MODES)
def test_a_structured_answer_is_one(play: Any, mode: str) -> None:
    agent = agent_of("in-process", mode, used=[], output=Verdict)

    played = play(agent, "empty-search", persona="compliant")

    assert isinstance(Verdict.model_validate_json(played.run.answer), Verdict)


# -- the model alone


def both(seen: Seen) -> Calls | Say:
    """Search twice in one message, then speak."""
    if seen.turn:
        return Say(text="That is all that there is to say.")
    return Calls(proposals=(Propose(role="search"), Propose(role="search")))


Exchanges = Callable[..., Exchange]
NOTE = types.Schema(
    type="OBJECT", properties={"text": types.Schema(type="STRING")}, required=["text"]
)
DECLARED = [
    types.FunctionDeclaration(name="search_orders", description="Search."),
    types.FunctionDeclaration(name="note", parameters=NOTE),
]
ASKED = types.Content(role="user", parts=[types.Part(text="Where is it?")])


def request(
    *contents: types.Content,
    mode: str = "",
    names: Any = None,
    system: Any = "Help.",
    **config: Any,
) -> Any:
    calling = types.FunctionCallingConfig(mode=mode or None, allowed_function_names=names)
    return LlmRequest(
        contents=[ASKED, *contents],
        config=types.GenerateContentConfig(
            system_instruction=system,
            tools=[types.Tool(function_declarations=DECLARED)],
            tool_config=types.ToolConfig(function_calling_config=calling),
            **config,
        ),
    )


async def answers(exchange: Exchange, asked: Any, into: list[Any], *, stream: bool = False) -> None:
    async for each in native("adk", exchange).generate_content_async(asked, stream=stream):
        into.append(each)  # noqa: PERF401 - what came before an error counts


def answered(exchange: Exchange, asked: Any = None, *, stream: bool = False) -> list[Any]:
    found: list[Any] = []
    asyncio.run(answers(exchange, asked or request(), found, stream=stream))
    return found


def names(response: Any) -> list[str]:
    return [each.name for each in response.get_function_calls()]


def test_parallel_calls_come_together_and_their_results_are_the_next_turn(
    exchange: Exchanges,
) -> None:
    found = exchange(both)

    (first,) = answered(found)
    results = [
        types.Part(
            function_response=types.FunctionResponse(
                id=each.id, name=each.name, response={"found": "none"}
            )
        )
        for each in first.get_function_calls()
    ]
    later = request(first.content, types.Content(role="user", parts=results))
    (last,) = answered(found, later)

    assert names(first) == ["search_orders", "search_orders"]
    assert len({each.id for each in first.get_function_calls()}) == 2
    assert last.content.parts[0].text == "That is all that there is to say."


def test_words_are_streamed_and_then_told_whole(exchange: Exchanges) -> None:
    def speak(_: Seen) -> Say:
        return Say(text="That is all that there is to say.")

    *pieces, last = answered(exchange(speak), stream=True)

    assert len(pieces) > 1
    assert all(each.partial for each in pieces)
    assert not last.partial
    assert "".join(p.content.parts[0].text for p in pieces) == last.content.parts[0].text


@pytest.mark.parametrize(
    ("mode", "allowed", "called"),
    [
        ("AUTO", None, ["search_orders"] * 2),
        ("NONE", None, []),
        ("ANY", None, ["search_orders"] * 2),
        ("ANY", ["note"], ["note"]),
        ("ANY", ["note", "search_orders"], ["search_orders"] * 2),
    ],
)
def test_what_the_request_lets_the_model_call_is_honoured(
    exchange: Exchanges, mode: str, allowed: Any, called: list[str]
) -> None:
    (response,) = answered(exchange(both), request(mode=mode, names=allowed))

    assert names(response) == called


def test_a_tool_in_googles_own_schema_gets_arguments_that_fit(exchange: Exchanges) -> None:
    def speak(_: Seen) -> Say:
        return Say(text="Something.")

    (response,) = answered(exchange(speak), request(mode="ANY", names=["note"]))

    (call,) = response.get_function_calls()
    assert call.args == {"text": "Something."}


@pytest.mark.parametrize(
    "form",
    [
        {"response_schema": Verdict},
        {"response_json_schema": Verdict.model_json_schema()},
        {
            "response_schema": types.Schema(
                type="OBJECT",
                properties={
                    "resolved": types.Schema(type="BOOLEAN"),
                    "note": types.Schema(type="STRING"),
                },
                required=["resolved", "note"],
            )
        },
    ],
)
def test_a_structured_answer_fits_its_schema(exchange: Exchanges, form: dict[str, Any]) -> None:
    def speak(_: Seen) -> Say:
        return Say(text="Something.")

    asked = request(response_mime_type="application/json", **form)
    (response,) = answered(exchange(speak), asked)

    assert Verdict.model_validate_json(response.content.parts[0].text)


def test_a_usage_that_nobody_reports_is_not_made_up(exchange: Exchanges) -> None:
    (response,) = answered(exchange(both, NoUsage()))

    assert response.usage_metadata is None


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, errors.ClientError), (429, errors.ClientError), (503, errors.ServerError)],
)
def test_an_error_response_is_the_error_of_the_provider(
    exchange: Exchanges, status: int, kind: type[errors.APIError]
) -> None:
    with pytest.raises(kind, match="no more") as caught:
        answered(exchange(both, Status(status=status, message="no more")))

    assert caught.value.code == status


@pytest.mark.parametrize("fault", [Drop(), CutStream()], ids=["dropped", "cut"])
def test_a_lost_response_is_a_lost_connection(exchange: Exchanges, fault: Any) -> None:
    with pytest.raises(ConnectionError, match="lost"):
        answered(exchange(both, fault))


def test_a_stream_that_is_cut_has_begun(exchange: Exchanges) -> None:
    def speak(_: Seen) -> Say:
        return Say(text="That is all that there is to say.")

    found: list[Any] = []

    with pytest.raises(ConnectionError, match="lost"):
        asyncio.run(answers(exchange(speak, CutStream(after=3)), request(), found, stream=True))

    assert [each.content.parts[0].text for each in found] == ["That is all ", "that there i"]


def test_arguments_that_are_no_json_are_what_the_provider_calls_them(exchange: Exchanges) -> None:
    (response,) = answered(exchange(both, MalformedArguments()))

    assert response.error_code == "MALFORMED_FUNCTION_CALL"
    assert names(response) == []


def test_instructions_tell_conversations_apart(server: Any) -> None:
    found = server(both)

    for words in ("Help.", types.Content(parts=[types.Part(text="Help.")]), "Hinder."):
        answered(found.exchange, request(system=words))

    one, same, other = (each.conversation.thread for each in found.noted)
    assert one == same != other


def test_the_usage_is_the_one_that_was_counted(server: Any) -> None:
    (response,) = answered(server(both).exchange)

    usage = response.usage_metadata
    assert usage.prompt_token_count > 0
    assert usage.total_token_count == usage.prompt_token_count + usage.candidates_token_count
