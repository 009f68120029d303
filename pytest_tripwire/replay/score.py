"""Compares what a breaker would have done with what was expected of it."""

from __future__ import annotations

import msgspec

from pytest_tripwire.replay.trace import Expect, Trace, TraceVerdict

#: The hazard of runs that must not be stopped.
LEGIT = "legit"
#: The hazard of runs that nobody has named one for.
UNNAMED = "other"


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """One labelled run, judged.

    Args:
        hazard: which failure it shows; `legit` for a run that must not be stopped.
        right: whether the breaker did what was expected.
        expected: what was expected, in words.
        happened: what happened, in words.
    """

    hazard: str
    right: bool
    expected: str = ""
    happened: str = ""


def expectation_of(trace: Trace) -> Expect | None:
    """What a right controller does with the run, where it says so; its kind alone says something
    too.
    """
    if trace.expect is not None or trace.kind is None:
        return trace.expect
    return Expect(interrupted=trace.kind != LEGIT)


def judge(trace: Trace, verdict: TraceVerdict, *, hints: bool) -> Judgement | None:
    """The judgement, None for a run without label, or one that counts only with hints.

    Args:
        trace: the run; only its label is looked at.
        verdict: what the breaker would have done.
        hints: whether it was replayed with its hints.
    """
    expect = expectation_of(trace)
    if expect is None or (trace.needs_hints and not hints):
        return None
    hazard = (trace.hazard or UNNAMED) if expect.interrupted else LEGIT
    if is_right(expect, verdict):
        return Judgement(hazard=hazard, right=True)
    return Judgement(
        hazard=hazard, right=False, expected=_wanted(expect), happened=_happened(verdict)
    )


def is_right(expect: Expect, verdict: TraceVerdict) -> bool:
    """Whether `verdict` is what was expected. A run that must not be stopped has to be let through
    whole; any other has to be stopped within the bounds, for an accepted reason, with no more
    writes executed than allowed.
    """
    if not expect.interrupted:
        return not verdict.interrupted
    if not verdict.interrupted or verdict.step is None:
        return False
    latest = expect.at_or_before_step
    most = expect.executed_writes_max
    return (
        expect.not_before_step <= verdict.step
        and (latest is None or verdict.step <= latest)
        and (expect.reason is None or verdict.reason in (expect.reason, *expect.also_accept))
        and (most is None or verdict.executed_writes <= most)
    )


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """How many of some runs were right."""

    right: int = 0
    total: int = 0

    def with_one(self, judgement: Judgement) -> Tally:
        """One more."""
        return Tally(right=self.right + judgement.right, total=self.total + 1)

    @property
    def wrong(self) -> int:
        """How many were not."""
        return self.total - self.right


def _wanted(expect: Expect) -> str:
    if not expect.interrupted:
        return "to be let through"
    reasons = " or ".join(str(each) for each in (expect.reason, *expect.also_accept) if each)
    most = expect.executed_writes_max
    parts = [
        "a stop",
        f"for {reasons}" if reasons else "",
        _bounds(expect),
        "" if most is None else f"after at most {writes(most)}",
    ]
    return " ".join(filter(None, parts))


def _bounds(expect: Expect) -> str:
    first, last = expect.not_before_step, expect.at_or_before_step
    if last is None:
        return f"at step {first} or later" if first > 1 else ""
    return f"at step {last}" if first == last else f"at a step from {first} to {last}"


def _happened(verdict: TraceVerdict) -> str:
    if not verdict.interrupted:
        return f"let through, {writes(verdict.executed_writes)}"
    return f"stopped at step {verdict.step} for {verdict.reason}, {writes(verdict.executed_writes)}"


def writes(number: int) -> str:
    """A number of writes, in words."""
    return f"{number} write" if number == 1 else f"{number} writes"
