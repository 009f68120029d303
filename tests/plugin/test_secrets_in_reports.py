"""What an agent makes up is in no report: not on the terminal, not in JUnit, not on the wire."""

from __future__ import annotations

from typing import Any

import pytest

SECRET = "hunter2"

# Put together as it runs: a traceback shows the source of an agent, and that is the team's.
LEAKY = """
    import pytest

    def secret():
        return "".join(reversed("2retnuh"))

    def twice(task):
        made_up = {"order_id": secret(), "amount": 1, "reason": secret(), "request_id": secret()}
        for order in (secret(), "A-1001", "A-1001"):
            try:
                task.tools.call("issue_refund", {**made_up, "order_id": order})
            except (LookupError, TimeoutError):
                continue

    def crash(task):
        task.tools.call("get_refund", {"order_id": secret()})

    @pytest.fixture(params=[twice, crash])
    def tripwire_agent(request):
        return request.param
"""


@pytest.mark.parametrize("protection", ["harness", "own"])
def test_no_report_holds_a_made_up_order(project: Any, protection: str) -> None:
    project.write("conftest", LEAKY)
    project.tests()

    result = project.run(
        f"--tripwire-protection={protection}", "--tripwire-gate", "-vv", "--junitxml=junit.xml"
    )

    printed = result.stdout.str() + result.stderr.str()
    assert "issue_refund(order #" in printed
    assert "issue_refund(order A-1001)" in printed
    assert "there is no such order" in printed
    assert SECRET not in printed
    assert SECRET not in (project.pytester.path / "junit.xml").read_text(encoding="utf-8")
