"""The cases with a real model: all but the model stays, its traffic is live or from a cassette."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire import Harness, HarnessError, Options, Run
from pytest_tripwire.harness.real_model import PLACEHOLDER, RealModel
from pytest_tripwire.models import Calls, ModelServer, Move, Propose, Say, Seen
from pytest_tripwire.models.cassettes import CassetteDivergence, CassetteError

pytest.importorskip("vcr")

KEY = "own-planted-0123456789abcdefXYZ"
REFUND = {"order_id": "A-1001", "amount": 40, "reason": "sent back", "request_id": "r-1"}


def pay_once(seen: Seen) -> Move:
    """What a sensible model does: one refund, and then words."""
    return Calls(proposals=(Propose(role="write"),)) if seen.turn == 0 else Say(text="I will look.")


class Refunds:
    """Binds the stand-in's one proposal to the desk's tool."""

    def tool_name(self, role: str) -> str:
        return "issue_refund"

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        return REFUND


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server in the place of the provider; its address and a key are in the environment."""
    with ModelServer(script=pay_once, binder=Refunds(), observe=lambda _: None) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url("openai"))
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
        monkeypatch.delenv("CI", raising=False)
        yield server


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lost-write.yaml"


def harness(agent: Any, path: Path | None = None, **more: Any) -> Harness:
    model = "live" if path is None else "cassette"
    options = Options(model=model, model_name="gpt-real", cassette=path, **more)
    return Harness("lost-write", agent, options=options)


def told(run: Run) -> tuple[Any, ...]:
    return (run.cell.state, run.cell.ending, run.answer, [type(e).__name__ for e in run.events])


def test_a_real_model_is_asked_by_its_name_and_key(agents: Any, provider: ModelServer) -> None:
    seen = []

    def agent(task: Any) -> Any:
        seen.append((task.model.name, task.model.api_key, task.model.base_url("openai")))
        return agents.loop(task)

    run = harness(agent).run()

    assert seen == [("gpt-real", KEY, provider.base_url("openai"))]
    assert provider.requests == 2
    assert "Mutation" in told(run)[3]
    assert "ModelRequest" not in told(run)[3]


