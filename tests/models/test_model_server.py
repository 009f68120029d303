"""The model server against bad clients, and its own life."""

from __future__ import annotations

import http.client
import json
import selectors
import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_tripwire.models.faults import CutStream, ModelFault
from pytest_tripwire.models.http.handler import Handler
from pytest_tripwire.models.http.transport import LoopbackServer

Body = Callable[..., dict[str, Any]]
Run = Callable[..., Any]

CHAT = "/v1/chat/completions"


def error_of(reply: tuple[int, Any]) -> tuple[int, str]:
    status, body = reply
    assert set(body) == {"error"}
    assert set(body["error"]) == {"message", "type", "param", "code"}
    return status, body["error"]["message"]


def raw(port: int, request: bytes) -> tuple[int, Any]:
    """Send bytes as they are; the response's status and body."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, json.loads(response.read())


def test_models_are_listed(run: Run) -> None:
    running = run()

    status, body = running.send("GET", "/v1/models?limit=5")

    assert (status, body["object"]) == (200, "list")
    assert body["data"][0]["id"] == "tripwire-scripted"
    assert running.send("HEAD", "/v1/models") == (200, None)


def test_an_unknown_path_says_which_ones_there_are(run: Run) -> None:
    status, message = error_of(run().send("POST", "/chat/completions", b"{}"))

    assert status == 404
    assert CHAT in message


@pytest.mark.parametrize(("method", "path"), [("GET", CHAT), ("POST", "/v1/models")])
def test_the_wrong_method_says_what_is_served(run: Run, method: str, path: str) -> None:
    assert error_of(run().send(method, path, b"{}"))[0] == 405


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"PUT /v1/models HTTP/1.1", 405),
        (b"GET /v1/models HTTP/9.9", 400),
        (b"nonsense", 400),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1", 414),
    ],
    ids=["method", "version", "nonsense", "long"],
)
def test_what_is_no_request_is_told_so(run: Run, request_line: bytes, status: int) -> None:
    running = run()
    request = request_line + b"\r\nHost: localhost\r\n\r\n"

    assert error_of(raw(running.port, request))[0] == status


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost:1", ""])
def test_a_foreign_host_is_refused(run: Run, ask: Body, host: str) -> None:
    running = run()
    body = json.dumps(ask()).encode()

    status, message = error_of(running.send("POST", CHAT, body, {"Host": host}))

    assert status == 403
    assert f"127.0.0.1:{running.port}" in message
    assert running.observed == []


def test_two_hosts_are_refused(run: Run) -> None:
    request = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"

    assert raw(run().port, request)[0] == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:{port}", "127.0.0.1:{port}"])
def test_own_hosts_are_served(run: Run, host: str) -> None:
    running = run()
    name = host.format(port=running.port)

    assert running.send("GET", "/v1/models", None, {"Host": name})[0] == 200


def test_a_body_at_the_limit_is_read_and_one_beyond_it_is_not(run: Run, ask: Body) -> None:
    body = json.dumps(ask()).encode()
    running = run(max_body=len(body))

    assert running.post(body)[0] == 200
    status, message = error_of(running.post(body + b" "))
    assert status == 413
    assert str(len(body)) in message


def test_a_client_that_sends_far_too_much_still_gets_the_answer(run: Run) -> None:
    assert error_of(run(max_body=1000).post(b" " * 20_000_000))[0] == 413


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b"", 411),
        (b"Transfer-Encoding: chunked\r\n", 411),
        (b"Content-Length: -1\r\n", 400),
        (b"Content-Length: +2\r\n", 400),
        (b"Content-Length: two\r\n", 400),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n", 400),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n", 413),
    ],
    ids=["none", "chunked", "negative", "plus", "word", "two", "digits"],
)
def test_a_body_needs_one_honest_length(run: Run, header: bytes, status: int) -> None:
    request = b"POST " + CHAT.encode() + b" HTTP/1.1\r\nHost: localhost\r\n" + header + b"\r\n{}"

    assert error_of(raw(run().port, request))[0] == status


def test_a_body_that_ends_too_early_is_told_so(run: Run) -> None:
    running = run()
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as connection:
        head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n"
        connection.sendall(head.encode() + b'{"messages"')
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 400")
    assert b"11 of 50 bytes" in answer


@pytest.mark.parametrize("faults", [(), (CutStream(),)])
def test_a_client_that_knows_no_chunks_gets_a_stream_by_its_length(
    run: Run, ask: Body, faults: tuple[ModelFault, ...]
) -> None:
    running = run(faults=faults)
    body = json.dumps(ask(stream=True)).encode()
    head = f"POST {CHAT} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as connection:
        connection.sendall(head.encode() + body)
        with closing(http.client.HTTPResponse(connection)) as response:
            response.begin()

            assert response.getheader("Transfer-Encoding") is None
            assert response.getheader("Content-Type", "").startswith("text/event-stream")
            if faults:
                with pytest.raises(http.client.IncompleteRead):
                    response.read()
            else:
                assert response.read().endswith(b"data: [DONE]\n\n")


def test_a_client_may_wait_for_a_go_ahead(run: Run) -> None:
    running = run()
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as connection:
        head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
        connection.sendall(head.encode() + b"Expect: 100-continue\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 100")
        connection.sendall(b"{}")
        assert b"`messages`" in connection.makefile("rb").read()


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (b"", None),
        (b"{", None),
        (b"\xff", None),
        (b"[]", None),
        (b'"\\ud800"', None),
        (b"[" * 100_000, None),
        (b"{}", "messages"),
        (b'{"messages": []}', "messages"),
        (b'{"messages": "hi"}', "messages"),
        (b'{"messages": [{"role": "king", "content": "hi"}]}', "messages[...].role"),
        (b'{"messages": [{"role": "user", "content": 3}]}', "messages[...].content"),
        (b'{"messages": [{"role": "user"}], "tools": {}}', "tools"),
        (b'{"messages": [{"role": "user"}], "model": 4}', "model"),
        (b'{"messages": [{"role": "user"}], "stream": 1}', "stream"),
        (b'{"messages": [{"role": "user"}], "stream_options": {"a": 1}}', "stream_options"),
        (b'{"messages": [{"role": "user"}], "tool_choice": "any"}', "tool_choice"),
        (b'{"messages": [{"role": "user"}], "functions": [{"name": "f"}]}', "functions"),
    ],
)
def test_a_bad_body_is_refused_in_the_providers_shape(
    run: Run, body: bytes, param: str | None
) -> None:
    running = run()

    status, answer = running.post(body)

    assert error_of((status, answer))[0] == 400
    found = answer["error"]["param"]
    assert found == param or (param and found == param.replace("...", "0"))
    assert "Traceback" not in answer["error"]["message"]
    assert (running.observed, running.server.error) == ([], None)


def test_an_error_tells_sdks_not_to_retry(run: Run) -> None:
    running = run()
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    connection.request("POST", CHAT, b"{}")
    response = connection.getresponse()

    assert response.getheader("x-should-retry") == "false"
    assert response.getheader("Connection") == "close"
    connection.close()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


def sometimes(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(strategy, strategy, JSON)


IDS = st.from_regex(r"call_[0-9a-f]{16}_[0-9]{1,6}_[0-9]", fullmatch=True) | st.text(max_size=8)
ROLES = st.sampled_from(["system", "developer", "user", "assistant", "tool", "function"])
MESSAGES = st.fixed_dictionaries(
    {"role": sometimes(ROLES)},
    optional={
        "content": sometimes(st.text(max_size=8) | st.just('{"refused": true}')),
        "tool_call_id": sometimes(IDS),
        "tool_calls": sometimes(st.lists(st.fixed_dictionaries({"id": IDS}), max_size=2)),
    },
)
FUNCTIONS = st.fixed_dictionaries({"name": sometimes(st.just("search_orders"))})
REQUESTS = st.fixed_dictionaries(
    {"messages": sometimes(st.lists(sometimes(MESSAGES), max_size=4))},
    optional={
        "model": sometimes(st.just("any")),
        "tools": sometimes(st.lists(st.fixed_dictionaries({"function": FUNCTIONS}), max_size=2)),
        "tool_choice": sometimes(st.sampled_from(["none", "auto", "required"])),
        "stream": sometimes(st.just(value=False)),
        "response_format": sometimes(
            st.fixed_dictionaries(
                {
                    "type": st.sampled_from(["json_schema", "json_object", "text"]),
                    "json_schema": sometimes(st.fixed_dictionaries({"schema": JSON})),
                }
            )
        ),
    },
)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(body=sometimes(REQUESTS) | JSON)
def test_no_json_breaks_the_server(shared: Any, body: Any) -> None:
    status, answer = shared.post(json.dumps(body).encode())

    assert status in (200, 400), answer
    assert ("choices" in answer) == (status == 200)
    assert shared.server.error is None


@pytest.fixture
def shared(run: Run) -> Any:
    return run(max_requests=10**9)


def test_an_unknown_provider_is_told_which_are_served(run: Run) -> None:
    with pytest.raises(ValueError, match=r"'mistral'.*openai"):
        run().server.base_url("mistral")


def test_a_server_has_no_url_before_its_start_and_starts_once(run: Run) -> None:
    running = run()
    fresh = type(running.server)(script=len, binder=None, observe=len)  # type: ignore[arg-type]

    with pytest.raises(RuntimeError, match="start"):
        fresh.base_url("openai")
    with pytest.raises(RuntimeError, match="new ModelServer"):
        running.server.start()
    fresh.stop()


def test_stop_waits_for_no_client_and_leaves_no_thread(run: Run) -> None:
    running = run()
    before = set(threading.enumerate())
    with socket.create_connection(("127.0.0.1", running.port), timeout=20) as held:
        held.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n")
        assert running.send("GET", "/v1/models")[0] == 200
        # The worker of the held connection and perhaps that of the request just answered.
        workers = set(threading.enumerate()) - before

        begin = time.monotonic()
        running.server.stop()
        running.server.stop()
        assert time.monotonic() - begin < 5

        for worker in workers:
            worker.join(5)
        assert not any(worker.is_alive() for worker in workers)
        assert held.recv(10) == b""
    with pytest.raises(ConnectionRefusedError):
        running.send("GET", "/v1/models")


def test_a_response_leaves_in_one_piece(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[bytes] = []

    def sendall(connection: socket.socket, data: bytes, *flags: int) -> None:
        if data.startswith(b"HTTP/1.1 ") or pieces:
            pieces.append(bytes(data))
        send(connection, data, *flags)

    send = socket.socket.sendall
    port = run().port
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        monkeypatch.setattr(socket.socket, "sendall", sendall)
        send(connection, b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")
        response = http.client.HTTPResponse(connection)
        response.begin()
        body = response.read()

    assert json.loads(body)
    assert len(pieces) == 1
    assert pieces[0].endswith(body)


def test_an_idle_server_looks_for_nothing_until_it_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[float | None] = []

    def select(ready: selectors.DefaultSelector, timeout: float | None = None) -> Any:
        looks.append(timeout)
        return wait(ready, timeout)

    wait = selectors.DefaultSelector.select
    monkeypatch.setattr(selectors.DefaultSelector, "select", select)
    server = LoopbackServer(Defective(), Handler)
    server.run_in_thread()
    socket.create_connection(("127.0.0.1", server.server_port), timeout=20).close()
    end = time.monotonic() + 20
    while len(looks) < 2 and time.monotonic() < end:
        time.sleep(0.001)
    server.close()
    server.close()

    assert looks == [None, None]
    assert not any(each.name.endswith(f"-{server.server_port}") for each in threading.enumerate())


def test_a_server_listens_on_loopback_only() -> None:
    server = LoopbackServer(None, Handler)  # type: ignore[arg-type]
    server.server_close()

    assert server.server_address[0] == "127.0.0.1"


def test_a_with_block_starts_and_stops(run: Run) -> None:
    fresh = type(run().server)(script=len, binder=None, observe=len)  # type: ignore[arg-type]

    with fresh as server:
        address = ("127.0.0.1", urlsplit(server.base_url("openai")).port)
        socket.create_connection(address, timeout=20).close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=20)


def test_a_body_that_stops_coming_is_told_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "timeout", 0.05)
    head = b"POST " + CHAT.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n"

    assert error_of(raw(run().port, head + b"{"))[0] == 408


class Defective:
    """An app with an error that it does not catch itself."""

    max_body = 10

    def __init__(self) -> None:
        self.crash: BaseException | None = None

    def respond(self, request: Any) -> Any:
        raise KeyError(request)

    def refuse(self, request: Any, error: Exception) -> Any:
        raise KeyError(request, error)

    def crashed(self, error: BaseException) -> None:
        self.crash = error


def test_an_error_that_no_response_tells_is_handed_on() -> None:
    app = Defective()
    server = LoopbackServer(app, Handler)
    server.run_in_thread()
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=20) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(10) == b""
    server.close()

    assert isinstance(app.crash, KeyError)


def test_what_requests_were_turned_down_for_is_kept_once(run: Run) -> None:
    running = run()
    for path in ("/v1/nothing", "/v1/other", "/v1/nothing"):
        assert running.send("POST", path, b"{}")[0] == 404

    other, nothing = running.server.refusals
    assert other.startswith("404, nothing is served at /v1/other: ")
    assert nothing.startswith("404, nothing is served at /v1/nothing: ")


def test_of_what_requests_were_turned_down_for_the_latest_is_kept_in_bounds(run: Run) -> None:
    running = run()
    for number in range(105):
        running.send("POST", f"/v1/{number}", b"{}")
    told = running.post({"messages": [{"role": "x" * 5000, "content": ""}]})

    assert told[0] == 400
    assert len(running.server.refusals) == 100
    assert "/v1/104: " in running.server.refusals[-2]
    assert 1000 <= len(running.server.refusals[-1]) < 1100


def test_long_results_are_not_kept_though_requests_are_told_apart(run: Run, ask: Body) -> None:
    running = run()
    for text in ("a" * 100_000, "a" * 100_000, "b" * 100_000):
        result = {"role": "tool", "tool_call_id": "call_0123456789abcdef_0_0", "content": text}
        assert running.post(ask(result))[0] == 200

    first, second, third = (each.conversation for each in running.server.noted)
    assert first == second != third
    assert len(first.results) == len(first.all_results) == 1
    assert len(repr(running.server.noted)) < 10_000
