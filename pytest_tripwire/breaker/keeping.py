"""Keeping what tools have denied where no checkpoint can take it back, and none of their words."""

from __future__ import annotations

from contextlib import suppress

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.records import denial_note

#: Characters of a rule's id; what is longer is a text, and may hold anything.
_LONGEST = 64


def rule_named(rule: str) -> str:
    """A rule as it is kept: its id, or the fingerprint of what is too long for one."""
    return rule if len(rule) <= _LONGEST else f"rule {digest(rule)}"


def class_named(error: str) -> str:
    """The class of an error as it is kept; of a text, which may hold anything, the fingerprint."""
    is_class = len(error) <= _LONGEST and len(error.split()) <= 1
    return error if is_class else f"error {digest(error)}"


def keep_denial(core: Core, key: tuple[str, str]) -> None:
    """Keep a denial of this kind and resource. A store that fails is no reason to forget it."""
    note = denial_note(key, core.state.denials[key])
    with suppress(Exception):
        core.ledger.note_denials(_first(core), (note,))


def forget_denials(core: Core) -> None:
    """The user has spoken: what was denied before may be allowed now."""
    with suppress(Exception):
        core.ledger.note_denials(_first(core), ())


def _first(core: Core) -> str:
    """The run that all the others of a family work for."""
    return core.run_id if core.parent is None else _first(core.parent)
