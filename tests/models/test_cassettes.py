"""Model traffic is recorded once and played ever after, or refused; nothing in between."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.models.cassettes import (
    Cassette,
    CassetteDivergence,
    CassetteError,
    RecordMode,
    default_mode,
    read_mode,
)
from pytest_tripwire.models.cassettes.interaction import Got, Interaction, Sent

pytest.importorskip("vcr")
from vcr.request import Request

from pytest_tripwire.models.cassettes.files import load, save, sent_of
from pytest_tripwire.models.cassettes.recorder import Recorder, is_scripted
from pytest_tripwire.models.cassettes.secrets import Secrets
from pytest_tripwire.models.cassettes.tape import Tape

KEY = "own-planted-0123456789abcdefXYZ"
NOWHERE = "http://127.0.0.1:9"


def chat(text: str) -> dict[str, Any]:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
    } | {"usage": usage}


def chat_events(pieces: list[str]) -> str:
    choices = [{"index": 0, "delta": {"content": piece}, "finish_reason": None} for piece in pieces]
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    events = [json.dumps({**base, "choices": [choice]}) for choice in choices]
    return "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])


def message(text: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": "end_turn" if text else None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def message_events(pieces: list[str]) -> str:
    start: list[dict[str, Any]] = [
        {"type": "message_start", "message": message("")},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    deltas = [
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": piece},
        }
        for piece in pieces
    ]
    end = [{"type": "content_block_stop", "index": 0}, {"type": "message_stop"}]
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
        for event in [*start, *deltas, *end]
    )


class Handler(BaseHTTPRequestHandler):
    """A provider that repeats the key that it was sent, cut in pieces where it streams."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.hits.append(self.path)  # type: ignore[attr-defined]
        messages = self.path.endswith("/messages")
        if body.get("stream"):
            pieces = ["your key is ", KEY[:9], KEY[9:20], KEY[20:], "!"]
            answer = (message_events if messages else chat_events)(pieces)
        else:
            text = f"answer {len(self.server.hits)}, {KEY}"  # type: ignore[attr-defined]
            answer = json.dumps((message if messages else chat)(text))
        self._send(gzip.compress(answer.encode()), stream=bool(body.get("stream")))

    def _send(self, body: bytes, *, stream: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if stream else "application/json")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Set-Cookie", "sid=cookie-of-mine")
        self.send_header("X-Echo", KEY)
        self.end_headers()
        half = len(body) // 2
        for part in (body[:half], body[half:], b""):
            self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")

    def log_message(self, *args: Any) -> None:
        """Write nothing."""


class Provider:
    """The provider, as long as it is up."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.hits = []  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def hits(self) -> list[str]:
        return self._server.hits  # type: ignore[attr-defined,no-any-return]

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.stop()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "down" / "one.yaml"


def ask(url: str, prompt: str = "hello", *, key: str = KEY, **more: Any) -> str:
    """One request by the standard library."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], "user": key, **more}
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    try:
        connection.request("POST", f"{parts.path}/v1/chat/completions", json.dumps(body), headers)
        data = connection.getresponse().read()
    finally:
        connection.close()
    with suppress(gzip.BadGzipFile):
        data = gzip.decompress(data)
    return str(json.loads(data)["choices"][0]["message"]["content"])


def recorded(path: Path, *prompts: str, url: str, mode: RecordMode = RecordMode.ONCE) -> list[str]:
    cassette = Cassette(path, mode=mode).open()
    try:
        answers = [ask(url, prompt) for prompt in prompts]
    finally:
        cassette.close(whole=sys.exception() is None)
    cassette.check()
    return answers


@pytest.fixture
def playing(path: Path) -> Iterator[Cassette]:
    """The cassette at `path`, played; what was refused is the test's to look at."""
    cassette = Cassette(path, mode=RecordMode.NONE, shown="cassettes/one.yaml").open()
    yield cassette
    cassette.close(whole=True)


# -- what is in a file

headers = st.dictionaries(
    st.text("abcXYZ-", min_size=1, max_size=6),
    st.lists(st.text(max_size=6), min_size=1, max_size=2).map(tuple),
    max_size=3,
)
interactions = st.builds(
    Interaction,
    sent=st.builds(
        Sent,
        method=st.sampled_from(["GET", "POST"]),
        uri=st.just("https://api.example/v1/x?a=b"),
        headers=headers.map(lambda found: {name: values[:1] for name, values in found.items()}),
        body=st.binary(max_size=20) | st.text().map(str.encode),
    ),
    got=st.builds(
        Got,
        status=st.integers(100, 599),
        reason=st.text(max_size=8),
        headers=headers,
        body=st.binary(max_size=20) | st.text().map(str.encode),
    ),
)