def test_a_run_is_recorded_and_played_when_the_provider_is_down(
    agents: Any, provider: ModelServer, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = harness(agents.loop, path).run()
    provider.stop()
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("CI", "1")

    played = harness(agents.loop, path).run()

    assert told(played) == told(recorded)
    assert played.answer == "I will look."
    assert KEY not in path.read_text("utf-8")


def test_async_runs_are_recorded_and_played(agents: Any, provider: ModelServer, path: Path) -> None:
    recorded = asyncio.run(harness(agents.loop, path).arun())
    provider.stop()
    played = asyncio.run(harness(agents.loop, path).arun())

    assert told(played) == told(recorded)


def test_each_run_has_a_cassette_of_its_own(agents: Any, provider: ModelServer, path: Path) -> None:
    twice = harness(agents.loop, path)
    twice.run()
    twice.run()

    assert sorted(each.name for each in path.parent.iterdir()) == [
        "lost-write-run2.yaml",
        "lost-write.yaml",
    ]
    assert provider.requests == 4


def test_an_agent_that_asks_something_else_is_told_so_though_it_swallows_that(
    agents: Any, provider: ModelServer, path: Path
) -> None:
    harness(agents.loop, path).run()

    def careless(task: Any) -> str:
        try:
            agents.ask(task, [{"role": "user", "content": "something else"}])
        except CassetteError:
            return "all is well"
        return "answered"

    with pytest.raises(CassetteDivergence, match=r"request 1 of the agent.*messages\[0\].content"):
        harness(careless, path).run()


def test_a_run_that_crashed_is_not_kept(agents: Any, provider: ModelServer, path: Path) -> None:
    def crashes(task: Any) -> None:
        agents.ask(task, [{"role": "user", "content": task.prompt}])
        raise KeyError

    run = harness(crashes, path).run()

    assert run.cell.ending == "crashed (KeyError)"
    assert not path.exists()


class Enough(Exception):  # noqa: N818 - an agent's own way to stop
    pass


def test_a_run_that_was_stopped_is_kept_and_without_the_secrets_around_it(
    agents: Any, provider: ModelServer, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "correct horse")

    def stops(task: Any) -> None:
        agents.ask(task, [{"role": "user", "content": "correct horse"}])
        raise Enough

    run = harness(stops, path, stops=(Enough,)).run()

    assert run.cell.ending == "stopped itself (Enough)"
    assert "correct horse" not in " ".join(path.read_text("utf-8").split())


def test_nothing_is_patched_any_more_after_a_run(
    agents: Any, provider: ModelServer, path: Path
) -> None:
    def misused(task: Any) -> None:
        raise HarnessError("misused")

    harness(agents.loop, path).run()
    with pytest.raises(HarnessError):
        harness(misused, path).run()

    Harness("lost-write", agents.loop).run()
    harness(agents.loop).run()
    assert provider.requests == 4


def test_a_provider_that_is_to_be_asked_wants_a_key(
    agents: Any, provider: ModelServer, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")

    for way in (harness(agents.loop), harness(agents.loop, path)):
        with pytest.raises(HarnessError, match="no key: set OPENAI_API_KEY or ANTHROPIC_API_KEY"):
            way.run()

    assert provider.requests == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "real"}, "choose from scripted, cassette, live"),
        ({"model": "live"}, "nobody says which: give model_name"),
        ({"model": "cassette", "model_name": "m"}, "give Options\\(cassette="),
        (
            {"model": "cassette", "model_name": "m", "cassette": Path("x"), "record_mode": "y"},
            "record mode 'y'",
        ),
    ],
)
def test_a_model_that_cannot_be_asked_is_an_error_before_the_run(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(HarnessError, match=message):
        Harness("lost-write", print, options=Options(**options))


def test_the_environment_says_where_a_model_is_and_else_the_provider_does() -> None:
    model = RealModel("claude-x", {"OPENAI_API_KEY": "a", "ANTHROPIC_API_KEY": "b"}, plays=False)

    assert model.api_key == "b"
    assert model.base_url("openai") == "https://api.openai.com/v1"
    assert model.base_url("anthropic") == "https://api.anthropic.com"
    assert model.env == {
        "OPENAI_BASE_URL": "https://api.openai.com/v1",
        "OPENAI_API_KEY": "a",
        "ANTHROPIC_BASE_URL": "https://api.anthropic.com",
        "ANTHROPIC_API_KEY": "b",
    }
    with pytest.raises(ValueError, match="no base URL for 'acme': use one of openai, anthropic"):
        model.base_url("acme")


def test_the_key_of_the_other_provider_will_do_and_a_placeholder_to_play() -> None:
    assert RealModel("claude-x", {"OPENAI_API_KEY": "a"}, plays=True).api_key == "a"
    assert RealModel("gpt-x", {}, plays=True).api_key == PLACEHOLDER


def test_the_scripted_models_of_frameworks_are_no_real_ones() -> None:
    with pytest.raises(HarnessError, match=r"task\.model\.langchain\(\) is the scripted model"):
        RealModel("m", {}, plays=True).langchain()


@pytest.mark.parametrize("wrapped", [False, True], ids=["as it is", "wrapped"])
def test_somebody_elses_cassette_around_a_run_is_named(
    agents: Any, tmp_path: Path, *, wrapped: bool
) -> None:
    import vcr

    def agent(task: Any) -> Any:
        try:
            return agents.loop(task)
        except Exception as error:
            if wrapped:
                raise ConnectionError from error
            raise

    theirs = vcr.VCR(record_mode="none")
    with theirs.use_cassette(tmp_path / "theirs.yaml"):
        run = Harness("lost-write", agent).run()
    with theirs.use_cassette(tmp_path / "theirs.yaml", ignore_localhost=True):
        spared = Harness("lost-write", agents.loop).run()

    assert run.cell.state == "inconclusive"
    assert '{"ignore_localhost": True}' in run.cell.lesson
    assert spared.cell.state == "contained"


def test_one_providers_key_is_not_shown_to_the_other() -> None:
    model = RealModel("gpt-x", {"ANTHROPIC_API_KEY": "theirs"}, plays=False)

    assert model.env["ANTHROPIC_API_KEY"] == "theirs"
    assert model.env["OPENAI_API_KEY"] == PLACEHOLDER


def test_a_gateway_for_both_gets_the_key_that_there_is() -> None:
    gateway = {"OPENAI_BASE_URL": "http://127.0.0.1:4000/v1", "ANTHROPIC_API_KEY": "theirs"}

    assert RealModel("claude-x", gateway, plays=False).env["OPENAI_API_KEY"] == "theirs"
