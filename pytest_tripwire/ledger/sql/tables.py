"""The tables of schema version 1.

What is kept is JSON in `body`, as it was given. The columns beside it are what is searched for, by
its `handle`, and what changes later, so that a change never rewrites a body: fields of a later
release stay in it.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)

METADATA = MetaData()

# SQLite numbers rows by itself only where the type is exactly INTEGER.
_NUMBER = BigInteger().with_variant(Integer(), "sqlite")


def _position(name: str = "position") -> Column[int]:
    return Column(name, _NUMBER, Identity(), primary_key=True)


def _text(name: str, *, unique: bool = False) -> Column[str]:
    return Column(name, Text, nullable=False, unique=unique)


SCHEMA = Table("tripwire_schema", METADATA, Column("version", Integer, nullable=False))

#: Written out, as it is in the index: a value that is bound would not be known to fit it.
UNSETTLED = text("status IN ('in_flight', 'unknown')")

WRITES = Table(
    "tripwire_writes",
    METADATA,
    _position("seq"),
    _text("key", unique=True),
    _text("run_id"),
    _text("resource"),
    _text("work"),
    _text("status"),
    Column("lease_until", Double),
    Column("result_id", Text),
    Column("reconciled", SmallInteger, nullable=False),
    Column("came_back", SmallInteger, nullable=False),
    _text("body"),
    Index("tripwire_writes_of_work", "resource", "work", "seq"),
    Index(
        "tripwire_writes_that_hold",
        "resource",
        sqlite_where=UNSETTLED,
        postgresql_where=UNSETTLED,
    ),
    Index("tripwire_writes_of_run", "run_id"),
)

RECORDS = Table(
    "tripwire_records",
    METADATA,
    _position(),
    _text("run_id", unique=True),
    _text("tenant"),
    _text("workflow"),
    _text("reason"),
    Column("at", Double, nullable=False),
    Column("token_version", BigInteger, nullable=False),
    Column("ended_as", Text),
    _text("body"),
)

AHEAD = Table(
    "tripwire_ahead",
    METADATA,
    _position(),
    _text("run_id", unique=True),
    _text("body"),
)

HAPPENINGS = Table(
    "tripwire_happenings",
    METADATA,
    _position("seq"),
    _text("run_id"),
    _text("body"),
    Index("tripwire_happenings_of_run", "run_id"),
)

DENIALS = Table(
    "tripwire_denials",
    METADATA,
    _position(),
    _text("run_id"),
    _text("kind"),
    _text("resource"),
    _text("body"),
    UniqueConstraint("run_id", "kind", "resource"),
)

APPROVALS = Table(
    "tripwire_approvals",
    METADATA,
    _position(),
    _text("run_id"),
    _text("call_id"),
    Column("attempts_left", BigInteger, nullable=False),
    _text("body"),
    UniqueConstraint("run_id", "call_id"),
)
