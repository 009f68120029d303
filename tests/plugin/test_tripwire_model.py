"""`--tripwire-model`: the standard cases with a real model, played from cassettes or live."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.models import ModelServer, Say

pytest.importorskip("vcr")

NAMED = "tripwire_model_name = gpt-real\n"
CASSETTE = f"tripwire_model = cassette\n{NAMED}"


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """The provider: it only ever talks."""
    with ModelServer(
        script=lambda _: Say(text="hello"),
        binder=None,
        observe=lambda _: None,  # type: ignore[arg-type]
    ) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url("openai"))
        monkeypatch.setenv("OPENAI_API_KEY", "own-planted-0123456789abcdefXYZ")
        monkeypatch.delenv("CI", raising=False)
        yield server


@pytest.fixture
def agent(project: Any, provider: ModelServer) -> Any:
    """A project whose agent goes over HTTP."""
    project.plug_in("served")
    return project


def files(project: Any) -> list[str]:
    folder: Path = project.pytester.path
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.yaml"))


def test_each_cell_has_a_cassette_of_its_own_and_needs_no_provider_then(
    agent: Any, provider: ModelServer, rows: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.ini(CASSETTE)
    agent.two_cases()
    agent.tests("def test_agent(tripwire):\n    tripwire.run()\n")

    recorded = rows.every(agent.run())  # type: ignore[attr-defined]
    asked = provider.requests
    provider.stop()
    monkeypatch.delenv("OPENAI_API_KEY")
    played = rows.every(agent.run("--tripwire-record-mode=none"))  # type: ignore[attr-defined]

    assert asked == 2
    assert played == recorded
    assert files(agent) == [
        "cassettes/test_agent/test_agent-deadline.yaml",
        "cassettes/test_agent/test_agent-lost-write.yaml",
    ]


def test_handles_that_a_test_names_have_cassettes_too(agent: Any) -> None:
    agent.ini(CASSETTE)
    agent.tests(
        """
        def test_agent(tripwire_for):
            for case in ("lost-write", "lost-write", "lost-write/batch"):
                tripwire_for(case).run()
        """
    )

    agent.run()

    assert [re.sub(r"-[0-9a-f]{8}\.", "-#.", name) for name in files(agent)] == [
        "cassettes/test_agent/test_agent-lost-write-2.yaml",
        "cassettes/test_agent/test_agent-lost-write-batch-#.yaml",
        "cassettes/test_agent/test_agent-lost-write.yaml",
    ]


def test_a_divergence_makes_a_cell_inconclusive_and_is_told(
    agent: Any, rows: Callable[..., Any]
) -> None:
    agent.ini(CASSETTE)
    agent.tests()
    agent.run("--tripwire-protection=own")
    agents = agent.pytester.path / "agents.py"
    changed = agents.read_text("utf-8").replace('"content": task.prompt', '"content": "x"')
    agents.write_text(changed, "utf-8")

    result = agent.run("--tripwire-protection=own")

    assert [row[2] for row in rows(result)] == ["inconclusive"]
    result.stdout.fnmatch_lines(
        "*CassetteDivergence: cassettes/test_agent/test_agent-lost-write.yaml: request 1 of the "
        "agent is not what was recorded: `messages[[]0].content` differs*"
    )


def test_live_asks_at_every_run_and_records_nothing(agent: Any, provider: ModelServer) -> None:
    agent.ini(NAMED)
    agent.tests("def test_agent(tripwire):\n    tripwire.run()\n")

    first = agent.run("--tripwire-model=live")
    agent.run("--tripwire-model=live")

    assert "tripwire: model gpt-real (live)" in first.outlines

    assert provider.requests == 2
    assert files(agent) == []


def test_by_default_the_scripted_model_is_asked(
    agent: Any, provider: ModelServer, rows: Callable[..., Any]
) -> None:
    agent.ini(NAMED)
    agent.tests()

    result = agent.run()

    assert [row[2] for row in rows(result)] == ["contained"]
    result.stdout.no_fnmatch_line("tripwire: model*")
    assert provider.requests == 0


@pytest.mark.parametrize(
    ("ini", "args", "message"),
    [
        ("tripwire_model = live\n" + NAMED, [], "only where the command line says so"),
        ("tripwire_model = real\n" + NAMED, [], "'real': choose from scripted, cassette"),
        ("tripwire_model = cassette\n", [], "set the ini value tripwire_model_name"),
        ("", ["--tripwire-model=live"], "set the ini value tripwire_model_name"),
    ],
)
def test_what_cannot_be_is_wrong_usage(
    ini: str, args: list[str], message: str, project: Any
) -> None:
    project.ini(ini)

    result = project.run(*args)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in "".join(result.errlines)
