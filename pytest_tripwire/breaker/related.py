"""How the writes of one run bear on one another, where nobody has declared what they act on.

Kept besides the ledger, and only for the run's own life: the ledger knows fingerprints alone, and
what two undeclared writes have in common can only be told from their arguments.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.fingerprint import kept_arguments
from pytest_tripwire.breaker.loose import Loose
from pytest_tripwire.breaker.names import is_wording
from pytest_tripwire.breaker.progress.bounded import Bounded
from pytest_tripwire.breaker.progress.step import Step
from pytest_tripwire.breaker.words import is_file, is_id, is_reference, is_wordy

#: Own writes that are remembered.
_MOST = 64
#: A word that may be a state, such as `on` or `published`, in characters.
_STATE = 16
#: Other states that one thing was put into before it is put back.
_STATES = 2
#: Times that one write is made again because another has touched the same thing.
_AGAIN = 2
#: Last looks that are remembered.
_LOOKS = 16


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
        before: what the run had last seen when it was dispatched, by what was asked.
        moved: whether the same look has shown something never seen before since then.
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
    before: Mapping[str, str] = {}
    moved: bool = False


class OwnWrites:
    """Owner of what a run remembers of its own writes."""

    def __init__(self) -> None:
        self._writes: deque[OwnWrite] = deque(maxlen=_MOST)
        self._looks: Bounded[str, str] = Bounded(_LOOKS)

    def add(self, key: str, proposal: Proposal, loose: Loose) -> None:
        """Remember a write that was dispatched."""
        self._writes.append(
            OwnWrite(
                key=key,
                resource=proposal.intent.resource,
                intent=proposal.intent.digest,
                kind=proposal.spec.kind,
                arguments=kept_arguments(proposal.call, proposal.spec),
                loose=loose,
                declared=proposal.spec.identity is not None,
                before=self._looks.items(),
            )
        )

    @property
    def undeclared(self) -> bool:
        """Whether any of them acts on what nobody has declared."""
        return any(not each.declared for each in self._writes)

    def concerning(self, loose: Loose) -> tuple[OwnWrite, ...]:
        """Writes that may act on what a proposal acts on, with nothing declared."""
        return tuple(
            each for each in self._writes if not each.declared and each.loose.concerns(loose)
        )

    def came_back(self, key: str, result: Any, version: str) -> None:
        """Remember what a write has said."""
        for each in self._writes:
            if each.key == key:
                each.back, each.made = True, _names_a_thing(result)
                each.fresh = bool(version) or self._times(each) == 1

    def looked(self, step: Step, *, new: bool) -> None:
        """The run has looked at something. Where the same look showed something else before a
        write, that write has moved things on; where it now shows what was written, it is done.
        """
        for each in self._writes if new else ():
            changed = each.before.get(step.intent, step.outcome) != step.outcome
            if each.back and changed and not _shows(step.result, each.arguments):
                each.moved = True
        self._looks.put(step.intent, step.outcome)

    def is_due_again(self, key: str) -> bool:
        """Whether the write `key`, of which nothing is declared, has reason to be made again: a
        command acts on whatever is there then; what makes no new thing, such as formatting a file,
        is due again when another tool has written to the same thing, but not for ever.
        """
        later = self._after(key, any_kind=True)
        if later is None or later[0].declared:
            return False
        write, others = later
        between = [each for each in others if each.intent != write.intent and each.back]
        if self._is_command(write):
            return any(each.fresh for each in between)
        if write.made or any(_is_entity(each) for each in write.arguments.values()):
            return False
        if write.moved:
            return True  # a step, a click: looked at before and after, and things have moved on
        if self._times(write) > _AGAIN:
            return False
        return any(each.fresh and _same_file(write, each) for each in between)

    def _is_command(self, write: OwnWrite) -> bool:
        """Whether all that a tool is told is one free text, such as a command line."""
        same = [each for each in self._writes if each.kind == write.kind]
        return all(len(each.arguments) == 1 for each in same) and any(
            is_wordy(value) for each in same for value in each.arguments.values()
        )

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


def _shows(result: Any, arguments: Mapping[str, Any]) -> bool:
    """Whether a result shows under the same name what was written there. What both name as well,
    such as an id, says nothing: it has to be a state.
    """
    if not isinstance(result, Mapping):
        return False
    return any(
        name in result and result[name] == value and not _is_name(value)
        for name, value in arguments.items()
    )


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and is_reference(value)


def _names_a_thing(result: Any, depth: int = 4) -> bool:
    """Whether a result holds what looks like the id of something new."""
    if isinstance(result, Mapping):
        named = any(str(name).lower().endswith("id") for name in result)
        return named or (
            depth > 0 and any(_names_a_thing(each, depth - 1) for each in result.values())
        )
    if isinstance(result, list | tuple):
        return depth > 0 and any(_names_a_thing(each, depth - 1) for each in result)
    return isinstance(result, str) and any(is_id(each) for each in result.split())


def _same_file(one: OwnWrite, other: OwnWrite) -> bool:
    """Whether both act on one file: what a file holds changes, what an order is paid does not."""
    names = {each for each in one.arguments.values() if is_file(each)}
    return any(each in names for each in other.arguments.values() if isinstance(each, str))


def _is_entity(value: Any) -> bool:
    """Whether an argument is an id, such as that of an order, at any depth."""
    if isinstance(value, Mapping):
        return any(_is_entity(each) for each in value.values())
    if isinstance(value, list):
        return any(_is_entity(each) for each in value)
    return isinstance(value, str) and not is_file(value) and is_id(value)


def _is_other_state(one: OwnWrite, other: OwnWrite) -> bool:
    """Whether two writes differ only in the state that they put one thing into."""
    if one.declared or one.arguments.keys() != other.arguments.keys():
        return False
    names = one.arguments.keys()
    differing = [name for name in names if one.arguments[name] != other.arguments[name]]
    if len(names) == 1 and all(isinstance(one.arguments[name], dict | list) for name in names):
        return bool(differing)  # the whole state is all that is said
    same = [one.arguments[name] for name in names if name not in differing]
    named = any(isinstance(each, str) and each for each in same)
    if any(is_wording(name) for name in differing):
        return False
    values = [each.arguments[name] for name in differing for each in (one, other)]
    return named and bool(differing) and all(_is_state(each) for each in values)


def _is_state(value: Any) -> bool:
    if value is None or isinstance(value, bool | int | float):
        return True
    if not isinstance(value, str) or len(value) > _STATE:
        return False
    return value.isalpha() and not is_reference(value)
