"""LangChain and LangGraph: native tools, agents taken over, and the breaker as a middleware."""

from pytest_tripwire.adapters.langchain.adopting import adopt
from pytest_tripwire.adapters.langchain.bodies import definition, tools
from pytest_tripwire.adapters.langchain.counting import (
    ModelCounter,
    RunStoppedError,
    guarded_model,
)
from pytest_tripwire.adapters.langchain.middleware import TripwireMiddleware
from pytest_tripwire.adapters.langchain.tool_node import guarded_tool_node

__all__ = [
    "ModelCounter",
    "RunStoppedError",
    "TripwireMiddleware",
    "adopt",
    "definition",
    "guarded_model",
    "guarded_tool_node",
    "tools",
]
