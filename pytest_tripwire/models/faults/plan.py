"""All that goes wrong in a run, and what of it strikes one request."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from pytest_tripwire.models.answer import Answer
from pytest_tripwire.models.faults.fault import WHOLE, Delivery, ModelFault
from pytest_tripwire.models.script import Calls
from pytest_tripwire.models.tokens import Usage


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Faults, of which several may strike one request."""

    faults: tuple[ModelFault, ...] = ()

    def at(self, turn: int | None, attempt: int) -> Plan:
        """The part that strikes the request of this turn, at this try; None for a request that
        only fetches what is left of a turn's calls.
        """
        return Plan(faults=tuple(each for each in self.faults if each.hits(turn, attempt)))

    def lost_before(self, turn: int) -> int:
        """How many moves before `turn` went out in a shape that no tool could take."""
        spoiling = [each for each in self.faults if each.spoils]
        return sum(any(each.hits(t, 1) for each in spoiling) for t in range(turn))

    def check(self) -> None:
        """Raise the error response in place of an answer, if there is one."""
        for error in filter(None, (each.error() for each in self.faults)):
            error.delay = self.delivery.delay
            raise error

    def alter(self, answer: Answer) -> Answer:
        """The answer that goes out; words cannot be spoilt."""
        for each in self.faults if isinstance(answer.move, Calls) else ():
            answer = each.alter(answer)
        return answer

    def count(self, usage: Usage) -> Usage | None:
        """The usage that is reported; None for none."""
        counted: Usage | None = usage
        for each in self.faults:
            counted = each.count(counted)
        return counted

    @property
    def delivery(self) -> Delivery:
        """How the response gets to the client."""
        delivery = WHOLE
        for each in self.faults:
            delivery = each.deliver(delivery)
        return delivery

    def __iter__(self) -> Iterator[ModelFault]:
        return iter(self.faults)

    def __bool__(self) -> bool:
        return bool(self.faults)
