"""`agent-tripwire records`, as it is typed: which store, and what can be wrong with it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.breaker import Breaker, Resume
from pytest_tripwire.console.records.command import sqlite_file
from pytest_tripwire.console.records.options import VARIABLE
from pytest_tripwire.ledger import (
    MemoryLedger,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnreachableError,
    open_store,
)
from pytest_tripwire.replay.options import UsageError
from pytest_tripwire.timeline import WriteStatus

from .conftest import Command
from .records_story import Operator, entry, keep, lose_a_refund, record

EVERY = (
    ("list",), ("show", "run-1"), ("resolve", "run-1", "--as", "rejected"), ("close", "run-1"),
    ("stats",), ("resume-token", "run-1", "--read-only"),
)  # fmt: skip


@pytest.fixture
def operator() -> Operator:
    operator = Operator(MemoryLedger())
    keep(operator.ledger, record(writes=(entry("k-1"),)), entry("k-1"))
    return operator


# -- which store


def test_the_command_line_outweighs_the_environment(operator: Operator) -> None:
    operator.environment = {VARIABLE: "sqlite:///env.db"}

    operator("list")
    operator("list", "--store", "sqlite:///typed.db")
    operator("list", "--store", "")
    assert operator.opened == ["sqlite:///env.db", "sqlite:///typed.db", "sqlite:///env.db"]


@pytest.mark.parametrize("environment", [{}, {VARIABLE: ""}])
@pytest.mark.parametrize("argv", EVERY)
def test_without_a_store_it_says_how_to_name_one(
    operator: Operator, argv: tuple[str, ...], environment: dict[str, str]
) -> None:
    operator.environment = environment

    with pytest.raises(UsageError, match=r"say where the store is: --store .*, or in AGENT_TRIP"):
        operator(*argv)
    assert operator.opened == []


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:////var/lib/a b.db", "--store 'sqlite:////var/lib/a b.db'"),
        ("postgresql://u:hunter2@db/x", '--store "$AGENT_TRIPWIRE_STORE"'),
        ("postgresql://db/x?password=hunter2", '--store "$AGENT_TRIPWIRE_STORE"'),
    ],
)
def test_the_commands_that_are_offered_find_the_same_store(
    operator: Operator, url: str, said: str
) -> None:
    operator("show", "run-1", "--store", url)
    offered = [line for line in operator.lines if "agent-tripwire records" in line]
    assert len(offered) == 5
    assert all(said in line for line in offered)
    assert "hunter2" not in operator.out

    operator("show", "run-1")
    assert "--store" not in operator.out


# -- what can be wrong with it


class Broken(MemoryLedger):
    """Cannot be read, and says so with more than it should."""

    def records(self, wanted: Any) -> Any:
        raise StoreUnreachableError("postgresql://u:hunt%40er2@db/x: gone\nline 2: hunt@er2 k3y")

    record_of = counts = lost = records


@pytest.mark.parametrize("argv", EVERY)
def test_what_is_wrong_with_a_store_is_one_line_without_its_password(
    argv: tuple[str, ...],
) -> None:
    operator = Operator(Broken())

    assert operator(*argv, "--store", "postgresql://u:hunt%40er2@db/x?sslpassword=k3y") == 1
    assert operator.out == ""
    assert set(operator.err.splitlines()) == {
        "agent-tripwire: postgresql://u:***@db/x: gone",
        "agent-tripwire: line 2: *** ***",
    }


@pytest.mark.parametrize("kind", [StoreReadOnlyError, StoreFullError, StoreLockedError])
def test_a_store_that_cannot_be_written_can_be_looked_at(kind: type[Exception]) -> None:
    class Frozen(MemoryLedger):
        def store_record(self, record: Any) -> None:
            raise kind("the store cannot be written")

    ledger = Frozen()
    MemoryLedger.store_record(ledger, record())
    operator = Operator(ledger)
    assert operator("list") == 0
    assert operator.err == ""

    lost = entry("k-9", "gone", status=WriteStatus.IN_FLIGHT, owner="w", lease_until=1.0)
    ledger.begin(lost, lambda _: None, ahead=record("gone"))
    assert operator("list") == 0
    assert operator.lines[1].startswith("run-1 ")
    assert operator.err == (
        "agent-tripwire: runs whose worker has died and that are missing here: 1. the store cannot "
        "be written\n"
    )


def test_the_store_is_let_go_of_whatever_happens() -> None:
    closed: list[int] = []

    class Counting(MemoryLedger):
        def close(self) -> None:
            closed.append(1)

    operator = Operator(Counting())
    operator("list")
    operator("show", "nope")
    assert closed == [1, 1]


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (("records",), "the following arguments are required: WHAT"),
        (("records", "drop"), "invalid choice: 'drop'"),
        (("records", "show"), "the following arguments are required: RUN"),
        (("records", "list", "--most", "0"), "'0' is no number from 1 on"),
        (("records", "list", "--open", "--all"), "not allowed with argument --open"),
        (("records", "list", "--reason", "rain"), "invalid choice: 'rain'"),
        (("records", "resolve", "x"), "the following arguments are required: --as"),
        (("records", "resolve", "x", "--as", "unknown"), "invalid choice: 'unknown'"),
        (("records", "close", "x", "--token-version", "-1"), "--token-version"),
        (("records", "list", "--store", "mysql://u:hunter2@h/x"), "there is no store of"),
        (("records", "list", "--store", "memory:"), "a store in memory ends with its process"),
        (("records", "list", "--store", "sqlite:///nope.db"), "no such file"),
        (("records", "list"), "say where the store is"),
        (("records", "list", "extra"), "unrecognized arguments: extra"),
    ],
)
def test_wrong_usage_is_told(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, argv: Any, told: str
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)

    assert command(*argv) == 2
    assert told in command.err
    assert "hunter2" not in command.err
    assert list(tmp_path.iterdir()) == []  # nobody has made a store


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///runs.db", "runs.db"),
        ("sqlite:////var/runs.db?timeout=5", "/var/runs.db"),
        ("sqlite+pysqlite:///runs.db", "runs.db"),
        ("sqlite:///file:runs.db?uri=true", None),
        ("sqlite://", None),
        ("postgresql:///runs", None),
        ("memory:", None),
    ],
)
def test_the_file_of_an_address(url: str, path: str | None) -> None:
    assert sqlite_file(url) == (None if path is None else Path(path))


# -- a real file, and a process of its own


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pytest.importorskip("sqlalchemy")
    return tmp_path / "tripwire.db"


@pytest.fixture
def url(file: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of a store in a file, which the environment names."""
    monkeypatch.setenv(VARIABLE, f"sqlite:///{file}")
    return f"sqlite:///{file}"


