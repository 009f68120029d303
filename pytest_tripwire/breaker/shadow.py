"""What an enforced run would have done, where a run is only watched.

A team that watches wants to see each stop once, with what led to it, and not the thousands of
refusals that would have followed; and it wants to see what the rules after the first stop would
have found, as the next limits are set by that. So a run that is only watched never stops: a stop is
noted with its cause, and said again it is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from pytest_tripwire.breaker.finding import Finding
from pytest_tripwire.breaker.telling import log
from pytest_tripwire.timeline import Decision, Family, Reason, ToolCall

#: Findings that are listed; what comes after is counted alone.
MOST_LISTED = 256
#: Findings that are known when they are said again; models make names of tools up for ever.
_MOST_KNOWN = 1024


class WouldHave(msgspec.Struct, frozen=True, kw_only=True):
    """What an enforced run would have done, and was not done.

    Args:
        decision: what would have become of the call.
        reason: why.
        message: what the model would have been told.
        evidence: the events that it rests on.
        call_id: the call, or the one whose outcome it rests on; empty for a model request.
        tool: its tool.
        stops: whether the run would have been stopped, or made read-only, by it.
        again: how often the same would have been said again.
    """

    decision: Decision
    reason: Reason
    message: str
    evidence: tuple[int, ...] = ()
    call_id: str = ""
    tool: str = ""
    stops: bool = False
    again: int = 0


@dataclass(slots=True, kw_only=True)
class _Noted:
    """One of them, and how often it was said again."""

    what: WouldHave
    again: int = 0


class Shadow:
    """Owner of what would have been done in one run, used under its lock.

    Args:
        parent: that of the run that it works for; had that one stopped, so had this one.
    """

    def __init__(self, parent: Shadow | None = None) -> None:
        self._parent = parent
        self._noted: list[_Noted] = []
        self._known: dict[tuple[object, ...], _Noted] = {}
        self._first: Finding | None = None
        self._told_of_failure = False
        #: The call that is decided or settled just now.
        self.call: ToolCall | None = None
        #: Calls that an enforced run would not have let through.
        self.not_run = 0

    @property
    def first(self) -> Finding | None:
        """What would have stopped the run, or made it read-only; None if nothing so far."""
        if self._first is None and self._parent is not None:
            return self._parent.first
        return self._first

    def noted(self) -> tuple[WouldHave, ...]:
        """All of it, in order."""
        return tuple(msgspec.structs.replace(each.what, again=each.again) for each in self._noted)

    def knows(self, finding: Finding) -> bool:
        """Whether this was noted already."""
        return self._key(finding) in self._known

    def again(self, finding: Finding) -> bool:
        """Whether this was noted already; it is counted then."""
        known = self._known.get(self._key(finding))
        if known is None:
            return False
        known.again += 1
        return True

    def note(self, finding: Finding) -> bool:
        """Take what would have been done. Returns whether it is news."""
        if self.again(finding):
            return False
        stops = finding.mode is not None
        if stops and self._first is None:
            self._first = finding
        noted = _Noted(what=self._told(finding, stops=stops))
        if len(self._noted) < MOST_LISTED:
            self._noted.append(noted)
        if (stops or self.first is not None) and len(self._known) < _MOST_KNOWN:
            self._known[self._key(finding)] = noted
        return True

    def failed(self, what: str) -> None:
        """The breaker's own work went wrong. The run is not the worse for it, and whoever watches
        is told once.
        """
        if not self._told_of_failure:
            self._told_of_failure = True
            log.exception("%s failed; the run is only watched and goes on", what)

    def _told(self, finding: Finding, *, stops: bool) -> WouldHave:
        call = self.call
        return WouldHave(
            decision=finding.decision,
            reason=finding.reason,
            message=finding.message,
            evidence=finding.evidence,
            call_id=call.call_id if call else "",
            tool=call.tool if call else "",
            stops=stops,
        )

    def _key(self, finding: Finding) -> tuple[object, ...]:
        """A budget is spent once; a loop of one tool is not that of another."""
        budget = finding.reason.family is Family.BUDGET
        tool = "" if budget or self.call is None else self.call.tool
        return finding.mode is not None, finding.decision, finding.reason, tool
