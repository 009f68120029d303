"""Real SDKs and frameworks against the scripted model. Collected only when the command line names
this folder or a file in it, as the frameworks take longer to import than the whole suite to run.

What a test module `NEEDS` may not be installed: then it is left out, and the summary says so.
Naming such a module on the command line is an error.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pytest_tripwire import Harness, Options, Run, Task
from pytest_tripwire.models import Exchange, ModelServer, Script
from pytest_tripwire.models.faults import (
    CutStream,
    Drop,
    MalformedArguments,
    ModelFault,
    NoUsage,
    Status,
    UnknownTool,
)
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import ModelRequest, Mutation

HERE = Path(__file__).parent


# -- what is collected


def needs(module: Path) -> list[str]:
    """The distributions that a module says it needs, read without importing it."""
    for node in ast.parse(module.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "NEEDS":
            return list(ast.literal_eval(node.value))
    return []


#: How a need begins that is no distribution but a package of Node; what the rest of it names has
#: to be in the folder that this variable names.
NODE = "node:"
NODE_MODULES = "TRIPWIRE_NODE_MODULES"


def is_installed(name: str) -> bool:
    if name.startswith(NODE):
        folder = os.environ.get(NODE_MODULES)
        return folder is not None and (Path(folder) / name.removeprefix(NODE)).is_dir()
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def missing(module: Path) -> list[str]:
    return [name for name in needs(module) if not is_installed(name)]


def reason(module: Path) -> str:
    names = missing(module)
    verb = "is" if len(names) == 1 else "are"
    return (
        f"{module.name}: not collected: {', '.join(names)} {verb} not installed, "
        "see requirements/adapters.txt"
    )


def named(config: pytest.Config) -> list[Path]:
    """The paths on the command line."""
    start = config.invocation_params.dir
    return [(start / arg.split("::")[0]).resolve() for arg in config.args]


def asked_for(config: pytest.Config) -> list[Path]:
    return [path for path in named(config) if path.is_relative_to(HERE)]


def left_out(config: pytest.Config) -> list[Path]:
    modules = sorted(HERE.glob("test_*.py"))
    found = [each for each in modules if any(each.is_relative_to(p) for p in asked_for(config))]
    return [each for each in found if missing(each)]


def pytest_configure(config: pytest.Config) -> None:
    for module in left_out(config):
        if module in named(config):
            raise pytest.UsageError(reason(module))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not asked_for(config):
        return True
    return True if collection_path.suffix == ".py" and missing(collection_path) else None


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    for module in left_out(config):
        terminalreporter.write_line(reason(module), yellow=True)


# -- what the tests share

SEARCHES = ("search_articles",)
WRITES = ("issue_refund",)

#: By case and persona: what the model proposes turn by turn, whoever carries it, and why it is
#: stopped. Nothing means that it only speaks, or is not asked any more.
EXPECTED: dict[tuple[str, str], tuple[list[tuple[str, ...]], str | None]] = {
    ("empty-search", "stubborn"): ([SEARCHES] * 4 + [()], "empty_results"),
    ("empty-search", "compliant"): ([SEARCHES] * 2 + [()], None),
    ("lost-write", "stubborn"): ([WRITES] * 3 + [()], "unknown_side_effect"),
    ("lost-write", "compliant"): ([WRITES] * 2 + [()], "unknown_side_effect"),
}


class Played(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an agent, and what its model saw of it."""

    run: Run
    requests: int

    @property
    def turns(self) -> list[int]:
        """The turns that were answered, in order."""
        return [each.turn for each in self._asked()]

    @property
    def moves(self) -> list[tuple[str, ...]]:
        """What the model proposed at each of them, of the desk's own tools."""
        desk = (*SEARCHES, *WRITES)
        return [tuple(n for n in each.proposes if n in desk) for each in self._asked()]

    @property
    def tokens(self) -> int:
        """What the model counted, in and out."""
        return sum(each.prompt_tokens + each.completion_tokens for each in self._asked())

    def _asked(self) -> list[ModelRequest]:
        return [each for each in self.run.events if isinstance(each, ModelRequest)]


