"""A PostgreSQL server of the tests' own, on a socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

#: It is thrown away: nothing has to reach the disk.
SETTINGS = (
    "fsync=off",
    "full_page_writes=off",
    "shared_buffers=16MB",
    "max_connections=100",
    "listen_addresses=",
)
DEBIAN = Path("/usr/lib/postgresql")
HOW_TO_GET_IT = "it needs a PostgreSQL server's programs: apt-get install postgresql"


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`."""
    found = shutil.which("initdb")
    if found and (Path(found).resolve().parent / "pg_ctl").exists():
        return Path(found).resolve().parent
    # Debian keeps each major version in a folder of its own.
    newest = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    return newest[-1].parent if newest else None


class Cluster:
    """One server. Every test has a schema of its own in its database."""

    def __init__(self, bin_folder: Path, folder: Path) -> None:
        self._bin = bin_folder
        self._folder = folder
        self._data = folder / "data"
        self._schemas = 0
        self._run("initdb", "--no-sync", "-A", "trust", "-U", "tester", "-E", "UTF8")

    def start(self) -> None:
        options = " ".join(
            f"-c {each}" for each in (*SETTINGS, f"unix_socket_directories={self._folder}")
        )
        self._run("pg_ctl", "start", "-w", "-l", str(self._folder / "log"), "-o", options)

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "-w", "-m", "immediate")

    def url(self, user: str = "tester", schema: str = "public") -> str:
        options = quote(f"-csearch_path={schema}")
        return f"postgresql://{user}@/postgres?host={self._folder}&options={options}"

    def new_schema(self) -> str:
        """The address of a store with no tables."""
        self._schemas += 1
        name = f"store_{self._schemas}"
        self.sql(f"CREATE SCHEMA {name}")
        return self.url(schema=name)

    def sql(self, words: str) -> list[Any]:
        import psycopg

        with psycopg.connect(
            host=str(self._folder), user="tester", dbname="postgres"
        ) as connection:
            cursor = connection.execute(words)
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str) -> None:
        said = self._folder / "out"
        # Into a file: the server keeps what it was started with, and a pipe would never end.
        with said.open("w") as out:
            done = subprocess.run(
                [self._bin / program, "-D", self._data, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self._folder,
                check=False,
                **_not_root(),
            )
        if done.returncode != 0:
            raise RuntimeError(f"{program} has failed:\n{said.read_text()}")


def _not_root() -> dict[str, Any]:
    """It refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    return {"user": _somebody().pw_uid, "group": _somebody().pw_gid, "extra_groups": []}


def _somebody() -> pwd.struct_passwd:
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise RuntimeError("there is no user to run PostgreSQL as: useradd postgres")


@contextmanager
def running(bin_folder: Path) -> Iterator[Cluster]:
    # Not pytest's folder, which only its owner may enter and whose name is too long for a socket.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        if os.geteuid() == 0:
            os.chown(folder, _somebody().pw_uid, _somebody().pw_gid)
        cluster = Cluster(bin_folder, folder)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
