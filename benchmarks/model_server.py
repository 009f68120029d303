"""What the loopback model server costs, beside a bare server of the standard library."""

from __future__ import annotations

import asyncio
import http.client
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from benchmarks.line import Line
from benchmarks.plan import Plan
from benchmarks.timing import Prepared, Subject, in_turns
from pytest_tripwire.models import Calls, ModelServer, Move, Propose, Seen

NAME = "model-server"
AT_ONCE = 500
_PATH = "/v1/chat/completions"


def run(plan: Plan) -> Iterator[Line]:
    """Time the start, a request, and many at once."""
    starts = [_start() for _ in range(plan.rounds)]
    yield Line(
        benchmark=NAME, what="start", value=statistics.median(starts) * 1e6, goal=10e3, unit="µs"
    )
    subjects = {"echo": _asking(plan, _echo), "model": _asking(plan, _model)}
    times = in_turns(subjects, rounds=plan.rounds)
    what = "request / standard library's echo"
    yield Line(benchmark=NAME, what=what, value=times.ratio("model", "echo"), goal=3.0)
    with _model() as port:
        wrong = asyncio.run(_wrong_of_many(port))
    yield Line(
        benchmark=NAME, what=f"wrong of {AT_ONCE} at once", value=wrong, goal=0.0, unit="answers"
    )


def _start() -> float:
    began = time.perf_counter()
    with _server():
        return time.perf_counter() - began


def _asking(plan: Plan, serve: Callable[[], AbstractContextManager[int]]) -> Subject:
    requests = plan.calls // 10

    def prepare() -> Prepared:
        def ask_all() -> float:
            with serve() as port:
                began = time.process_time()
                for number in range(requests):
                    _ask(port, number)
                return time.process_time() - began

        return ask_all

    return prepare


def _ask(port: int, number: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("POST", _PATH, json.dumps(_body(number)))
        connection.getresponse().read()


def _body(number: int) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"order": {"type": "string"}}}
    function = {"name": "refund", "parameters": parameters}
    messages = [
        {"role": "system", "content": "You are support."},
        {"role": "user", "content": f"Refund order {number}."},
    ]
    return {"messages": messages, "tools": [{"type": "function", "function": function}]}


# -- the two servers


class _Shop:
    """Has one tool."""

    def tool_name(self, role: str) -> str:
        return role

    def arguments(self, role: str, slots: Any) -> dict[str, Any]:
        return {"role": role, **slots}


def _script(_seen: Seen) -> Move:
    return Calls(proposals=(Propose(role="refund", slots={"order": "A-1"}),))


def _server() -> ModelServer:
    return ModelServer(
        script=_script, binder=_Shop(), observe=lambda _seen: None, max_requests=100_000
    )


@contextmanager
def _model() -> Iterator[int]:
    with _server() as server:
        yield int(server.base_url("openai").rsplit(":", 1)[1].split("/")[0])


class _Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Send the body back."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Write nothing, as the other one."""


@contextmanager
def _echo() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Echo)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


# -- many at once


async def _wrong_of_many(port: int) -> int:
    """How many answers are not those that the same request gets alone."""
    ready = asyncio.Barrier(AT_ONCE)
    told = await asyncio.gather(*(_told(port, number, ready) for number in range(AT_ONCE)))
    alone = [await _told(port, number, asyncio.Barrier(1)) for number in range(AT_ONCE)]
    return sum(one != other for one, other in zip(told, alone, strict=True))


async def _told(port: int, number: int, ready: asyncio.Barrier) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await ready.wait()
    body = json.dumps(_body(number)).encode()
    head = f"POST {_PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = await reader.read()
    writer.close()
    return answer.partition(b"\r\n\r\n")[2]
