"""The agent: a plain loop with a breaker of its own, in a process of its own. It knows the
model, the tools and the time by its environment alone.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from pytest_tripwire.breaker import (
    Breaker,
    BreakerRun,
    Interrupted,
    Resume,
    ResumeRefusedError,
    RunBudget,
    ToolSpec,
)
from pytest_tripwire.breaker.clock import SystemClock
from pytest_tripwire.timeline import BreakerEvent, ModeChange

from .life import OPERATOR, TOOLS_URL, Life, Told, Twin, Where

TURNS = 80
#: Real seconds to wait for another process.
_MEETING_S = 30.0


class NotAccepted(Exception):  # noqa: N818 - what the service says, and nothing was done
    """The service did not take it."""


ERRORS = {"TimeoutError": TimeoutError, "NotAcceptedError": NotAccepted}


def specs(life: Life) -> dict[str, ToolSpec]:
    """What the agent's author has declared."""
    refund = ToolSpec(
        name="issue_refund",
        effect="write",
        operation="refund",
        identity=("order_id",),
        wording=("reason",),
        volatile=("request_id",),
        result_id="refund_id",
        definite_failures=(NotAccepted,),
        reconcile="get_refund" if life.reconciles else None,
        late_effect_s=0 if life.reconciles else None,
    )
    order = ToolSpec(
        name="get_order", effect="read", identity=("order_id",), result_version="version"
    )
    read = [
        ToolSpec(name="get_refund", effect="read", operation="refund", identity=("order_id",)),
        ToolSpec(name="search_articles", effect="read", identity=("topic",), wording=("query",)),
        ToolSpec(name="get_export", effect="read", identity=("job_id",), poll=True),
    ]
    edit = ToolSpec(name="set_order_field", effect="write", identity=("order_id",))
    return {each.name: each for each in (refund, order, edit, *read)}


class Reaper:
    """Kills this process where it has to die."""

    def __init__(self, life: Life) -> None:
        self._dies = life.dies
        self._met: Counter[Where] = Counter()

    def meets(self, where: Where) -> None:
        self._met[where] += 1
        if self._dies == (where, self._met[where]):
            os.kill(os.getpid(), signal.SIGKILL)

    def sees(self, event: BreakerEvent) -> None:
        if isinstance(event, ModeChange):
            self.meets(Where.STOPPED)


