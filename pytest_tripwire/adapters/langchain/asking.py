"""Asks a person about the calls of one message all at once, before any of them runs.

LangGraph hands the answers of one task to its interrupts in the order in which they are made. Calls
that run side by side make theirs in any order; so there is one interrupt for all of them, made
before anything runs beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Lock
from typing import Any

import msgspec
from langgraph.errors import GraphInterrupt
from langgraph.types import interrupt

from pytest_tripwire.guard import BreakerRun
from pytest_tripwire.guard.run import told
from pytest_tripwire.timeline import Decision, Reason, ToolCall, Verdict

#: Where LangGraph keeps a task's answers; nothing public says whether there are any.
ANSWERS = "__pregel_scratchpad"


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A call that was decided about, and is not made yet.

    Args:
        call: the call, with its arguments as the tool gets them.
        verdict: what was decided.
        sent: its arguments as the model has sent them. Of what they are by default, which may be
            for nobody but the tool, no person is shown anything, and no checkpoint.
    """

    call: ToolCall
    verdict: Verdict
    sent: Mapping[str, Any]

    @property
    def waits(self) -> bool:
        """Whether a person's first yes is all that it lacks."""
        verdict = self.verdict
        asked = verdict.decision is Decision.REQUIRE_APPROVAL
        return asked and verdict.reason is Reason.DENIED

    @property
    def question(self) -> dict[str, Any]:
        """What a person is shown of it."""
        return question(self.call.tool, self.sent, told(self.verdict, self.call))


class Asking:
    """Owner of what the calls of one node have been asked about in this process."""

    def __init__(self, run: BreakerRun) -> None:
        self.run = run
        #: What was put up and has no yes yet. To propose it again would be taken for asking again.
        self._put_up: dict[str, Decided] = {}
        #: By message: which of its answers the questions of this process were put up for.
        self._asked: dict[str, int] = {}
        self._lock = Lock()

    @contextmanager
    def round(self, calls: Sequence[Mapping[str, Any]]) -> Iterator[Round | None]:
        """One execution of the node for these calls; None if they need no asking beforehand: a
        call that comes alone is asked about where it is made.
        """
        several = len(calls) > 1 and not self.run.shadow
        if not several or not any(self.needs_yes(each["name"]) for each in calls):
            yield None
            return
        begun = Round(self, calls)
        token = _ROUND.set(begun)
        try:
            yield begun
        finally:
            _ROUND.reset(token)
            begun.close()

    def needs_yes(self, tool: str) -> bool:
        """Whether a tool is declared to run after a person's yes alone."""
        try:
            return self.run.declared(tool).requires_approval
        except KeyError:
            return False

    def known(self, key: str) -> Decided | None:
        """A call that was put up before, and waits."""
        return self._put_up.get(key)

    def put_up(self, key: str, decided: Decided) -> None:
        """A call waits for a yes."""
        with self._lock:
            self._put_up[key] = decided

    def agreed(self, key: str, decided: Decided) -> None:
        """A person has said yes. One that meets no call, or several of one id, is none."""
        with self._lock:
            self._put_up.pop(key, None)
        with suppress(LookupError):
            self.run.approve(decided.call.call_id)

    def asked(self, message: str) -> int | None:
        """For which answer the questions of a message were put up in this process; None for none
        of them.
        """
        return self._asked.get(message)

    def ask(self, message: str, value: Any, answer: int) -> Any:
        """The answer to what a message's calls are asked. Interrupts the graph if there is none."""
        try:
            return interrupt(value)
        except GraphInterrupt:
            self._asked[message] = answer
            raise


