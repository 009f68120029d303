"""What the harness raises: a demand that does not hold, or a harness that is used wrongly."""

from __future__ import annotations

from types import TracebackType

from pytest_tripwire.oracle import Cell, State, timeline_text


class TripwireFailure(AssertionError):  # noqa: N818 - a failure, in pytest's sense
    """A demand of a case did not hold. `cell` is the judgement as data."""

    #: Reports name an exception by where it is imported from.
    __module__ = "pytest_tripwire"

    def __init__(self, message: str, cell: Cell) -> None:
        self.cell = cell
        super().__init__(message)


class HarnessError(Exception):
    """The harness is used in a way that cannot work. The message says what to do."""

    __module__ = "pytest_tripwire"


def explain(cell: Cell) -> str:
    """Why a cell is not contained: what broke, what is wrong between the agent and its model, the
    timeline with the event marked, a lesson.
    """
    first = cell.broken[0] if cell.broken else None
    words = f", seed {cell.seed}" if cell.seed else ""
    head = f"{cell.case}: {cell.state} (agent {cell.agent}, protection {cell.protection}{words})"
    facts = [f"- {each.check}: {each.message}" for each in cell.broken]
    causes = [f"- {each.line}" for each in cell.diagnosis]
    marked = first.seq if first else 0
    lines = [head, *facts, *causes, "", "timeline:", timeline_text(cell.events, marked=marked)]
    return "\n".join([*lines, "", f"where to look: {cell.lesson}"] if cell.lesson else lines)


def trim(error: BaseException | None) -> None:
    """Take this package's own frames out of the tracebacks of what an agent raised. They say
    nothing about the agent, and a verbose report would print what the model gave them.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        error.__traceback__ = _foreign(error.__traceback__)
        error = error.__cause__ or error.__context__


def _foreign(trace: TracebackType | None) -> TracebackType | None:
    frames = []
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__", ""))
        if name.partition(".")[0] != "pytest_tripwire":
            frames.append(trace)
        trace = trace.tb_next
    kept: TracebackType | None = None
    for each in reversed(frames):
        kept = TracebackType(kept, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return kept


def failure(cell: Cell) -> TripwireFailure | None:
    """The failure of a cell; None when it is contained."""
    return None if cell.state is State.CONTAINED else TripwireFailure(explain(cell), cell)
