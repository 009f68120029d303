"""What a team would declare of the desk's tools, for the tests of agents that guard themselves."""

from __future__ import annotations

from typing import Any

from pytest_tripwire.timeline import Effect, ToolSpec


def declared(name: str, effect: Effect, **fields: Any) -> ToolSpec:
    """What a team would declare of one of the desk's tools."""
    return ToolSpec(
        name=name,
        effect=effect,
        definite_failures=("NotAcceptedError", "RateLimitedError", "UnknownRecordError"),
        denials=("PolicyDeniedError",),
        **fields,
    )


BY_ORDER: dict[str, Any] = {"operation": "refund", "identity": ("order_id",)}
DESK = {
    each.name: each
    for each in (
        declared("search_articles", Effect.READ, identity=("topic",), wording=("query",)),
        declared(
            "issue_refund", Effect.WRITE, wording=("reason",), result_id="refund_id", **BY_ORDER
        ),
        declared(
            "issue_credit", Effect.WRITE, wording=("note",), result_id="refund_id", **BY_ORDER
        ),
        declared("get_refund", Effect.READ, identity=("order_id",)),
        declared("get_order", Effect.READ, identity=("order_id",), result_version="version"),
        declared(
            "hand_over",
            Effect.HANDOFF,
            identity=("to", "order_id"),
            wording=("note",),
            required_fields=("findings",),
        ),
    )
}
