"""What a model or a tool can send that nobody expects: no decision raises, and none takes long."""

from __future__ import annotations

import time
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Decision, Outcome, Reason, Status, ToolCall, ToolSpec
from pytest_tripwire.breaker.words import is_id

#: Seconds of this process's own time, so that a busy machine makes no difference: far more than any
#: decision takes, far less than a regular expression that goes astray.
PATIENCE_S = 20.0


class Rude:
    """Raises whenever it is looked into."""

    def __eq__(self, _other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")

    def __str__(self) -> str:
        raise RuntimeError("no")


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def cyclic() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def shared(width: int, depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value] * width
    return value


VALUES: dict[str, Any] = {
    "a number of many digits": 10**5000,
    "a number that no float holds": 10**400,
    "not a number": float("nan"),
    "rude": Rude(),
    "deep": nested(1100),
    "cyclic": cyclic(),
    "shared": shared(10, 10),
    "half a surrogate pair": "\ud800",
    "one long word": "a" * 100_000,
    "letters and digits": "a" * 2000 + "1" * 2000 + "=a",
    "a long text": "word 17 " * 200_000,
    "bytes": b"\xff",
}


@pytest.mark.parametrize("effect", ["read", "write"])
@pytest.mark.parametrize("identity", [None, ("x",)])
@pytest.mark.parametrize("what", VALUES)
def test_value_as_argument_and_as_result(
    what: str, identity: tuple[str, ...] | None, effect: str
) -> None:
    spec = ToolSpec(name="tool", effect=effect, identity=identity)  # type: ignore[arg-type]
    run = Breaker(specs={"tool": spec}).run()
    began = time.process_time()

    for number in range(3):
        call = ToolCall(call_id=str(number), tool="tool", arguments={"x": VALUES[what]})
        if run.decide(call).allowed:
            run.settle(call, Outcome(status=Status.OK, result=VALUES[what]))
        plain = ToolCall(call_id=f"p{number}", tool="tool", arguments={"x": f"o-{number}"})
        if run.decide(plain).allowed:
            run.settle(plain, Outcome(status=Status.OK, result={"id": VALUES[what]}))

    assert time.process_time() - began < PATIENCE_S


@pytest.mark.parametrize("name", [1, None, ("a",)])
def test_argument_without_a_name_is_refused(name: Any) -> None:
    run = Breaker(specs={"tool": ToolSpec(name="tool", effect="read")}).run()  # type: ignore[arg-type]

    verdict = run.decide(ToolCall(call_id="1", tool="tool", arguments={name: "x"}))

    assert verdict.decision is Decision.REFUSE
    assert verdict.reason is Reason.INVALID_ARGUMENTS


def test_id_is_told_from_a_long_text_at_once() -> None:
    began = time.process_time()

    assert not is_id("a" * 600 + "1" * 600 + "=")
    assert not is_id("a" * 100_000)
    assert is_id("R-7")
    assert time.process_time() - began < 1.0
