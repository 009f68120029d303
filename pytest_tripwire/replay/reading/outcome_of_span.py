"""What a call came back with, as telemetry tells of it."""

from __future__ import annotations

import re
from typing import Any

from pytest_tripwire.replay.reading import names
from pytest_tripwire.replay.reading.span import Span
from pytest_tripwire.replay.trace import Recorded

_TIMEOUT = re.compile(r"time_?d?_?\W?out|deadline_?exceeded|^(408|504)$", re.IGNORECASE)
#: Words of policy. Anything else that failed may have had an effect.
_DENIED = re.compile(
    r"(^|\.)(denied|forbidden|403|permission_?denied|access_?denied|policy_?denied)"
    r"(error|exception)?$",
    re.IGNORECASE,
)
#: Classes of errors that say nothing.
_VAGUE = frozenset({"_OTHER", "tool_error", "Error", "Exception"})


def outcome_of(span: Span, result: Any) -> Recorded:
    """The outcome of a tool call.

    Args:
        span: that tells of it.
        result: what came back, where that was recorded.
    """
    if not span.failed:
        return Recorded(status="ok", result=result)
    kind = span.text(names.ERROR) or ""
    return Recorded(status=_status(kind or span.said), error=_error(span, kind, result))


def _status(kind: str) -> str:
    if _TIMEOUT.search(kind):
        return "timeout"
    return "denied" if _DENIED.search(kind) else "error"


def _error(span: Span, kind: str, result: Any) -> Any:
    """The class of the error with its text, or the result that tells of it."""
    text = span.text(names.ERROR_TEXT) or span.said
    named = "" if kind in _VAGUE else kind
    said = ": ".join(filter(None, (named, text)))
    return said or (kind if result is None else result) or "failed"
