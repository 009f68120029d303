"""One settled call, as the progress rules see it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from pytest_tripwire.breaker.canonical import digest
from pytest_tripwire.breaker.emptiness import finds_nothing, parsed_json
from pytest_tripwire.breaker.finding import Proposal
from pytest_tripwire.breaker.names import is_passing
from pytest_tripwire.breaker.words import printable
from pytest_tripwire.timeline import DEFAULT_VOLATILE, Effect, Outcome, Status, ToolCall, ToolSpec

#: Empty results are one outcome, however each of them says that there is nothing.
EMPTY = "empty"
#: Levels of a result that are looked into for what changes by itself.
_DEEPEST = 8
#: Texts in which times and durations are left out, in characters.
_LONGEST = 20_000
#: Parts of a result.
_PARTS = 20_000
#: Words of a text that says more than the time.
_FEWEST = 2

_MOMENT = re.compile(
    r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?"
    r"|\b\d{1,2}:\d\d:\d\d([.,]\d+)?\b|\b\d+(\.\d+)? ?(ms|milliseconds|secs?|seconds|s)\b"
)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked and what came back, as fingerprints.

    Args:
        seq: the event that settled it.
        since: the event that let it through; 0 where that is not known.
        turn: the turn that it was proposed in; siblings share one.
        at: seconds on the run's clock when it came back.
        took: seconds that it took.
        call: as it was proposed.
        spec: what is declared about its tool.
        intent: what was asked, nonces and wording left out.
        exact: the same with its wording.
        content: of a hand-off, what it carries.
        resource: what it was about.
        outcome: what came back: status, stable ids or result, error class, version.
        status: what is certain about it.
        empty: whether it succeeded and said that there is nothing.
        version: business version that it showed, empty if none.
        error: the class of the error, empty if there was none.
        speaker: which agent has asked, in which conversation; empty where nobody says it.
        result: the tool's own result. Never stored.
    """

    seq: int
    turn: int
    at: float
    took: float
    call: ToolCall
    spec: ToolSpec
    intent: str
    exact: str
    content: str
    resource: str
    outcome: str
    status: Status
    empty: bool
    version: str = ""
    error: str = ""
    speaker: str = ""
    result: Any = None
    since: int = 0

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self.spec.name

    @property
    def effect(self) -> Effect:
        """Whether it reads, writes or hands off."""
        return self.spec.effect

    @property
    def asked(self) -> tuple[str, str]:
        """What was asked, and who has asked it. A write is one write, whoever makes it."""
        return self.intent, "" if self.effect is Effect.WRITE else self.speaker

    @property
    def heard(self) -> str:
        """What came back, and to whom."""
        return self.outcome if self.effect is Effect.WRITE else f"{self.outcome}{self.speaker}"

    @property
    def kind(self) -> tuple[str, ...]:
        """What it repeats: the same question to the same agent with the same answer."""
        return (self.intent, self.heard)

    def may_know(self, other: Step) -> bool:
        """Whether whoever asks this may know of `other`: what it has read itself, and what anybody
        has written or handed over.
        """
        return other.effect is not Effect.READ or other.speaker == self.speaker

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.status is Status.OK


def step_of(
    proposal: Proposal,
    outcome: Outcome,
    *,
    seq: int,
    since: int = 0,
    turn: int = 0,
    at: float = 0.0,
    took: float = 0.0,
) -> Step:
    """The step that `proposal` and its `outcome` make."""
    spec, ok = proposal.spec, outcome.status is Status.OK
    version = printable(outcome.version) or version_of(outcome.result, spec)
    empty = ok and spec.effect is Effect.READ and brings_nothing(outcome.result, spec)
    return Step(
        seq=seq,
        since=since,
        turn=turn,
        at=at,
        took=took,
        call=proposal.call,
        spec=spec,
        intent=proposal.intent.digest,
        exact=proposal.intent.exact,
        content=proposal.intent.content,
        resource=proposal.intent.resource,
        outcome=EMPTY if empty else fingerprint(outcome, spec, version),
        status=outcome.status,
        empty=empty,
        version=version,
        error="" if ok else outcome.error or outcome.status.value,
        speaker=proposal.speaker,
        result=outcome.result,
    )