@settings(max_examples=40)
@given(held=st.lists(interactions, min_size=1, max_size=3))
def test_a_file_holds_what_was_put_into_it(
    held: list[Interaction], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("held") / "one.yaml"

    save(path, held)

    assert list(load(path, "one.yaml") or ()) == [_told_apart_by_case(each) for each in held]


def _told_apart_by_case(held: Interaction) -> Interaction:
    """A request's headers differ by more than capitals: vcrpy keeps the last of such."""
    last = {name.lower(): (name, values) for name, values in held.sent.headers.items()}
    sent = msgspec.structs.replace(held.sent, headers=dict(last.values()))
    return msgspec.structs.replace(held, sent=sent)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (None, b""),
        ("ä", "ä".encode()),
        (bytearray(b"a"), b"a"),
        ({"model": "m"}, b'{"model": "m"}'),
        ([("file", open)], b'[["file", "builtin_function_or_method"]]'),
        ({"file": b"a\xff"}, b'{"file": "a\\\\xff"}'),
    ],
    ids=["none", "text", "bytes", "what aiohttp makes JSON of", "what it makes a form of", "files"],
)
def test_a_body_is_bytes_whatever_a_client_hands_over(body: Any, expected: bytes) -> None:
    request = Request("POST", "https://api.example/v1/x", body, {})

    assert sent_of(request).body == expected


class FormData:
    """As aiohttp has it: empty once it is sent."""

    def __init__(self, page: str) -> None:
        self._fields: list[Any] = [({"name": "page"}, {}, page)]

    def send(self) -> None:
        self._fields.clear()


def test_two_forms_of_aiohttp_are_told_apart() -> None:
    forms = [FormData(page) for page in ("one", "one", "two")]

    first, again, other = (sent_of(Request("POST", NOWHERE, form, {})).body for form in forms)

    assert first == again != other


def test_a_form_is_recorded_as_it_was_before_it_was_sent() -> None:
    form = FormData("one")
    request = Request("POST", NOWHERE, form, {})
    response = {"status": {"code": 200}, "headers": {}, "body": {"string": b""}}
    tape = Tape(shown="one.yaml", may_record=True, secrets=Secrets())
    recorder = Recorder("one.yaml", tape)

    recorder.can_play_response_for(request)
    form.send()
    recorder.append(request, response)

    assert tape.contents()[0].sent.body == sent_of(Request("POST", "", FormData("one"), {})).body


# -- every way to ask


def openai_sync(url: str, *, stream: bool) -> str:
    openai = pytest.importorskip("openai")
    messages = [{"role": "user", "content": "hello"}]
    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        answer = client.chat.completions.create(model="m", messages=messages, stream=stream)
        if not stream:
            return str(answer.choices[0].message.content)
        return "".join(chunk.choices[0].delta.content for chunk in answer)


async def openai_async(url: str, *, stream: bool) -> str:
    openai = pytest.importorskip("openai")
    messages = [{"role": "user", "content": "hello"}]
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY) as client:
        answer = await client.chat.completions.create(model="m", messages=messages, stream=stream)
        if not stream:
            return str(answer.choices[0].message.content)
        return "".join([chunk.choices[0].delta.content async for chunk in answer])


def anthropic_sync(url: str, *, stream: bool) -> str:
    anthropic = pytest.importorskip("anthropic")
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
    with anthropic.Anthropic(base_url=url, api_key=KEY) as client:
        if not stream:
            return str(client.messages.create(**body).content[0].text)
        with client.messages.stream(**body) as events:
            return "".join(events.text_stream)


async def anthropic_async(url: str, *, stream: bool) -> str:
    anthropic = pytest.importorskip("anthropic")
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
    async with anthropic.AsyncAnthropic(base_url=url, api_key=KEY) as client:
        if not stream:
            return str((await client.messages.create(**body)).content[0].text)
        async with client.messages.stream(**body) as events:
            return "".join([text async for text in events.text_stream])


