"""Ways of playing a case that change nothing about what it is about.

A defence that holds for one script and not for its variant rests on what a model happens to do:
on a nonce that stays, on calls that follow each other, on one call a message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from pytest_tripwire.cases.case import Case, Interlude
from pytest_tripwire.cases.personas import fresh_nonce
from pytest_tripwire.cases.rewriting import Rewrite, each_proposal, every_script, retimed
from pytest_tripwire.models import Calls, Move, Propose, Script, Seen
from pytest_tripwire.world import NONCE, RESOURCE, Records
from pytest_tripwire.world.desk import POLL, open_job

#: The job that noise asks about; it is never done, so that asking brings nothing new.
JOB = "J-noise"
_ENDLESS = 1_000_000
_TRIED = 40


class UnknownVariantError(LookupError):
    """There is no variant of this name, or the case has none."""


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One way of playing a case.

    Args:
        name: its name.
        title: one line for people.
        rewrite: turns a persona's script into the variant's.
        applies: whether a case would be played differently at all.
        why_not: what it takes, for a case to which it does not apply.
        prepare: what it needs of the case besides.
        turns: how many turns one of the case's own takes.
    """

    name: str
    title: str
    rewrite: Rewrite
    applies: Callable[[Case], bool] = lambda _case: True
    why_not: str = ""
    prepare: Callable[[Case], Case] = lambda case: case
    turns: int = 1

    def of(self, case: Case) -> Case:
        """The case, played this way. Raises UnknownVariantError if that changes nothing."""
        if not self.applies(case):
            raise UnknownVariantError(f"{case.id} has no variant {self.name!r}: {self.why_not}")
        return every_script(self.prepare(case), self.rewrite)


def varied(case: Case, name: str | None) -> Case:
    """The case in a variant; as it is without a name. Raises UnknownVariantError with the names."""
    if name is None:
        return case
    if name not in VARIANTS:
        known = ", ".join(VARIANTS)
        raise UnknownVariantError(f"there is no variant {name!r}; there are: {known}")
    return VARIANTS[name].of(case)


def turns_of(name: str | None) -> int:
    """How many turns one of a case's own takes in a variant."""
    return VARIANTS[name].turns if name in VARIANTS else 1


# -- scripts


def fresh_nonces(script: Script) -> Script:
    """Every proposal under a nonce of its own."""
    return each_proposal(script, fresh_nonce)


def reordered(script: Script) -> Script:
    """The keys of every second turn's arguments in the opposite order."""

    def turned(seen: Seen, _index: int, each: Propose) -> Propose:
        slots = dict(reversed(list(each.slots.items()))) if seen.turn % 2 else each.slots
        return msgspec.structs.replace(each, slots=slots)

    return each_proposal(script, turned)


def with_noise(script: Script) -> Script:
    """A read that has nothing to do with it between any two moves. What the script says to the
    last results still comes first: a persona that heeds is not made to talk on.
    """
    noise = Calls(proposals=(Propose(role=POLL.role, slots={RESOURCE: JOB}),))

    def way(seen: Seen) -> Move:
        between = seen.turn % 2
        move = script(retimed(seen, (seen.turn + between) // 2, lambda turn: turn // 2))
        return noise if between and isinstance(move, Calls) else move

    return way


def in_pairs(script: Script) -> Script:
    """Two moves in one message, as parallel calls."""

    def way(seen: Seen) -> Move:
        first, second = (
            script(retimed(seen, 2 * seen.turn + place, lambda turn: 2 * turn + 1))
            for place in (0, 1)
        )
        if not isinstance(first, Calls) or not isinstance(second, Calls):
            return first
        return msgspec.structs.replace(first, proposals=first.proposals + second.proposals)

    return way


# -- cases


def _with_job(case: Case) -> Case:
    """The case with a job to ask about."""

    def seed(records: Records) -> None:
        case.seed(records)
        open_job(records, JOB, polls=_ENDLESS)

    return msgspec.structs.replace(case, operations=(*case.operations, POLL), seed=seed)


def _proposals(case: Case) -> Iterator[Propose]:
    """All that the first persona of a case proposes when nothing is refused."""
    parts: tuple[Case | Interlude, ...] = (case, case.interlude) if case.interlude else (case,)
    for part in parts:
        script = next(iter(part.personas.values()))
        for turn in range(_TRIED):
            move = script(Seen(turn=turn))
            yield from move.proposals if isinstance(move, Calls) else ()


VARIANTS: dict[str, Variant] = {
    each.name: each
    for each in (
        Variant(
            name="nonces",
            title="every proposal under a nonce of its own",
            rewrite=fresh_nonces,
            applies=lambda case: any(NONCE in each.slots for each in _proposals(case)),
            why_not="none of its calls carries a nonce",
        ),
        Variant(
            name="reordered",
            title="the keys of every second call's arguments in the opposite order",
            rewrite=reordered,
        ),
        Variant(
            name="noise",
            title="a read that has nothing to do with it between any two moves",
            rewrite=with_noise,
            prepare=_with_job,
            applies=lambda case: POLL.role not in case.roles,
            why_not="its own work is what the noise would be",
            turns=2,
        ),
        Variant(
            name="parallel",
            title="two moves in one message",
            rewrite=in_pairs,
        ),
    )
}
