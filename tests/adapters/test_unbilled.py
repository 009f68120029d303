"""Which requests that brought no answer cannot have cost anything."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_tripwire.adapters.unbilled import cost_nothing


def error(name: str, base: type[Exception] = Exception, **fields: Any) -> Exception:
    """An error of some library's."""
    made = type(name, (base,), {})("no answer")
    vars(made).update(fields)
    return made


def caused(outer: Exception, inner: BaseException) -> Exception:
    outer.__cause__ = inner
    return outer


NOTHING = {
    "nobody listens": ConnectionRefusedError("refused"),
    "no address": caused(error("APIConnectionError"), error("ConnectError")),
    "two layers": caused(
        error("OurError"), caused(error("APIConnectionError"), error("PoolTimeout"))
    ),
    "refused": error("APIStatusError", status_code=429),
    "a client's own response": error("HTTPError", response=SimpleNamespace(status_code=503)),
    "by its code": error("ClientError", code=400),
    "of botocore": error(
        "ClientError", response={"ResponseMetadata": {"HTTPStatusCode": 400}, "Error": {}}
    ),
    "wrapped": caused(error("OurError"), error("APIStatusError", status_code=500)),
    "refused, and told so": error("ModelRateLimitError"),
    "refused behind a connection": caused(
        error("ModelHTTPError", status_code=503), error("APIConnectionError")
    ),
    "each of several": ExceptionGroup(
        "all", [error("APIStatusError", status_code=500), ConnectionRefusedError("refused")]
    ),
}
PERHAPS = {
    "timed out": caused(
        error("OpenAITimeoutError", error("APIConnectionError").__class__), error("ReadTimeout")
    ),
    "broke off": caused(error("APIConnectionError"), error("RemoteProtocolError")),
    "of Python": TimeoutError("late"),
    "somewhere on the way": ConnectionError("down"),
    "a status that nobody has sent": error("APIConnectionError", status_code=500),
    "lost behind a status": caused(error("OurError"), error("APIConnectionError", status_code=500)),
    "an answer that nobody could read": ValueError("no JSON"),
    "cut at its length": error("LengthFinishReasonError"),
    "in a stream that had begun": error("APIStatusError", status_code=200),
    "in a stream, with a status": error("ModelHTTPError", status_code=529, in_stream=True),
    "no status": error("Odd", status_code="429", code="rate_limit", response=None),
    "one of several": ExceptionGroup(
        "all", [error("APIStatusError", status_code=500), TimeoutError("late")]
    ),
    "while another was handled": error("Odd"),
    "cut off": asyncio.CancelledError(),
}
PERHAPS["while another was handled"].__context__ = ConnectionRefusedError("refused")


@pytest.mark.parametrize("case", NOTHING)
def test_what_was_never_sent_or_was_refused_has_cost_nothing(case: str) -> None:
    assert cost_nothing(NOTHING[case])


@pytest.mark.parametrize("case", PERHAPS)
def test_all_else_may_have_been_billed(case: str) -> None:
    assert not cost_nothing(PERHAPS[case])


def test_causes_that_go_round_come_to_an_end() -> None:
    one, other = error("Odd"), error("Odd")
    caused(one, other)
    caused(other, one)

    assert not cost_nothing(one)
