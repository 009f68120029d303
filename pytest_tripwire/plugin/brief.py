"""What pytest tells of a failure in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def cut(call: pytest.CallInfo[None], report: Any) -> None:
    """Leave of a failure of ours what broke. In CI pytest shows whole messages in its summary, and
    each timeline would stand in the log once more, right under the gate's word.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None or call.excinfo is None:
        return
    from pytest_tripwire.harness import TripwireFailure

    if isinstance(call.excinfo.value, TripwireFailure):
        crash.message = crash.message.partition("\n\n")[0]
