"""A stop that waits for the next proposal of its kind.

Where nobody has declared what tells two intents apart, a rule that has seen enough does not end the
run at once: the next call may well be the way out. Only one more of the same ends it.
"""

from __future__ import annotations

import msgspec

from pytest_tripwire.breaker.loose import Loose
from pytest_tripwire.breaker.progress.coverage import Part
from pytest_tripwire.breaker.progress.trip import Trip
from pytest_tripwire.timeline import Reason


class Armed(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule waits for.

    Args:
        trip: what it says then.
        tool: the tool whose next call it is about.
        like: calls that ask the same as this in other words; None for any call of the tool.
        part: calls that read parts of this thing.
        spelling: calls whose texts spell this differently.
        about: whether `like` means calls about the same thing, in whatever words.
        speaker: who has asked; None where it does not matter.
    """

    trip: Trip
    tool: str
    like: tuple[Loose, ...] = ()
    part: Part | None = None
    spelling: Loose | None = None
    about: bool = False
    speaker: str | None = None

    def concerns(self, tool: str, speaker: str) -> bool:
        """Whether this waits for calls of a tool by this speaker."""
        return tool == self.tool and self.speaker in {None, speaker}

    def says(self, tool: str, reason: Reason) -> bool:
        """Whether this says `reason` of a tool, whatever it is asked."""
        narrow = self.like or self.part is not None or self.spelling is not None
        return not narrow and (self.tool, self.trip.reason) == (tool, reason)

    def fits(self, tool: str, loose: Loose, part: Part | None, spelled: Loose) -> bool:
        """Whether a proposal is one more of the same; `part` is None where it reads on."""
        if tool != self.tool:
            return False
        if self.part is not None:
            return part is not None and part.thing == self.part.thing
        if self.spelling is not None:
            return self.spelling.respells(spelled)
        return not self.like or any(
            each.about(loose) if self.about else each.rewords(loose) for each in self.like
        )
