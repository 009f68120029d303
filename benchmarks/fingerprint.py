"""What the fingerprint of a call costs, in times of J: JSON with sorted keys, hashed."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from benchmarks.line import Line
from benchmarks.materials import NONCES, contents, plain_hash
from benchmarks.plan import Plan
from benchmarks.timing import again, in_turns
from pytest_tripwire.breaker import Effect, ToolCall, ToolSpec
from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.fingerprint import intent_of

NAME = "fingerprint"

#: Those of a guarded call; its fingerprint alone must not cost more.
GOALS = {"20 KB in records": 0.6, "20 KB with nested nonces": 1.0, "20 KB in one text": 0.3}

_SPEC = ToolSpec(name="look_into", effect=Effect.READ)


def run(plan: Plan) -> Iterator[Line]:
    """Compare the digest and the whole fingerprint with J."""
    for size, content in contents().items():
        arguments = content if isinstance(content, dict) else {"content": content}
        times = in_turns(
            {
                "J": again(functools.partial(plain_hash, arguments), _calls(plan, content)),
                "digest": again(
                    functools.partial(digest, arguments, without=NONCES), _calls(plan, content)
                ),
                "intent": again(
                    functools.partial(intent_of, _call(arguments), _SPEC, "acme"),
                    _calls(plan, content),
                ),
            },
            rounds=plan.rounds,
        )
        for what, subject in (("digest", "digest"), ("fingerprint of a call", "intent")):
            yield Line(
                benchmark=NAME,
                what=f"{what} / J, {size}",
                value=times.ratio(subject, "J"),
                goal=GOALS.get(size),
            )


def _call(arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(call_id="call_1", tool=_SPEC.name, arguments=arguments)


def _calls(plan: Plan, content: Any) -> int:
    """Fewer calls with what is large."""
    return max(2, plan.calls // (1 + len(str(content)) // 200))
