"""The tool runner's loop with its turns counted: the runner tells its tools nothing of the message
that they are run for, and asks nobody before its next request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from anthropic import APIConnectionError, APIError, APIStatusError

from pytest_tripwire.adapters.anthropic.turn import TURN, Turn, after_message, field
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.breaker.conversation import hears
from pytest_tripwire.guard import BreakerRun

#: After these the runner asks the model again; after any other it is done. A conversation that was
#: summed up changes nothing about that.
_GOES_ON = ("tool_use", "pause_turn")
#: What the client's connection raises before anything was sent, by name: which library it is made
#: with depends on the client's version.
_NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol"})


def follow(runner: Any, run: BreakerRun, *, count_model: bool = True) -> Iterator[Any]:
    """The messages, or streams, of a tool runner, to be iterated over in its place. The tools learn
    the ids of their calls, each request is counted, and when the run stops the runner is closed.

    Args:
        runner: what `client.beta.messages.tool_runner(tools=guarded(tools, run), ...)` gives.
        run: decides.
        count_model: whether to count requests; False where somebody else does.
    """
    requests = _Requests(runner, run, count_model=count_model)
    with _turns() as begin:
        while requests.opens():
            with requests.failing():
                item = next(runner, None)
            if item is None:
                requests.none()
                return
            turn = begin(item)
            if _is_stream(item):
                with requests.arriving():
                    yield item
                    message = item.get_final_message()
                requests.answered(message)
            else:
                message = item
                requests.answered(message)
                yield item
            TURN.set(turn)
            requests.hears()
            if message.stop_reason == "tool_use":
                runner.generate_tool_call_response()
        runner.close()


async def afollow(runner: Any, run: BreakerRun, *, count_model: bool = True) -> AsyncIterator[Any]:
    """The same for the runner of the async client."""
    requests = _Requests(runner, run, count_model=count_model)
    with _turns() as begin:
        while requests.opens():
            with requests.failing():
                item = await anext(runner, None)
            if item is None:
                requests.none()
                return
            turn = begin(item)
            if _is_stream(item):
                with requests.arriving():
                    yield item
                    message = await item.get_final_message()
                requests.answered(message)
            else:
                message = item
                requests.answered(message)
                yield item
            TURN.set(turn)
            requests.hears()
            if message.stop_reason == "tool_use":
                await runner.generate_tool_call_response()
        await runner.close()


class _Requests:
    """Brackets the runner's requests.

    Args:
        runner: sends them.
        run: whose requests they are.
        count_model: whether to count them.
    """

    def __init__(self, runner: Any, run: BreakerRun, *, count_model: bool) -> None:
        self._runner, self._run, self._counts = runner, run, count_model
        self._goes_on, self._open, self._answers = True, False, 0

    def opens(self) -> bool:
        """Whether the runner may go on. It is asked for its end too, which costs no request."""
        self.hears()
        if self._run.mode == "stopped":
            return False
        if not (self._counts and self._asks_again()):
            return True
        self._open = self._run.before_model().allowed
        return self._open

    def hears(self) -> None:
        """What is said and done from here on is about what the runner was asked first. Who has read
        a message may go on in another context, or have another runner at hand.
        """
        hears(_asked_first(getattr(self._runner, "_params", {}).get("messages") or ()))

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Take back what was reserved for a request that fails and cannot have cost anything; pay
        for any other: it may have been answered all the same.
        """
        try:
            yield
        except BaseException as error:
            if _cost_nothing(error):
                self.none()
            else:
                self._unknown()
            raise

    @contextmanager
    def arriving(self) -> Iterator[None]:
        """Pay for a stream that breaks off, or that nobody reads to its end: what it has used is
        unknown.
        """
        try:
            yield
        except BaseException:
            self._unknown()
            raise

    def none(self) -> None:
        """The runner has made no request after all."""
        if self._open:
            self._run.model_failed()
        self._open = False

    def answered(self, message: Any) -> None:
        """Pay for a request."""
        if message.stop_reason != "compaction":
            self._goes_on = message.stop_reason in _GOES_ON
            self._answers += 1
        if self._open:
            self.hears()
            after_message(self._run, message)
        self._open = False

    def _asks_again(self) -> bool:
        """Whether the runner's next step is a request. At a limit of its own, or closed, it sends
        nothing any more; after its last answer it may have the conversation summed up.
        """
        if getattr(self._runner, "_closed", False):
            return False
        if not self._goes_on:
            return getattr(self._runner, "_pending_compaction", None) is not None
        most = getattr(self._runner, "_max_iterations", None)
        return most is None or self._answers < most

    def _unknown(self) -> None:
        if self._open:
            self._run.after_model(Usage())
        self._open = False


def _asked_first(messages: Iterable[Any]) -> str:
    """What a user has said first of all."""
    said = (str(field(each, "content")) for each in messages if field(each, "role") == "user")
    return next(said, "")


def _cost_nothing(error: BaseException) -> bool:
    """Whether a request that ended so was never sent, or was answered by an error."""
    if isinstance(error, APIStatusError):
        return True
    if isinstance(error, APIConnectionError):
        return type(error.__cause__).__name__ in _NEVER_SENT
    # What else is no answer of the provider's is an error in how it was asked.
    return isinstance(error, Exception) and not isinstance(error, APIError)


@contextmanager
def _turns() -> Iterator[Callable[[Any], Turn]]:
    """Sets the message whose tools are run next. It stays set while the application reads it: the
    tools of a stream may be run meanwhile. Who has read it may go on in another context, or have
    another runner's message at hand: so it is set anew before its tools are run.
    """
    before = TURN.get()
    try:
        yield _begin
    finally:
        # Whoever leaves the loop half-way may close it in another context: no token is good there.
        TURN.set(before)


def _begin(item: Any) -> Turn:
    turn = Turn(lambda: _content(item))
    TURN.set(turn)
    return turn


def _is_stream(item: Any) -> bool:
    return hasattr(item, "get_final_message")


def _content(item: Any) -> Iterable[Any]:
    """The blocks of a message; of a stream, those that have arrived."""
    message = item.current_message_snapshot if _is_stream(item) else item
    content: Iterable[Any] = message.content
    return content
