"""Results of a call, as adapters read them and as a model is shown them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pytest_tripwire.timeline import Reason


def is_refused(result: Any) -> bool:
    """Whether a result is the breaker's refusal."""
    return isinstance(result, Mapping) and result.get("refused") is True


def waits_for_yes(result: Any) -> bool:
    """Whether a call waits for a person's first yes, under the id in its `call_id`. One that was
    given before the record changed, or before the write was made by somebody else, answers another
    question; so does one that has run out.
    """
    return is_refused(result) and "call_id" in result and result.get("reason") == Reason.DENIED


def as_text(result: Any) -> str:
    """A result as the model is shown it, where a framework takes text alone."""
    return result if isinstance(result, str) else json.dumps(result, default=str)