def test_a_lost_write_is_found_settled_and_taken_up(url: str, command: Command) -> None:
    with closing(open_store(url)) as store:
        lose_a_refund(store, "3f9a")

    assert command("records", "list") == 0
    assert command.out.splitlines()[1].startswith("3f9a ")
    assert command("records", "resume-token", "3f") == 1
    assert command("records", "resolve", "3f", "--as", "confirmed", "--result-id", "R-9") == 0
    assert command("records", "show", "3f") == 0
    assert re.search(r"^  happened   refund  \S+ \S+  R-9 ", command.out, re.MULTILINE)
    assert command("records", "resume-token", "3f") == 0
    wanted = Resume.from_token(command.out, operator="ada", workflow="refunds@1")
    with (
        closing(open_store(url)) as store,
        Breaker(store=store).resume(
            wanted, authorise=lambda who, *_: who == "ada", reload=lambda _: None
        ),
    ):
        pass
    assert command("records", "list") == 0
    assert command.out == "no open interruption\n"
    assert command("records", "stats", "--json") == 0
    assert json.loads(command.out)["became"] == "resumed"


KILLED = """
import os, signal
from pytest_tripwire.breaker import Breaker, tool_spec

@tool_spec(effect="write", identity=("order",))
def refund(order):
    os.kill(os.getpid(), signal.SIGKILL)

with Breaker(store=os.environ["AGENT_TRIPWIRE_STORE"]).run(tenant="acme", request_id="m-1") as run:
    (send,) = run.guard([refund])
    send("A-1")
"""


def test_a_worker_that_is_killed_in_its_write_leaves_a_record(url: str, command: Command) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], check=False, env=dict(os.environ))
    assert done.returncode == -signal.SIGKILL

    listed = [sys.executable, "-m", "pytest_tripwire", "records", "list", "--json"]
    (made,) = map(json.loads, subprocess.check_output(listed).splitlines())
    assert (made["reason"], made["tenant"], made["last_tool"]) == (
        "unknown_side_effect", "acme", "refund",
    )  # fmt: skip
    assert [each["status"] for each in made["writes"]] == ["unknown"]
    assert command("records", "resolve", made["run_id"], "--as", "rejected") == 0


def test_what_is_wrong_with_a_file_is_told_in_one_line(
    file: Path, url: str, command: Command
) -> None:
    file.write_bytes(b"this is no database at all" * 100)

    for argv in EVERY:
        assert command("records", *argv) == 1
        assert command.out == ""
        assert len(command.err.splitlines()) == 1
        assert command.err.startswith("agent-tripwire: ")
