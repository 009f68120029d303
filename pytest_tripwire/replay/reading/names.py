"""What telemetry calls the things that replay needs.

First the names of the OpenTelemetry semantic conventions for generative AI, then names that they
had earlier, then those of instrumentations with names of their own. The first one that a span has
counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

OPERATION = ("gen_ai.operation.name",)
#: What instrumentations with names of their own call the kind of a span.
KIND = ("openinference.span.kind", "traceloop.span.kind", "llm.request.type", "ai.operationId")
METHOD = ("mcp.method.name",)

TOOL = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name", "traceloop.entity.name")
CALL_ID = ("gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id")
ARGUMENTS = (
    "gen_ai.tool.call.arguments",
    "tool_arguments",
    "ai.toolCall.args",
    "traceloop.entity.input",
    "input.value",
)
RESULT = (
    "gen_ai.tool.call.result",
    "tool_response",
    "ai.toolCall.result",
    "traceloop.entity.output",
    "output.value",
)
ERROR = ("error.type", "exception.type")
ERROR_TEXT = ("exception.message", "error.message")

AGENT = ("gen_ai.agent.name", "gen_ai.agent.id", "agent.name")
#: Where a span tells of an agent itself.
AGENT_ITSELF = (*AGENT, "traceloop.entity.name")
CONVERSATION = ("gen_ai.conversation.id", "gen_ai.thread.id")
WORKFLOW = ("tripwire.workflow", "gen_ai.workflow.name")

PROMPT_TOKENS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.promptTokens",
)
COMPLETION_TOKENS = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.completionTokens",
)
#: Not in the conventions, which know tokens alone.
COST = ("gen_ai.usage.cost", "gen_ai.usage.total_cost", "llm.cost.total")
OUTPUT = ("gen_ai.output.messages",)
DEFINITIONS = ("gen_ai.tool.definitions",)

#: What a tool does, where a team's own instrumentation says it.
EFFECT = ("tripwire.effect",)
#: Likewise, in the words of the Model Context Protocol.
READ_ONLY = (
    "mcp.tool.annotations.readOnlyHint",
    "mcp.tool.annotations.read_only_hint",
    "gen_ai.tool.annotations.readOnlyHint",
)

TOOL_OPERATIONS = frozenset({"execute_tool", "ai.toolCall", "tool", "tools/call"})
MODEL_OPERATIONS = frozenset(
    {
        "chat",
        "generate_content",
        "text_completion",
        "completion",
        "llm",
        "ai.generateText.doGenerate",
        "ai.streamText.doStream",
    }
)
AGENT_OPERATIONS = frozenset({"invoke_agent", "invoke_workflow", "agent"})

_OF_ANY = (*AGENT_ITSELF, *CONVERSATION, *WORKFLOW)
_OF_TOOLS = (
    *TOOL,
    *CALL_ID,
    *ARGUMENTS,
    *RESULT,
    *ERROR,
    *ERROR_TEXT,
    *EFFECT,
    *READ_ONLY,
)
_OF_MODELS = (*PROMPT_TOKENS, *COMPLETION_TOKENS, *COST, *OUTPUT, *DEFINITIONS)
_TELLING = (*OPERATION, *METHOD, *KIND)

#: What is looked at to say what a span tells of, and what is kept of one that tells nothing.
KEPT_OF_ANY = frozenset({*_TELLING, *_OF_ANY, *TOOL, *PROMPT_TOKENS})
KEPT_OF_TOOLS = frozenset({*_OF_ANY, *_OF_TOOLS})
KEPT_OF_MODELS = frozenset({*_OF_ANY, *_OF_MODELS})


def first(attributes: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The value of the first of `names` that is there; None if none is."""
    return next((attributes[name] for name in names if name in attributes), None)


def parsed(value: Any) -> Any:
    """`value`, or what it holds if it is JSON in a string."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value
