"""One span of telemetry, as far as a run can be told from it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec

from pytest_tripwire.replay.reading import names
from pytest_tripwire.replay.reading.wire import WireSpan, nanoseconds, plain


class Kind(StrEnum):
    """What a span tells of."""

    TOOL = "tool"
    MODEL = "model"
    AGENT = "agent"
    OTHER = "other"


_KEPT = {
    Kind.TOOL: names.KEPT_OF_TOOLS,
    Kind.MODEL: names.KEPT_OF_MODELS,
    Kind.AGENT: names.KEPT_OF_MODELS,
    Kind.OTHER: names.KEPT_OF_ANY,
}


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one span.

    Args:
        trace, id, parent: how spans hang together; `parent` is empty for a root.
        kind: what it tells of.
        start, end: nanoseconds since 1970; `end` is 0 if it is not known.
        attributes: those that replay reads.
        failed: whether the operation failed.
        said: what the status says of it.
        file, line: where it was read.
    """

    trace: str
    id: str
    parent: str
    kind: Kind
    start: int
    end: int
    attributes: Mapping[str, Any] = {}
    failed: bool = False
    said: str = ""
    file: str = ""
    line: int | None = None

    def first(self, wanted: tuple[str, ...]) -> Any:
        """The attribute that is there under one of several names."""
        return names.first(self.attributes, wanted)

    def text(self, wanted: tuple[str, ...]) -> str | None:
        """Likewise, as text; None for one that is absent or empty."""
        value = self.first(wanted)
        return str(value) if value not in (None, "") else None

    @property
    def tells(self) -> bool:
        """Whether it tells of a model request or a tool call."""
        return self.kind in (Kind.TOOL, Kind.MODEL)

    @property
    def tool(self) -> str:
        """The name of the tool that it tells of."""
        return self.text(names.TOOL) or "unnamed tool"

    @property
    def elapsed_s(self) -> float | None:
        """Seconds that it took, None where that is not known."""
        return (self.end - self.start) / 1e9 if self.end >= self.start > 0 else None


def span_of(wire: WireSpan, *, file: str, line: int) -> Span:
    """What is kept of `wire`. Raises ValueError for a number that is none."""
    kind = kind_of(plain(wire.attributes, names.KEPT_OF_ANY), wire.name)
    attributes = {**_raised(wire, kind), **plain(wire.attributes, _KEPT[kind])}
    if kind is Kind.TOOL and names.first(attributes, names.TOOL) is None:
        attributes["gen_ai.tool.name"] = wire.name.removeprefix("execute_tool ").strip()
    return Span(
        trace=wire.trace_id,
        id=wire.span_id,
        parent=wire.parent_span_id,
        kind=kind,
        start=nanoseconds(wire.start_time_unix_nano),
        end=nanoseconds(wire.end_time_unix_nano),
        attributes=attributes,
        failed=wire.status.is_error or "error.type" in attributes,
        said=wire.status.message,
        file=file,
        line=line,
    )


def kind_of(attributes: Mapping[str, Any], name: str) -> Kind:
    """What a span tells of, by its attributes, else by its name."""
    for wanted in (names.OPERATION, names.METHOD, names.KIND):
        kind = _kinds(names.first(attributes, wanted))
        if kind is not None:
            return kind
    if names.first(attributes, (*names.OPERATION, *names.KIND)) is None:
        if name.startswith("execute_tool ") or names.first(attributes, names.TOOL[:3]):
            return Kind.TOOL
        if name.startswith("invoke_agent"):
            return Kind.AGENT
        if names.first(attributes, names.PROMPT_TOKENS) is not None:
            return Kind.MODEL
    return Kind.OTHER


def _kinds(operation: Any) -> Kind | None:
    for known, kind in (
        (names.TOOL_OPERATIONS, Kind.TOOL),
        (names.MODEL_OPERATIONS, Kind.MODEL),
        (names.AGENT_OPERATIONS, Kind.AGENT),
    ):
        if str(operation) in known or str(operation).lower() in known:
            return kind
    return None


def _raised(wire: WireSpan, kind: Kind) -> dict[str, Any]:
    """What an exception within the span has left."""
    found: dict[str, Any] = {}
    for event in wire.events:
        if kind is Kind.TOOL and event.name == "exception":
            found.update(plain(event.attributes, _KEPT[kind]))
    return found
