"""A guarded tool looks like the tool, and asks before it runs."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from pytest_tripwire.breaker import Breaker, Mode, RunBudget, ToolSpec, tool_spec
from pytest_tripwire.guard import Staged, UndeclaredToolError
from pytest_tripwire.timeline import Effect

SHUT = RunBudget(max_tool_calls=0)


@tool_spec(effect="read")
def search(query: str, limit: int = 3) -> list[str]:
    """Find things.

    Args:
        query: what to find.
    """
    return [query] * limit


def read(name: str) -> dict[str, ToolSpec]:
    return {name: ToolSpec(name=name, effect=Effect.READ)}


def guarded(tool: Callable[..., Any], budget: RunBudget | None = None, name: str = "tool") -> Any:
    run = Breaker(budget=budget).run()
    return run.guard({name: tool}, read(name))[name]


# -- looks


def test_name_signature_docstring_and_types_are_kept() -> None:
    (tool,) = Breaker().run().guard([search])

    assert tool.__name__ == "search"
    assert tool.__doc__ == search.__doc__
    assert tool.__module__ == search.__module__
    assert inspect.signature(tool) == inspect.signature(search)
    assert typing.get_type_hints(tool) == typing.get_type_hints(search)
    assert not inspect.iscoroutinefunction(tool)
    assert tool("a") == ["a"] * 3
    assert tool(limit=1, query="b") == ["b"]


def test_an_async_tool_stays_one() -> None:
    async def fetch(url: str) -> str:
        """Get it."""
        return url

    tool = guarded(fetch)

    assert inspect.iscoroutinefunction(tool)
    assert (tool.__name__, tool.__doc__) == ("fetch", "Get it.")
    assert inspect.signature(tool) == inspect.signature(fetch)


def test_the_shape_of_what_is_guarded_is_the_shape_of_what_comes_back() -> None:
    run = Breaker().run()

    assert isinstance(run.guard([search]), list)
    assert isinstance(run.guard((search,)), list)
    assert list(run.guard({"search": search})) == ["search"]


def test_a_tool_without_a_name_gets_the_one_it_is_known_by() -> None:
    class Callable_:  # noqa: N801 - a class of callables
        def __call__(self, query: str) -> str:
            return query

    for tool in (functools.partial(search, limit=1), Callable_()):
        assert guarded(tool, name="find").__name__ == "find"
        assert guarded(tool, name="find")(query="a") in (["a"], "a")


def test_bound_methods_are_tools() -> None:
    class Shop:
        def __init__(self) -> None:
            self.asked: list[str] = []

        @tool_spec(effect="read")
        def look(self, name: str) -> str:
            self.asked.append(name)
            return name

    shop = Shop()
    (look,) = Breaker().run().guard([shop.look])

    assert (look("a"), look(name="b")) == ("a", "b")
    assert shop.asked == ["a", "b"]
    assert list(inspect.signature(look).parameters) == ["name"]


def test_a_mock_is_called_like_any_tool() -> None:
    tool = Mock(return_value="done")

    assert guarded(tool)(order="A-1") == "done"
    tool.assert_called_once_with(order="A-1")
    assert guarded(tool, SHUT)(order="A-1")["reason"] == "tool_call_budget"
    tool.assert_called_once()


# -- asks


def test_a_refused_call_does_not_enter_the_tool() -> None:
    entered: list[str] = []
    tool = guarded(entered.append, SHUT)

    told = tool("a")

    assert told["refused"] is True
    assert told["reason"] == "tool_call_budget"
    assert entered == []


class OwnError(Exception):
    """A tool's own."""


class OwnExit(BaseException):
    """A tool's own, of the kind that is not caught."""


@pytest.mark.parametrize("error", [OwnError("x"), KeyError("x"), OwnExit(), KeyboardInterrupt()])
@pytest.mark.parametrize("effect", [Effect.READ, Effect.WRITE])
def test_an_exception_passes_through_unchanged(error: BaseException, effect: Effect) -> None:
    def tool() -> None:
        raise error

    run = Breaker().run()
    run.guard({"tool": tool}, {"tool": ToolSpec(name="tool", effect=effect)})

    with pytest.raises(type(error)) as told:
        run.call("tool", {})

    assert told.value is error
    assert told.value.__cause__ is None
    assert not hasattr(error, "__notes__")


