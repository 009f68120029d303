"""The frameworks that `agent-tripwire init` has something to write for."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from pytest_tripwire.adapters.known import FRAMEWORKS


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """One framework, as a project shows it.

    Args:
        name: as the user chooses it, and what its template is called.
        title: as a person calls it.
        roots: packages that who uses it imports.
        distributions: what it may be installed as.
        aside: agents of another framework use it too, to ask their model or for their tools.
        extra: the extra that installs it; empty where nothing is needed.
    """

    name: str
    title: str
    roots: tuple[str, ...] = ()
    distributions: tuple[str, ...] = ()
    aside: bool = False
    extra: str = ""


_OURS = {framework.extra: framework for framework in FRAMEWORKS.values()}


def _adapted(name: str, title: str, *distributions: str, aside: bool = False) -> Known:
    return Known(
        name=name,
        title=title,
        roots=_OURS[name].roots,
        distributions=distributions,
        aside=aside,
        extra=name,
    )


PLAIN = Known(name="plain", title="a plain loop")

#: Of two that a project shows equally well, the first counts.
KNOWN: tuple[Known, ...] = (
    _adapted("openai-agents", "the OpenAI Agents SDK", "openai-agents"),
    _adapted("langchain", "LangChain and LangGraph", "langchain", "langgraph", "langchain-core"),
    _adapted("pydantic-ai", "Pydantic AI", "pydantic-ai", "pydantic-ai-slim"),
    _adapted("adk", "the Agent Development Kit", "google-adk"),
    _adapted("anthropic", "Anthropic's client", "anthropic", aside=True),
    _adapted("mcp", "the Model Context Protocol", "mcp", aside=True),
    Known(
        name="openai",
        title="a loop on OpenAI's client",
        roots=("openai",),
        distributions=("openai",),
        aside=True,
        extra="openai",
    ),
    PLAIN,
)

BY_NAME: Mapping[str, Known] = {each.name: each for each in KNOWN}


def called(name: str) -> Known | None:
    """The framework of that name, or that is installed under it; None if there is none."""
    wanted = name.lower().replace("_", "-")
    return next(
        (each for each in KNOWN if wanted == each.name or wanted in each.distributions), None
    )
