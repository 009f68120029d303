"""What the tests of replay share: runs in JSON, a breaker that is easy to predict, the command."""

from __future__ import annotations

import importlib.util
import io
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_tripwire import cli
from pytest_tripwire.replay.command import Streams
from pytest_tripwire.replay.reading import Grouping, Sizes, read, sources
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.replay.trace import Recorded, Trace, TraceStep, TraceVerdict
from pytest_tripwire.timeline import Decision, Effect, Reason

HERE = Path(__file__).parent


def _call(**fields: Any) -> dict[str, Any]:
    """A read that went well; keywords change it."""
    return {
        "tool": "look",
        "args": {"order": "A-1"},
        "effect": "read",
        "outcome": {"status": "ok", "result": {"state": "open"}},
        **fields,
    }


def _recorded(id: str = "run-1", calls: int = 1, **fields: Any) -> dict[str, Any]:  # noqa: A002
    """A run of different reads; keywords change it."""
    steps = [_call(args={"order": f"A-{n}"}) for n in range(calls)]
    return {"id": id, "trace": steps, **fields}


def _stop_at_repeat(trace: Trace, settings: Settings) -> TraceVerdict:
    """A breaker that stops the second time a call is proposed, and keeps no other rule."""
    seen: dict[tuple[str, str], int] = {}
    writes = 0
    for number, step in trace.expanded():
        key = (step.tool, repr(step.args))
        if not step.is_event and key in seen:
            return TraceVerdict(
                id=trace.id,
                steps=trace.length,
                interrupted=True,
                step=number,
                decision=Decision.INTERRUPT,
                reason=Reason.IDENTICAL_CALL,
                executed_writes=writes,
                evidence=(seen[key],),
                tool=step.tool,
            )
        seen.setdefault(key, number)
        writes += step.effect is Effect.WRITE
    return TraceVerdict(id=trace.id, steps=trace.length, interrupted=False, executed_writes=writes)


@pytest.fixture
def call() -> Callable[..., dict[str, Any]]:
    return _call


@pytest.fixture
def recorded() -> Callable[..., dict[str, Any]]:
    return _recorded


@pytest.fixture
def stop_at_repeat() -> Callable[[Trace, Settings], TraceVerdict]:
    return _stop_at_repeat


@pytest.fixture
def trace() -> Callable[..., Trace]:
    """A trace of the steps that are given as fields: `trace({"tool": "pay"}, id="x")`."""

    def make(*steps: dict[str, Any], **fields: Any) -> Trace:
        base: dict[str, Any] = {
            "tool": "look",
            "effect": Effect.READ,
            "outcome": Recorded(status="ok", result={"state": "open"}),
        }
        made = tuple(TraceStep(**{**base, **step}) for step in steps or ({},))
        return Trace(**{"id": "run-1", "steps": made, "source": "runs.jsonl", "line": 1, **fields})

    return make


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file: text or bytes as they are, a list as lines of JSON, else one JSON value."""

    def write(name: str, content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif isinstance(content, list):
            path.write_text("".join(json.dumps(each) + "\n" for each in content), "utf-8")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def items() -> Callable[..., list[Any]]:
    """All that is read from some paths: traces and problems, in order."""

    def found(
        *paths: Path | str,
        stdin: bytes = b"",
        grouping: Grouping = Grouping.CONVERSATION,
        sizes: Sizes | None = None,
    ) -> list[Any]:
        return list(
            read(
                sources([str(path) for path in paths]),
                stdin=io.BytesIO(stdin),
                grouping=grouping,
                sizes=sizes or Sizes(),
            )
        )

    return found


class Typed:
    """What a command has printed, and its exit status."""

    def __init__(self, status: int, out: bytes, err: str) -> None:
        self.status = status
        self.out = out.decode()
        self.err = err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Terminal(io.StringIO):
    """Text that claims to be a terminal, or not."""

    def __init__(self, *, watched: bool) -> None:
        super().__init__()
        self._watched = watched

    def isatty(self) -> bool:
        return self._watched


@pytest.fixture
def typed() -> Callable[..., Typed]:
    """`agent-tripwire replay ...`, in this process and with the predictable breaker."""

    def run(
        *args: Path | str,
        stdin: bytes = b"",
        replay: Any = _stop_at_repeat,
        watched: bool = False,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> Typed:
        out, err = io.BytesIO(), Terminal(watched=watched)
        within = Streams(stdin=io.BytesIO(stdin), stdout=out, stderr=err, clock=clock)
        status = cli.main(["replay", *map(str, args)], replay=replay, within=within)
        return Typed(status, out.getvalue(), err.getvalue())

    return run


@pytest.fixture(scope="session")
def sibling() -> Callable[[str], ModuleType]:
    """A module beside this file that is a script as well."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(f"replay_{name}", HERE / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