@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ((), {"query": "a", "colour": "red"}, "colour"),
        ((), {}, "query"),
        (("a", 1, 2), {}, "too many positional"),
        (("a",), {"query": "b"}, "multiple values"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    args: tuple[Any, ...], kwargs: dict[str, Any], said: str
) -> None:
    entered: list[str] = []

    def tool(query: str, limit: int = 3) -> None:
        entered.append(query * min(limit, 1))

    run = Breaker(budget=RunBudget(max_tool_calls=1)).run()
    call = run.guard({"tool": tool}, read("tool"))["tool"]

    told = call(*args, **kwargs)

    assert told["reason"] == "invalid_arguments"
    assert said in told["message"]
    assert "Correct the arguments" in told["message"]
    assert entered == []
    assert run.mode is Mode.OPEN
    assert call("a") is None
    assert entered == ["a"]


def test_names_that_the_guard_uses_itself_are_free_for_tools() -> None:
    def tool(  # noqa: PLR0917 - all the names that could clash
        name: str,
        arguments: str,
        args: str,
        kwargs: str,
        call_id: str,
        agent: str,
        tool: str,
        func: str,
        cls: str,
    ) -> list[str]:
        return [name, arguments, args, kwargs, call_id, agent, tool, func, cls]

    names = list(inspect.signature(tool).parameters)
    values = {name: name.upper() for name in names}

    assert guarded(tool)(**values) == [name.upper() for name in names]
    assert guarded(tool)(*values.values()) == [name.upper() for name in names]


def test_a_parameter_named_self_is_one_like_any() -> None:
    def tool(self: str, other: str = "") -> str:
        return self + other

    assert guarded(tool)(self="a", other="b") == "ab"
    assert guarded(tool)("a", "b") == "ab"


def test_variable_arguments_reach_the_tool_and_the_fingerprint() -> None:
    sent: list[Any] = []

    def tool(first: int, /, *rest: int, **named: Any) -> None:
        sent.append((first, rest, named))

    run = Breaker().run()
    call = run.guard({"tool": tool}, {"tool": ToolSpec(name="tool", effect=Effect.WRITE)})["tool"]

    call(1, 2, 3, named="x", first="y")
    call(1, 2, 3, named="x", first="z")
    call(2, 2, 3, named="x", first="y")
    assert call(1, 2, 3, named="x", first="y")["reason"] == "duplicate_write"

    assert sent == [
        (1, (2, 3), {"named": "x", "first": "y"}),
        (1, (2, 3), {"named": "x", "first": "z"}),
        (2, (2, 3), {"named": "x", "first": "y"}),
    ]


def test_a_default_is_the_same_call_as_its_value() -> None:
    sent: list[tuple[str, int]] = []

    def tool(order: str, amount: int = 10) -> None:
        sent.append((order, amount))

    run = Breaker().run()
    call = run.guard({"tool": tool}, {"tool": ToolSpec(name="tool", effect=Effect.WRITE)})["tool"]
    call("A")

    assert call("A", amount=10)["reason"] == "duplicate_write"
    assert call(order="A")["reason"] == "duplicate_write"
    assert sent == [("A", 10)]


class GoneError(LookupError):
    """A failure that has parents."""


@pytest.mark.parametrize("declared", [GoneError, LookupError, "GoneError", "LookupError"])
def test_a_declared_failure_comes_before_any_effect(declared: type[Exception] | str) -> None:
    entered: list[str] = []

    @tool_spec(effect="write", definite_failures=(ValueError, declared))
    def pay(order: str) -> None:
        entered.append(order)
        raise GoneError(order)

    run = Breaker(budget=RunBudget(max_side_effects=1)).run()
    (tool,) = run.guard([pay])
    for order in "ABC":  # of one order it would be a loop
        with pytest.raises(GoneError):
            tool(order)

    assert entered == ["A", "B", "C"]
    assert run.close() is None


