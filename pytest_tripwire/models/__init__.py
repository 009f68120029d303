"""The model's side: scripts, and a loopback server that plays them to any agent."""

from pytest_tripwire.models.choice import Choice
from pytest_tripwire.models.conversation import Conversation, Message, read_conversation
from pytest_tripwire.models.counters import Noted, Observed
from pytest_tripwire.models.exchange import Exchange, Given, Observe
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
from pytest_tripwire.models.server import MAX_BODY, MAX_REQUESTS, MAX_SECONDS, ModelServer
from pytest_tripwire.models.tokens import Usage
from pytest_tripwire.models.wire.chat import ChatCompletions
from pytest_tripwire.models.wire.dialect import Asked, Dialect
from pytest_tripwire.models.wire.openai_shapes import API_KEY, MODEL
from pytest_tripwire.world.schema import SchemaError, smallest

__all__ = [
    "API_KEY",
    "MAX_BODY",
    "MAX_REQUESTS",
    "MAX_SECONDS",
    "MODEL",
    "Asked",
    "Binder",
    "Calls",
    "ChatCompletions",
    "Choice",
    "Conversation",
    "Dialect",
    "Exchange",
    "Given",
    "Message",
    "ModelServer",
    "Move",
    "Noted",
    "Observe",
    "Observed",
    "Propose",
    "RequestError",
    "Say",
    "SchemaError",
    "Script",
    "Seen",
    "ToolResult",
    "Usage",
    "read_conversation",
    "smallest",
]
