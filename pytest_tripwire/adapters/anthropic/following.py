"""The tool runner's loop with its turns counted: the runner tells its tools nothing of the message
that they are run for, and asks nobody before its next request.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pytest_tripwire.adapters.anthropic.turn import TURN, Turn, after_message
from pytest_tripwire.breaker.budget import Usage
from pytest_tripwire.guard import BreakerRun

#: After these the runner asks the model again; after any other it is done.
_GOES_ON = ("tool_use", "pause_turn", "compaction")


def follow(runner: Any, run: BreakerRun, *, count_model: bool = True) -> Iterator[Any]:
    """The messages, or streams, of a tool runner, to be iterated over in its place. The tools learn
    the ids of their calls, each request is counted, and when the run stops the runner is closed.

    Args:
        runner: what `client.beta.messages.tool_runner(tools=guarded(tools, run), ...)` gives.
        run: decides.
        count_model: whether to count requests; False where somebody else does.
    """
    requests = _Requests(run, count_model=count_model)
    with _turns() as turn_of:
        while requests.opens():
            with requests.failing():
                item = next(runner, None)
            if item is None:
                requests.none()
                return
            turn_of(item)
            if _is_stream(item):
                with requests.arriving():
                    yield item
                    message = item.get_final_message()
                requests.answered(message)
            else:
                message = item
                requests.answered(message)
                yield item
            if message.stop_reason == "tool_use":
                runner.generate_tool_call_response()
        runner.close()


async def afollow(runner: Any, run: BreakerRun, *, count_model: bool = True) -> AsyncIterator[Any]:
    """The same for the runner of the async client."""
    requests = _Requests(run, count_model=count_model)
    with _turns() as turn_of:
        while requests.opens():
            with requests.failing():
                item = await anext(runner, None)
            if item is None:
                requests.none()
                return
            turn_of(item)
            if _is_stream(item):
                with requests.arriving():
                    yield item
                    message = await item.get_final_message()
                requests.answered(message)
            else:
                message = item
                requests.answered(message)
                yield item
            if message.stop_reason == "tool_use":
                await runner.generate_tool_call_response()
        await runner.close()


class _Requests:
    """Brackets the runner's requests.

    Args:
        run: whose requests they are.
        count_model: whether to count them.
    """

    def __init__(self, run: BreakerRun, *, count_model: bool) -> None:
        self._run, self._counts = run, count_model
        self._goes_on, self._open = True, False

    def opens(self) -> bool:
        """Whether the runner may go on. It is asked for its end too, which costs no request."""
        if self._run.mode == "stopped":
            return False
        if not (self._counts and self._goes_on):
            return True
        self._open = self._run.before_model().allowed
        return self._open

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Take back what was reserved for a request that fails."""
        try:
            yield
        except BaseException:
            self.none()
            raise

    @contextmanager
    def arriving(self) -> Iterator[None]:
        """Pay for a stream that breaks off, or that nobody reads to its end: what it has used is
        unknown.
        """
        try:
            yield
        except BaseException:
            if self._open:
                self._run.after_model(Usage())
            self._open = False
            raise

    def none(self) -> None:
        """The runner has made no request after all."""
        if self._open:
            self._run.model_failed()
        self._open = False

    def answered(self, message: Any) -> None:
        """Pay for a request."""
        self._goes_on = message.stop_reason in _GOES_ON
        if self._open:
            after_message(self._run, message)
        self._open = False


@contextmanager
def _turns() -> Iterator[Callable[[Any], None]]:
    """Sets the message whose tools are run next. It stays set while the application reads it: the
    tools of a stream may be run meanwhile.
    """
    before = TURN.get()
    try:
        yield _set
    finally:
        # Whoever leaves the loop half-way may close it in another context: no token is good there.
        TURN.set(before)


def _set(item: Any) -> None:
    TURN.set(Turn(lambda: _content(item)))


def _is_stream(item: Any) -> bool:
    return hasattr(item, "get_final_message")


def _content(item: Any) -> Iterable[Any]:
    """The blocks of a message; of a stream, those that have arrived."""
    message = item.current_message_snapshot if _is_stream(item) else item
    content: Iterable[Any] = message.content
    return content
