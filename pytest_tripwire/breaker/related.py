"""How the writes of one run bear on one another, where nobody has declared what they act on.

Kept besides the ledger, and only for the run's own life: the ledger knows fingerprints alone, and
what two undeclared writes have in common can only be told from their arguments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import kept_of
from pytest_tripwire.breaker.loose import Loose
from pytest_tripwire.breaker.names import is_wording
from pytest_tripwire.breaker.words import is_file, is_id, is_wordy

#: Own writes that are remembered.
_MOST = 64
#: More are not kept, even if nobody knows what became of them.
_MOST_UNCERTAIN = 4096
#: Characters of a result or of a command that are looked at.
_LONGEST = 4000
_COMMAND = re.compile(r"[a-z][a-z0-9_.+-]* +[a-z0-9_./~$*'\"-]")
#: Words for a state that a thing can be put into and back. Any other word may be a name.
_STATE_WORDS = frozenset(
    {
        *("on", "off", "open", "closed", "close", "up", "down", "low", "middle", "high", "true"),
        *("false", "yes", "no", "enabled", "disabled", "active", "inactive", "public", "private"),
        *("draft", "published", "locked", "unlocked", "read", "unread", "paused", "running"),
        *(
            "started",
            "stopped",
            "dark",
            "light",
            "muted",
            "visible",
            "hidden",
            "archived",
            "online",
        ),
        *("medium", "offline", "idle", "busy", "auto", "manual", "default", "none"),
    }
)
#: Other states that one thing was put into before it is put back.
_STATES = 2
#: Times that one write is made again because another has touched the same thing.
_AGAIN = 2


class OwnWrite(msgspec.Struct, kw_only=True):
    """One write of this run.

    Args:
        key: of its ledger entry.
        resource: fingerprint of what it acts on.
        intent: its fingerprint.
        kind: operation class.
        arguments: as proposed, without nonces and talk. Never stored anywhere else.
        loose: the same without free text.
        declared: whether its identity is declared.
        fresh: whether nothing like it was written before, or it has brought a new version.
        back: whether it has come back.
        made: whether its result names a thing that it has made.
        certain: whether it is known what became of it.
    """

    key: str
    resource: str
    intent: str
    kind: str
    arguments: Mapping[str, Any]
    loose: Loose
    declared: bool
    fresh: bool = True
    back: bool = False
    made: bool = False
    certain: bool = False


class OwnWrites:
    """Owner of what a run remembers of its own writes."""

    def __init__(self) -> None:
        self._writes: list[OwnWrite] = []

    def add(self, key: str, proposal: Proposal, loose: Loose) -> None:
        """Remember a write that was dispatched."""
        self._writes.append(
            OwnWrite(
                key=key,
                resource=proposal.intent.resource,
                intent=proposal.intent.digest,
                kind=proposal.spec.kind,
                arguments=kept_of(proposal.call.arguments, proposal.spec),
                loose=loose,
                declared=proposal.spec.identity is not None,
            )
        )
        if len(self._writes) > _MOST:
            self._forget()

    def _forget(self) -> None:
        """Forget the write that was made longest ago; one of which nobody knows what became of it
        stays.
        """
        certain = next((at for at, each in enumerate(self._writes) if each.certain), None)
        if certain is not None or len(self._writes) > _MOST_UNCERTAIN:
            del self._writes[certain or 0]

    @property
    def undeclared(self) -> bool:
        """Whether any of them acts on what nobody has declared."""
        return any(not each.declared for each in self._writes)

    def concerning(self, loose: Loose, *, declared: bool) -> tuple[OwnWrite, ...]:
        """Writes that may act on what a proposal acts on, unless both are declared."""
        return tuple(
            each
            for each in self._writes
            if not (each.declared and declared) and each.loose.concerns(loose)
        )

    def failed(self, key: str) -> None:
        """A write has certainly not happened."""
        for each in self._writes:
            each.certain = each.certain or each.key == key

    def came_back(self, key: str, result: Any, version: str) -> None:
        """Remember what a write has said."""
        for each in self._writes:
            if each.key == key:
                each.back, each.certain, each.made = True, True, _names_a_thing(result)
                each.fresh = bool(version) or self._times(each) == 1

    def is_due_again(self, key: str) -> bool:
        """Whether the write `key`, of which nothing is declared, has reason to be made again, as
        another has written to a file since: a command acts on whatever is there then, and so does
        what is done to that very file, but not for ever.
        """
        later = self._after(key, any_kind=True)
        if later is None or later[0].declared:
            return False
        write, others = later
        between = [each for each in others if each.kind != write.kind and each.back and each.fresh]
        if is_command(write.arguments):
            return any(_writes_a_file(each) for each in between)
        if (
            write.made
            or self._times(write) > _AGAIN
            or any(map(_is_entity, write.arguments.values()))
        ):
            return False
        return any(_same_file(write, each) for each in between)

    def _times(self, write: OwnWrite) -> int:
        return sum(each.intent == write.intent for each in self._writes)

    def is_put_back(self, key: str) -> bool:
        """Whether what the write `key` has done was undone since: the same thing was put into one
        other state or two, so that doing it again puts it back.
        """
        later = self._after(key)
        if later is None:
            return False
        write, others = later
        between = {each.intent for each in others if each.intent != write.intent}
        states = {each.intent for each in others if _is_other_state(write, each)}
        return bool(states) and states == between and len(states) <= _STATES

    def _after(self, key: str, *, any_kind: bool = False) -> tuple[OwnWrite, list[OwnWrite]] | None:
        writes = list(self._writes)
        for at, write in enumerate(writes):
            if write.key == key:
                later = writes[at + 1 :]
                return write, [each for each in later if any_kind or each.kind == write.kind]
        return None


def is_command(arguments: Mapping[str, Any]) -> bool:
    """Whether all that is said is one command line: a program in small letters and what it gets."""
    values = list(arguments.values())
    if len(values) != 1 or not is_wordy(values[0]) or len(values[0]) > _LONGEST:
        return False
    return _COMMAND.match(values[0].strip()) is not None


def _names_a_thing(result: Any, depth: int = 4) -> bool:
    """Whether a result holds what looks like the id of something new."""
    if isinstance(result, Mapping):
        named = any(str(name).lower().endswith("id") for name in result)
        return named or (
            depth > 0 and any(_names_a_thing(each, depth - 1) for each in result.values())
        )
    if isinstance(result, list | tuple):
        return depth > 0 and any(_names_a_thing(each, depth - 1) for each in result)
    return isinstance(result, str) and any(is_id(each) for each in result[:_LONGEST].split())


def _same_file(one: OwnWrite, other: OwnWrite) -> bool:
    """Whether both act on one file: what a file holds changes, what an order is paid does not."""
    names = {each for each in one.arguments.values() if is_file(each)}
    return any(each in names for each in other.arguments.values() if isinstance(each, str))


def _writes_a_file(write: OwnWrite) -> bool:
    return any(is_file(each) for each in write.arguments.values())


def _is_entity(value: Any, depth: int = 4) -> bool:
    """Whether an argument is an id, such as that of an order, at any depth."""
    if isinstance(value, Mapping):
        return depth == 0 or any(_is_entity(each, depth - 1) for each in value.values())
    if isinstance(value, list | tuple):
        return depth == 0 or any(_is_entity(each, depth - 1) for each in value)
    return isinstance(value, str) and not is_file(value) and is_id(value)


def _is_other_state(one: OwnWrite, other: OwnWrite) -> bool:
    """Whether two writes differ only in the state that they put one thing into."""
    if one.declared or one.arguments.keys() != other.arguments.keys():
        return False
    names = one.arguments.keys()
    differing = [name for name in names if one.arguments[name] != other.arguments[name]]
    if len(names) == 1 and all(isinstance(one.arguments[name], dict | list) for name in names):
        # The whole state is all that is said, unless it names something.
        named = any(_is_entity(each) for write in (one, other) for each in write.arguments.values())
        return bool(differing) and not named and not one.made
    same = [one.arguments[name] for name in names if name not in differing]
    named = any(isinstance(each, str) and each for each in same)
    if any(is_wording(name) for name in differing):
        return False
    values = [each.arguments[name] for name in differing for each in (one, other)]
    # What makes a thing each time, such as a payment, is not undone by another amount.
    fits = _is_switch if one.made or other.made else _is_state
    return named and bool(differing) and all(fits(each) for each in values)


def _is_state(value: Any) -> bool:
    return isinstance(value, int | float) or _is_switch(value)


def _is_switch(value: Any) -> bool:
    if value is None or isinstance(value, bool):
        return True
    return isinstance(value, str) and value.strip().casefold() in _STATE_WORDS
