"""What an agent is given: the user's message, the tools and the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.adapters import (
    FRAMEWORKS,
    Adoption,
    Caller,
    Described,
    MissingFrameworkError,
    UnknownToolError,
    framework_of,
    load,
)
from pytest_tripwire.breaker.budget import RunBudget
from pytest_tripwire.harness.failures import HarnessError
from pytest_tripwire.models import API_KEY, MODEL, Exchange
from pytest_tripwire.models.inprocess import native
from pytest_tripwire.world import Toolset, VirtualClock

Answer: TypeAlias = Any


class Tools(Mapping[str, Callable[..., Any]]):
    """The task's tools: a mapping of callables by name, with real signatures and docstrings."""

    def __init__(
        self,
        *,
        functions: Mapping[str, Callable[..., Any]],
        toolset: Toolset,
        calls: Caller,
        check: Callable[[], None],
    ) -> None:
        self._functions = dict(functions)
        self._toolset = toolset
        self._calls, self._check = calls, check

    def __repr__(self) -> str:
        return f"<Tools {', '.join(self._functions)}>"

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self._functions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """Call a tool by the name that the model gave, for loops of your own.

        A refused call returns `{"refused": true, "reason": ..., "message": ...}`; what the tool
        itself raises comes through unchanged.

        Args:
            name: the tool's name.
            arguments: by name, as parsed from the model's message.
            call_id: the model's id of the call.
            agent: which of several agents calls.
        """
        self._check()
        return self._calls.call(name, arguments or {}, call_id=call_id, agent=agent)

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        call_id: str | None = None,
        agent: str | None = None,
    ) -> Any:
        """The same as `call`, for async loops."""
        self._check()
        return await self._calls.acall(name, arguments or {}, call_id=call_id, agent=agent)

    def schemas(self, provider: str) -> list[dict[str, Any]]:
        """The tools in the form that a provider's API takes, for requests of your own.

        Args:
            provider: `openai` (Chat Completions), `responses` (OpenAI's Responses) or `anthropic`
                (Messages).

        Raises:
            ValueError: for another provider.
        """
        if provider not in _SCHEMAS:
            known = ", ".join(_SCHEMAS)
            raise ValueError(f"schemas({provider!r}): the providers are {known}")
        return [_SCHEMAS[provider](schema) for schema in self._toolset.schemas()]

    def openai_agents(self) -> Any:
        """The tools as `FunctionTool`s of the OpenAI Agents SDK. Raises HarnessError if that is not
        installed.
        """
        return self._native("openai_agents")

    def langchain(self) -> Any:
        """The tools as `BaseTool`s of LangChain, for LangGraph too. Raises HarnessError if that is
        not installed.
        """
        return self._native("langchain")

    def pydantic_ai(self) -> Any:
        """The tools as `Tool`s of Pydantic AI. Raises HarnessError if that is not installed."""
        return self._native("pydantic_ai")

    def anthropic(self) -> Any:
        """The tools for the tool runner of Anthropic's client. Raises HarnessError if that is not
        installed.
        """
        return self._native("anthropic")

    def mcp(self) -> Any:
        """A server of the Model Context Protocol that has the tools, to be reached within this
        process. Raises HarnessError if that is not installed.
        """
        return self._native("mcp")

    def adk(self) -> Any:
        """The tools as `BaseTool`s of the Agent Development Kit. Raises HarnessError if that is not
        installed.
        """
        return self._native("adk")

    def _native(self, framework: str) -> Any:
        described = [
            Described(
                name=each["name"], description=each["description"], parameters=each["parameters"]
            )
            for each in self._toolset.schemas()
        ]
        return adapter(framework, f"task.tools.{framework}()").tools(self, described)


def adapter(framework: str, what: str) -> Any:
    """An adapter's module. Raises HarnessError with what to install."""
    try:
        return load(framework, what)
    except MissingFrameworkError as error:
        raise HarnessError(str(error)) from None


def _openai(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": schema}


def _responses(schema: dict[str, Any]) -> dict[str, Any]:
    # Left out, it would count as strict, and a strict tool takes no defaults.
    return {"type": "function", **schema, "strict": False}


def _anthropic(schema: dict[str, Any]) -> dict[str, Any]:
    renamed = {"input_schema": schema["parameters"]}
    return {**{k: v for k, v in schema.items() if k != "parameters"}, **renamed}


_SCHEMAS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "openai": _openai,
    "responses": _responses,
    "anthropic": _anthropic,
}


