"""How the spans of one run hang together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_tripwire.replay.reading import names
from pytest_tripwire.replay.reading.span import Kind, Span

_Key = tuple[str, str]


class Family:
    """Answers who stands above a span.

    One call is often told of twice: by the framework, and within by the client of the model or of
    the Model Context Protocol. The outer span counts; what it lacks is taken from the inner one.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self._by_id = {(span.trace, span.id): span for span in spans if span.id}
        self._inner: dict[_Key, list[Span]] = {}
        self._repeats: set[int] = set()
        for span in spans:
            outer = self._outer(span)
            if outer is not None:
                self._repeats.add(id(span))
                self._inner.setdefault((outer.trace, outer.id), []).append(span)

    def tells(self, span: Span) -> bool:
        """Whether the span is a model request or a tool call that no other tells of."""
        return span.tells and id(span) not in self._repeats

    def attribute(self, span: Span, wanted: tuple[str, ...]) -> Any:
        """An attribute of the span, or of an inner one that tells of the same call."""
        value = span.first(wanted)
        if value is not None:
            return value
        inner = self._inner.get((span.trace, span.id), ())
        return next((each.first(wanted) for each in inner if each.first(wanted) is not None), None)

    def agent_span(self, span: Span) -> str | None:
        """The id of the nearest span of an agent; None if there is none."""
        found = self._nearest(span, Kind.AGENT)
        return None if found is None else found.id

    def agent(self, span: Span) -> str | None:
        """The name of the agent that proposed it, where that is known."""
        found = self._nearest(span, Kind.AGENT)
        by_itself = span.text(names.AGENT)
        return by_itself if found is None else found.text(names.AGENT_ITSELF) or by_itself

    def _outer(self, span: Span) -> Span | None:
        """The outermost span that tells of the same; None for one that does, or that is its own
        parent.
        """
        seen, outer = {id(span)}, None
        above = self._same_above(span)
        while above is not None:
            if id(above) in seen:
                return None
            seen.add(id(above))
            outer = above
            above = self._same_above(above)
        return outer

    def _same_above(self, span: Span) -> Span | None:
        """The nearest span further out, if it tells of the same."""
        if not span.tells:
            return None
        above = self._nearest(span, Kind.TOOL, Kind.MODEL, Kind.AGENT)
        if above is None or above.kind is not span.kind:
            return None
        return None if span.kind is Kind.TOOL and above.tool != span.tool else above

    def _nearest(self, span: Span, *kinds: Kind) -> Span | None:
        """The nearest span above of one of `kinds`. Parents that go round in a ring end it."""
        seen = {id(span)}
        above = self._by_id.get((span.trace, span.parent)) if span.parent else None
        while above is not None and id(above) not in seen:
            if above.kind in kinds:
                return above
            seen.add(id(above))
            above = self._by_id.get((above.trace, above.parent)) if above.parent else None
        return None
