"""Pays for requests of LangChain's models."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.adapters.unbilled import cost_nothing
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.guard import BreakerRun


def pay(run: BreakerRun, message: Any) -> None:
    """Pay for the request that a message answers."""
    metadata = getattr(message, "response_metadata", None) or {}
    run.after_model(
        usage_of(message),
        message.text if message is not None else "",
        model=metadata.get("model_name") or metadata.get("model"),
        provider=metadata.get("model_provider"),
    )


def usage_of(message: Any) -> Usage:
    """What a model's message says about its usage; what it does not say stays unknown."""
    told = getattr(message, "usage_metadata", None)
    if not told:
        return Usage()
    details = told.get("input_token_details") or {}
    return Usage(
        prompt_tokens=told.get("input_tokens"),
        completion_tokens=told.get("output_tokens"),
        cached_tokens=details.get("cache_read"),
        cache_write_tokens=details.get("cache_creation"),
    )


def unanswered(run: BreakerRun, error: BaseException) -> None:
    """Give back what was held for a request that cannot have cost anything, and pay for any other:
    what the error says that was used, where it holds an answer that nobody could read. Else what
    it has cost is unknown.
    """
    message = getattr(error, "raw_message", None)
    completion: Any = getattr(error, "completion", None)
    if getattr(message, "usage_metadata", None):
        pay(run, message)
    elif getattr(completion, "usage", None) is not None:
        run.after_model(_used(completion.usage), model=getattr(completion, "model", None))
    elif cost_nothing(error):
        run.model_failed()
    else:
        run.after_model(Usage())


def _used(told: Any) -> Usage:
    """What a completion of OpenAI's client says, which stands in its errors as it came."""
    details = getattr(told, "prompt_tokens_details", None)
    return Usage(
        prompt_tokens=getattr(told, "prompt_tokens", None),
        completion_tokens=getattr(told, "completion_tokens", None),
        cached_tokens=getattr(details, "cached_tokens", None),
    )
