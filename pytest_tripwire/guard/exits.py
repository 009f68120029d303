"""The ends of a run."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from pytest_tripwire.breaker.controller import Controller
from pytest_tripwire.breaker.finding import Finding, stop_for
from pytest_tripwire.guard.arguments import said
from pytest_tripwire.guard.ending import Measures, State, Terminal
from pytest_tripwire.guard.errors import Interrupted
from pytest_tripwire.timeline import InterruptionRecord, Reason

_NOT_OURS = (KeyboardInterrupt, SystemExit, GeneratorExit)


class Exits:
    """Brings a run to one of its terminal states; part of `BreakerRun`."""

    #: How the run has ended; None while it goes on.
    terminal: Terminal | None
    _controller: Controller
    _measures: Measures

    def interrupt(self, message: str | BaseException) -> None:
        """Stop the run from outside: nothing is dispatched any more. A run that is only watched
        goes on.

        Args:
            message: why, in words of yours, which the record keeps. An exception is named by its
                class alone, as its text may hold what no record may.
        """
        self._controller.stop(stop_for(Reason.CANCELLED, said(message)))

    def limit(self, finding: Finding) -> None:
        """Begin in another mode than `open`, as a resumed run may have to."""
        self._controller.stop(finding)

    def expire(self) -> None:
        """Look at the clock. Whoever has a timer calls this at the deadline; without one it is
        noticed at the next call.
        """
        self._controller.expire()

    def needs_input(self, *, field: str, why: str, question: str) -> Terminal:
        """End the run because something is missing that only the user can say.

        Args:
            field: what is missing.
            why: what it is needed for.
            question: one specific question.
        """
        return self._ended(
            Terminal(
                state=State.NEEDS_INPUT,
                detail=said(why),
                field=said(field),
                question=said(question),
            )
        )

    def reject(self, why: str | BaseException) -> Terminal:
        """End the run because the task is not to be done. `why` is as for `interrupt`."""
        return self._ended(Terminal(state=State.REJECTED, detail=said(why)))

    def fail(self, why: str | BaseException) -> Terminal:
        """End the run because whatever drives it has failed. `why` is as for `interrupt`."""
        return self._ended(Terminal(state=State.FAILED, detail=said(why)))

    def finish(self) -> Terminal:
        """End the run. It is `completed` if every postcondition is true, and `failed` if one is
        not; what the model says is no evidence.
        """
        unmet = self._measures.unmet()
        if unmet:
            return self._ended(Terminal(state=State.FAILED, detail=f"not true: {', '.join(unmet)}"))
        return self._ended(Terminal(state=State.COMPLETED))

    def close(self) -> InterruptionRecord | None:
        """End the run without raising, and those that work for it. Returns its record if it did not
        end well.
        """
        record = self._controller.close()
        if record is None and self.terminal is None:
            self.finish()
        elif record is not None:
            self._become(Terminal(state=State.INTERRUPTED, detail=record.message))
        return record

    def _ended(self, terminal: Terminal) -> Terminal:
        self._controller.end()
        if self.terminal is None or self.terminal.state is State.COMPLETED:
            self._become(terminal)
        return self.terminal or terminal

    def _become(self, terminal: Terminal) -> None:
        if terminal != self.terminal:
            self.terminal = terminal
            self._controller.finished(terminal.state, terminal.field or terminal.detail)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        record = self.close()
        if record is None or isinstance(error, _NOT_OURS):
            return
        if isinstance(error, Interrupted) and not _is_of_child(error.record, record):
            return
        raise Interrupted(record) from error


def _is_of_child(one: InterruptionRecord, other: InterruptionRecord) -> bool:
    """Whether a record is that of a run that works for the other's: what stopped both is told by
    the run that begun it.
    """
    return one.run_id.startswith(f"{other.run_id}/")
