"""What an agent of LangChain's has heard first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage


def asked_first(state: Any) -> str:
    """What a user has said first of all, by an agent's state; empty where that does not tell.

    Of the state and not of a request: what is left out of one request is said all the same.
    """
    kept = state.get("messages") if isinstance(state, Mapping) else getattr(state, "messages", None)
    return first_of(kept if isinstance(kept, list) else [])


def first_of(messages: list[AnyMessage]) -> str:
    """What a user has said first of all."""
    said = (str(each.content) for each in messages if isinstance(each, HumanMessage))
    return next(said, "")
