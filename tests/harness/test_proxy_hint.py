"""A proxy in the environment is named when an agent never got to its case."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_tripwire import Harness
from pytest_tripwire.harness.proxies import proxy_hint

PROXY = "http://user:hunter2@proxy.example:3128"


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_is_named_and_its_address_is_not(name: str) -> None:
    hint = proxy_hint({name: PROXY})

    assert name in hint
    assert "NO_PROXY=127.0.0.1" in hint
    assert "hunter2" not in hint


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"HTTP_PROXY": ""},
        {"HTTPS_PROXY": PROXY},
        {"HTTP_PROXY": PROXY, "NO_PROXY": "localhost,127.0.0.1"},
        {"HTTP_PROXY": PROXY, "no_proxy": "*"},
    ],
)
def test_nothing_is_said_when_nothing_is_in_the_way(environment: dict[str, str]) -> None:
    assert proxy_hint(environment) == ""


def test_an_agent_that_never_got_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", PROXY)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    run = Harness("lost-write", lambda _task: "I did nothing").run()

    assert run.cell.state == "inconclusive"
    assert "HTTP_PROXY is set" in run.cell.lesson


def test_the_environment_that_a_task_suggests_spares_the_server() -> None:
    seen: dict[str, Any] = {}
    Harness("lost-write", lambda task: seen.update(task.model.env)).run()

    assert proxy_hint({"HTTP_PROXY": PROXY, **seen}) == ""
