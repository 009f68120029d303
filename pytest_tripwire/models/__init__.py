"""The model's side: scripts, and a loopback server that plays them to any agent."""

from pytest_tripwire.models.chat_completions import ChatCompletions
from pytest_tripwire.models.conversation import Conversation, Message, read_conversation
from pytest_tripwire.models.counters import Observed
from pytest_tripwire.models.dialect import Dialect
from pytest_tripwire.models.openai_shapes import MODEL
from pytest_tripwire.models.request_error import RequestError
from pytest_tripwire.models.script import (
    Binder,
    Calls,
    Move,
    Propose,
    Say,
    Script,
    Seen,
    ToolResult,
)
from pytest_tripwire.models.server import MAX_BODY, MAX_REQUESTS, ModelServer, Observe
from pytest_tripwire.world.schema import SchemaError, smallest

__all__ = [
    "MAX_BODY",
    "MAX_REQUESTS",
    "MODEL",
    "Binder",
    "Calls",
    "ChatCompletions",
    "Conversation",
    "Dialect",
    "Message",
    "ModelServer",
    "Move",
    "Observe",
    "Observed",
    "Propose",
    "RequestError",
    "Say",
    "SchemaError",
    "Script",
    "Seen",
    "ToolResult",
    "read_conversation",
    "smallest",
]
