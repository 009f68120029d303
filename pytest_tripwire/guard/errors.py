"""What the guard raises."""

from __future__ import annotations

from pytest_tripwire.timeline import InterruptionRecord, Reason


class Interrupted(Exception):  # noqa: N818 - the field's term; a run is interrupted, not wrong
    """The run was stopped before it could do harm. `record` says how to go on."""

    def __init__(self, record: InterruptionRecord) -> None:
        self.record = record
        super().__init__(f"run {record.run_id} was interrupted ({record.reason}): {record.message}")

    @property
    def reason(self) -> Reason:
        """Why."""
        return self.record.reason


class UndeclaredToolError(TypeError):
    """A tool was guarded whose effect nobody declared."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"nobody declared what the tool {name!r} does, and the breaker does not guess: taking "
            f"a read for a write stops good polling, taking a write for a read pays twice.\n"
            f"Above {name}, write one of\n"
            f'    @tool_spec(effect="read")\n'
            f'    @tool_spec(effect="write", identity=("the argument that says what is acted on",))'
            f"\nor pass specs={{{name!r}: ToolSpec(name={name!r}, effect=...)}} to guard(), "
            f"or default_effect= to Breaker()."
        )
