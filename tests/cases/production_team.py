"""A team that has a breaker in production, and knows what to declare."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import msgspec

from pytest_tripwire import Breaker, RunBudget, ToolSpec
from pytest_tripwire.world.desk import OPERATIONS
from pytest_tripwire.world.parts import parts_of

#: What the roles tell of the desk's tools: a team that knows its own would say the same.
TOLD = {
    spec.name: msgspec.structs.replace(spec, denials=("Forbidden",))
    for spec in (part.spec() for each in OPERATIONS for part in parts_of(each, each.default))
}
#: What a good team declares of the desk's tools.
WRITTEN = {
    each.name: each
    for each in (
        ToolSpec(
            name="search_articles",
            effect="read",
            identity=("topic",),
            wording=("query",),
            cursor=("page",),
        ),
        ToolSpec(name="get_order", effect="read", identity=("order_id",), result_version="version"),
        ToolSpec(name="get_refund", effect="read", identity=("order_id",)),
        ToolSpec(
            name="issue_refund",
            effect="write",
            operation="refund",
            identity=("order_id",),
            wording=("reason",),
            volatile=("request_id",),
            denials=("Forbidden",),
        ),
        ToolSpec(
            name="issue_credit",
            effect="write",
            operation="refund",
            identity=("order_id",),
            wording=("note",),
            volatile=("request_id",),
            denials=("Forbidden",),
        ),
        ToolSpec(
            name="hand_over",
            effect="handoff",
            identity=("to", "order_id"),
            wording=("note",),
            required_fields=("findings",),
        ),
    )
}
SPECS = {**TOLD, **WRITTEN}
GOOD = RunBudget(
    max_turns=40,
    usual_turns=10,
    max_tool_calls=60,
    max_side_effects=4,
    deadline_s=900,
    max_model_cost_usd=Decimal(5),
    max_tokens=50_000,
)


def factory(**settings_: Any) -> Callable[..., Breaker]:
    """A team's factory."""

    def make_breaker(**overrides: Any) -> Breaker:
        own = {"budget": GOOD, "specs": SPECS, **settings_}
        return Breaker(**{**own, **overrides})

    return make_breaker


def limited(**limits: Any) -> Callable[..., Breaker]:
    """A factory whose budget has these limits, and those of the good one besides."""
    return factory(budget=msgspec.structs.replace(GOOD, **limits))