class Model:
    """The scripted model, reached over HTTP as any real one, or asked in this process."""

    #: What to send as the key; the server takes any.
    api_key = API_KEY
    #: What to send as the model's name; the server takes any.
    name = MODEL

    def __init__(self, base_url: Callable[[str], str], exchange: Exchange) -> None:
        self._base_url = base_url
        self._exchange = exchange

    def __repr__(self) -> str:
        return f"<Model {self.name}>"

    def openai_agents(self) -> Any:
        """A `Model` of the OpenAI Agents SDK. Raises HarnessError if that is not installed."""
        return self._native("openai_agents")

    def pydantic_ai(self) -> Any:
        """A `Model` of Pydantic AI. Raises HarnessError if that is not installed."""
        return self._native("pydantic_ai")

    def langchain(self) -> Any:
        """A `BaseChatModel` of LangChain. Raises HarnessError if that is not installed."""
        return self._native("langchain")

    def adk(self) -> Any:
        """A `BaseLlm` of the Agent Development Kit. Raises HarnessError if that is not
        installed.
        """
        return self._native("adk")

    def _native(self, framework: str) -> Any:
        try:
            return native(framework, self._exchange)
        except MissingFrameworkError as error:
            raise HarnessError(str(error)) from None

    def base_url(self, provider: str) -> str:
        """The base URL for a provider's SDK. Raises ValueError for one that is not served."""
        return self._base_url(provider)

    @property
    def env(self) -> dict[str, str]:
        """Environment variables that point the SDKs here. Nothing is set for you: set them before
        a client is constructed.
        """
        return {
            "OPENAI_BASE_URL": self.base_url("openai"),
            "OPENAI_API_KEY": self.api_key,
            "ANTHROPIC_BASE_URL": self.base_url("anthropic"),
            "ANTHROPIC_API_KEY": self.api_key,
            "NO_PROXY": "127.0.0.1",
        }


class Resumed(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's word on an interrupted run that is taken up again.

    Args:
        decision: what the operator has decided, e.g. `approved`.
        run_id: the run that was interrupted.
        token_version: the version of its resume token.
    """

    decision: str
    run_id: str
    token_version: int


def _unknown(_name: str) -> str | None:
    return None


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One run's work, as the agent sees it.

    Args:
        prompt: the user's message.
        tools: the tools to call.
        model: the model to ask.
        limits: the limits of this run, for agents that keep limits of their own.
        clock: the time of this run, in seconds since it began, for agents that keep a deadline of
            their own: the world's time passes without anybody waiting for it.
        version_of: the version of a record as it is now, by its name, such as `A-1001`; None if
            there is none. For agents that compare versions of their own when they are resumed: no
            tool is called, and the model is shown nothing.
        token_price_usd: what a token costs here, for agents that add up costs of their own.
        resume: the operator's word when an interrupted run is taken up again; None before. An
            agent with checkpoints goes on with its own, a plain loop starts from the prompt.
        idle: tools that play a part in other cases than this one. An agent that is taken over may
            have them.
    """

    prompt: str
    tools: Tools
    model: Model
    limits: RunBudget
    clock: VirtualClock
    version_of: Callable[[str], str | None] = _unknown
    token_price_usd: Decimal = Decimal(0)
    resume: Resumed | None = None
    idle: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<Task {self.prompt!r}>"

    def adopt(self, agent: Any) -> Any:
        """A clone of an agent that owns its tools: they keep their names and schemas, and their
        bodies come from the world. Agents that it hands over to, or has for tools, are taken over
        too.

        Args:
            agent: an agent, or a collection of tools, of a framework that there is an adapter for.

        Raises:
            HarnessError: there is no adapter for it, or it has a tool that plays no role.
        """
        framework = framework_of(agent)
        if framework is None:
            known = ", ".join(FRAMEWORKS)
            raise HarnessError(
                f"task.adopt() got a {type(agent).__name__}, and there is no adapter for it: give "
                f"an agent of one of {known}, or build it with task.tools"
            )
        adoption = Adoption(self.tools, self.tools, self.idle)
        try:
            adopted = adapter(framework, "task.adopt()").adopt(agent, adoption)
            adoption.check()
        except UnknownToolError as error:
            raise HarnessError(str(error)) from None
        return adopted


#: An agent: called with a `Task`, sync or async; returns its final answer.
Agent: TypeAlias = Callable[[Task], Answer]