@pytest.mark.parametrize("declared", [ValueError, "Gone", "goneerror", KeyError])
def test_a_failure_that_nobody_declared_proves_nothing(declared: type[Exception] | str) -> None:
    @tool_spec(effect="write", definite_failures=(declared,))
    def pay(order: str) -> None:
        raise GoneError(order)

    run = Breaker().run()
    (tool,) = run.guard([pay])
    with pytest.raises(GoneError):
        tool("A")

    assert tool("A")["reason"] == "unknown_side_effect"


# -- declarations


def test_a_tool_that_nobody_declared_is_named_with_the_lines_to_write() -> None:
    def pay(order: str) -> None: ...

    with pytest.raises(UndeclaredToolError) as told:
        Breaker().run().guard([pay])

    for line in (
        "'pay'",
        '@tool_spec(effect="read")',
        '@tool_spec(effect="write", identity=',
        "specs={'pay': ToolSpec(name='pay', effect=...)}",
        "default_effect=",
    ):
        assert line in str(told.value)


def test_a_default_effect_is_taken_where_nothing_is_declared() -> None:
    def pay(order: str) -> str:
        return order

    run = Breaker(default_effect="write").run()
    (call,) = run.guard([pay])

    assert call("A") == "A"
    assert call("A")["reason"] == "duplicate_write"


def test_declarations_given_to_the_breaker_are_enough() -> None:
    def pay(order: str) -> str:
        return order

    run = Breaker(specs={"pay": ToolSpec(name="pay", effect=Effect.WRITE)}).run()
    (call,) = run.guard([pay])

    assert call("A") == "A"
    assert call("A")["reason"] == "duplicate_write"


def test_a_table_outweighs_the_decorator() -> None:
    run = Breaker().run()
    (call,) = run.guard([search], {"search": ToolSpec(name="search", effect=Effect.WRITE)})

    call("a")
    assert call("a")["reason"] == "duplicate_write"


def test_a_tool_may_be_known_by_another_name_and_is_still_the_same_write() -> None:
    sent: list[str] = []

    @tool_spec(effect="write", identity=("order",))
    def pay(order: str) -> None:
        sent.append(order)

    breaker = Breaker()
    run = breaker.run(request_id="m-1")
    call = run.guard({"collect": pay})["collect"]
    other = breaker.run(request_id="m-1").guard([pay])[0]

    assert call("A") is None
    assert call("A")["reason"] == "duplicate_write"
    assert other("A")["reason"] == "duplicate_write"
    assert sent == ["A"]


# -- staged tools