class World:
    """What is around the agent, over HTTP.

    Args:
        environment: tells where.
        alone: whether no other process is there. Then time passes by what this one asks for, and
            need not be asked for again before that.
    """

    def __init__(self, environment: dict[str, str], *, alone: bool) -> None:
        self._env, self._alone = environment, alone
        self._last = object()  # another after each answer
        self._known: tuple[object, float] | None = None  # the time, after which answer

    def now(self) -> float:
        """The breaker's clock."""
        last, known = self._last, self._known
        if self._alone and known is not None and known[0] is last:
            return known[1]
        now = float(self._read(self._env["TRIPWIRE_WORLD_URL"])["now"])
        self._known = (last, now)
        return now

    def sleep(self, seconds: float) -> None:
        """Let them pass there: nobody waits for them here."""
        self._asked(f"{self._env['TRIPWIRE_WORLD_URL']}?wait={seconds}", {})

    async def asleep(self, seconds: float) -> None:
        """The same; this agent has one task."""
        self.sleep(seconds)

    async def within(self, _seconds: float, work: Awaitable[Any]) -> Any:
        """No work of this agent's is async."""
        return await work

    def version_of(self, reference: str) -> str | None:
        """The version of a record as it is now."""
        url = f"{self._env['TRIPWIRE_WORLD_URL']}?version_of={quote(reference)}"
        version: str | None = self._asked(url)["version"]
        return version

    def schemas(self) -> list[dict[str, Any]]:
        """The tools."""
        found: list[dict[str, Any]] = self._asked(self._env[TOOLS_URL])
        return found

    def use(self, name: str, arguments: dict[str, Any]) -> Any:
        """Use one; raises what it has raised."""
        answer = self._asked(self._env[TOOLS_URL], {"name": name, "arguments": arguments})
        if answer["failed"]:
            kind, _, text = answer["text"].partition(": ")
            raise ERRORS.get(kind, RuntimeError)(text)
        return json.loads(answer["text"])

    def ask(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The model's next message."""
        body = {"model": self._env["TRIPWIRE_MODEL"], "messages": messages, "tools": tools}
        reply = self._asked(f"{self._env['OPENAI_BASE_URL']}/chat/completions", body)
        message: dict[str, Any] = reply["choices"][0]["message"]
        return message

    def _asked(self, url: str, body: dict[str, Any] | None = None) -> Any:
        try:
            return self._read(url, body)
        finally:
            self._last = object()

    def _read(self, url: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(url, data, {"Content-Type": "application/json"})  # noqa: S310
        with urlopen(request) as reply:  # noqa: S310 - a server of the test's own
            return json.load(reply)


def _meet(folder: Path, crowd: int) -> None:
    """Wait until so many processes are here."""
    (folder / str(os.getpid())).touch()
    end = time.monotonic() + _MEETING_S
    while len(list(folder.iterdir())) < crowd:
        assert time.monotonic() < end, "the others have not come"
        time.sleep(0.001)


class Process:
    """One life of the agent."""

    def __init__(self, life: Life, world: World) -> None:
        self._life, self._world = life, world
        self._reaper = Reaper(life)
        forgets = life.twin is Twin.FORGETS
        self._breaker = Breaker(
            store=None if forgets else life.store,
            budget=RunBudget(max_turns=TURNS, max_tool_calls=TURNS, deadline_s=life.deadline_s),
            clock=SystemClock() if life.twin is Twin.SYSTEM_CLOCK else world,
            on_event=self._reaper.sees,
        )

    def live(self) -> Told:
        """Work on the message, or on what was interrupted."""
        life = self._life
        try:
            run = self._resumed() if life.token else self._begun(life.request_id)
        except ResumeRefusedError as refused:
            if life.twin is not Twin.ANEW:
                return Told(ended="refused", message=str(refused))
            run = self._begun("anew")
        try:
            with run:
                self._work(run)
                if life.waits:
                    run.interrupt("It waits for the operator's word.")
        except Interrupted as stop:
            return Told(ended="interrupted", reason=stop.reason, message=stop.record.message)
        return Told(ended="answered", reason=run.last_reason or "")

    def close(self) -> None:
        """Let go of the store."""
        if self._life.twin is not Twin.FORGETS:
            self._breaker.store.close()  # type: ignore[attr-defined]

    def _begun(self, request_id: str) -> BreakerRun:
        return self._breaker.run(workflow=self._life.workflow, request_id=request_id)

    def _resumed(self) -> BreakerRun:
        life = self._life
        if life.twin is Twin.ANEW:
            return self._begun("anew")
        believes = life.twin is Twin.BELIEVES
        seen = {each.resource: each.version for each in self._versions()} if believes else {}
        return self._breaker.resume(
            Resume.from_token(life.token, operator=OPERATOR, workflow=life.workflow),
            authorise=lambda who, _record, _action: who == OPERATOR,
            reload=seen.get if believes else self._reloaded,
        )

    def _reloaded(self, reference: str) -> str | None:
        if self._life.meeting:
            _meet(Path(self._life.meeting), self._life.crowd)
        return self._world.version_of(reference)

    def _versions(self) -> Any:
        wanted = Resume.from_token(self._life.token, operator=OPERATOR)
        record = self._breaker.store.record_of(wanted.run_id)
        return record.versions if record else ()

    def _work(self, run: BreakerRun) -> None:
        world = self._world
        schemas = world.schemas()
        names = [each["function"]["name"] for each in schemas]
        tools = run.guard({name: self._tool(name) for name in names}, specs(self._life))
        messages: list[dict[str, Any]] = [
            {"role": "user", "content": os.environ["TRIPWIRE_PROMPT"]}
        ]
        for _ in range(TURNS):
            if not run.before_model().allowed:
                return
            message = world.ask(messages, schemas)
            self._reaper.meets(Where.ASKED)
            messages.append(message)
            calls = message.get("tool_calls") or []
            if not calls:
                return
            with ThreadPoolExecutor(len(calls)) as pool:
                messages += pool.map(lambda call: self._used(tools, call), calls)

    def _used(self, tools: dict[str, Callable[..., Any]], call: dict[str, Any]) -> dict[str, Any]:
        asked = call["function"]
        try:
            content = json.dumps(tools[asked["name"]](**json.loads(asked["arguments"])))
        except Exception as error:  # noqa: BLE001 - the model is told
            content = f"{type(error).__name__}: {error}"
        self._reaper.meets(Where.AFTER)
        return {"role": "tool", "tool_call_id": call["id"], "content": content}

    def _tool(self, name: str) -> Callable[..., Any]:
        def body(**arguments: Any) -> Any:
            self._reaper.meets(Where.BEFORE)
            try:
                return self._sent(name, arguments)
            finally:
                self._reaper.meets(Where.WITHIN)

        body.__name__ = name
        return body

    def _sent(self, name: str, arguments: dict[str, Any]) -> Any:
        try:
            return self._world.use(name, arguments)
        except TimeoutError:
            if self._life.twin is not Twin.RETRIES:
                raise
            return self._world.use(name, arguments)
