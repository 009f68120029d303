"""What every in-process model has in common, without a framework."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
import trio

from pytest_tripwire.models import Calls, ChatCompletions, ModelServer, Move, Propose, Say, Seen
from pytest_tripwire.models.faults import CutStream, Delay, Drop, ModelFault, NoUsage, Status
from pytest_tripwire.models.inprocess.direct import Direct, LostConnectionError
from pytest_tripwire.models.request_error import RequestError

TOOL = {"type": "function", "function": {"name": "search_orders", "parameters": {}}}
BODY = {"messages": [{"role": "user", "content": "Where is it?"}], "tools": [TOOL]}

FRAMEWORKS = {
    "openai_agents": ("agents", "openai-agents"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai"),
    "langchain": ("langchain_core", "langchain"),
    "adk": ("google.adk", "adk"),
}


class FrameworkError(Exception):
    """What a framework makes of it."""


class Binder:
    def tool_name(self, role: str) -> str:
        return "search_orders"

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return dict(slots)


def search(seen: Seen) -> Move:
    return Say(text="Done.") if seen.turn else Calls(proposals=(Propose(role="search"),))


def failed(error: RequestError | LostConnectionError) -> Exception:
    return FrameworkError(f"{type(error).__name__}: {error}")


def server_of(*faults: ModelFault) -> ModelServer:
    return ModelServer(script=search, binder=Binder(), observe=lambda _: None, faults=faults)


def direct(*faults: ModelFault) -> Direct:
    return Direct(server_of(*faults).exchange, ChatCompletions(), failed)


def test_a_request_is_answered_in_the_terms_of_the_protocol() -> None:
    reply = direct().ask(BODY)

    (call,) = reply.body()["choices"][0]["message"]["tool_calls"]
    assert call["function"]["name"] == "search_orders"
    assert reply.usage is not None
    assert reply.body()["usage"]["total_tokens"] == reply.usage.prompt + reply.usage.completion


def test_it_is_noted_as_any_other() -> None:
    server = server_of()

    Direct(server.exchange, ChatCompletions(), failed).ask(BODY)

    assert server.requests == 1
    assert len(server.noted) == 1


def test_a_stream_reports_its_usage_though_nobody_asks_for_it() -> None:
    *_, last = direct().ask(BODY, stream=True).events()

    assert last["usage"]["total_tokens"] > 0


def test_a_usage_that_is_not_reported_is_none() -> None:
    reply = direct(NoUsage()).ask(BODY, stream=True)

    assert reply.usage is None
    assert not any(each.get("usage") for each in reply.events())


def test_a_request_that_the_protocol_refuses_is_the_error_of_the_framework() -> None:
    with pytest.raises(FrameworkError, match=r"RequestError: `messages` is empty") as caught:
        direct().ask({"messages": []})

    assert isinstance(caught.value.__cause__, RequestError)


def test_an_error_response_is_the_error_of_the_framework_once() -> None:
    found = direct(Status(status=429, message="busy"))

    with pytest.raises(FrameworkError, match="RequestError: busy"):
        found.ask(BODY)
    assert found.ask(BODY).answer.calls


@pytest.mark.parametrize("fault", [Drop(), CutStream()], ids=["dropped", "cut"])
def test_a_response_that_does_not_arrive_is_a_lost_connection(fault: ModelFault) -> None:
    with pytest.raises(FrameworkError, match=r"LostConnectionError: .* as planned"):
        direct(fault).ask(BODY)
    with pytest.raises(FrameworkError, match="LostConnectionError"):
        asyncio.run(direct(fault).aask(BODY))


def test_a_stream_that_is_dropped_does_not_begin() -> None:
    with pytest.raises(FrameworkError, match="LostConnectionError"):
        direct(Drop()).ask(BODY, stream=True)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_a_stream_that_is_cut_gives_so_many_parts_and_then_fails(after: int) -> None:
    found: list[Any] = []

    with pytest.raises(FrameworkError, match="LostConnectionError"):
        found.extend(direct(CutStream(after=after)).ask(BODY, stream=True).events())

    assert len(found) == after


def test_a_stream_that_is_cut_after_its_last_part_has_no_end_either() -> None:
    with pytest.raises(FrameworkError, match="LostConnectionError"):
        list(direct(CutStream(after=99)).ask(BODY, stream=True).events())


def test_an_answer_that_is_late_is_late_in_real_time() -> None:
    started = time.monotonic()

    direct(Delay(seconds=0.02)).ask(BODY)

    assert time.monotonic() - started >= 0.02


def test_an_error_that_is_late_is_late_in_real_time() -> None:
    for ask in (Direct.ask, lambda *args: asyncio.run(Direct.aask(*args))):
        started = time.monotonic()

        with pytest.raises(FrameworkError, match="RequestError"):
            ask(direct(Status(), Delay(seconds=0.02)), BODY)

        assert time.monotonic() - started >= 0.02


def test_a_late_answer_can_be_given_up_under_asyncio() -> None:
    async def impatient() -> None:
        async with asyncio.timeout(0.01):
            await direct(Delay(seconds=60)).aask(BODY)

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())


def test_a_late_answer_can_be_given_up_under_trio() -> None:
    async def impatient() -> None:
        with trio.fail_after(0.01):
            await direct(Delay(seconds=60)).aask(BODY)

    with pytest.raises(trio.TooSlowError):
        trio.run(impatient)


def test_what_the_script_raises_is_kept_and_is_the_error_of_the_framework() -> None:
    def broken(seen: Seen) -> Move:
        raise ZeroDivisionError

    server = ModelServer(script=broken, binder=Binder(), observe=lambda _: None)

    with pytest.raises(FrameworkError, match="ZeroDivisionError"):
        Direct(server.exchange, ChatCompletions(), failed).ask(BODY)
    assert isinstance(server.error, ZeroDivisionError)


def test_a_missing_framework_is_named_with_what_to_install(pytester: pytest.Pytester) -> None:
    script = f"""
        import sys
        from pytest_tripwire import Harness, HarnessError

        for framework, (package, extra) in {FRAMEWORKS!r}.items():
            sys.modules[package] = None  # as good as not installed
            try:
                Harness("empty-search", lambda task: getattr(task.model, framework)()).run()
            except HarnessError as error:
                assert str(error) == (
                    f"task.model.{{framework}}() needs {{package}}, which is not installed: "
                    f"pip install --upgrade 'pytest-agent-tripwire[{{extra}}]'"
                )
            else:
                raise AssertionError(framework)
            del sys.modules[package]
        """
    assert pytester.runpython(pytester.makepyfile(script=script)).ret == 0


def test_a_framework_that_is_too_old_is_named_with_what_to_install(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(agents="")
    script = """
        from pytest_tripwire.models.inprocess import MissingFrameworkError, native

        try:
            native("openai_agents", None)
        except MissingFrameworkError as error:
            assert "needs a newer agents than is installed (cannot import name" in str(error)
            assert str(error).endswith("install --upgrade 'pytest-agent-tripwire[openai-agents]'")
        else:
            raise AssertionError
        """
    assert pytester.runpython(pytester.makepyfile(script=script)).ret == 0


def test_an_import_that_fails_inside_a_framework_is_its_own_trouble(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(agents="import what_nobody_has_installed")
    script = """
        from pytest_tripwire.models.inprocess import native

        try:
            native("openai_agents", None)
        except ModuleNotFoundError as error:
            assert error.name == "what_nobody_has_installed"
        else:
            raise AssertionError
        """
    assert pytester.runpython(pytester.makepyfile(script=script)).ret == 0
