"""The loopback model server: any agent reaches the scripted model by a base URL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Self

from pytest_tripwire.models.actor import Actor
from pytest_tripwire.models.counters import Counters, Noted
from pytest_tripwire.models.exchange import Exchange, Observe
from pytest_tripwire.models.faults import ModelFault, Plan
from pytest_tripwire.models.http.handler import Handler
from pytest_tripwire.models.http.router import Router
from pytest_tripwire.models.http.transport import LOOPBACK, LoopbackServer
from pytest_tripwire.models.script import Binder, Script
from pytest_tripwire.models.wire.chat import ChatCompletions
from pytest_tripwire.models.wire.dialect import Dialect
from pytest_tripwire.models.wire.messages import AnthropicMessages
from pytest_tripwire.models.wire.responses import Responses

MAX_REQUESTS = 200
MAX_SECONDS = 600.0
MAX_BODY = 8 * 1024 * 1024


def dialects() -> tuple[Dialect, ...]:
    """Every protocol that is served. New for each server: one may remember what it has said."""
    return (ChatCompletions(), Responses(), AnthropicMessages())


class ModelServer:
    """Serves a scripted model on 127.0.0.1, in threads of its own.

    Args:
        script: decides each move.
        binder: turns proposals into calls of the agent's own tools.
        observe: called once for each answered model request, before the response goes
            out, from the thread that answers it. A text that it returns is said in place
            of the move: so the model turns harmless.
        roles: the roles that the script may propose; tells requests of routers and
            summarisers, which offer none of their tools, from the script's own. Empty:
            only requests that offer no tool at all are told apart.
        faults: what goes wrong, by turn and try.
        max_requests: model requests after which every answer is harmless.
        max_seconds: real seconds after which every answer is harmless.
        max_body: bytes that the body of a request may have.
        clock: real time in seconds.
        port: where to listen; 0 for a free port.
    """

    def __init__(
        self,
        *,
        script: Script,
        binder: Binder,
        observe: Observe,
        roles: Iterable[str] = (),
        faults: Iterable[ModelFault] = (),
        max_requests: int = MAX_REQUESTS,
        max_seconds: float = MAX_SECONDS,
        max_body: int = MAX_BODY,
        clock: Callable[[], float] = time.monotonic,
        port: int = 0,
    ) -> None:
        self._port = port
        end = clock() + max_seconds
        self._dialects = dialects()
        self._counters = Counters(max_requests, lambda: clock() >= end)
        #: Answers without HTTP, for models that live in the agent's own process.
        self.exchange = Exchange(
            actor=Actor(script=script, binder=binder, roles=frozenset(roles)),
            observe=observe,
            counters=self._counters,
            plan=Plan(faults=tuple(faults)),
        )
        self._router = Router(
            dialects=self._dialects,
            exchange=self.exchange,
            counters=self._counters,
            max_body=max_body,
        )
        self._http: LoopbackServer | None = None

    def start(self) -> Self:
        """Start to serve; returns the server. Raises `RuntimeError` at a second start, and
        `PortError` for a port that somebody else has.
        """
        if self._http is not None:
            raise RuntimeError("this model server was started before: make a new ModelServer")
        self._http = LoopbackServer(self._router, Handler, self._port)
        self._http.run_in_thread()
        return self

    def stop(self) -> None:
        """Stop to serve. Waits for no client, and does nothing the second time."""
        if self._http is not None and self._counters.close():
            self._http.close()

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()

    def base_url(self, provider: str) -> str:
        """The base URL for the SDKs of `provider`, such as `openai`.

        Raises:
            ValueError: the provider is not served.
            RuntimeError: the server was not started.
        """
        paths = {dialect.provider: dialect.base_path for dialect in self._dialects}
        if provider not in paths:
            served = ", ".join(sorted(paths))
            raise ValueError(f"no model server for {provider!r}: use one of {served}")
        if self._http is None:
            raise RuntimeError("the model server has no URL yet: call start() first")
        return f"http://{LOOPBACK}:{self._http.server_port}{paths[provider]}"

    @property
    def error(self) -> BaseException | None:
        """The first exception of script, binder or observer. Whoever runs the agent raises it."""
        return self._counters.error

    @property
    def requests(self) -> int:
        """Model requests so far, retries and auxiliary ones included."""
        return self._counters.requests

    @property
    def auxiliary(self) -> int:
        """Those of them that were none of the script's, such as a router's."""
        return self._counters.auxiliary

    @property
    def noted(self) -> tuple[Noted, ...]:
        """Every model request and what became of it, in order."""
        return self._counters.noted

    @property
    def exhausted(self) -> bool:
        """Whether there were more model requests, or later ones, than allowed."""
        return self._counters.exhausted

    @property
    def withheld(self) -> tuple[str, ...]:
        """Why moves of the script were not given, each reason once, in order."""
        return self._counters.withheld

    @property
    def refusals(self) -> tuple[str, ...]:
        """What requests were turned down for, each message once, the latest last."""
        return self._counters.refusals
