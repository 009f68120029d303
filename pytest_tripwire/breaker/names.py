"""What the name of an argument or of a field tells, where nobody has declared more.

Names only ever help: a declaration outweighs them, and a rule that rests on a name alone asks for
more evidence than one that rests on a declaration.
"""

from __future__ import annotations

import functools
import re

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

#: Parts that make a name one of a nonce, alone.
_NONCE = frozenset({"nonce", "idempotency", "correlation", "traceparent", "dedupe", "dedup"})
#: What an id is minted for, beside the word that says that it is an id.
_MINTED_FOR = frozenset({"request", "req", "trace", "span", "attempt", "client", "retry"})
_IDS = frozenset({"id", "key", "token", "ref", "uuid"})
#: Whole names of nonces; the client's own id of a message is one of several that end in `id`.
_NONCES = frozenset({"timestamp", "ts", "attempt", "retry", "retry count", "sent at", "now"})
_NOT_MINTED = frozenset({"client id", "client key", "client ref", "client token"})

#: Fields of a result that change by themselves.
_PASSING = frozenset(
    {
        *("duration", "elapsed", "took", "latency", "uptime", "pid", "now", "clock", "timestamp"),
        *("ts", "trace", "span"),
    }
)
_PASSING_NAMES = frozenset(
    {
        "session id",
        "generated at",
        "fetched at",
        "retrieved at",
        "checked at",
        "served at",
        "server time",
        "current time",
        "response time",
        "as of",
        "rate limit remaining",
    }
)

#: A model's talk about its own call, and why it wants it; it never says what is acted on.
_TALK = frozenset(
    {
        *("thought", "thoughts", "reasoning", "rationale", "justification", "explanation"),
        *("reason", "reasons", "purpose", "why", "motivation"),
    }
)

#: Why something is wanted; it is no part of what is wanted.
_PLEAS = _TALK | {"memo", "note", "notes"}

_WORDING = _TALK | {
    *("query", "q", "question", "search", "term", "terms", "keywords", "phrase"),
    *("text", "message", "msg", "content", "body", "prompt", "note", "notes", "memo", "comment"),
    *("reason", "description", "summary", "instruction", "instructions", "context", "details"),
}

#: What holds the present moment, as the model writes it.
_PRESENT = frozenset(
    {"as of", "asof", "now", "today", "current time", "current date", "client time", "local time"}
)

_POSITIONS = frozenset(
    {"offset", "start", "skip", "line", "position", "begin", "page", "cursor", "from", "index"}
)
_ENDS = frozenset({"end", "to", "until", "stop", "last"})
_SPANS = frozenset({"limit", "length", "count", "size", "lines", "max", "num", "depth", "top"})


@functools.lru_cache(maxsize=4096)
def parts(name: str) -> tuple[str, ...]:
    """The words of a name, however it joins them: `clientMsgId` and `client_msg_id` are one."""
    return tuple(each.lower() for each in _PART.findall(name))


@functools.lru_cache(maxsize=4096)
def is_nonce(name: str) -> bool:
    """Whether an argument of this name is minted anew for every attempt."""
    words = parts(name)
    whole = " ".join(words)
    if whole in _NONCES or not _NONCE.isdisjoint(words):
        return True
    minted = bool(words) and words[-1] in _IDS and not _MINTED_FOR.isdisjoint(words[:-1])
    return minted and whole not in _NOT_MINTED


@functools.lru_cache(maxsize=4096)
def is_passing(name: str) -> bool:
    """Whether a field of this name in a result changes by itself."""
    words = parts(name)
    return (
        not _PASSING.isdisjoint(words)
        or " ".join(words) in _PASSING_NAMES
        or (bool(words) and words[-1] in {"ms", "millis", "seconds"})
        or is_nonce(name)
    )


@functools.lru_cache(maxsize=4096)
def is_talk(name: str) -> bool:
    """Whether an argument of this name holds what the model says to itself."""
    return not _TALK.isdisjoint(parts(name)[-1:])


@functools.lru_cache(maxsize=4096)
def is_plea(name: str) -> bool:
    """Whether an argument of this name says why something is wanted, and not what."""
    return not _PLEAS.isdisjoint(parts(name)[-1:])


@functools.lru_cache(maxsize=4096)
def is_wording(name: str) -> bool:
    """Whether an argument of this name usually holds free text."""
    return not _WORDING.isdisjoint(parts(name)[-1:])


@functools.lru_cache(maxsize=4096)
def is_present(name: str) -> bool:
    """Whether an argument of this name usually holds the present moment."""
    return " ".join(parts(name)) in _PRESENT


@functools.lru_cache(maxsize=4096)
def is_position(name: str) -> bool:
    """Whether an argument of this name usually says where to go on."""
    return not _POSITIONS.isdisjoint(parts(name))


@functools.lru_cache(maxsize=4096)
def is_end(name: str) -> bool:
    """Whether an argument of this name usually says up to where."""
    return not _ENDS.isdisjoint(parts(name))


@functools.lru_cache(maxsize=4096)
def is_span(name: str) -> bool:
    """Whether an argument of this name usually says how much is wanted."""
    return not _SPANS.isdisjoint(parts(name))