CLIENTS = [openai_sync, openai_async, anthropic_sync, anthropic_async]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.__name__)
def test_a_client_gets_from_the_cassette_what_it_got_from_the_provider(
    client: Callable[..., Any], *, stream: bool, provider: Provider, path: Path
) -> None:
    def once(url: str, mode: RecordMode) -> str:
        cassette = Cassette(path, mode=mode).open()
        answer = client(url, stream=stream)
        text = asyncio.run(answer) if asyncio.iscoroutine(answer) else answer
        cassette.close(whole=True)
        cassette.check(strict=True)
        return str(text)

    live = once(provider.url, RecordMode.ONCE)
    played = once(NOWHERE, RecordMode.NONE)

    assert KEY in live
    assert played == live.replace(KEY, "[filtered]")
    assert len(provider.hits) == 1
    held = path.read_text(encoding="utf-8")
    assert "planted" not in held
    assert "cookie-of-mine" not in held


def test_a_recording_of_the_model_server_is_played_when_that_is_down(
    run: Callable[..., Any], ask: Callable[..., dict[str, Any]], path: Path
) -> None:
    running = run()
    recording = Cassette(path).open()
    first = running.post(ask())
    call = first[1]["choices"][0]["message"]
    told = {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": "none"}
    live = [first, running.post(ask(call, told))]
    recording.close(whole=True)
    running.server.stop()

    cassette = Cassette(path, mode=RecordMode.NONE).open()
    played = [running.post(ask()), running.post(ask(call, told, user="somebody else"))]
    cassette.close(whole=True)

    cassette.check(strict=True)
    assert played == live
    assert [status for status, _ in played] == [200, 200]


# -- what is refused


def test_a_changed_prompt_is_refused_by_its_first_different_field(
    provider: Provider, path: Path, request: pytest.FixtureRequest
) -> None:
    recorded(path, "Refund A-1", "Thank you", url=provider.url)
    cassette = request.getfixturevalue("playing")
    ask(NOWHERE, "Refund A-1")

    with pytest.raises(CassetteDivergence) as refused:
        ask(NOWHERE, "Thanks a lot")

    assert str(refused.value) == (
        "cassettes/one.yaml: request 2 of the agent is not what was recorded: "
        "`messages[0].content` differs from recorded request 2 (text of 12 characters here, text "
        "of 9 characters in the recording; they part at character 6). It got no answer, nor does "
        "any request after it. If the change is meant, record anew with "
        "--tripwire-record-mode=all."
    )
    assert (refused.value.number, refused.value.field) == (2, "messages[0].content")
    assert cassette.problem is refused.value


def test_after_a_refusal_nothing_is_answered_any_more(
    provider: Provider, path: Path, playing_after: Callable[..., Cassette]
) -> None:
    recorded(path, "one", "two", url=provider.url)
    cassette = playing_after()

    for prompt in ("other", "one", "two"):
        with pytest.raises(CassetteDivergence, match="request 1 of the agent is not"):
            ask(NOWHERE, prompt)

    assert cassette.requests == 3
    with pytest.raises(CassetteDivergence):
        cassette.check()


@pytest.fixture
def playing_after(request: pytest.FixtureRequest) -> Callable[..., Cassette]:
    """Opens the cassette once there is one."""
    return lambda: request.getfixturevalue("playing")


def test_one_request_more_than_recorded_is_refused(
    provider: Provider, path: Path, playing_after: Callable[..., Cassette]
) -> None:
    recorded(path, "same", "same", url=provider.url)
    playing_after()
    answers = [ask(NOWHERE, "same"), ask(NOWHERE, "same")]

    with pytest.raises(CassetteDivergence) as refused:
        ask(NOWHERE, "same")

    assert answers == ["answer 1, [filtered]", "answer 2, [filtered]"]
    assert refused.value.field == ""
    assert (
        "request 3 of the agent is one more than was recorded: the cassette holds 2 requests. "
        "It is the same as recorded request 2, which was played."
    ) in str(refused.value)


def test_what_is_recorded_is_told_apart_from_what_is_left(
    provider: Provider, path: Path, playing_after: Callable[..., Cassette]
) -> None:
    recorded(path, "a", "b", "c", url=provider.url)
    cassette = playing_after()
    ask(NOWHERE, "b")
    cassette.check()

    with pytest.raises(CassetteError) as refused:
        cassette.check(strict=True)

    assert cassette.unplayed == (1, 3)
    assert "the agent made 1 requests, and never the recorded 1, 3" in str(refused.value)


def test_a_request_is_held_against_the_recorded_one_that_it_is_most_like(
    provider: Provider, path: Path, playing_after: Callable[..., Cassette]
) -> None:
    cassette = Cassette(path).open()
    ask(provider.url, "alpha", top_p=1, seed=2)
    ask(provider.url, "beta")
    cassette.close(whole=True)
    playing_after()

    with pytest.raises(CassetteDivergence, match="differs from recorded request 2") as refused:
        ask(NOWHERE, "beta!")

    assert refused.value.field == "messages[0].content"


def test_the_key_of_one_request_is_hidden_in_all(provider: Provider, path: Path) -> None:
    cassette = Cassette(path).open()
    ask(provider.url, "my other key is 0123-of-mine-4567")
    ask(provider.url, "hello", key="0123-of-mine-4567")
    cassette.close(whole=True)

    assert "of-mine" not in path.read_text(encoding="utf-8")


def test_requests_in_another_order_are_played(
    provider: Provider, path: Path, playing_after: Callable[..., Cassette]
) -> None:
    recorded(path, "a", "b", url=provider.url)
    cassette = playing_after()

    assert [ask(NOWHERE, "b")[:8], ask(NOWHERE, "a")[:8]] == ["answer 2", "answer 1"]
    cassette.check(strict=True)


def test_clients_that_ask_the_same_at_once_get_an_answer_each(
    provider: Provider, path: Path
) -> None:
    # By the SDK: vcrpy lets the standard library's clients go for moments in which they reconnect.
    def all_at_once(url: str, mode: RecordMode) -> list[str]:
        cassette = Cassette(path, mode=mode).open()
        answers: list[str] = []
        threads = [
            threading.Thread(target=lambda: answers.append(openai_sync(url, stream=False)))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        cassette.close(whole=True)
        cassette.check(strict=True)
        return sorted(answers)

    pytest.importorskip("openai")
    live = all_at_once(provider.url, RecordMode.ONCE)

    assert len(live) == len(provider.hits)
    played = all_at_once(NOWHERE, RecordMode.NONE)
    assert played == [answer.replace(KEY, "[filtered]") for answer in live]


def test_a_refusal_tells_nothing_of_what_was_sent(
    provider: Provider, path: Path, playing_after: Callable[..., Cassette]
) -> None:
    recorded(path, "the weather in Ulm", url=provider.url)
    playing_after()

    with pytest.raises(CassetteDivergence) as refused:
        ask(NOWHERE, "a confidential plan", **{"x" * 50: 1, "sk-abc": 2})

    assert not {"Ulm", "weather", "confidential", "xxx", KEY} & set(str(refused.value).split())
    assert "confidential" not in str(refused.value)
    assert "Ulm" not in str(refused.value)


def test_a_stand_in_for_the_key_may_be_a_word_of_the_prompt(
    provider: Provider, path: Path, playing_after: Callable[..., Cassette]
) -> None:
    recorded(path, "put a placeholder here", url=provider.url)
    cassette = playing_after()

    ask(NOWHERE, "put a placeholder here", key="placeholder")

    cassette.check(strict=True)


def test_a_prompt_that_holds_the_key_is_known_again_under_another_key(
    provider: Provider, path: Path, playing_after: Callable[..., Cassette]
) -> None:
    recorded(path, f"my key is {KEY}", url=provider.url)
    cassette = playing_after()

    ask(NOWHERE, "my key is another-key-of-mine", key="another-key-of-mine")

    cassette.check(strict=True)


# -- record modes


def test_a_second_run_records_nothing_and_asks_nobody(provider: Provider, path: Path) -> None:
    first = recorded(path, "hello", url=provider.url)
    before = path.read_bytes()
    second = recorded(path, "hello", url=provider.url)

    assert [first, second] == [[f"answer 1, {KEY}"], ["answer 1, [filtered]"]]
    assert provider.hits == ["/v1/chat/completions"]
    assert path.read_bytes() == before


def test_what_is_recorded_once_is_not_added_to(provider: Provider, path: Path) -> None:
    recorded(path, "hello", url=provider.url)

    with pytest.raises(CassetteDivergence):
        recorded(path, "hello", "and more", url=provider.url)

    assert len(provider.hits) == 1


def test_without_a_cassette_nothing_is_answered_where_nothing_may_be_recorded(
    provider: Provider, path: Path, playing: Cassette
) -> None:
    with pytest.raises(CassetteError, match="has no answer: there is no such cassette") as refused:
        ask(provider.url)

    assert not isinstance(refused.value, CassetteDivergence)
    assert "--tripwire-record-mode=once" in str(refused.value)
    assert provider.hits == []
    playing.close(whole=True)
    assert not path.exists()


def test_new_episodes_plays_what_it_has_and_adds_the_rest(provider: Provider, path: Path) -> None:
    recorded(path, "a", url=provider.url)
    mixed = recorded(path, "a", "b", url=provider.url, mode=RecordMode.NEW_EPISODES)
    played = recorded(path, "a", "b", url=NOWHERE, mode=RecordMode.NONE)

    assert mixed == ["answer 1, [filtered]", f"answer 2, {KEY}"]
    assert played == ["answer 1, [filtered]", "answer 2, [filtered]"]


def test_all_replaces_the_cassette(provider: Provider, path: Path) -> None:
    recorded(path, "a", "b", url=provider.url)
    recorded(path, "a", url=provider.url, mode=RecordMode.ALL)

    assert recorded(path, "a", url=NOWHERE, mode=RecordMode.NONE) == ["answer 3, [filtered]"]
    with pytest.raises(CassetteDivergence):
        recorded(path, "b", url=NOWHERE, mode=RecordMode.NONE)


@pytest.mark.parametrize("mode", list(RecordMode))
def test_what_is_cut_short_is_not_kept(mode: RecordMode, provider: Provider, path: Path) -> None:
    recorded(path, "before", url=provider.url)
    before = path.read_bytes()
    cassette = Cassette(path, mode=mode).open()
    if mode in (RecordMode.ALL, RecordMode.NEW_EPISODES):
        ask(provider.url, "new")
    cassette.close(whole=False)
    cassette.close(whole=True) if mode is RecordMode.NONE else None

    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_first_recording_that_is_cut_short_leaves_no_file(provider: Provider, path: Path) -> None:
    cassette = Cassette(path).open()
    ask(provider.url)
    cassette.close(whole=False)

    assert not path.exists()


def test_what_another_recorded_meanwhile_is_not_replaced(provider: Provider, path: Path) -> None:
    cassette = Cassette(path, shown="one.yaml").open()
    ask(provider.url)
    path.parent.mkdir(parents=True)
    path.write_text("another's", "utf-8")

    with pytest.raises(CassetteError, match=r"one\.yaml was written while .* a file each"):
        cassette.close(whole=True)

    assert path.read_text("utf-8") == "another's"


def test_a_folder_that_cannot_be_written_to_is_told(provider: Provider, tmp_path: Path) -> None:
    folder = tmp_path / "cassettes"
    cassette = Cassette(folder / "one.yaml", shown="cassettes/one.yaml").open()
    ask(provider.url)
    folder.write_text("a file in its place", "utf-8")

    with pytest.raises(CassetteError, match=r"^cassettes/one\.yaml cannot be written \(.+\), and"):
        cassette.close(whole=True)

    cassette.close(whole=True)


def test_no_request_leaves_no_file(path: Path) -> None:
    Cassette(path).open().close(whole=True)

    assert not path.exists()


def test_a_response_that_cannot_be_filtered_is_an_error_and_not_kept(
    path: Path, monkeypatch: pytest.MonkeyPatch, provider: Provider
) -> None:
    compress = gzip.compress
    monkeypatch.setattr(gzip, "compress", lambda body: b"\x8b\xff" + body)
    cassette = Cassette(path).open()
    with monkeypatch.context() as readable:
        readable.setattr(gzip, "compress", compress)
        ask(provider.url)

    with pytest.raises(CassetteError, match="compressed with 'gzip'"):
        ask(provider.url)
    cassette.close(whole=True)

    assert not path.exists()
    with pytest.raises(CassetteError, match=r"one\.yaml: a response is compressed"):
        cassette.check()


BROKEN = {
    "no yaml": "a: [",
    "empty": "",
    "another file": "services:\n  db: {image: postgres}\n",
    "a list": "- 1\n- 2\n",
    "an odd interaction": "version: 1\ninteractions: [{request: 1}]\n",
    "an object of python's": "!!python/object/apply:os.getcwd []\n",
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("mode", [RecordMode.NONE, RecordMode.ONCE, RecordMode.NEW_EPISODES])
def test_a_file_that_is_no_cassette_is_an_error_and_left_alone(
    what: str, mode: RecordMode, path: Path
) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(BROKEN[what], encoding="utf-8")

    with pytest.raises(CassetteError, match=r"x\.yaml is no cassette, or a broken one \(\w+\)"):
        Cassette(path, mode=mode, shown="x.yaml").open()

    assert path.read_text(encoding="utf-8") == BROKEN[what]


def test_a_file_is_never_run(path: Path) -> None:
    path.parent.mkdir(parents=True)
    made = path.parent / "made"
    path.write_text(f"!!python/object/apply:os.mkdir ['{made}']\n", encoding="utf-8")

    with pytest.raises(CassetteError, match="is no cassette"):
        Cassette(path).open()

    assert not made.exists()


def test_bytes_that_are_no_text_are_no_cassette(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(CassetteError, match="UnicodeDecodeError"):
        Cassette(path).open()


def test_requests_to_the_scripted_model_pass(provider: Provider, path: Path) -> None:
    cassette = Cassette(path, mode=RecordMode.NONE).open()
    by_key = ask(provider.url, key="tripwire")
    by_name = ask(provider.url, key="another", model="tripwire-scripted")
    cassette.close(whole=True)

    cassette.check(strict=True)
    assert [by_key[:8], by_name[:8], cassette.requests] == ["answer 1", "answer 2", 0]
    assert not path.exists()


def test_what_one_machine_holds_for_a_secret_is_played_unchanged_on_all(
    provider: Provider, path: Path
) -> None:
    recorded(path, "hello", url=provider.url)
    cassette = Cassette(path, mode=RecordMode.NONE, environment={"A_KEY": "answer 1, [fi"}).open()

    answer = ask(NOWHERE, "hello")
    cassette.close(whole=True)

    assert answer == "answer 1, [filtered]"


def test_a_prompt_that_one_machine_holds_for_a_secret_is_known_again(
    provider: Provider, path: Path
) -> None:
    recorded(path, f"go to production with {KEY}", url=provider.url)
    cassette = Cassette(path, mode=RecordMode.NONE, environment={"A_KEY": "production"}).open()

    ask(NOWHERE, f"go to production with {KEY}")
    cassette.close(whole=True)

    cassette.check(strict=True)


def test_the_values_of_secret_variables_are_hidden(provider: Provider, path: Path) -> None:
    environment = {"DB_PASSWORD": "correct horse", "HOME": "battery staple"}
    cassette = Cassette(path, environment=environment).open()
    ask(provider.url, "log in with correct horse or battery staple")
    cassette.close(whole=True)

    held = path.read_text(encoding="utf-8")
    assert "log in with [filtered] or" in " ".join(held.split())
    assert "correct horse" not in " ".join(held.split())


def test_the_scripted_model_is_on_this_machine() -> None:
    headers = {"Authorization": ("Bearer tripwire",)}
    here, there = (
        Sent(method="POST", uri=f"http://{host}/v1/x", headers=headers)
        for host in ("127.0.0.1:8123", "api.example")
    )

    assert is_scripted(here)
    assert not is_scripted(there)


@pytest.mark.parametrize("value", ["1", "true", "yes", "woodpecker"])
def test_a_build_records_nothing(value: str) -> None:
    assert default_mode({"CI": value}) is RecordMode.NONE


@pytest.mark.parametrize("environment", [{}, {"CI": ""}, {"CI": "false"}, {"CI": " No "}])
def test_elsewhere_a_first_run_records(environment: dict[str, str]) -> None:
    assert default_mode(environment) is RecordMode.ONCE


def test_a_mode_that_is_asked_for_wins() -> None:
    assert read_mode("all", {"CI": "1"}) is RecordMode.ALL
    assert read_mode(None, {"CI": "1"}) is RecordMode.NONE
    with pytest.raises(CassetteError, match="record mode 'some': choose from none, once"):
        read_mode("some", {})


def test_without_vcrpy_the_error_names_the_extra(path: Path) -> None:
    script = f"""
import sys
from pytest_tripwire.models.cassettes import Cassette, CassetteError
from pathlib import Path
assert "vcr" not in sys.modules
sys.modules["vcr"] = None
try:
    Cassette(Path({str(path)!r})).open()
except CassetteError as error:
    assert "pytest-agent-tripwire[cassettes]" in str(error), error
else:
    raise AssertionError
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stderr
