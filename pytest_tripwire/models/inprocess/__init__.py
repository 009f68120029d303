"""The scripted model as an object of a framework's own, asked in the agent's process. One file for
each framework, which is imported when it is asked for: nothing here needs any of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from pytest_tripwire.models.exchange import Exchange


class MissingFrameworkError(ImportError):
    """A framework is not installed, or too old. The message says what to install."""


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
    wanted = f"pip install --upgrade 'pytest-agent-tripwire[{needs.extra}]'"
    try:
        import_module(needs.package)
    except ModuleNotFoundError as error:
        # What an installed framework cannot import itself is its own trouble.
        if not f"{needs.package}.".startswith(f"{error.name}."):
            raise
        raise MissingFrameworkError(
            f"task.model.{framework}() needs {needs.package}, which is not installed: {wanted}"
        ) from error
    try:
        module = import_module(f"{__name__}.{framework}")
    except ImportError as error:
        raise MissingFrameworkError(
            f"task.model.{framework}() needs a newer {needs.package} than is installed "
            f"({error}): {wanted}"
        ) from error
    return module.model(exchange)