class Round:
    """The calls of one message, in one execution of their node: first they are all decided about,
    then a person is asked, and then they run.
    """

    def __init__(self, asking: Asking, calls: Sequence[Mapping[str, Any]]) -> None:
        self.asking = asking
        self.gathering = True
        self._keys = [key_of(each) for each in calls]
        self._decided: dict[str, Decided] = {}
        self._lock = Lock()

    def known(self, request: Any) -> bool:
        """Whether a call waits since an earlier execution; then it is not decided about anew."""
        key = key_of(request.tool_call)
        before = self.asking.known(key)
        if before is not None:
            self._decided[key] = before
        return before is not None

    def decided(self, request: Any, call: ToolCall, verdict: Verdict) -> None:
        """A call was decided about."""
        asked = request.tool_call
        key, made = key_of(asked), Decided(call=call, verdict=verdict, sent=asked["args"])
        with self._lock:
            twin = self._decided.get(key)
            if twin is None:
                self._decided[key] = made
        if twin is not None:
            self._forget(made)
        elif made.waits:
            self.asking.put_up(key, made)

    def taken(self, request: Any) -> Decided | None:
        """What was decided about a call, once; None if it is to be decided about now."""
        with self._lock:
            return self._decided.pop(key_of(request.tool_call), None)

    def ask(self, config: Any) -> None:
        """Ask a person about those that wait. Interrupts the graph if there is no answer yet."""
        self.gathering = False
        waiting = [(key, self._decided[key]) for key in self._keys if self._waits(key)]
        answer = self._answer([each for _, each in waiting], at_hand(config))
        for key, each in waiting:
            if said_yes(answer, each.call.call_id):
                self._decided.pop(key, None)
                self.asking.agreed(key, each)

    def close(self) -> None:
        """Take back what was let through and not made."""
        for each in self._decided.values():
            self._forget(each)

    def _waits(self, key: str) -> bool:
        return key in self._decided and self._decided[key].waits

    def _answer(self, waiting: Sequence[Decided], given: int) -> Any:
        """The answer to what waits. Those that the task has are taken even where nothing waits any
        more: whoever asks next would be given them.
        """
        message = json.dumps(self._keys)
        here, taken = self.asking.asked(message), 0
        while waiting or taken < given:
            answer = self.asking.ask(message, _value(waiting), taken)
            # A bare yes says nothing of which call it is for: that has to be certain without it.
            vague = is_yes(answer) and (here is None or len(waiting) > 1)
            if taken >= (here or 0) and not vague:
                return answer
            taken += 1
        return None

    def _forget(self, decided: Decided) -> None:
        if decided.verdict.allowed:
            with suppress(KeyError):
                self.asking.run.withdraw(decided.call)


#: The round that is under way where this thread or task was begun.
_ROUND: ContextVar[Round | None] = ContextVar("tripwire_langchain_round", default=None)


def round_of(asking: Asking) -> Round | None:
    """The round of a node's calls that is under way."""
    found = _ROUND.get()
    return found if found is not None and found.asking is asking else None


@contextmanager
def outside_rounds() -> Iterator[None]:
    """Where a tool runs: what it calls itself is of no message of the node's."""
    token = _ROUND.set(None)
    try:
        yield
    finally:
        _ROUND.reset(token)


def at_hand(config: Any) -> int:
    """How many answers a task of LangGraph's has been given so far."""
    kept = ((config or {}).get("configurable") or {}).get(ANSWERS)
    if kept is None:
        return 0
    return len(kept.resume) + (kept.get_null_resume() is not None)


def key_of(call: Mapping[str, Any]) -> str:
    """A call apart from others, as models give one id to several."""
    return json.dumps([call["id"], call["name"], call["args"]], sort_keys=True, default=str)


def question(tool: str, arguments: Any, result: Mapping[str, Any]) -> dict[str, Any]:
    """What a person is shown of a call that waits, and the `resume` that is a yes to it: in any
    process, and whatever else its message calls.
    """
    yes = {"approved": [result["call_id"]]}
    return {"tool": tool, "args": arguments, **result, "resume": yes}


def is_yes(answer: Any) -> bool:
    """Whether an answer is a yes that names no call."""
    if isinstance(answer, Mapping):
        return answer.get("approved") is True or answer.get("type") == "approve"
    return answer is True or answer == "approve"


def said_yes(answer: Any, call_id: str) -> bool:
    """Whether an answer is a yes to this call."""
    named = answer.get("approved") if isinstance(answer, Mapping) else None
    if isinstance(named, list | tuple):
        return call_id in named
    return is_yes(answer)


def _value(waiting: Sequence[Decided]) -> dict[str, Any]:
    if len(waiting) == 1:
        return waiting[0].question
    return {
        "calls": [each.question for each in waiting],
        "message": 'Name the calls that may run, by their call_id: {"approved": ["..."]}',
    }
