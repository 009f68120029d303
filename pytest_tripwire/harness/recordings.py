"""Somebody else's recording around a run takes the scripted model's requests for a provider's."""

from __future__ import annotations

from collections.abc import Iterator

#: How vcrpy refuses a request that its own cassette does not hold. It need not be installed.
_REFUSAL = "CannotOverwriteExistingCassetteException"


def recording_hint(error: BaseException | None) -> str:
    """What to do where vcrpy or pytest-recording kept a request from the model server; empty if
    none did.
    """
    if not any(type(each).__name__ == _REFUSAL for each in _chain(error)):
        return ""
    return (
        "a vcrpy cassette around the run refused a request, maybe one to the model server on "
        "127.0.0.1. Let those pass: with pytest-recording, have the fixture vcr_config return "
        '{"ignore_localhost": True}.'
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
