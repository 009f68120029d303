"""Whether a model request that brought no answer can have cost anything.

Frameworks ask models by many libraries, which are not all installed. So their errors are told by
names, and by the status that they carry. Whatever is not told so may have been billed: a request
that timed out, a stream that broke off, an answer in full that nobody could read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: What goes wrong before anything was sent: of Python, httpx, aiohttp, urllib3, botocore and
#: Pydantic AI.
_NEVER_SENT = frozenset(
    {
        "ConnectionRefusedError",
        "gaierror",
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
        "UnsupportedProtocol",
        "ClientConnectorError",
        "NewConnectionError",
        "ConnectTimeoutError",
        "EndpointConnectionError",
        "ConcurrencyLimitExceeded",
    }
)
#: What goes wrong on the way. Some carry a status all the same, which no provider has given.
_LOST = frozenset(
    {
        "ConnectionError",
        "TimeoutError",
        "TransportError",
        "ClientConnectionError",
        "APIConnectionError",
        "ModelConnectionError",
        "ModelTimeoutError",
    }
)
#: What a provider has answered, where the framework's error has no status: of LangChain and
#: Pydantic AI.
_REFUSED = frozenset(
    {
        "ModelAuthenticationError",
        "ModelPermissionDeniedError",
        "ModelInvalidRequestError",
        "ModelNotFoundError",
        "ModelRateLimitError",
        "ModelRequestRejectedError",
        "ModelQuotaExceededError",
        "ModelUnavailableError",
        "ContextOverflowError",
    }
)
_BEFORE = ("pool", "connect")
_ERRORS = range(400, 600)


def cost_nothing(error: BaseException) -> bool:
    """Whether a request that ended so was never sent, or was answered by an error. Of several
    requests that ended together, each.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(cost_nothing(each) for each in error.exceptions)
    errors = list(_causes(error))
    if any(getattr(each, "in_stream", False) is True for each in errors):
        return False  # the answer had begun
    return any(_was_not_sent(each) for each in errors) or _was_refused(errors)


def _was_not_sent(error: BaseException) -> bool:
    """By its name, or by the phase that Pydantic AI names."""
    return bool(_names(error) & _NEVER_SENT) or getattr(error, "phase", None) in _BEFORE


def _was_refused(errors: list[BaseException]) -> bool:
    """What the outermost error says that says anything, as it knows of those within."""
    for each in errors:
        names = _names(each)
        if names & _LOST:
            return False
        if names & _REFUSED or _status(each) in _ERRORS:
            return True
    return False


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error, what it was raised from, and so on."""
    seen: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in seen:
        seen.add(id(here))
        yield here
        here = here.__cause__


def _names(error: BaseException) -> set[str]:
    return {kind.__name__ for kind in type(error).__mro__}


def _status(error: BaseException) -> int | None:
    """The status of the answer, wherever a library has it."""
    response: Any = getattr(error, "response", None)
    if isinstance(response, Mapping):
        told = response.get("ResponseMetadata")
        candidates = [told.get("HTTPStatusCode") if isinstance(told, Mapping) else None]
    else:
        candidates = [getattr(response, "status_code", None)]
    candidates += [getattr(error, "status_code", None), getattr(error, "code", None)]
    return next((each for each in candidates if isinstance(each, int)), None)
