"""Between the breaker and the frameworks that agents are written in: one small module for each,
which is imported when it is asked for. Nothing here needs any of them.
"""

from pytest_tripwire.adapters.adoption import Adoption, Described, UnknownToolError
from pytest_tripwire.adapters.batches import ain_order, aside_by_side, in_order, side_by_side
from pytest_tripwire.adapters.bridge import (
    Body,
    Bridge,
    Caller,
    GuardedTool,
    Native,
    as_text,
    handoff_spec,
    is_refused,
    waits_for_yes,
)
from pytest_tripwire.adapters.forms import WrongFormError, awaited, plain
from pytest_tripwire.adapters.known import (
    FRAMEWORKS,
    MissingFrameworkError,
    framework_of,
    load,
    required,
)
from pytest_tripwire.guard.errors import NotBegun

__all__ = [
    "FRAMEWORKS",
    "Adoption",
    "Body",
    "Bridge",
    "Caller",
    "Described",
    "GuardedTool",
    "MissingFrameworkError",
    "Native",
    "NotBegun",
    "UnknownToolError",
    "WrongFormError",
    "ain_order",
    "as_text",
    "aside_by_side",
    "awaited",
    "framework_of",
    "handoff_spec",
    "in_order",
    "is_refused",
    "load",
    "plain",
    "required",
    "side_by_side",
    "waits_for_yes",
]
