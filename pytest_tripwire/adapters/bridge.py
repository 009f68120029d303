"""A run's tools whose bodies are a framework's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from pytest_tripwire.adapters.guarded_tool import GuardedTool
from pytest_tripwire.adapters.natives import Body, Caller, Native, answered, later, now, reached_by
from pytest_tripwire.adapters.refusals import as_text, is_refused, waits_for_yes
from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.timeline import Effect, ToolCall, ToolSpec, Verdict
from pytest_tripwire.timeline.spec import ATTRIBUTE

__all__ = [
    "Body",
    "Bridge",
    "Caller",
    "GuardedTool",
    "Native",
    "as_text",
    "handoff_spec",
    "is_refused",
    "waits_for_yes",
]


class Bridge:
    """Lets a run decide about calls that a framework carries out.

    Args:
        run: decides.
        specs: declarations by name; they outweigh those of the run's breaker.
    """

    def __init__(self, run: BreakerRun, specs: Mapping[str, ToolSpec] | None = None) -> None:
        self.run = run
        self._specs = dict(specs or {})
        #: By name: what the tool that was taken first says about itself, and what holds for it.
        self._taken: dict[str, tuple[ToolSpec | None, ToolSpec]] = {}
        self._bodies: dict[str, Body] = {}

    def take(self, name: str, *, asynchronous: bool, spec: ToolSpec | None = None) -> None:
        """Take a tool in; once is enough.

        Args:
            name: its name.
            asynchronous: whether what it gives is awaited.
            spec: what the tool says about itself; what is declared outweighs it.

        Raises:
            UndeclaredToolError: nobody declared its effect.
            TypeError: another tool of this name was taken, for which something else is declared.
        """
        own, declared = self._taken.get(name, (None, None))
        if declared is None:
            self._taken[name] = (spec, self._guarded(name, spec, asynchronous=asynchronous))
        elif own != spec:
            self._refuse_another(declared, spec, asynchronous=asynchronous)

    def _guarded(self, name: str, spec: ToolSpec | None, *, asynchronous: bool) -> ToolSpec:
        """What holds for a tool that the run guards from now on."""
        body = later(name) if asynchronous else now(name)
        if spec is not None:
            # Beside the tool, as `@tool_spec` leaves it: the breaker's own table outweighs it.
            vars(body)[ATTRIBUTE] = spec
        self.run.guard({name: body}, self._specs)
        return self.run.declared(name)

    def _refuse_another(
        self, known: ToolSpec, spec: ToolSpec | None, *, asynchronous: bool
    ) -> None:
        if self._guarded(known.name, spec, asynchronous=asynchronous) == known:
            return
        body = later(known.name) if asynchronous else now(known.name)
        self.run.guard({known.name: body}, {known.name: known})
        raise TypeError(
            f"two tools of this run are called {known.name!r}, and are declared differently: a run "
            "tells tools apart by their names. Rename one of them, or declare that name for both "
            "where the run is asked for"
        )

    def knows(self, name: str) -> bool:
        """Whether somebody has said by its name what a tool does, here or to the breaker."""
        try:
            self.run.declared(name)
        except KeyError:
            return name in self._specs
        return True

    def take_all(self, names: Iterable[str], *, asynchronous: bool) -> None:
        """The same for several."""
        for name in names:
            self.take(name, asynchronous=asynchronous)

    def tool(
        self, name: str, body: Body, *, asynchronous: bool, spec: ToolSpec | None = None
    ) -> GuardedTool:
        """Take a tool in together with what runs it. Where one lost a write, another's body may be
        run to settle it, with what the framework handed to the call.

        Args:
            name: its name.
            body: runs it; raises `NotBegun` where it is known that nothing has begun.
            asynchronous: whether what the body gives is awaited.
            spec: what the tool says about itself; what is declared outweighs it.

        Raises:
            UndeclaredToolError: nobody declared its effect.
            TypeError: another tool of this name was taken, for which something else is declared.
        """
        self.take(name, asynchronous=asynchronous, spec=spec)
        self._bodies[name] = body
        return GuardedTool(self, name, body, self._bodies)

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        native: Native,
        *,
        call_id: str | None = None,
        agent: str | None = None,
        approved: bool = False,
    ) -> Any:
        """Decide about a call and make it by `native`, or return the refusal; of one that was
        answered and has not begun, the answer.

        Args:
            name: the tool's.
            arguments: by name.
            native: makes the call; raises `NotBegun` where it is known that nothing has begun.
            call_id: the framework's own id of the call.
            agent: whose call it is.
            approved: whether a person has said yes to this very call in the framework's own way. It
                counts for the breaker, whoever has put the call up, in this process or another.
        """
        asks = partial(self.run.call, name, arguments, call_id=call_id, agent=agent)
        with reached_by(native), answered() as answer:
            if approved:
                self._agree(call_id)
            answer.result = asks()
            if approved and waits_for_yes(answer.result) and self._agree(answer.result["call_id"]):
                answer.result = asks()
        return answer.result

    async def acall(
        self,
        name: str,
        arguments: Mapping[str, Any],
        native: Native,
        *,
        call_id: str | None = None,
        agent: str | None = None,
        approved: bool = False,
    ) -> Any:
        """The same for async code."""
        asks = partial(self.run.acall, name, arguments, call_id=call_id, agent=agent)
        with reached_by(native), answered() as answer:
            if approved:
                self._agree(call_id)
            answer.result = await asks()
            if approved and waits_for_yes(answer.result) and self._agree(answer.result["call_id"]):
                answer.result = await asks()
        return answer.result

    def _agree(self, call_id: str | None) -> bool:
        """A call that was put up in this run gets its yes before it is asked for again: a second
        question without one counts as a denial that was repeated. Returns whether it waited for it;
        one that was put up elsewhere, or by a guard inside of this one, does not.
        """
        try:
            self.run.approve(call_id or "")
        except LookupError:
            return False
        return True

    def decide_batch(self, calls: Sequence[ToolCall], native: Native) -> list[Verdict]:
        """Decide about all calls of one message; `native` makes the read that settles a lost write
        among them.
        """
        with reached_by(native):
            return self.run.decide_batch(calls)

    async def adecide_batch(self, calls: Sequence[ToolCall], native: Native) -> list[Verdict]:
        """The same for async code."""
        with reached_by(native):
            return await self.run.adecide_batch(calls)

    def carry_out(self, call: ToolCall, verdict: Verdict, native: Native) -> Any:
        """Make a call that `decide_batch` has decided about, or return the refusal; of one that was
        answered and has not begun, the answer.
        """
        with reached_by(native), answered() as answer:
            answer.result = self.run.perform(call, verdict)
        return answer.result

    async def acarry_out(self, call: ToolCall, verdict: Verdict, native: Native) -> Any:
        """The same for async code."""
        with reached_by(native), answered() as answer:
            answer.result = await self.run.aperform(call, verdict)
        return answer.result


def handoff_spec(name: str) -> ToolSpec:
    """What a hand-off is that nobody declared: one about the task as a whole.

    Args:
        name: of the tool that stands for it.
    """
    return ToolSpec(name=name, effect=Effect.HANDOFF, operation="handoff", identity=())
