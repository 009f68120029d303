"""Pydantic AI: tools, agents that are taken over, and a capability for production."""

from pytest_tripwire.adapters.pydantic_ai.adopted import adopt
from pytest_tripwire.adapters.pydantic_ai.capability import Tripwire
from pytest_tripwire.adapters.pydantic_ai.metered import RunStoppedError
from pytest_tripwire.adapters.pydantic_ai.native import definition, tools

__all__ = ["RunStoppedError", "Tripwire", "adopt", "definition", "tools"]
