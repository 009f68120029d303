"""What names a store, and what does not."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.ledger import MemoryLedger, StoreError, open_store


def test_each_form_of_a_file_s_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sqlalchemy")
    monkeypatch.chdir(folder)

    for where in ("sqlite:///a.db", f"sqlite:////{folder}/b.db", folder / "c ?#%.db", Path("d.db")):
        with closing(open_store(where)) as store:
            assert store.durable
            monkeypatch.chdir("/")
            assert store.of_run("run") == ()
            monkeypatch.chdir(folder)

    assert sorted(each.name for each in folder.iterdir()) == ["a.db", "b.db", "c ?#%.db", "d.db"]


def test_a_store_is_taken_as_it_is_and_the_one_in_memory_has_a_name() -> None:
    mine = MemoryLedger()

    assert open_store(mine) is mine
    assert isinstance(open_store("memory:"), MemoryLedger)


@pytest.mark.parametrize(
    "where",
    [
        "runs.db",
        "",
        "mysql://ann:s3cret@host/db",
        "sqlite://",
        "sqlite:///:memory:",
        "postgresql+asyncpg://ann:s3cret@host/db",
        "postgresql://ann:s3cret@host:port/db",
    ],
)
def test_what_names_no_store_is_told_what_there_is(where: str) -> None:
    pytest.importorskip("psycopg")
    pytest.importorskip("sqlalchemy")

    with pytest.raises(ValueError, match=r"sqlite:///runs\.db.*postgresql://.*memory:") as caught:
        open_store(where)

    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("missing", "where", "extra"),
    [
        ("sqlalchemy", "sqlite:///none.db", "store"),
        ("sqlalchemy", Path("none.db"), "store"),
        ("psycopg", "postgresql://host/db", "postgres"),
    ],
)
def test_a_package_that_is_missing_is_named_with_its_extra(
    missing: str, where: Any, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == missing else real(name)
    )

    with pytest.raises(StoreError, match=rf'pip install "pytest-agent-tripwire\[{extra}\]"'):
        open_store(where)


def test_sqlalchemy_is_loaded_with_the_first_store_and_not_before() -> None:
    code = """
import sys
from pytest_tripwire.ledger import open_store
open_store("memory:")
print(sorted({"sqlalchemy", "psycopg", "sqlite3"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_an_owner_names_its_process_and_can_be_named(folder: Path) -> None:
    pytest.importorskip("sqlalchemy")
    with closing(open_store(folder / "a.db")) as one, closing(open_store(folder / "a.db")) as two:
        assert one.owner == one.owner != two.owner
    with closing(open_store(folder / "a.db", owner="worker 7")) as named:
        assert named.owner == "worker 7"


def test_a_store_that_was_closed_opens_again(folder: Path) -> None:
    pytest.importorskip("sqlalchemy")
    store = open_store(folder / "a.db")
    store.close()
    store.close()

    assert store.of_run("run") == ()
    store.close()
    assert repr(store) == f"<SqlStore sqlite:///{folder}/a.db>"