Play = Callable[..., Played]


@pytest.fixture
def play() -> Play:
    """Runs an agent on a case, with the breaker of the harness, and demands that it holds and that
    the model's moves came in the script's order, each once.
    """

    def play(
        agent: Callable[[Task], Any],
        case: str,
        *,
        persona: str = "stubborn",
        faults: Iterable[ModelFault] = (),
    ) -> Played:
        servers: list[ModelServer] = []

        def kept(**options: Any) -> ModelServer:
            servers.append(ModelServer(**options))
            return servers[-1]

        options = Options(persona=persona, model_faults=tuple(faults))
        run = Harness(case, agent, options=options, model_server=kept).run()
        run.check()
        played = Played(run=run, requests=servers[0].requests)
        moves, reason = EXPECTED[case, persona]
        assert played.moves == moves
        assert played.turns == list(range(len(moves)))
        assert run.reason == reason
        return played

    return play


AT_ONCE = {"retry-after-ms": "1"}

#: What goes wrong while the model proposes to pay for the second time.
FAULTS: dict[str, ModelFault] = {
    "error": Status(turn=1, status=500, headers=AT_ONCE),
    "rate-limit": Status(turn=1, status=429, headers=AT_ONCE),
    "down": Status(turn=1, attempts=(), status=503, headers=AT_ONCE),
    "no-quota": Status(turn=1, attempts=(), status=403),
    "silent": Drop(turn=1, attempts=()),
    "cut": CutStream(turn=1, attempts=()),
    "malformed": MalformedArguments(turn=1),
    "unknown-tool": UnknownTool(turn=1),
    "no-usage": NoUsage(),
}

#: Whose exceptions are a name for what went wrong: the SDKs', their transport's, the frameworks'.
TYPED = {
    "agents",
    "anthropic",
    "google",
    "httpx2",
    "httpx",
    "langchain_anthropic",
    "langchain_core",
    "langchain_openai",
    "openai",
    "pydantic_ai",
    "pytest_tripwire",
}


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest) -> ModelFault:
    return FAULTS[request.param]


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Runs an agent whose model fails, and demands that it ends by name, in bounds, and that nobody
    is paid twice. `also`: what its framework raises besides, without a name of its own.
    """
    for package in ("openai", "anthropic"):
        # What a client waits between its tries is its own affair, and no test's time.
        monkeypatch.setattr(f"{package}._base_client.INITIAL_RETRY_DELAY", 0.001, raising=False)

    def ends(
        agent: Callable[[Task], Any], fault: ModelFault, also: tuple[type[Exception], ...] = ()
    ) -> Run:
        options = Options(model_faults=(fault,), max_seconds=30.0)
        run = Harness("lost-write", agent, options=options).run()
        where = type(run.error).__module__.split(".")[0]
        # In process a lost connection is the one that Python knows.
        known = (type(None), ConnectionError, *also)
        assert where in TYPED or isinstance(run.error, known), run.error
        assert run.cell.state is not State.ESCAPED, run.cell.broken
        paid = sum(isinstance(each, Mutation) for each in run.events)
        assert paid == 1 or (paid == 0 and isinstance(run.error, also)), run.error
        return run

    return ends


class Binder:
    """Roles by the names of a small shop's tools."""

    def tool_name(self, role: str) -> str:
        return {"search": "search_orders", "write": "refund_order"}[role]

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return dict(slots)


@pytest.fixture
def server() -> Callable[..., ModelServer]:
    """Makes what an in-process model is asked through; nobody has to start it."""

    def server(script: Script, *faults: ModelFault) -> ModelServer:
        return ModelServer(
            script=script,
            binder=Binder(),
            observe=lambda _: None,
            roles=("search", "write"),
            faults=faults,
        )

    return server


@pytest.fixture
def exchange(server: Callable[..., ModelServer]) -> Callable[..., Exchange]:
    """Makes what answers an in-process model."""
    return lambda *given: server(*given).exchange
