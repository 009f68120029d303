"""Spans as the OpenTelemetry protocol writes them in JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

#: The latest instant that can be kept: nanoseconds in a signed integer of 64 bits.
_LATEST = 2**63 - 1


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Names as the protocol has them."""


class AnyValue(_Wire, frozen=True, kw_only=True):
    """The value of an attribute; one of these is set."""

    string_value: str | UnsetType = UNSET
    bool_value: bool | UnsetType = UNSET
    int_value: int | str | UnsetType = UNSET
    double_value: float | str | UnsetType = UNSET
    array_value: ArrayValue | UnsetType = UNSET
    kvlist_value: KeyValues | UnsetType = UNSET
    bytes_value: str | UnsetType = UNSET

    def plain(self) -> Any:
        """The value itself; None if nothing is set. Raises ValueError for a number that is none."""
        scalars: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
            (self.string_value, str),
            (self.bool_value, bool),
            (self.int_value, _whole),
            (self.double_value, float),
            (self.bytes_value, str),
        )
        for given, convert in scalars:
            if given is not UNSET:
                return convert(given)
        if isinstance(self.array_value, ArrayValue):
            return [each.plain() for each in self.array_value.values]
        if isinstance(self.kvlist_value, KeyValues):
            return plain(self.kvlist_value.values)
        return None


class ArrayValue(_Wire, frozen=True, kw_only=True):
    """Several values."""

    values: list[AnyValue] = []


class KeyValue(_Wire, frozen=True, kw_only=True):
    """A named value."""

    key: str = ""
    value: AnyValue = AnyValue()


class KeyValues(_Wire, frozen=True, kw_only=True):
    """Several named values."""

    values: list[KeyValue] = []


class WireEvent(_Wire, frozen=True, kw_only=True):
    """Something that happened within a span."""

    name: str = ""
    attributes: list[KeyValue] = []


class WireStatus(_Wire, frozen=True, kw_only=True):
    """How a span ended."""

    code: int | str = 0
    message: str = ""

    @property
    def is_error(self) -> bool:
        """Whether it says that the operation failed."""
        return self.code in (2, "2", "STATUS_CODE_ERROR")


class WireSpan(_Wire, frozen=True, kw_only=True):
    """One span, as far as it is used."""

    trace_id: str
    span_id: str = ""
    parent_span_id: str = ""
    name: str = ""
    start_time_unix_nano: int | str = 0
    end_time_unix_nano: int | str = 0
    attributes: list[KeyValue] = []
    events: list[WireEvent] = []
    status: WireStatus = WireStatus()

    def __post_init__(self) -> None:
        if not self.trace_id:
            raise ValueError("a span without `traceId` belongs to no run")


class _Scope(_Wire, frozen=True, kw_only=True):
    spans: list[msgspec.Raw] = []


class _Resource(_Wire, frozen=True, kw_only=True):
    scope_spans: list[_Scope] = []
    instrumentation_library_spans: list[_Scope] = []


class Export(_Wire, frozen=True, kw_only=True):
    """One request of an exporter.

    Spans stay as they are written, so that one that is wrong takes no other with it.
    """

    resource_spans: list[_Resource] = []
    batches: list[_Resource] = []

    def spans(self) -> Iterator[msgspec.Raw]:
        """Every span, in order."""
        for resource in (*self.resource_spans, *self.batches):
            for scope in (*resource.scope_spans, *resource.instrumentation_library_spans):
                yield from scope.spans


def _whole(value: int | str) -> int:
    number = int(value)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{number} is out of range: the protocol has integers of 64 bits")
    return number


def plain(attributes: Iterable[KeyValue], only: frozenset[str] | None = None) -> dict[str, Any]:
    """Attributes by name; with `only`, none but these."""
    return {each.key: each.value.plain() for each in attributes if only is None or each.key in only}


def nanoseconds(value: int | str) -> int:
    """An instant. Raises ValueError for what is none."""
    instant = int(value)
    if not 0 <= instant <= _LATEST:
        raise ValueError(f"{instant} is no time in nanoseconds since 1970")
    return instant
