"""What a failure says: nothing happened, the tool is down, or nobody knows."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Effect, RunBudget, ToolSpec
from pytest_tripwire.guard.calling import failed, returned
from pytest_tripwire.timeline import Status


class BusyError(Exception):
    """Declared, or not."""


class VeryBusyError(BusyError):
    """A kind of it."""


class UnspeakableError(Exception):
    """Cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


def spec(effect: Effect, **declared: Any) -> ToolSpec:
    return ToolSpec(name="tool", effect=effect, **declared)


EFFECTS = [Effect.READ, Effect.HANDOFF, Effect.WRITE]
DECLARED = [(BusyError,), ("BusyError",), ("OtherError", BusyError)]


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("effect", EFFECTS)
def test_a_declared_transient_error_of_a_write_proves_nothing(
    effect: Effect, declared: tuple[Any, ...]
) -> None:
    told = failed(VeryBusyError("no such order"), spec(effect, transient_errors=declared))

    assert told.status is (Status.UNKNOWN if effect is Effect.WRITE else Status.TRANSIENT)
    assert told.error == "VeryBusyError"


@pytest.mark.parametrize("effect", EFFECTS)
def test_what_is_definite_too_proves_that_nothing_happened(effect: Effect) -> None:
    declared = spec(effect, transient_errors=(BusyError,), definite_failures=(BusyError,))

    assert failed(BusyError(), declared).status is Status.DEFINITE


@pytest.mark.parametrize("effect", EFFECTS)
def test_a_denial_goes_before_everything(effect: Effect) -> None:
    declared = spec(effect, denials=(BusyError,), definite_failures=(BusyError,))

    assert failed(BusyError(), declared).status is Status.DENIED


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("text", ["order not found", "invalid amount", "403 forbidden", ""])
def test_no_words_of_a_write_prove_anything(text: str, composite: bool) -> None:  # noqa: FBT001 - both kinds
    """They may come from a read that it makes after it wrote."""
    told = failed(LookupError(text), spec(Effect.WRITE, composite=composite))

    assert told.status is Status.UNKNOWN


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("order A-1 not found", Status.DEFINITE),
        ("validation failed: amount", Status.DEFINITE),
        ("429 too many requests", Status.DEFINITE),
        ("connection reset by peer", Status.TRANSIENT),
        ("not found: gateway timed out", Status.TRANSIENT),
        ("boom", Status.TRANSIENT),
        ("", Status.TRANSIENT),
    ],
)
def test_a_read_that_says_no_is_up(text: str, status: Status) -> None:
    assert failed(RuntimeError(text), spec(Effect.READ)).status is status


def test_an_error_that_cannot_say_what_it_is_breaks_nothing() -> None:
    told = failed(UnspeakableError(), spec(Effect.READ))

    assert (told.status, told.error) == (Status.TRANSIENT, "UnspeakableError")


@pytest.mark.parametrize(
    ("result", "declared", "status"),
    [
        ({"error": "Busy"}, {"transient_errors": ("Busy",)}, Status.TRANSIENT),
        ({"error": "Gone"}, {"definite_failures": ("Gone",)}, Status.DEFINITE),
        ({"error": "order not found"}, {}, Status.DEFINITE),
        ({"error": "timed out"}, {}, Status.TRANSIENT),
        ({"error": 7}, {}, Status.TRANSIENT),
        ({"isError": True, "content": [{"type": "text", "text": "no such order"}]}, {}, "definite"),
        ({"isError": True, "content": [7, None, {"text": 7}]}, {}, Status.TRANSIENT),
        ({"isError": True, "content": "invalid id"}, {}, Status.DEFINITE),
        ({"isError": True}, {}, Status.TRANSIENT),
        ({"error": ""}, {}, Status.OK),
        ({"error": None}, {}, Status.OK),
    ],
)
def test_a_read_that_returns_an_error_says_the_same(
    result: dict[str, Any], declared: dict[str, Any], status: Status
) -> None:
    told = returned(result, spec(Effect.READ, error_field="error", **declared))

    assert told.status is Status(status)


@pytest.mark.parametrize(
    ("error", "declared", "status"),
    [
        ("not found", {}, Status.UNKNOWN),
        ("Busy", {"transient_errors": ("Busy",)}, Status.UNKNOWN),
        ("Gone", {"definite_failures": ("Gone",)}, Status.DEFINITE),
    ],
)
def test_a_write_that_returns_an_error_is_unknown_unless_it_is_declared(
    error: str, declared: dict[str, Any], status: Status
) -> None:
    told = returned({"error": error}, spec(Effect.WRITE, error_field="error", **declared))

    assert told.status is status


def test_what_a_call_says_that_it_cost_is_paid() -> None:
    run = Breaker(default_effect="read", budget=RunBudget(max_model_cost_usd="1.00")).run()  # type: ignore[arg-type]
    specs = {"look": ToolSpec(name="look", effect=Effect.READ, cost_field="price")}
    tools = run.guard({"look": lambda order: {"order": order, "price": 0.4}}, specs)
    told = [tools["look"](order) for order in ("A", "B", "C")]

    assert told[2]["reason"] == "cost_budget"
    assert str(run.stats().cost_usd) == "0.8"
