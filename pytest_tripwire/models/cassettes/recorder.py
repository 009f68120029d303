"""Puts a tape in the place of vcrpy's own cassette: vcrpy meets the clients, the tape decides."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from vcr.cassette import Cassette  # type: ignore[import-untyped]

from pytest_tripwire.models.cassettes.files import got_of, response_of, sent_of
from pytest_tripwire.models.cassettes.interaction import Sent
from pytest_tripwire.models.cassettes.tape import Tape
from pytest_tripwire.models.wire.openai_shapes import API_KEY, MODEL

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Recorder(Cassette):  # type: ignore[misc] # vcrpy has no types
    """What vcrpy's stand-ins for HTTP clients ask.

    Args:
        path: names it in vcrpy's log.
        tape: decides.
    """

    #: To vcrpy it never is: a tape raises by itself what it does not let go out.
    write_protected = False

    def __init__(self, path: str, tape: Tape) -> None:
        super().__init__(path)
        self._tape = tape

    def can_play_response_for(self, request: Any) -> bool:
        """Whether there is an answer. Raises CassetteError where there has to be one."""
        sent = sent_of(request)
        return not is_scripted(sent) and self._tape.claim(sent, request)

    def play_response(self, request: Any) -> Any:
        """The answer."""
        self._tape.claim(sent_of(request), request)
        return response_of(self._tape.take(request))

    def append(self, request: Any, response: Any) -> None:
        """Keep an answer that has come over the network."""
        sent = sent_of(request)
        if not is_scripted(sent):
            self._tape.add(sent, got_of(response), request)

    def filter_request(self, request: Any) -> Any:
        """None for a request that is none of a cassette's."""
        return None if is_scripted(sent_of(request)) else request

    def _load(self) -> None:
        """Nothing: the tape was loaded before, and a broken file is an error there."""

    def _save(self, force: bool = False) -> None:  # noqa: FBT001, FBT002 - as vcrpy has it
        """Nothing: only a whole recording is written, and vcrpy cannot tell."""


def is_scripted(sent: Sent) -> bool:
    """Whether a request goes to the scripted model, as the key or the name of that model tells."""
    if urlsplit(sent.uri).hostname not in _LOOPBACK:
        return False
    keys = {sent.header("authorization").removeprefix("Bearer "), sent.header("x-api-key")}
    return API_KEY in keys or _names_scripted(sent.body)


def _names_scripted(body: bytes) -> bool:
    if MODEL.encode() not in body:
        return False
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("model") == MODEL
