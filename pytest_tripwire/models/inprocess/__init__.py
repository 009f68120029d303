"""The scripted model as an object of a framework's own, asked in the agent's process. One file for
each framework, which is imported when it is asked for: nothing here needs any of them.
"""

from __future__ import annotations

from typing import Any

import msgspec

from pytest_tripwire.adapters import MissingFrameworkError, required
from pytest_tripwire.models.exchange import Exchange


class _Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be importable, and the extra that installs it."""

    package: str
    extra: str


_FRAMEWORKS = {
    "openai_agents": _Needs(package="agents", extra="openai-agents"),
    "pydantic_ai": _Needs(package="pydantic_ai", extra="pydantic-ai"),
    "langchain": _Needs(package="langchain_core", extra="langchain"),
    "adk": _Needs(package="google.adk", extra="adk"),
}


def native(framework: str, exchange: Exchange) -> Any:
    """A model object of a framework, which `exchange` answers.

    Args:
        framework: `openai_agents`, `pydantic_ai`, `langchain` or `adk`.
        exchange: decides the answers.

    Raises:
        MissingFrameworkError: it is not installed, or too old.
    """
    needs = _FRAMEWORKS[framework]
    module = f"{__name__}.{framework}"
    what = f"task.model.{framework}()"
    return required(module, needs.package, needs.extra, what).model(exchange)


__all__ = ["MissingFrameworkError", "native"]
