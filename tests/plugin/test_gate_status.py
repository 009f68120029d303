"""No hook of a project's makes a session that the gate fails a success."""

from __future__ import annotations

from typing import Any

import pytest

GATE = ("--tripwire-gate", "--tripwire-protection=harness")

OVERWRITES = """
    def pytest_sessionfinish(session):
        session.exitstatus = 0
"""

RAISES = """
    import pytest

    def pytest_sessionfinish(session):
        session.exitstatus = 0
        raise pytest.exit.Exception("enough")
"""


LATE = """
    import pytest

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(session):
        session.config.once = session
        yield
        session.exitstatus = 0

    def pytest_unconfigure(config):
        config.once.exitstatus = 0
"""


def not_excused(project: Any, *, folder: str = "", hook: str = "") -> None:
    project.plug_in("idle", more="" if folder else hook)
    if folder:
        project.write(f"{folder}/conftest", hook)
    project.tests(
        """
        import pytest

        @pytest.mark.xfail
        def test_agent(tripwire):
            tripwire.run().check()
        """,
        f"{folder}/test_agent" if folder else "test_agent",
    )

    assert project.run(*GATE).ret == 1


@pytest.mark.parametrize("hook", [OVERWRITES, RAISES, LATE], ids=["overwrites", "exits", "late"])
def test_a_hook_of_the_projects_does_not_excuse_the_session(project: Any, hook: str) -> None:
    not_excused(project, hook=hook)


def test_nor_does_a_hook_that_is_found_while_tests_are_collected(project: Any) -> None:
    """It is registered after all of ours, and so stands outside of them."""
    not_excused(project, folder="agents", hook=LATE)
