"""The scripted model as an object of a framework's own, asked in the agent's process. One file for
each framework, which is imported when it is asked for: nothing here needs any of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from pytest_tripwire.models.exchange import Exchange


class MissingFrameworkError(ImportError):
    """A framework is not installed. The message says what to install."""


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
        MissingFrameworkError: it is not installed.
    """
    needs = _FRAMEWORKS[framework]
    try:
        import_module(needs.package)
    except ModuleNotFoundError as error:
        # What an installed framework cannot import itself is its own trouble.
        if not f"{needs.package}.".startswith(f"{error.name}."):
            raise
        raise MissingFrameworkError(
            f"task.model.{framework}() needs {needs.package}, which is not installed: "
            f"pip install 'pytest-agent-tripwire[{needs.extra}]'"
        ) from error
    return import_module(f"{__name__}.{framework}").model(exchange)
