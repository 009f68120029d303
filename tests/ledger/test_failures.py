"""What is wrong with a store is said by a typed error, and writes do not run meanwhile."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.ledger import (
    Store,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnreachableError,
    open_store,
)
from pytest_tripwire.timeline import WriteEntry, WriteStatus

pytest.importorskip("sqlalchemy")

Entries = Callable[..., WriteEntry]


def free(_known: Any) -> None:
    return None


@pytest.fixture
def url(server: Any) -> str:
    """The address of a store in PostgreSQL that is there, with one write in it."""
    where = server.new_schema()
    with closing(open_store(where)) as store:
        store.begin(made("before"), free)
    return where


@pytest.fixture
def file(folder: Path) -> Path:
    """A store in a file, with one write in it."""
    path = folder / "runs.db"
    with closing(open_store(path)) as store:
        store.begin(made("before"), free)
    return path


def made(key: str) -> WriteEntry:
    return WriteEntry(
        key=key,
        run_id="run",
        epoch="e",
        tool="pay",
        kind="pay",
        resource="r",
        intent="i",
        dispatched_at=1.0,
    )


def refuses(store: Store, error: type[StoreError], *words: str) -> None:
    """It stores no write, says why, keeps what it has, and the check was not made twice."""
    checks: list[Any] = []
    with pytest.raises(error) as caught:
        store.begin(made("refused"), checks.append)
    assert type(caught.value) is error
    for each in words:
        assert each in str(caught.value)
    assert caught.value.__cause__ is not None
    assert len(checks) < 2


def refused(store: Store, key: str) -> StoreError | None:
    try:
        store.begin(made(key), free)
    except StoreError as error:
        return error
    return None


def keys(store: Store) -> list[str]:
    return [each.key for each in store.of_run("run")]


# -- may not be written


def test_a_file_that_is_opened_for_reading_is_read(file: Path) -> None:
    with closing(open_store(f"sqlite:///{file}?mode=ro")) as store:
        assert keys(store) == ["before"]
        refuses(store, StoreReadOnlyError, str(file), "readonly", "Give this process the right")
        assert keys(store) == ["before"]


def test_files_that_this_user_may_not_write(file: Path, crowd: Callable[..., Any]) -> None:
    for each in file.parent.iterdir():
        each.chmod(0o444)
    file.parent.chmod(0o555)
    try:
        said = crowd("unprivileged", f"sqlite:///{file}")
        new = crowd("unprivileged", f"sqlite:///{file.parent / 'new.db'}")
    finally:
        file.parent.chmod(0o755)

    assert said == new == "StoreReadOnlyError"
    assert not (file.parent / "new.db").exists()


def test_a_server_that_only_reads(url: str) -> None:
    with closing(open_store(f"{url}%20-cdefault_transaction_read_only=on")) as store:
        refuses(store, StoreReadOnlyError, "postgresql://", "read-only transaction")
        assert keys(store) == ["before"]


# -- full


@contextmanager
def small(folder: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    place = folder / "small"
    place.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("it needs the right to mount a small file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)  # noqa: S607 -- as `mount`


def test_a_full_disk(folder: Path) -> None:
    with small(folder) as place, closing(open_store(place / "runs.db")) as store:
        with (place / "filler").open("wb", buffering=0) as filler, suppress(OSError):
            while True:
                filler.write(bytes(4096))
        full = next(filter(None, (refused(store, str(number)) for number in range(1000))))
        assert isinstance(full, StoreFullError)
        assert "Make room" in str(full)
        (place / "filler").unlink()

        assert store.begin(made("after"), free) is None
        assert keys(store)[-1] == "after"


def test_a_server_whose_disk_is_full(url: str, server: Any) -> None:
    schema = url.rpartition("%3D")[2]
    server.sql(
        f"""
        SET search_path = {schema};
        CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER t BEFORE INSERT ON tripwire_writes EXECUTE FUNCTION full_disk();
        """
    )
    with closing(open_store(url)) as store:
        refuses(store, StoreFullError, "no room left", "could not extend file")
        store.settle("before", WriteStatus.CONFIRMED)


# -- is somewhere else


def _elsewhere(file: Path, other: Path) -> None:
    for end in ("", "-wal", "-shm"):
        if Path(f"{file}{end}").exists():
            Path(f"{file}{end}").rename(f"{other}{end}")


@pytest.mark.parametrize("another", [False, True], ids=["deleted", "replaced"])
def test_a_file_that_is_not_where_it_was_is_closed_for_writes(file: Path, *, another: bool) -> None:
    """What is written to a file without a name is known to nobody else."""
    with closing(open_store(file)) as store:
        _elsewhere(file, file.parent / "moved.db")
        if another:
            open_store(file).close()
        with pytest.raises(StoreError, match=r"deleted, moved or replaced.*[Pp]ut it back"):
            store.begin(made("refused"), free)
        with pytest.raises(StoreError, match="deleted, moved or replaced"):
            store.settle("before", WriteStatus.CONFIRMED)
        with ThreadPoolExecutor() as others:  # a thread of its own has a connection of its own
            assert others.submit(refused, store, "refused").result() is not None

        _elsewhere(file.parent / "moved.db", file)
        assert store.begin(made("after"), free) is None

    with closing(open_store(file)) as again:
        assert keys(again) == ["before", "after"]
        assert [each.status for each in again.of_run("run")] == [WriteStatus.IN_FLIGHT] * 2


# -- held by somebody else


def test_a_file_that_somebody_else_writes(file: Path) -> None:
    with (
        closing(open_store(file, lock_timeout_s=0.05)) as store,
        closing(sqlite3.connect(file, isolation_level=None)) as other,
    ):
        other.execute("BEGIN EXCLUSIVE")
        refuses(store, StoreLockedError, "locked", "lock_timeout_s")
        assert keys(store) == ["before"]
        other.execute("COMMIT")
        assert store.begin(made("after"), free) is None


def test_a_table_that_somebody_else_has_locked(url: str, server: Any) -> None:
    import psycopg

    schema = url.rpartition("%3D")[2]
    with (
        closing(open_store(url, lock_timeout_s=0.05)) as store,
        psycopg.connect(server.url()) as other,
    ):
        other.execute(f"LOCK TABLE {schema}.tripwire_writes")
        refuses(store, StoreLockedError, "lock timeout")
        other.rollback()
        assert store.begin(made("after"), free) is None


# -- not there


def test_a_server_that_stops_and_comes_back(url: str, server: Any) -> None:
    with closing(open_store(url)) as store:
        server.stop()
        try:
            refuses(store, StoreUnreachableError, "cannot be reached")
            with pytest.raises(StoreUnreachableError):
                store.of_run("run")
        finally:
            server.start()

        assert store.begin(made("after"), free) is None
        assert keys(store) == ["before", "after"]


def test_a_connection_that_was_lost_while_nobody_used_it_is_made_anew(
    url: str, server: Any
) -> None:
    with closing(open_store(url)) as store:
        hang_up(server)
        assert keys(store) == ["before"]
        hang_up(server)
        assert store.begin(made("after"), free) is None
        hang_up(server)
        store.settle("after", WriteStatus.CONFIRMED)
        assert keys(store) == ["before", "after"]


def test_a_connection_that_is_lost_in_the_middle_leaves_nothing(url: str, server: Any) -> None:
    checks: list[Any] = []

    def conflict(known: Any) -> None:
        checks.append(known)
        hang_up(server)

    with closing(open_store(url)) as store:
        with pytest.raises(StoreUnreachableError):
            store.begin(made("lost"), conflict)

        assert len(checks) == 1
        assert keys(store) == ["before"]
        assert store.begin(made("after"), free) is None


def hang_up(server: Any) -> None:
    server.sql(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE application_name = 'pytest-agent-tripwire'"
    )


def test_a_folder_that_is_not_there(folder: Path) -> None:
    with pytest.raises(StoreUnreachableError, match="directory is there"):
        open_store(folder / "none" / "runs.db")


def test_a_password_is_in_no_message(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg")
    where = "postgresql://ann:s3cret-word@127.0.0.1:1/runs?sslpassword=s3cret-word"

    with pytest.raises(StoreUnreachableError, match=r"postgresql://127\.0\.0\.1:1/runs") as caught:
        open_store(where)

    assert "s3cret" not in "".join(traceback.format_exception(caught.value))


# -- damaged


@pytest.mark.parametrize("content", [b"no database at all, and long enough to show it\n" * 100])
def test_a_file_that_is_no_database(folder: Path, content: bytes) -> None:
    path = folder / "notes.txt"
    path.write_bytes(content)

    with pytest.raises(StoreDamagedError, match="is no database"):
        open_store(path)

    assert path.read_bytes() == content
    assert [each.name for each in folder.iterdir()] == ["notes.txt"]


def test_the_database_of_another_application(folder: Path) -> None:
    path = folder / "theirs.db"
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("CREATE TABLE customers (name TEXT)")
    before = path.read_bytes()

    with pytest.raises(StoreDamagedError, match=r"another application's.*'customers'"):
        open_store(path)

    assert path.read_bytes() == before


def test_a_file_whose_pages_are_damaged(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xaa" * (len(content) - 4096))

    with pytest.raises(StoreDamagedError):
        open_store(file).of_run("run")


def test_what_no_release_of_this_kind_has_written(file: Path) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("""UPDATE tripwire_writes SET body = '{"key": 3}'""")
        other.commit()

    with closing(open_store(file)) as store, pytest.raises(StoreDamagedError, match="WriteEntry"):
        store.of_run("run")


def test_a_key_is_begun_once(file: Path) -> None:
    with closing(open_store(file)) as store:
        with pytest.raises(StoreError, match="UNIQUE"):
            store.begin(made("before"), free)
        assert keys(store) == ["before"]


def test_an_entry_and_what_its_run_would_leave_are_stored_together_or_not_at_all(
    file: Path, record: Callable[..., Any]
) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute(
            "CREATE TRIGGER t BEFORE INSERT ON tripwire_ahead "
            "BEGIN SELECT RAISE(FAIL, 'not this one'); END"
        )

    with closing(open_store(file)) as store:
        with pytest.raises(StoreError, match="not this one"):
            store.begin(made("half"), free, ahead=record())
        assert keys(store) == ["before"]


def test_a_store_is_not_changed_from_within_a_change(file: Path) -> None:
    with closing(open_store(file)) as store:

        def conflict(_known: Any) -> None:
            assert keys(store) == ["before"]
            store.settle("before", WriteStatus.CONFIRMED)

        with pytest.raises(RuntimeError, match="from within"):
            store.begin(made("after"), conflict)
        assert keys(store) == ["before"]
