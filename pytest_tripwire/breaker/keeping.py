"""Keeping what tools have denied where no checkpoint can take it back."""

from __future__ import annotations

from contextlib import suppress

from pytest_tripwire.breaker.core import Core
from pytest_tripwire.breaker.records import denial_note


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
