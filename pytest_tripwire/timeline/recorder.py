"""One sequenced timeline, written through separate writers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast

import msgspec

from pytest_tripwire.timeline.events import AnyEvent, Event

E = TypeVar("E", bound=Event)

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(tuple[AnyEvent, ...])


class Writer(Generic[E]):
    """The right to append one kind of event."""

    __slots__ = ("_append", "_kind")

    def __init__(self, kind: type[E], append: Callable[[Event], Event]) -> None:
        self._kind = kind
        self._append = append

    def append(self, event: E) -> int:
        """Give `event` its sequence number and time; returns the number."""
        return self.stamped(event).seq

    def stamped(self, event: E) -> E:
        """The same; returns the event as it was appended."""
        if not isinstance(event, self._kind):
            kinds = f"{type(event).__name__} is not a {self._kind.__name__}"
            raise TypeError(f"{kinds}: each writer appends its own kind of event only")
        return cast("E", self._append(event))


class Timeline:
    """Owner of a run's events. `now` gives seconds since the run began."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._events: list[Event] = []

    def writer(self, kind: type[E]) -> Writer[E]:
        """A writer for one side: `WorldEvent` or `BreakerEvent`."""
        return Writer(kind, self._append)

    def events(self) -> tuple[AnyEvent, ...]:
        """All that has happened so far, in order."""
        with self._lock:
            return cast("tuple[AnyEvent, ...]", tuple(self._events))

    def of(self, kind: type[E]) -> tuple[E, ...]:
        """What has happened of one kind, in order."""
        return tuple(event for event in self.events() if isinstance(event, kind))

    def _append(self, event: Event) -> Event:
        with self._lock:
            stamped = msgspec.structs.replace(event, seq=len(self._events) + 1, at=self._now())
            self._events.append(stamped)
            return stamped


def to_json(events: Sequence[AnyEvent]) -> bytes:
    """The events as JSON; `from_json` is its inverse, but for text that no encoding can hold."""
    try:
        return _encoder.encode(tuple(events))
    except UnicodeEncodeError:
        return _encoder.encode([_encodable(event) for event in events])


def _encodable(event: AnyEvent) -> AnyEvent:
    """The event with `?` for lone surrogates, which a model can put into the name of a tool."""
    values = {name: getattr(event, name) for name in event.__struct_fields__}
    texts = {name: value for name, value in values.items() if type(value) is str}
    cleaned = {name: text.encode("utf-8", "replace").decode() for name, text in texts.items()}
    return msgspec.structs.replace(event, **cleaned)


def from_json(data: bytes | str) -> tuple[AnyEvent, ...]:
    """Events from `to_json`. Raises `msgspec.ValidationError` for anything else."""
    return _decoder.decode(data)
