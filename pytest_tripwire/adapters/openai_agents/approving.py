"""A person's yes, as the SDK has kept it."""

from __future__ import annotations

from typing import Any


def has_yes(context: Any, tool: str, call_id: str) -> bool:
    """Whether a person has said yes to a call that the breaker wants a yes to. A yes to this and
    all later calls counts for this one alone, and is no longer one to the others: what a person has
    not been shown, nobody has agreed to. The SDK asks for those again.
    """
    if not context.is_tool_approved(tool, call_id):
        return False
    for key, record in context._approvals.items():  # noqa: SLF001 - the SDK has no other road
        # A key of later releases says whose tool it is, too.
        if getattr(key, "tool_key", key) == tool and record.approved is True:
            record.approved, record.sticky_scope = [call_id], None
    return True