class StagedTool:
    """Counts its starts apart from its work."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def start(self, order: str) -> Callable[[], str]:
        self.done.append(f"start {order}")

        def rest() -> str:
            self.done.append(f"rest {order}")
            return order

        return rest

    def __call__(self, order: str) -> str:
        raise AssertionError(f"a staged tool is started, not called with {order}")


def test_a_staged_tool_is_started_and_then_finished() -> None:
    tool = StagedTool()
    assert isinstance(tool, Staged)

    call = guarded(tool)

    assert call("A") == "A"
    assert tool.done == ["start A", "rest A"]
    assert not isinstance(call, Staged)
    assert list(inspect.signature(call).parameters) == ["order"]


def test_a_stop_between_decision_and_start_takes_the_admission_back() -> None:
    sent: list[str] = []

    @tool_spec(effect="write", identity=("order",))
    def pay(order: str) -> None:
        sent.append(order)

    breaker = Breaker(budget=RunBudget(max_side_effects=2, max_turns=0, max_tool_calls=2))
    run = breaker.run()
    run.guard([pay])

    class StopsWhenAsked:
        """The allowing verdict is the last thing before the start; stop the run right there."""

        def __init__(self, controller: Any) -> None:
            self.controller = controller

        def __getattr__(self, name: str) -> Any:
            return getattr(self.controller, name)

        def propose(self, call: Any, **about: Any) -> Any:
            verdict = self.controller.propose(call, **about)
            assert verdict.allowed
            assert not self.controller.before_model().allowed
            return verdict

    run._controller = StopsWhenAsked(run._controller)  # noqa: SLF001 - no public moment is there
    told = run.call("pay", {"order": "A"})

    assert told["reason"] == "turn_budget"
    assert sent == []
    assert [entry.status.value for entry in breaker.store.of_run(run.run_id)] == ["rejected"]
    assert {line.name: line.spent for line in run.budgets()} == {
        "max_turns": 0,
        "max_tool_calls": 0,
        "max_side_effects": 0,
    }
    assert run.mode is Mode.STOPPED


def test_a_tool_that_is_guarded_anew_as_a_staged_one_is_entered_as_one() -> None:
    entered: list[str] = []

    class Staged:
        def start(self, order: str) -> Any:
            entered.append(order)
            return lambda: f"staged {order}"

        def __call__(self, order: str) -> str:
            raise AssertionError(order)

    run = Breaker(default_effect="read").run()
    run.guard({"look": lambda order: f"plain {order}"})
    assert run.call("look", {"order": "A"}) == "plain A"
    run.guard({"look": Staged()})

    assert run.call("look", {"order": "B"}) == "staged B"
    assert entered == ["B"]


def test_a_name_cannot_be_a_read_and_a_write_in_one_run() -> None:
    run = Breaker().run()
    run.guard({"send": lambda to: to}, {"send": ToolSpec(name="send", effect=Effect.WRITE)})

    with pytest.raises(TypeError, match="two tools of this run are called 'send'"):
        run.guard({"send": lambda to: to}, {"send": ToolSpec(name="send", effect=Effect.READ)})


WRITES = ToolSpec(name="send", effect=Effect.WRITE, identity=("to",))


@pytest.mark.parametrize(
    "other",
    [
        {"identity": ("to", "batch")},
        {"identity": None},
        {"operation": "post"},
        {"wording": ("note",)},
        {"volatile": ("stamp",)},
        {"repeatable": True},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_write_by_which_an_earlier_one_would_not_be_known_again_is_refused(
    other: dict[str, Any],
) -> None:
    run = Breaker().run()
    run.guard({"send": lambda to, batch="": to}, {"send": WRITES})
    again = msgspec.structs.replace(WRITES, **other)

    with pytest.raises(TypeError, match=f"declared differently .*{next(iter(other))}|kind"):
        run.guard({"send": lambda to, batch="": to}, {"send": again})

    assert run.declared("send").identity == ("to",)


@pytest.mark.parametrize(
    "other",
    [{"cost": Decimal(2)}, {"definite_failures": (ValueError,)}, {"reconcile": "look"}],
    ids=lambda other: next(iter(other)),
)
def test_what_changes_nothing_about_that_may_be_declared_anew(other: dict[str, Any]) -> None:
    run = Breaker().run()
    run.guard({"send": lambda to: to}, {"send": WRITES})

    run.guard({"send": lambda to: to}, {"send": msgspec.structs.replace(WRITES, **other)})


def test_a_read_may_be_declared_in_two_ways() -> None:
    run = Breaker().run()
    one, two = (ToolSpec(name="look", effect=Effect.READ, identity=(each,)) for each in "ab")

    run.guard({"look": lambda a, b: a}, {"look": one})
    run.guard({"look": lambda a, b: b}, {"look": two})


def made(name: str, done: list[str], operation: str | None = None) -> Any:
    """A tool as a factory makes it: each has the name of the inner function."""

    @tool_spec(effect="write", identity=("order",), operation=operation)
    def call(order: str) -> str:
        done.append(f"{name} {order}")
        return "done"

    return call


def test_two_functions_that_are_only_called_alike_are_not_taken_for_one_operation() -> None:
    run = Breaker().run()

    with pytest.raises(TypeError, match="'ship' and 'refund' are two functions called 'call'"):
        run.guard({name: made(name, []) for name in ("ship", "refund")})


def test_once_they_say_what_they_do_each_does_its_own() -> None:
    done: list[str] = []
    run = Breaker().run()
    run.guard({name: made(name, done, operation=name) for name in ("ship", "refund")})

    run.call("ship", {"order": "A"})
    run.call("refund", {"order": "A"})

    assert done == ["ship A", "refund A"]


def test_one_function_under_two_names_does_one_thing() -> None:
    done: list[str] = []
    pay = made("pay", done)
    run = Breaker().run()
    run.guard({"pay": pay, "settle": pay})

    run.call("pay", {"order": "A"})

    assert run.call("settle", {"order": "A"})["refused"]
    assert done == ["pay A"]
