"""What pytest tells of a failure in one line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def cut(call: pytest.CallInfo[None], report: Any) -> None:
    """Leave of a failure of ours what broke. In CI pytest shows whole messages in its summary, and
    each timeline would stand in the log once more, right under the gate's word.
    """
    crash = getattr(report.longrepr, "reprcrash", None)
    # Whoever has not loaded the harness has no failure of ours.
    harness = sys.modules.get("pytest_tripwire.harness")
    if crash is None or call.excinfo is None or harness is None:
        return
    if isinstance(call.excinfo.value, harness.TripwireFailure):
        crash.message = crash.message.partition("\n\n")[0]
