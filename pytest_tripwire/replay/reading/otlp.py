"""Telemetry: spans in the JSON of the OpenTelemetry protocol, as exporters and collectors write it.

See `names` for which attributes are read, and how they were called earlier.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec  # noqa: TC002 - beside the other annotations, as everywhere

from pytest_tripwire.replay.problem import Item, Problem
from pytest_tripwire.replay.reading.span import Span, span_of
from pytest_tripwire.replay.reading.span_store import SpanStore
from pytest_tripwire.replay.reading.spans_as_steps import trace_of
from pytest_tripwire.replay.reading.values import Value, decoded
from pytest_tripwire.replay.reading.wire import Export, WireSpan


class OtlpSpans:
    """Collects spans and makes a trace of each run once all of them are there.

    Args:
        conversations: whether the traces of one conversation make one run.
    """

    keys = frozenset({"resourceSpans", "batches"})

    def __init__(self, *, conversations: bool = True) -> None:
        self._conversations = conversations
        self._store = SpanStore()
        #: By file, how many spans tell of a model or a tool; 0 is worth a word.
        self._telling: dict[str, int] = {}

    def add(self, value: Value) -> Iterator[Item]:
        """Keep the spans of one export; yields what is wrong with it."""
        export = decoded(value, Export)
        if isinstance(export, Problem):
            yield export
            return
        self._telling.setdefault(value.file, 0)
        for raw in export.spans():
            yield from self._keep(value, raw)

    def finish(self) -> Iterator[Item]:
        """A trace for each run, by time of their beginning."""
        for file, telling in self._telling.items():
            if not telling:
                yield Problem(
                    file=file,
                    reason="none of its spans tells of a model request or a tool call; "
                    "`gen_ai.operation.name` should say `chat` or `execute_tool`",
                )
        for run, spans in self._store.runs(conversations=self._conversations):
            trace = trace_of(run, spans)
            if trace is not None:
                yield trace

    def close(self) -> None:
        """Give the disk back."""
        self._store.close()

    def _keep(self, value: Value, raw: msgspec.Raw) -> Iterator[Problem]:
        span = _read(value, raw)
        if isinstance(span, Problem):
            yield span
            return
        if span.tells:
            self._telling[value.file] += 1
            if 0 < span.end < span.start:
                yield Problem(
                    file=span.file,
                    line=span.line,
                    reason=f"the span {span.id} ends before it begins; its duration is left out",
                )
        self._store.add(span)


def _read(value: Value, raw: msgspec.Raw) -> Span | Problem:
    wire = decoded(Value(file=value.file, line=value.line, data=bytes(raw)), WireSpan)
    if isinstance(wire, Problem):
        return wire
    try:
        return span_of(wire, file=value.file, line=value.line)
    except (ValueError, OverflowError, RecursionError) as error:
        return value.problem(f"the span {wire.span_id}: {error}")
