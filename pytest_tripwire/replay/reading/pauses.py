"""When a run was active: a conversation waits for its user, and that time is nobody's."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_tripwire.replay.reading.span import Kind, Span


class Pauses:
    """The time of a run without the pauses between a user's messages.

    A further trace of a conversation that begins with the invocation of an agent is taken for the
    answer to a further message of the user. Where each request is a trace of its own, nothing says
    when a message came, and time goes on.

    Args:
        spans: those of the run, by time of their beginning.
    """

    def __init__(self, spans: Sequence[Span]) -> None:
        self._messages: list[float] = []
        self._skipped: dict[str, int] = {}
        self._begin = spans[0].start
        covered, skipped = 0, 0
        for trace, own in _by_trace(spans).items():
            start = own[0].start
            if self._skipped and start >= covered and _is_invoked(own):
                skipped += start - covered
                self._messages.append(self._seconds(start, skipped))
            self._skipped[trace] = skipped
            covered = max(covered, *(max(span.start, span.end) for span in own))

    @property
    def messages(self) -> list[float]:
        """When a further message of the user came, in seconds of activity."""
        return self._messages

    def active_s(self, span: Span) -> float:
        """Seconds of activity from the run's beginning to that of the span."""
        return self._seconds(span.start, self._skipped[span.trace])

    def _seconds(self, instant: int, skipped: int) -> float:
        return max(0, instant - self._begin - skipped) / 1e9


def _by_trace(spans: Sequence[Span]) -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for span in spans:
        found.setdefault(span.trace, []).append(span)
    return found


def _is_invoked(spans: Sequence[Span]) -> bool:
    ids = {span.id for span in spans}
    return any(span.kind is Kind.AGENT and span.parent not in ids for span in spans)
