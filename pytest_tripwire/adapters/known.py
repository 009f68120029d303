"""Which frameworks there are adapters for, and what each needs to be installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import msgspec


class MissingFrameworkError(ImportError):
    """A framework is not installed, or too old. The message says what to install."""


class Framework(msgspec.Struct, frozen=True, kw_only=True):
    """One framework.

    Args:
        package: what has to be importable.
        extra: the extra that installs it.
        roots: packages in which the types of its agents and tools are defined.
        model: what has to be importable for a model object of its own, which is asked in the
            agent's process; empty if there is none in `models.inprocess`.
    """

    package: str
    extra: str
    roots: tuple[str, ...]
    model: str = ""


#: By the name of the adapter's module.
FRAMEWORKS: Mapping[str, Framework] = {
    "openai_agents": Framework(
        package="agents", extra="openai-agents", roots=("agents",), model="agents"
    ),
    "langchain": Framework(
        package="langchain",
        extra="langchain",
        roots=("langchain", "langchain_core", "langgraph"),
        model="langchain_core",
    ),
    "pydantic_ai": Framework(
        package="pydantic_ai",
        extra="pydantic-ai",
        roots=("pydantic_ai", "pydantic_graph"),
        model="pydantic_ai",
    ),
    "anthropic": Framework(package="anthropic", extra="anthropic", roots=("anthropic",)),
    "mcp": Framework(package="mcp", extra="mcp", roots=("mcp", "mcp_types")),
    # `google` alone is a namespace that many share.
    "adk": Framework(package="google.adk", extra="adk", roots=("google.adk",), model="google.adk"),
}


def required(module: str, package: str, extra: str, what: str) -> Any:
    """A module of ours that needs a framework.

    Args:
        module: its full name.
        package: the import name of what it needs.
        extra: the extra that installs that.
        what: what the user has written, for the message.

    Raises:
        MissingFrameworkError: it is not installed, or too old.
    """
    wanted = f"pip install --upgrade 'pytest-agent-tripwire[{extra}]'"
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        # What an installed framework cannot import itself is its own trouble.
        if not f"{package}.".startswith(f"{error.name}."):
            raise
        raise MissingFrameworkError(
            f"{what} needs {package}, which is not installed: {wanted}"
        ) from error
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingFrameworkError(
            f"{what} needs a newer {package} than is installed ({error}): {wanted}"
        ) from error


def load(name: str, what: str) -> Any:
    """The adapter's module, for `what` the user has written. Raises MissingFrameworkError as
    `required` does.
    """
    framework = FRAMEWORKS[name]
    module = f"pytest_tripwire.adapters.{name}"
    return required(module, framework.package, framework.extra, what)


def framework_of(thing: object) -> str | None:
    """The name of the adapter for an agent or a tool, by where its type, or one that it derives
    from, is defined, or for a collection of these; None for anything else.
    """
    if isinstance(thing, list | tuple):
        return next(filter(None, map(framework_of, thing)), None)
    for kind in type(thing).__mro__:
        for name, framework in FRAMEWORKS.items():
            if any(f"{kind.__module__}.".startswith(f"{root}.") for root in framework.roots):
                return name
    return None
