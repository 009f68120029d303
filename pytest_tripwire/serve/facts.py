"""What an application knows without its agent: how late it is in the world, and at which version a
record is now. A breaker in another process counts a deadline, and compares versions, by that.
"""

from __future__ import annotations

import math
from urllib.parse import parse_qs, urlsplit

import msgspec

from pytest_tripwire.harness import Task
from pytest_tripwire.models.http.handler import Handler
from pytest_tripwire.models.http.messages import HttpReply, HttpRequest
from pytest_tripwire.models.http.transport import LOOPBACK, LoopbackServer
from pytest_tripwire.models.request_error import RequestError

PATH = "/world"
_VERSION_OF, _WAIT = "version_of", "wait"


class Facts:
    """Answers `GET /world`, `GET /world?version_of=A-1001` and `POST /world?wait=30` on 127.0.0.1.
    No tool is called by it, and the agent's model is shown nothing of it.
    """

    max_body = 1024

    def __init__(self) -> None:
        self._task: Task | None = None
        self._http: LoopbackServer | None = None

    def tell_of(self, task: Task) -> None:
        """Tell of this call's world from now on."""
        self._task = task
        if self._http is None:
            self._http = LoopbackServer(self, Handler)
            self._http.run_in_thread()

    @property
    def url(self) -> str | None:
        """Where it is, once there is something to tell."""
        return f"http://{LOOPBACK}:{self._http.server_port}{PATH}" if self._http else None

    def close(self) -> None:
        """Tell no more."""
        if self._http is not None:
            self._http.close()

    # -- for the server

    def respond(self, request: HttpRequest) -> HttpReply:
        """`{"now": 90.0}`, in seconds, and the version of what was asked for; null if there is none
        of that name. Raises RequestError for anything else.
        """
        task, asked = self._task, parse_qs(urlsplit(request.path).query)
        if request.place != PATH or task is None:
            raise RequestError(404, f"nothing is served at {request.place}: use {PATH}")
        if request.method == "POST":
            task.clock.sleep(_seconds(asked.get(_WAIT, [""])[0]))
        told: dict[str, float | str | None] = {"now": task.clock.now()}
        if _VERSION_OF in asked:
            told["version"] = task.version_of(asked[_VERSION_OF][0])
        return _reply(200, told)

    def refuse(self, request: HttpRequest, error: RequestError) -> HttpReply:  # noqa: ARG002
        """The same for a request that was turned down."""
        return _reply(error.status, {"error": error.message})

    def crashed(self, error: BaseException) -> None:
        """Leave it to the caller's connection to tell."""


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if math.isfinite(seconds) and seconds >= 0:
        return seconds
    raise RequestError(400, f"{_WAIT}={text}: say how many seconds are to pass, 0 or more")


def _reply(status: int, told: object) -> HttpReply:
    return HttpReply(status=status, body=msgspec.json.encode(told))
