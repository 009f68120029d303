"""Statements, written once for a database and kept as its driver takes them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql import ClauseElement

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect


class Upsert(NamedTuple):
    """Insert a row; where there is one of the same `by`, give it the other values and leave it its
    position.
    """

    table: sa.Table
    by: tuple[str, ...]
    others: tuple[str, ...]

    def written(self, dialect: Dialect) -> ClauseElement:
        """The statement, which each dialect has a class of its own for."""
        insert = sqlite.insert if dialect.name == "sqlite" else postgresql.insert
        new: Any = insert(self.table).values(parameters(*self.by, *self.others)).inline()
        changed = {name: new.excluded[name] for name in self.others}
        written: ClauseElement = new.on_conflict_do_update(
            index_elements=list(self.by), set_=changed
        )
        return written


Statement: TypeAlias = ClauseElement | Upsert
Arrange: TypeAlias = Callable[[Mapping[str, Any]], Any]
Ready: TypeAlias = tuple[str, Arrange]


def parameters(*names: str) -> dict[str, Any]:
    """A parameter of its name for each column."""
    return {name: sa.bindparam(name) for name in names}


#: What is compiled, by the kind of database, for all stores of this process. By the identity of the
#: statement: one of SQLAlchemy's compares to an expression. Each is a constant of its module, and
#: kept here, so that its identity stays its own.
_READY: dict[tuple[Any, ...], dict[int, tuple[Statement, Ready]]] = {}


class Compiler:
    """Compiles each statement when it is first used, which costs more than to run it."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._known: dict[int, tuple[Statement, Ready]] | None = None

    def ready(self, statement: Statement) -> Ready:
        """What the driver runs, and how it wants the values. To be asked for when the database has
        said which version it is.
        """
        if self._known is None:
            self._known = _READY.setdefault(_kind(self._dialect), {})
        known = self._known.get(id(statement))
        if known is None:
            known = self._known[id(statement)] = (statement, self._compiled(statement))
        return known[1]

    def _compiled(self, statement: Statement) -> Ready:
        written = statement.written(self._dialect) if isinstance(statement, Upsert) else statement
        compiled: Any = written.compile(dialect=self._dialect)
        return str(compiled), _arrangement(getattr(compiled, "positiontup", None))


def _kind(dialect: Any) -> tuple[Any, ...]:
    """What the words of a statement depend on."""
    return type(dialect), dialect.paramstyle, getattr(dialect, "server_version_info", None)


def _arrangement(names: list[str] | None) -> Arrange:
    if names is None:
        return dict
    if not names:
        return lambda _values: ()
    if len(names) == 1:
        return lambda values: (values[names[0]],)
    return operator.itemgetter(*names)
