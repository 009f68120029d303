"""What the guard raises."""

from __future__ import annotations

from pytest_tripwire.timeline import InterruptionRecord, Reason, Verdict


class Interrupted(Exception):  # noqa: N818 - the field's term; a run is interrupted, not wrong
    """The run was stopped before it could do harm. `record` says how to go on."""

    def __init__(self, record: InterruptionRecord) -> None:
        self.record = record
        super().__init__(f"run {record.run_id} was interrupted ({record.reason}): {record.message}")

    @property
    def reason(self) -> Reason:
        """Why."""
        return self.record.reason


class ChildRefusedError(Exception):
    """No sub-agent was begun: there is no slot for it, or the run is over. Nothing has happened,
    and a run that is open goes on. `verdict` says why; `verdict.as_result()` is what a model can be
    told.
    """

    def __init__(self, run_id: str, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(f"run {run_id} began no sub-agent ({verdict.reason}): {verdict.message}")

    @property
    def reason(self) -> Reason | None:
        """Why."""
        return self.verdict.reason


class NotBegun(Exception):  # noqa: N818 - an answer, and nothing is wrong
    """Raised by an adapter where a framework answers a call whose body it never entered: arguments
    that do not fit, a person who is asked first. A write that ends so has failed, and did nothing.

    Raise it only where that is known: a write that may have begun is unknown.

    Args:
        answer: what the framework answers.
    """

    def __init__(self, answer: object) -> None:
        self.answer = answer
        super().__init__("the call was answered before it began")


class UndeclaredToolError(TypeError):
    """A tool was guarded whose effect nobody declared; `tool` is its name."""

    def __init__(self, name: str) -> None:
        self.tool = name
        super().__init__(
            f"nobody declared what the tool {name!r} does, and the breaker does not guess: taking "
            f"a read for a write stops good polling, taking a write for a read pays twice.\n"
            f"Above {name}, write one of\n"
            f'    @tool_spec(effect="read")\n'
            f'    @tool_spec(effect="write", identity=("the argument that says what is acted on",))'
            f"\nor pass specs={{{name!r}: ToolSpec(name={name!r}, effect=...)}} to guard(), "
            f"or default_effect= to Breaker()."
        )
