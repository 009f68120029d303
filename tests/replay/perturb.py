"""Changes to a recorded run that change nothing about what a right controller does with it.

Each is a pure function of a trace. A rule that hangs on the names, the order or the ids of the
corpus is found by one of them.
"""

from __future__ import annotations

import hashlib
import random
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from pytest_tripwire.replay.trace import Trace, TraceStep

Change = Callable[[Trace], Trace]


def renamed_tools(trace: Trace) -> Trace:
    """Every tool by another name, in the steps and in what is declared."""
    tools = {step.tool for step in trace.steps if not step.is_event}
    names = {tool: _hashed("tool", tool) for tool in tools}
    return _with(
        trace,
        lambda step, _: msgspec.structs.replace(step, tool=names.get(step.tool, step.tool)),
        hints=_renamed(trace.hints, names),
    )


def renamed_arguments(trace: Trace) -> Trace:
    """Every argument by another name, in the steps and in what is declared."""
    arguments = {name for step in trace.steps if not step.is_event for name in step.args}
    names = {name: _hashed("arg", name) for name in arguments}

    def change(step: TraceStep, _: random.Random) -> TraceStep:
        if step.is_event:
            # An event may hold the arguments of a call, such as those that a person has seen.
            args = {
                name: _keys_renamed(value, names) if isinstance(value, Mapping) else value
                for name, value in step.args.items()
            }
        else:
            args = _keys_renamed(step.args, names)
        return msgspec.structs.replace(step, args=args)

    hints = {
        field: _renamed(value, names) if field in _OF_ARGUMENTS else value
        for field, value in trace.hints.items()
    }
    return _with(trace, change, hints=hints)


def fresh_nonce(trace: Trace) -> Trace:
    """A nonce in every call, under a name that says what it is."""
    return _with_argument(trace, "request_id")


def fresh_unnamed_nonce(trace: Trace) -> Trace:
    """A nonce in every call, under a name that says nothing."""
    return _with_argument(trace, "zq")


def fresh_result_ids(trace: Trace) -> Trace:
    """A new id in every result that has fields."""

    def change(step: TraceStep, source: random.Random) -> TraceStep:
        result = step.outcome.result
        if step.is_event or not isinstance(result, dict) or not result:
            return step
        outcome = msgspec.structs.replace(
            step.outcome, result={**result, "zq_trace": _uuid(source)}
        )
        return msgspec.structs.replace(step, outcome=outcome)

    return _with(_expanded(trace), change)


def neutral_errors(trace: Trace) -> Trace:
    """Error texts that say which errors are alike and nothing else, but for what is declared.

    Where a text alone proves that nothing happened, or that a person is waited for, this takes away
    what a right controller knows: those cases may go wrong.
    """
    declared = [text for field in _OF_ERRORS for text in _texts(trace.hints.get(field))]
    kinds = list(
        dict.fromkeys(
            _kind(step.outcome.error) for step in trace.steps if isinstance(step.outcome.error, str)
        )
    )

    def change(step: TraceStep, _: random.Random) -> TraceStep:
        text = step.outcome.error
        if step.is_event or not isinstance(text, str):
            return step
        kept = [each for each in declared if each in text]
        error = " ".join(["problem", _word(kinds.index(_kind(text))), *kept])
        return msgspec.structs.replace(
            step, outcome=msgspec.structs.replace(step.outcome, error=error)
        )

    return _with(trace, change)


def nameless_agents(trace: Trace) -> Trace:
    """Nobody says who proposed what."""
    return _with(trace, lambda step, _: msgspec.structs.replace(step, agent=None))


def shuffled_keys(trace: Trace) -> Trace:
    """Every mapping in another order."""

    def change(step: TraceStep, source: random.Random) -> TraceStep:
        outcome = msgspec.structs.replace(
            step.outcome, result=_shuffled(step.outcome.result, source)
        )
        return msgspec.structs.replace(step, args=_shuffled(step.args, source), outcome=outcome)

    return _with(trace, change, hints=_shuffled(trace.hints, _source(trace)))


CHANGES: Mapping[str, Change] = {
    change.__name__.replace("_", " "): change
    for change in (
        renamed_tools,
        renamed_arguments,
        fresh_nonce,
        fresh_unnamed_nonce,
        fresh_result_ids,
        neutral_errors,
        nameless_agents,
        shuffled_keys,
    )
}

#: What is declared in terms of arguments, and of errors.
_OF_ARGUMENTS = frozenset(
    {
        "identity",
        "wording",
        "volatile",
        "cursor",
        "required_fields",
        "key_argument",
        "resource_patterns",
    }
)
_OF_ERRORS = ("definite_failures", "transient_errors", "denials", "denial_class")


def _with(
    trace: Trace, change: Callable[[TraceStep, random.Random], TraceStep], **fields: Any
) -> Trace:
    source = _source(trace)
    steps = tuple(change(step, source) for step in trace.steps)
    return msgspec.structs.replace(trace, steps=steps, **fields)


def _source(trace: Trace) -> random.Random:
    return random.Random(trace.id)  # noqa: S311 - the same each time, nothing secret


def _with_argument(trace: Trace, name: str) -> Trace:
    def change(step: TraceStep, source: random.Random) -> TraceStep:
        if step.is_event or not step.args_known:
            return step
        return msgspec.structs.replace(step, args={**step.args, name: _uuid(source)})

    return _with(_expanded(trace), change)


def _expanded(trace: Trace) -> Trace:
    """Each repetition as a step of its own, so that each may differ."""
    steps = tuple(msgspec.structs.replace(step, repeat=1) for _, step in trace.expanded())
    return msgspec.structs.replace(trace, steps=steps)


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    """`value` with each text that is one of `names` replaced, keys and the heads of paths too."""
    if isinstance(value, str):
        head, dot, rest = value.partition(".")
        return names.get(value) or (names.get(head, head) + dot + rest)
    if isinstance(value, Mapping):
        return {names.get(key, key): _renamed(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(each, names) for each in value]
    return value


def _keys_renamed(value: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {names.get(name, name): each for name, each in value.items()}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


def _shuffled(value: Any, source: random.Random) -> Any:
    if isinstance(value, Mapping):
        items = list(value.items())
        source.shuffle(items)
        return {key: _shuffled(each, source) for key, each in items}
    if isinstance(value, list):
        return [_shuffled(each, source) for each in value]
    return value


def _kind(text: str) -> str:
    """An error text without the words that have digits in them: two of a kind are alike."""
    return " ".join(word for word in text.casefold().split() if not re.search(r"\d", word))


def _word(number: int) -> str:
    """A word for a number, without a digit."""
    letters = "bdfgklmnprst"
    first, second = divmod(number, len(letters))
    return f"{letters[first % len(letters)]}a{letters[second]}o"


def _hashed(kind: str, name: str) -> str:
    return f"{kind}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _uuid(source: random.Random) -> str:
    return str(uuid.UUID(int=source.getrandbits(128), version=4))
