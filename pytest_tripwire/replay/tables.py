"""Tables in TOML that a team writes, as values, with messages that say what to change."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

T = TypeVar("T")

#: What TOML can say. A field may also take a callable or an exception type in Python.
_SCALARS = (str, bool, int, float, Decimal, type(None))


class TableError(ValueError):
    """A table that cannot be used; the message says which, why, and what would do."""


def load(path: str) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises:
        TableError: if the file cannot be read or is no TOML.
    """
    try:
        return parse(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        said = error.strerror if isinstance(error, OSError) else str(error)
        raise TableError(f"{path}: cannot be read: {said}") from None


def parse(text: str, file: str) -> dict[str, Any]:
    """Likewise, from text."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TableError(f"{file}: no TOML: {error}") from None


def table(value: Any, where: str) -> dict[str, Any]:
    """`value`, which has to be a table."""
    if not isinstance(value, dict):
        raise TableError(f"{where}: this has to be a table, not {value!r}")
    return value


def only(names: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    """Demand that all of `names` are known; says which one may have been meant."""
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            meant = f"; did you mean `{close[0]}`?" if close else ""
            raise TableError(f"{where}: there is no `{name}`{meant} (there are {', '.join(known)})")


def made(kind: Callable[..., T], fields: Mapping[str, Any], where: str) -> T:
    """A `kind` with these fields, which stand in the table `where`.

    Raises:
        TableError: for a field that does not exist, or a value that it does not take.
    """
    hints = get_type_hints(kind)
    only(fields, tuple(kind.__struct_fields__), where)  # type: ignore[attr-defined]
    values = {name: _value(value, hints[name], f"{where}.{name}") for name, value in fields.items()}
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise TableError(f"{where}: {error}") from None


def _value(value: Any, kind: Any, where: str) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        raise TableError(f"{where} = {value!r}: this is no number")
    try:
        return msgspec.convert(value, _sayable(kind))
    except msgspec.ValidationError as error:
        raise TableError(f"{where} = {value!r}: {error}") from None


def _sayable(kind: Any) -> Any:
    """`kind` without what only Python can say."""
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        parts = [part for each in get_args(kind) if (part := _sayable(each)) is not None]
        return Union[tuple(parts)] if parts else None  # noqa: UP007 - made of a list
    if origin is tuple:
        part = _sayable(get_args(kind)[0])
        return None if part is None else tuple[part, ...]  # type: ignore[valid-type]
    known = kind in _SCALARS or (isinstance(kind, type) and issubclass(kind, str))
    return kind if known else None
