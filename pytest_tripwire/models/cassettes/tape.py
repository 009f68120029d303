"""What a cassette holds, and what becomes of each request: played, recorded or refused."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from msgspec import structs

from pytest_tripwire.models.cassettes.canonical import Canonical, canonical, ids_given
from pytest_tripwire.models.cassettes.differences import differences
from pytest_tripwire.models.cassettes.errors import CassetteDivergence, CassetteError
from pytest_tripwire.models.cassettes.filtering import (
    decompressed,
    filtered_request,
    filtered_response,
)
from pytest_tripwire.models.cassettes.interaction import Got, Interaction, Sent
from pytest_tripwire.models.cassettes.secrets import Secrets, sent_secrets

#: Fields that are compared to find the recorded request that is meant.
_ENOUGH = 200

_ANEW = "If the change is meant, record anew with --tripwire-record-mode=all."


class Tape:
    """Owner of what a cassette holds. Clients of any thread come here, one at a time.

    Args:
        shown: how the cassette is called in messages.
        recorded: what is played, each once.
        may_record: whether a request that is not to be played may go out.
        secrets: what is hidden in all that is kept.
        ignore: top-level fields of a body that mean nothing.
        missing: why there is no recording, and what to do; empty if there is one.
    """

    def __init__(
        self,
        *,
        shown: str,
        recorded: Sequence[Interaction] = (),
        may_record: bool,
        secrets: Secrets,
        ignore: Iterable[str] = (),
        missing: str = "",
    ) -> None:
        self._shown = shown
        self.may_record = may_record
        self._secrets = secrets
        self._ignore = frozenset(ignore)
        self._missing = missing
        self._recorded = tuple(recorded)
        # By name alone: what is a secret on this machine was none where it was recorded.
        self._given = frozenset(
            id_ for each in self._recorded for id_ in ids_given(_readable(each.got))
        )
        plain = (filtered_request(each.sent, Secrets()) for each in self._recorded)
        self._meanings = [canonical(sent, self._ignore, self._given) for sent in plain]
        self._hosts = frozenset(meaning.host for meaning in self._meanings)
        self._played: dict[int, int] = {}
        self._claims: dict[int, tuple[Any, int | None, Sent]] = {}
        self._added: list[Interaction] = []
        self._requests = 0
        self._lock = threading.Lock()
        self.problem: CassetteError | None = None

    @property
    def requests(self) -> int:
        """The agent's requests so far."""
        return self._requests

    @property
    def added(self) -> int:
        """How many were recorded."""
        return len(self._added)

    @property
    def unplayed(self) -> tuple[int, ...]:
        """The numbers of the recorded requests that were not asked for, from 1."""
        with self._lock:
            return tuple(n + 1 for n in range(len(self._recorded)) if n not in self._played)

    def contents(self) -> tuple[Interaction, ...]:
        """All that it holds now. What one request has proved itself by is hidden in all of them."""
        with self._lock:
            return tuple(
                Interaction(
                    sent=filtered_request(each.sent, self._secrets),
                    got=filtered_response(each.got, self._secrets),
                )
                for each in (*self._recorded, *self._added)
            )

    def claim(self, sent: Sent, token: object) -> bool:
        """Whether there is a recorded answer to this request, which `take` then gives; if not, it
        may go out.

        Args:
            sent: the request as it is.
            token: stands for this very request: a client may ask about one twice.

        Raises:
            CassetteError: for a request that was not recorded, and for all that come after it:
                what was meant as the answer to another would not be one.
        """
        with self._lock:
            if id(token) in self._claims:
                return self._claims[id(token)][1] is not None
            self._requests += 1
            if self.problem is not None:
                self._refuse()
            chosen = self._choose_or_refuse(sent)
            if chosen is None and not self.may_record:
                self.problem = self._refusal(sent)
                self._refuse()
            # The token is kept with its number, which another could have once it is gone.
            self._claims[id(token)] = (token, chosen, sent)
            if chosen is not None:
                self._played[chosen] = self._requests
            return chosen is not None

    def take(self, token: object) -> Got:
        """The answer to a request that was claimed."""
        with self._lock:
            chosen = self._claims[id(token)][1]
        if chosen is None:
            raise KeyError("this request was not recorded")
        return self._recorded[chosen].got

    def add(self, sent: Sent, got: Got, token: object = None) -> None:
        """Record an answer. Raises CassetteError for one whose secrets cannot be filtered.

        Args:
            sent: the request as it is now.
            got: the answer.
            token: stands for the request, as in `claim`.
        """
        with self._lock:
            # A form may be empty once it is sent.
            *_, sent = self._claims.get(id(token), (sent,))
            try:
                self._secrets = self._secrets | sent_secrets(sent)
                self._added.append(self._kept(sent, got))
                return  # noqa: TRY300 - what follows is for what could not be kept
            except CassetteError as error:
                self.problem = self.problem or CassetteError(f"{self._shown}: {error}")
        self._refuse()

    def _kept(self, sent: Sent, got: Got) -> Interaction:
        secrets = self._secrets | sent_secrets(sent)
        return Interaction(
            sent=filtered_request(sent, secrets), got=filtered_response(got, secrets)
        )

    def _meaning(self, sent: Sent) -> Canonical:
        meaning = canonical(sent, self._ignore, self._given)
        # A server that is called otherwise today may be any of those that were recorded.
        return meaning if meaning.host in self._hosts else structs.replace(meaning, host="")

    def _meanings_of(self, sent: Sent) -> tuple[Canonical, ...]:
        """What a request may mean. A key that stands in its texts was hidden when it was recorded;
        a stand-in for a key, or what only this machine holds for a secret, may be a word like any
        other.
        """
        sent_along = Secrets(sent_secrets(sent))
        known = (self._secrets | sent_along.texts, sent_along, Secrets())
        return tuple(self._meaning(filtered_request(sent, each)) for each in known)

    def _choose_or_refuse(self, sent: Sent) -> int | None:
        try:
            return self._choose(sent)
        except CassetteError as error:
            self.problem = CassetteError(f"{self._shown}: {error}")
        return self._refuse()

    def _refuse(self) -> NoReturn:
        # Reports show the arguments of the function that raises: this one has none to show.
        assert self.problem is not None  # noqa: S101 - whoever calls it has said what is wrong
        raise self.problem.with_traceback(None) from None

    def _choose(self, sent: Sent) -> int | None:
        if not self._recorded:
            return None
        meant = self._meanings_of(sent)
        for index, meaning in enumerate(self._meanings):
            if index not in self._played and _is_one_of(meaning, meant):
                return index
        return None

    # -- what is said of a request that is refused

    def _refusal(self, sent: Sent) -> CassetteError:
        head = f"{self._shown}: request {self._requests} of the agent"
        if self._missing:
            return CassetteError(f"{head} has no answer: {self._missing}")
        meant = self._meanings_of(sent)
        again = [n for n, meaning in enumerate(self._meanings) if _is_one_of(meaning, meant)]
        left = [n for n in range(len(self._recorded)) if n not in self._played]
        if again or not left:
            return self._too_many(head, again)
        nearest = min(left, key=lambda n: self._distance(meant[0], n))
        first = next(differences(meant[0], self._meanings[nearest]))
        return CassetteDivergence(
            f"{head} is not what was recorded: `{first.field}` differs from recorded request "
            f"{nearest + 1} ({first.detail}). It got no answer, nor does any request after it. "
            f"{_ANEW}",
            number=self._requests,
            field=first.field,
        )

    def _too_many(self, head: str, again: list[int]) -> CassetteDivergence:
        held = len(self._recorded)
        what = f"{held} request" if held == 1 else f"{held} requests"
        repeats = ""
        if again:
            repeats = f" It is the same as recorded request {again[-1] + 1}, which was played."
        return CassetteDivergence(
            f"{head} is one more than was recorded: the cassette holds {what}.{repeats} It got no "
            f"answer, nor does any request after it. {_ANEW}",
            number=self._requests,
        )

    def _distance(self, meaning: Canonical, index: int) -> int:
        found = differences(meaning, self._meanings[index])
        return sum(1 for _ in itertools.islice(found, _ENOUGH))


def _readable(got: Got) -> str:
    # What plain vcrpy recorded may be compressed, in any way that there is.
    with suppress(CassetteError):
        got = decompressed(got)
    return got.body.decode("utf-8", "replace")


def _is_one_of(meaning: Canonical, meant: Iterable[Canonical]) -> bool:
    # Python holds 1 and True for equal, and tells in an instant what is not.
    return any(
        each.body == meaning.body and next(differences(each, meaning), None) is None
        for each in meant
    )


def shorter(values: Sequence[int]) -> str:
    """Numbers for a message, not too many of them."""
    few = ", ".join(map(str, values[:5]))
    return f"{few} and {len(values) - 5} more" if len(values) > 5 else few  # noqa: PLR2004
