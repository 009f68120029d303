"""The spans of one run, as the steps of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from pytest_tripwire.replay.reading import names
from pytest_tripwire.replay.reading.family import Family
from pytest_tripwire.replay.reading.outcome_of_span import outcome_of
from pytest_tripwire.replay.reading.pauses import Pauses
from pytest_tripwire.replay.reading.request import requests_of
from pytest_tripwire.replay.reading.span import Kind, Span
from pytest_tripwire.replay.trace import MODEL_REQUEST, USER_MESSAGE, Recorded, Trace, TraceStep
from pytest_tripwire.timeline import Effect

_NOTHING = Recorded(status="ok")


def trace_of(run: str, spans: Sequence[Span]) -> Trace | None:
    """The trace of one run; None if it has neither a model request nor a tool call.

    Args:
        run: its id.
        spans: all of its spans, by time of their beginning.
    """
    family = Family(spans)
    told = [span for span in spans if family.tells(span)]
    if not told:
        return None
    pauses = Pauses(spans)
    reader = _Run(told, family, pauses, _declared(spans))
    steps = [_message(at) for at in pauses.messages]
    steps += [*reader.calls(), *reader.answers()]
    steps.sort(key=lambda step: step.at_s or 0.0)
    return Trace(
        id=run,
        steps=tuple(steps),
        workflow=next(filter(None, (span.text(names.WORKFLOW) for span in spans)), None),
        source=told[0].file,
        line=told[0].line,
    )


class _Run:
    """Makes steps of what the spans of one run tell."""

    def __init__(
        self, told: Sequence[Span], family: Family, pauses: Pauses, effects: Mapping[str, Effect]
    ) -> None:
        self._told = told
        self._family = family
        self._pauses = pauses
        self._effects = effects
        self._requests = requests_of(told)
        self._request_of = self._turns()

    def calls(self) -> Iterator[TraceStep]:
        """The tool calls. The first one of a turn carries what its request has used."""
        paid: set[int] = set()
        for n, request in self._request_of.items():
            step = self._call(self._told[n])
            if request is not None:
                step = msgspec.structs.replace(step, turn=request + 1)
                if request not in paid:
                    paid.add(request)
                    step = msgspec.structs.replace(step, **self._requests[request].used())
            yield step

    def answers(self) -> Iterator[TraceStep]:
        """The requests that proposed nothing, as events."""
        used = set(self._request_of.values())
        for n, request in enumerate(self._requests):
            if n not in used:
                yield TraceStep(
                    tool=MODEL_REQUEST,
                    event=MODEL_REQUEST.removeprefix("@"),
                    effect=Effect.READ,
                    outcome=_NOTHING,
                    agent=self._family.agent(request.span),
                    elapsed_s=request.span.elapsed_s,
                    at_s=self._pauses.active_s(request.span),
                    turn=n + 1,
                    **request.used(),
                )

    def _turns(self) -> dict[int, int | None]:
        """Which request proposed each call, both by position: the latest one before it whose answer
        names it, as models give one id to several calls; else the latest one of the same agent,
        else the latest one.
        """
        by_call: dict[str, int] = {}
        latest: dict[str | None, int] = {}
        found: dict[int, int | None] = {}
        for n, span in enumerate(self._told):
            agent = self._family.agent_span(span)
            if span.kind is Kind.MODEL:
                number = latest.get(None, -1) + 1
                latest[agent] = latest[None] = number
                by_call.update(dict.fromkeys(self._requests[number].calls, number))
            else:
                call = span.text(names.CALL_ID)
                last = latest.get(agent, latest.get(None))
                found[n] = by_call.get(call, last) if call else last
        return found

    def _call(self, span: Span) -> TraceStep:
        arguments = _arguments(self._family.attribute(span, names.ARGUMENTS))
        result = self._family.attribute(span, names.RESULT)
        outcome = outcome_of(span, names.parsed(result))
        return TraceStep(
            tool=span.tool,
            args=arguments or {},
            effect=_effect(span) or self._effects.get(span.tool),
            outcome=outcome,
            agent=self._family.agent(span),
            elapsed_s=span.elapsed_s,
            at_s=self._pauses.active_s(span),
            args_known=arguments is not None,
            result_known=result is not None or outcome.status != "ok",
        )


def _message(at: float) -> TraceStep:
    return TraceStep(
        tool=USER_MESSAGE,
        event=USER_MESSAGE.removeprefix("@"),
        effect=Effect.READ,
        outcome=_NOTHING,
        at_s=at,
    )


def _arguments(given: Any) -> dict[str, Any] | None:
    """Arguments by name; None where they were not recorded."""
    if given is None:
        return None
    value = names.parsed(given)
    if isinstance(value, dict):
        return value
    return {} if value in (None, "") else {"input": value}


def _effect(span: Span) -> Effect | None:
    """What the span itself says that the tool does."""
    declared = span.first(names.EFFECT)
    if declared in tuple(Effect):
        return Effect(declared)
    return _by_hint(span.first(names.READ_ONLY))


def _by_hint(read_only: Any) -> Effect | None:
    if not isinstance(read_only, bool):
        return None
    return Effect.READ if read_only else Effect.WRITE


def _declared(spans: Sequence[Span]) -> dict[str, Effect]:
    """What the definitions of the tools say, as the model was sent them."""
    found: dict[str, Effect] = {}
    for span in spans:
        definitions = names.parsed(span.first(names.DEFINITIONS))
        for each in definitions if isinstance(definitions, list) else ():
            if isinstance(each, dict) and isinstance(each.get("annotations"), dict):
                effect = _by_hint(each["annotations"].get("readOnlyHint"))
                if effect is not None:
                    found.setdefault(str(each.get("name")), effect)
    return found
