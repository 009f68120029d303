"""What an agent makes up is in no report: not on the terminal, nor in any file."""

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

    def environment(task):
        import os

        task.tools.call("issue_refund", {"order_id": os.environ["ACME_TOKEN"]})

    @pytest.fixture(params=[twice, crash, environment])
    def tripwire_agent(request):
        return request.param
"""


@pytest.mark.parametrize("protection", ["harness", "own"])
def test_no_report_holds_a_made_up_order(
    project: Any, protection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.pytester.path
    for name, value in {"ACTIONS": "true", "STEP_SUMMARY": str(folder / "summary.md")}.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    monkeypatch.setenv("ACME_TOKEN", SECRET)
    project.write("conftest", LEAKY)
    project.tests()

    result = project.run(
        f"--tripwire-protection={protection}",
        "--tripwire-gate",
        "-vv",
        "--junitxml=junit.xml",
        "--tripwire-report=report.json",
        "--tripwire-html=page.html",
    )

    printed = result.stdout.str() + result.stderr.str()
    assert "issue_refund(order #" in printed
    assert "issue_refund(order A-1001)" in printed
    assert "there is no such order" in printed
    assert SECRET not in printed
    for name in ("junit.xml", "report.json", "page.html", "summary.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "lost-write" in text
        assert SECRET not in text


RAISES = """
    import pytest

    @pytest.fixture
    def tripwire_agent():
        def raises(task):
            raise ValueError("".join(reversed("2retnuh")))
        return raises
"""


def test_what_an_agent_raises_is_in_no_report_of_ours(project: Any) -> None:
    """pytest itself shows the exception of a test that fails, as whoever mends it has to see it."""
    project.write("conftest", RAISES)
    project.tests("def test_agent(tripwire): tripwire.run()")
    files = ("--tripwire-report=report.json", "--tripwire-html=page.html")

    project.run("--tripwire-gate", "--tripwire-protection=own", "--tb=no", *files)

    for name in ("report.json", "page.html"):
        text = (project.pytester.path / name).read_text(encoding="utf-8")
        assert "ValueError" in text
        assert SECRET not in text


# The tools of a team answer with a secret, and the agent repeats what it was told.
TELLS = """
    import pytest
    from pytest_tripwire import RESOURCE, WORDING, Role

    def secret():
        return "".join(reversed("2retnuh"))

    def look_up(order: str) -> list:
        "What is known of an order."

    def pay_back(order: str, note: str) -> dict:
        "Pay a customer back."

    def shape(result):
        return {"token": secret(), "was": result}

    @pytest.fixture
    def tripwire_tools():
        return {
            "status": Role(look_up, {"order": RESOURCE}, lambda result: [shape(result)]),
            "write": Role(pay_back, {"order": RESOURCE, "note": WORDING}, shape),
        }

    @pytest.fixture
    def tripwire_agent():
        def agent(task):
            told = str(task.tools["look_up"]("A-1001"))
            assert secret() in told
            for note in (secret(), told):
                try:
                    told += str(task.tools["pay_back"]("A-1001", note))
                except TimeoutError:
                    continue
            return told
        return agent
"""


@pytest.mark.parametrize("protection", ["harness", "own"])
def test_what_tools_answer_is_in_no_report(
    project: Any, protection: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project.pytester.path
    for name, value in {"ACTIONS": "true", "STEP_SUMMARY": str(folder / "summary.md")}.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    project.write("conftest", TELLS)
    project.tests("""
        def test_agent(tripwire):
            run = tripwire.run()
            assert "".join(reversed("2retnuh")) in run.answer
            run.check()
        """)
    files = ("--tripwire-report=report.json", "--tripwire-html=page.html", "--junitxml=junit.xml")

    result = project.run(f"--tripwire-protection={protection}", "--tripwire-gate", "-vv", *files)

    printed = result.stdout.str() + result.stderr.str()
    assert "pay_back(order A-1001) dispatched" in printed
    assert SECRET not in printed
    for name in ("junit.xml", "report.json", "page.html", "summary.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert "lost-write" in text
        assert SECRET not in text