def brings_nothing(result: Any, spec: ToolSpec) -> bool:
    """Whether a result is empty, or its field that tells of progress is."""
    if spec.result_progress is not None and isinstance(result, Mapping):
        return finds_nothing(result.get(spec.result_progress))
    return finds_nothing(result)


def fingerprint(outcome: Outcome, spec: ToolSpec, version: str) -> str:
    """What came back, without what changes by itself. The version outweighs the wording of a
    result: what is at the version already known says nothing new.
    """
    if outcome.status is not Status.OK:
        said = _scrubbed(outcome.error or "", spec, fewest=0)
        return digest((outcome.status.value, said, outcome.rule))
    if version:
        return digest((version,))
    content = content_of(outcome.result, spec)
    # A mapping takes the short road by itself; everything else stands beside a mark, so that a text
    # is no version.
    return digest(content if type(content) is dict else (None, content))


def content_of(result: Any, spec: ToolSpec) -> Any:
    """`result` without what changes by itself: declared, or by its name."""
    return _stable(result, spec, depth=_DEEPEST) if _is_small(result) else result


def _is_small(result: Any) -> bool:
    """Whether a result can be looked into part by part; one that holds a part many times is as
    large as all of them.
    """
    left, seen = [result], 0
    while left and seen <= _PARTS:
        part = left.pop()
        seen += 1
        if isinstance(part, Mapping):
            left.extend(part.values())
        elif isinstance(part, list | tuple):
            left.extend(part[:_PARTS])
    return seen <= _PARTS


def version_of(result: Any, spec: ToolSpec) -> str:
    """The business version that a result shows, empty if it shows none."""
    if spec.result_version is None or not isinstance(result, Mapping):
        return ""
    return version_text(result.get(spec.result_version))


def version_text(version: object) -> str:
    """A business version as it is kept, whatever its kind; empty for None."""
    return printable(version) or ("" if version is None else digest((version,)))


def _stable(value: Any, spec: ToolSpec, *, depth: int) -> Any:
    if depth and isinstance(value, Mapping):
        kept = {
            key: _stable(part, spec, depth=depth - 1)
            for key, part in value.items()
            if not _passes(key, spec)
        }
        # What holds nothing else is asked for what passes.
        whole = depth == _DEEPEST and not kept and _by_name_alone(value, spec)
        return dict(value) if whole else kept
    if depth and isinstance(value, list | tuple):
        return [_stable(part, spec, depth=depth - 1) for part in value]
    if isinstance(value, str):
        return _stable_text(value, spec, depth)
    return value


def _passes(name: Any, spec: ToolSpec) -> bool:
    if not isinstance(name, str):
        return False
    return name in DEFAULT_VOLATILE or name in spec.result_volatile or is_passing(name)


def _by_name_alone(value: Mapping[Any, Any], spec: ToolSpec) -> bool:
    declared = {*DEFAULT_VOLATILE, *spec.result_volatile}
    return bool(value) and declared.isdisjoint(value)


def _stable_text(text: str, spec: ToolSpec, depth: int) -> Any:
    """A text that is JSON is looked into; in any other, moments and durations say nothing."""
    if depth == _DEEPEST and text[:1] in {"{", "["}:
        parsed = parsed_json(text)
        if parsed is not None:
            return _stable(parsed, spec, depth=depth - 1)
    return _scrubbed(text, spec)


def _scrubbed(text: str, spec: ToolSpec, *, fewest: int = _FEWEST) -> str:
    for pattern in spec.result_volatile_patterns:
        text = re.sub(pattern, "", text)
    if len(text) > _LONGEST or not any(each.isdigit() for each in text):
        return text
    scrubbed = _MOMENT.sub("", text)
    return scrubbed if len(scrubbed.split()) >= fewest else text
