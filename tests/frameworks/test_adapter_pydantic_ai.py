"""What the adapter for Pydantic AI rests on, its tools and agents in the standard cases, and the
breaker as a capability."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import pytest
from pydantic_ai import Agent, Tool
from pydantic_ai import messages as parts
from pydantic_ai._output import ObjectOutputProcessor, OutputToolset
from pydantic_ai.capabilities import Hooks
from pydantic_ai.toolsets import ExternalToolset, FunctionToolset
from pydantic_ai.usage import RequestUsage, UsageLimits

from pytest_tripwire import Harness, Options, Task, assert_no_mutation_after_interrupt
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.models.faults import MalformedArguments

NEEDS = ("pydantic-ai-slim",)

# -- what the adapter rests on

NAMES = {
    "pydantic_ai": ("ModelRetry", "RunContext", "Tool"),
    "pydantic_ai.agent": ("AbstractAgent", "WrapperAgent"),
    "pydantic_ai.capabilities": (
        "AbstractCapability",
        "CapabilityOrdering",
        "CombinedCapability",
    ),
    "pydantic_ai.exceptions": ("AgentRunError", "ApprovalRequired", "CallDeferred"),
    "pydantic_ai.messages": ("ToolReturn",),
    "pydantic_ai.models.wrapper": ("WrapperModel",),
    "pydantic_ai.output": ("NativeOutput", "PromptedOutput", "TextOutput", "ToolOutput"),
    "pydantic_ai.realtime": ("RealtimeModel",),
    "pydantic_ai.toolsets": (
        "CombinedToolset",
        "ExternalToolset",
        "FunctionToolset",
        "PrefixedToolset",
        "RenamedToolset",
        "WrapperToolset",
    ),
    "pydantic_core": (
        "PydanticSerializationError",
        "SchemaValidator",
        "core_schema",
        "to_jsonable_python",
    ),
}

METHODS = {
    "pydantic_ai.agent:AbstractAgent": (
        "iter",
        "output_type",
        "override",
        "realtime",
        "run",
        "run_stream",
        "toolsets",
    ),
    "pydantic_ai.agent:WrapperAgent": ("iter", "toolsets"),
    "pydantic_ai.capabilities:AbstractCapability": (
        "after_output_process",
        "apply",
        "before_model_request",
        "before_output_process",
        "for_run",
        "get_ordering",
        "get_wrapper_toolset",
        "get_wrapper_model",
        "on_output_process_error",
        "wrap_output_process",
    ),
    "pydantic_ai.models.wrapper:WrapperModel": ("request", "request_stream", "model_name"),
    "pydantic_ai.toolsets:WrapperToolset": ("call_tool", "get_tools", "visit_and_replace"),
    "pydantic_ai.tools:Tool": ("from_schema", "tool_def"),
}

FIELDS = {
    "pydantic_ai:RunContext": (
        "agent",
        "model",
        "partial_output",
        "retry",
        "root_capability",
        "run_id",
        "run_step",
        "tool_call_approved",
        "tool_call_id",
        "tool_manager",
        "tool_name",
    ),
    "pydantic_ai.messages:ModelResponse": ("model_name", "provider_name", "state", "usage"),
    "pydantic_ai.messages:ToolReturn": ("return_value",),
    "pydantic_ai.models:ModelRequestParameters": (
        "allow_text_output",
        "output_mode",
        "output_tools",
    ),
    "pydantic_ai.output:OutputContext": (
        "function_name",
        "has_function",
        "object_def",
        "tool_def",
    ),
    "pydantic_ai.tool_manager:ToolManager": ("tools", "toolset"),
    "pydantic_ai.tools:ToolDefinition": (
        "description",
        "kind",
        "metadata",
        "name",
        "parameters_json_schema",
    ),
    "pydantic_ai.toolsets:PrefixedToolset": ("prefix", "wrapped"),
    "pydantic_ai.toolsets:RenamedToolset": ("name_map", "wrapped"),
    "pydantic_ai.toolsets:ToolsetTool": ("args_validator", "tool_def", "toolset"),
}

PARAMETERS = {
    ("pydantic_ai.agent:AbstractAgent", "override"): ("tools", "toolsets"),
    ("pydantic_ai.agent:AbstractAgent", "iter"): ("toolsets", "capabilities"),
    ("pydantic_ai.tools:Tool", "from_schema"): ("name", "description", "json_schema", "takes_ctx"),
    ("pydantic_ai.toolsets:WrapperToolset", "call_tool"): ("name", "tool_args", "ctx", "tool"),
}

ON_INSTANCES = {
    "RequestUsage": (
        RequestUsage(),
        (
            "cache_read_tokens",
            "cache_write_tokens",
            "cost",
            "input_tokens",
            "output_tokens",
            "total_tokens",
            "unmeasured_requests",
        ),
    ),
    "FunctionToolset": (FunctionToolset([]), ("tools",)),
    "FunctionSchema": (Tool(lambda x: x, name="x").function_schema, ("single_field_name",)),
    # These belong to the framework; without them an output function could not be seen.
    "OutputToolset": (OutputToolset([], {}), ("processors",)),
    "ObjectOutputProcessor": (ObjectOutputProcessor(str), ("_choice_values", "_function_schema")),
    "ExternalToolset": (ExternalToolset([]), ("tool_defs",)),
    "ModelResponse": (parts.ModelResponse(parts=[]), ("text",)),
    "Tool": (Tool(lambda x: x, name="x"), ("function", "function_schema", "name")),
}


def of(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def lacking(what: str, missing: list[str]) -> str:
    return (
        f"Pydantic AI has changed: {what} has no {', '.join(missing)}, which the adapter rests on"
    )


@pytest.mark.parametrize("module", NAMES)
def test_the_framework_has_the_names_that_the_adapter_imports(module: str) -> None:
    missing = [name for name in NAMES[module] if not hasattr(import_module(module), name)]

    assert not missing, lacking(module, missing)


@pytest.mark.parametrize("path", METHODS)
def test_its_types_have_the_methods_that_the_adapter_calls_or_replaces(path: str) -> None:
    missing = [name for name in METHODS[path] if not hasattr(of(path), name)]

    assert not missing, lacking(path, missing)


@pytest.mark.parametrize("path", FIELDS)
def test_its_values_have_the_fields_that_the_adapter_reads(path: str) -> None:
    known = {each.name for each in dataclasses.fields(of(path))}
    missing = [name for name in FIELDS[path] if name not in known]

    assert not missing, lacking(path, missing)


@pytest.mark.parametrize(("path", "method"), PARAMETERS)
def test_its_methods_take_what_the_adapter_gives_them(path: str, method: str) -> None:
    known = inspect.signature(getattr(of(path), method)).parameters
    missing = [name for name in PARAMETERS[path, method] if name not in known]

    assert not missing, lacking(f"{path}.{method}()", missing)


@pytest.mark.parametrize("name", ON_INSTANCES)
def test_its_objects_have_the_attributes_that_the_adapter_reads(name: str) -> None:
    instance, wanted = ON_INSTANCES[name]
    missing = [each for each in wanted if not hasattr(instance, each)]

    assert not missing, lacking(name, missing)


# -- the standard cases


async def tell(_: Any, *, call: Any, tool_def: Any, args: Any, error: Exception) -> Any:
    """What a tool raises would end the run; the model is told of it."""
    return {"error": type(error).__name__, "message": str(error)}


async def listen(_: Any, events: Any) -> None:
    async for _event in events:
        pass


NO_LIMIT = UsageLimits(request_limit=None)


def support(task: Task, tools: Sequence[Any]) -> Agent[Any, str]:
    hooks = Hooks(tool_execute_error=tell)
    return Agent(task.model.pydantic_ai(), tools=tools, name="support", capabilities=[hooks])


async def plainly(agent: Any, task: Task) -> str:
    return (await agent.run(task.prompt, usage_limits=NO_LIMIT)).output


async def streamed(agent: Any, task: Task) -> str:
    result = await agent.run(task.prompt, usage_limits=NO_LIMIT, event_stream_handler=listen)
    return result.output


async def step_by_step(agent: Any, task: Task) -> str:
    async with agent.iter(task.prompt, usage_limits=NO_LIMIT) as run:
        async for _node in run:
            pass
    return run.result.output


def in_a_thread_of_its_own(agent: Any, task: Task) -> str:
    with asyncio.Runner() as runner:
        # Else the framework makes a loop of its own, and leaves it open.
        asyncio.set_event_loop(runner.get_loop())
        return agent.run_sync(task.prompt, usage_limits=NO_LIMIT).output


WAYS = {"run": plainly, "streamed": streamed, "iter": step_by_step, "sync": in_a_thread_of_its_own}


def plugged_in(way: str, *, adopted: bool) -> Callable[[Task], Any]:
    def built(task: Task) -> Any:
        if adopted:
            return task.adopt(support(task, list(task.tools.values())))
        return support(task, task.tools.pydantic_ai())

    def sync(task: Task) -> Any:
        return WAYS[way](built(task), task)

    async def agent(task: Task) -> Any:
        return await WAYS[way](built(task), task)

    return sync if way == "sync" else agent


@pytest.mark.parametrize("case", CASE_IDS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("adopted", [False, True], ids=["tools", "adopted"])
def test_every_standard_case_is_contained(case: str, way: str, adopted: bool) -> None:  # noqa: FBT001
    run = Harness(case, plugged_in(way, adopted=adopted)).run()

    run.check()
    if run.interrupted:
        assert_no_mutation_after_interrupt(run)


def test_arguments_that_are_no_json_are_told_to_the_model() -> None:
    told: list[str] = []

    async def agent(task: Task) -> str:
        result = await support(task, task.tools.pydantic_ai()).run(task.prompt)
        for message in result.all_messages():
            told.extend(
                str(each.content)
                for each in message.parts
                if isinstance(each, parts.ToolReturnPart | parts.RetryPromptPart)
            )
        return result.output

    options = Options(model_faults=(MalformedArguments(turn=0),))
    run = Harness("empty-search", agent, options=options).run()

    assert run.error is None
    assert "json" in told[0].casefold()
