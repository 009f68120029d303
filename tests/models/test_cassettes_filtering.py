"""No secret is left in what a cassette keeps of a request or a response."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pytest_tripwire.models.cassettes import CassetteError
from pytest_tripwire.models.cassettes.bodies import filtered_body
from pytest_tripwire.models.cassettes.filtering import filtered_request, filtered_response
from pytest_tripwire.models.cassettes.interaction import Got, Sent
from pytest_tripwire.models.cassettes.names import is_secret, is_surely_secret, secrets_of
from pytest_tripwire.models.cassettes.secrets import FILTERED, Secrets, sent_secrets

KEY = "own-planted-0123456789abcdefXYZ"
ODD = 'p/l"a\\n+t=é d-secret'

#: What nobody could take for a name, a number or a word of JSON.
keys = st.text("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789-_/+=.", min_size=12, max_size=40).filter(
    lambda key: sum(map(str.isalpha, key)) > 3 and key not in FILTERED
)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
names = st.text(max_size=8) | st.sampled_from(["content", "arguments", "input", "metadata", "id"])
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)
secret_names = st.sampled_from([
    "api_key", "apiKey", "API-KEY", "x-api-key", "password", "dbPassword", "client_secret",
    "authorization", "Cookie", "access_token", "session_token", "credentials", "refreshToken",
])  # fmt: skip
likely_names = st.sampled_from(["token", "my_key", "session", "session_id", "csrfToken", "key"])


def planted(draw: st.DrawFn, tree: Any, what: Any) -> Any:
    """The tree with something in it, at any depth, as it is or as JSON in a text."""
    if isinstance(what, str) and draw(st.booleans()):
        what = {what: 1}
    if draw(st.booleans()):
        what = json.dumps(what)
    place = draw(st.sampled_from(["list", "field", "here", "deep"]))
    if place == "list":
        return [tree, what]
    if place == "field":
        return {"a": tree, draw(names): what}
    return (
        {"messages": [{"role": "user", "content": [tree, {"x": what}]}]}
        if place == "deep"
        else [what]
    )


@st.composite
def texts_with_a_key(draw: st.DrawFn) -> tuple[str, Any]:
    key, before, after = draw(keys), draw(st.text(max_size=9)), draw(st.text(max_size=9))
    return key, planted(draw, draw(trees), f"{before}{key}{after}")


@st.composite
def named_secrets(draw: st.DrawFn, of: Any) -> tuple[str, Any]:
    key = draw(keys)
    tree, more = draw(trees), draw(trees)
    # What it is repeated under another name for is not known to be a secret there.
    assume(not any(key in text for text in strings([tree, more])))
    value = draw(st.sampled_from([key, [key], {"inner": key}, {"a": [{"b": key}]}]))
    return key, planted(draw, tree, {"x": more, draw(of): value})


def strings(value: Any) -> list[str]:
    """Every text in a value, and in JSON that stands in a text."""
    if isinstance(value, dict):
        return [*value, *(text for each in value.values() for text in strings(each))]
    if isinstance(value, list):
        return [text for each in value for text in strings(each)]
    if not isinstance(value, str):
        return [str(value)]
    try:
        inner = json.loads(value)
    except ValueError:
        return [value]
    return [value, *(strings(inner) if isinstance(inner, dict | list) else [])]


def held(secret: str, body: bytes) -> bool:
    return secret.encode() in body or any(secret in text for text in strings(json.loads(body)))


@given(case=texts_with_a_key(), answer=st.booleans(), plain=st.booleans())
def test_a_key_is_nowhere_in_json(case: tuple[str, Any], *, answer: bool, plain: bool) -> None:
    key, tree = case
    body = json.dumps(tree, ensure_ascii=plain).encode("utf-8", "surrogatepass")
    assume(held(key, body))

    hidden = filtered_body(body, Secrets([key]), content_type="", answer=answer)

    assert not held(key, hidden)


@given(case=named_secrets(secret_names), answer=st.booleans())
def test_what_a_name_calls_a_secret_is_nowhere_in_json(
    case: tuple[str, Any], *, answer: bool
) -> None:
    key, tree = case

    hidden = filtered_body(
        json.dumps(tree).encode(), Secrets(), content_type="application/json", answer=answer
    )

    assert not held(key, hidden)


@given(named_secrets(likely_names))
def test_what_a_name_may_call_a_secret_is_nowhere_in_a_request(case: tuple[str, Any]) -> None:
    key, tree = case

    hidden = filtered_body(json.dumps(tree).encode(), Secrets(), content_type="", answer=False)

    assert not held(key, hidden)


@given(trees)
def test_json_without_secrets_is_left_byte_for_byte(tree: Any) -> None:
    body = json.dumps([tree], indent=1).encode()
    assume(all(not is_secret(text) for text in strings(tree)))
    assume(Secrets().hide_bytes(body) == body)

    assert filtered_body(body, Secrets(), content_type="", answer=False) == body


@given(keys, st.lists(st.integers(1, 40), max_size=6), st.sampled_from(["content", "text"]))
def test_a_key_in_the_pieces_of_a_stream_is_gone(key: str, cuts: list[int], name: str) -> None:
    text = f"it is {key}, is it not"
    bounds = [0, *sorted({cut for cut in cuts if cut < len(text)}), len(text)]
    pieces = [text[a:b] for a, b in pairwise(bounds)]
    events = [{"choices": [{"index": 0, "delta": {name: piece}}]} for piece in pieces]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"

    hidden = filtered_body(
        body.encode(), Secrets([key]), content_type="text/event-stream", answer=True
    ).decode()

    lines = [line.removeprefix("data: ") for line in hidden.split("\n\n")[:-2]]
    joined = "".join(json.loads(line)["choices"][0]["delta"][name] for line in lines)
    assert joined == f"it is {FILTERED}, is it not"
    assert hidden.endswith("data: [DONE]\n\n")


@given(keys, st.sampled_from(["\n", "\r\n"]))
def test_a_key_in_the_lines_of_json_is_gone(key: str, end: str) -> None:
    lines = [{"response": f"a\u2028b {key[:5]}"}, {"response": key[5:]}, {"api_key": "x"}]
    body = end.join(json.dumps(line, ensure_ascii=False) for line in lines)

    hidden = filtered_body(body.encode(), Secrets([key]), content_type="", answer=True).decode()

    texts = [json.loads(line) for line in hidden.split(end)]
    assert [*texts[0].values(), *texts[1].values()] == [f"a\u2028b {FILTERED}", ""]
    assert texts[2] == {"api_key": FILTERED}


def test_a_password_in_the_pieces_of_a_tool_call_is_gone() -> None:
    pieces = ['{"user": "ann", "pass', 'word": "hun', 'ter2", "page_token": "abcdefgh"}']
    events = [
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": piece}}
        for piece in pieces
    ]
    body = "".join(f"event: x\ndata: {json.dumps(event)}\n\n" for event in events)

    hidden = filtered_body(body.encode(), Secrets(), content_type="", answer=True).decode()

    found = [line[6:] for line in hidden.splitlines() if line.startswith("data: ")]
    joined = "".join(json.loads(line)["delta"]["partial_json"] for line in found)
    assert json.loads(joined) == {"user": "ann", "password": FILTERED, "page_token": "abcdefgh"}


@pytest.mark.parametrize(
    "form",
    [
        ODD,
        json.dumps(ODD),
        json.dumps(json.dumps(ODD)),
        json.dumps(ODD, ensure_ascii=False),
        quote(ODD, safe=""),
        base64.b64encode(ODD.encode()).decode(),
    ],
    ids=["as it is", "json", "json in json", "json in utf-8", "in a url", "base64"],
)
def test_a_key_is_known_in_every_form_in_which_it_is_written(form: str) -> None:
    hidden = Secrets([ODD]).hide(f"<<{form}>>")

    assert FILTERED in hidden
    assert form.strip('"\\') not in hidden


def request(**more: Any) -> Sent:
    return Sent(**{"method": "POST", "uri": "https://api.example/v1/x", **more})


WAYS = {
    "authorization": request(headers={"Authorization": (f"Bearer {KEY}",)}),
    "basic": request(
        headers={"Authorization": ("Basic " + base64.b64encode(f"me:{KEY}".encode()).decode(),)}
    ),
    "x-api-key": request(headers={"X-Api-Key": (KEY,)}),
    "api-key": request(headers={"api-key": (KEY,)}),
    "x-goog-api-key": request(headers={"x-goog-api-key": (KEY,)}),
    "cookie": request(headers={"Cookie": (f"theme=dark; sid={KEY}",)}),
    "a header of one's own": request(headers={"X-Acme-Session-Token": (KEY,)}),
    "query": request(uri=f"https://api.example/v1/x?alt=sse&key={KEY}"),
    "access_token": request(uri=f"https://api.example/v1/x?access_token={quote(KEY)}"),
    "userinfo": request(uri=f"https://me:{KEY}@api.example/v1/x"),
    "a name without a password": request(uri=f"https://{KEY}@api.example/v1/x"),
    "basic without a password": request(
        headers={"Authorization": ("Basic " + base64.b64encode(f"{KEY}:".encode()).decode(),)}
    ),
    "bearer in another header": request(headers={"X-Upstream": (f"bEARER {KEY}",)}),
    "a name that has lost its capitals": request(headers={"x-usertoken": (KEY,)}),
    "authentication": request(headers={"Authentication": (KEY,)}),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_key_that_was_sent_is_nowhere_in_request_and_response(way: str) -> None:
    body = json.dumps({"user": KEY, "metadata": {"k": KEY}, "messages": [f"use {KEY}!"]})
    sent = Sent(
        method="POST",
        uri=WAYS[way].uri.replace("/v1/x", f"/v1/{KEY}/x"),
        headers={**WAYS[way].headers, "X-Note": (f"by {KEY}",)},
        body=body.encode(),
    )
    error = {"error": {"message": f"Incorrect API key provided: {KEY}.", "param": [KEY]}}
    got = Got(
        status=401,
        reason=f"no {KEY}",
        headers={"X-Echo": (KEY, KEY)},
        body=json.dumps(error).encode(),
    )

    secrets = Secrets(sent_secrets(sent))
    kept = repr((filtered_request(sent, secrets), filtered_response(got, secrets)))

    assert KEY not in kept
    assert base64.b64encode(KEY.encode()).decode().rstrip("=") not in kept
    assert base64.b64encode(f"me:{KEY}".encode()).decode() not in kept
    assert "Incorrect API key provided" in kept


@pytest.mark.parametrize(
    "name",
    ["set-cookie", "Set-Cookie", "openai-organization", "openai-project", "x-csrf-token"],
)
def test_a_response_header_that_tells_whose_it_is_is_hidden(name: str) -> None:
    got = Got(status=200, headers={name: ("acme-1", "acme-2")})

    assert filtered_response(got, Secrets()).headers == {name: (FILTERED,)}


def test_headers_that_count_and_name_stay() -> None:
    headers = {
        "x-ratelimit-remaining-tokens": ("12345678",),
        "x-request-id": ("req_1",),
        "content-type": ("application/json",),
        "user-agent": ("OpenAI/Python",),
    }

    assert filtered_response(Got(status=200, headers=headers), Secrets()).headers == headers


def test_who_asks_is_not_in_the_url() -> None:
    sent = request(uri="https://me:pw@api.example:8/v1/x?token=a&key=b&page=2")

    kept = filtered_request(sent, Secrets())

    assert kept.uri == "https://api.example:8/v1/x?token=[filtered]&key=[filtered]&page=2"


def test_what_decoding_drops_is_not_kept_either() -> None:
    body = f'{{"a": "{KEY}", "a": "b"}}'.encode()

    hidden = filtered_body(body, Secrets([KEY]), content_type="", answer=True)

    assert json.loads(hidden) == {"a": "b"}
    assert KEY.encode() not in hidden


def test_a_form_is_filtered_by_name() -> None:
    sent = request(
        headers={"content-type": ("application/x-www-form-urlencoded",)},
        body=b"grant_type=x&client_secret=abc&scope=a+b",
    )

    kept = filtered_request(sent, Secrets())

    assert kept.body == b"grant_type=x&client_secret=[filtered]&scope=a+b"


@pytest.mark.parametrize(
    "sent",
    [
        request(
            headers={"content-type": ("application/x-www-form-urlencoded",)},
            body=f"grant_type=x&client_secret={KEY}".encode(),
        ),
        request(body=json.dumps({"api_key": KEY, "page": 1}).encode()),
    ],
    ids=["form", "json"],
)
def test_a_key_that_was_sent_in_a_body_is_gone_from_the_response(sent: Sent) -> None:
    got = Got(status=401, body=f"{KEY} is no key".encode())

    kept = filtered_response(got, Secrets(sent_secrets(sent)))

    assert kept.body == b"[filtered] is no key"


def test_what_a_tool_takes_is_no_key_that_was_sent() -> None:
    takes = {"properties": {"password": {"description": "what the customer types"}}}
    sent = request(body=json.dumps({"model": "m", "tools": [takes], "password": 12}).encode())

    assert not list(sent_secrets(sent))


PARTS = {"Content-Type": ("multipart/form-data; boundary=xx",)}


def in_parts(*fields: tuple[str, bytes]) -> bytes:
    kept = (
        b'--xx\r\nContent-Disposition: form-data; name="%s"\r\nX-A: b\r\n\r\n%s\r\n'
        % (name.encode(), value)
        for name, value in fields
    )
    return b"".join(kept) + b"--xx--\r\n"


@pytest.mark.parametrize("file", [b"a\r\nb", b"\xff\x00\r\n"], ids=["text", "bytes"])
def test_a_form_in_parts_is_filtered_by_name(file: bytes) -> None:
    body = in_parts(("purpose", b"key"), ("api_key", b"one\r\ntwo"), ("file", file))

    kept = filtered_request(request(headers=PARTS, body=body), Secrets())

    assert kept.body == in_parts(("purpose", b"key"), ("api_key", b"[filtered]"), ("file", file))


def test_a_compressed_request_is_filtered_and_kept_readable() -> None:
    headers = {"Authorization": (f"Bearer {KEY}",), "Content-Encoding": ("gzip",)}
    sent = request(headers=headers, body=gzip.compress(json.dumps({"user": KEY}).encode()))

    kept = filtered_request(sent, Secrets(sent_secrets(sent)))

    assert kept.body == b'{"user": "[filtered]"}'
    assert kept.headers == {"Authorization": (FILTERED,)}


def test_a_request_that_cannot_be_read_is_told_as_one() -> None:
    sent = request(headers={"Content-Encoding": ("odd",)}, body=b"\xff")

    with pytest.raises(CassetteError, match="a request is compressed with 'odd'"):
        filtered_request(sent, Secrets())


@pytest.mark.parametrize("before", range(4))
def test_a_key_in_the_midst_of_base64_is_gone(before: int) -> None:
    text = base64.b64encode(b"x" * before + KEY.encode() + b" and more").decode()

    hidden = Secrets([KEY]).hide(text)

    assert hidden.count(FILTERED) == 1
    assert len(hidden.replace(FILTERED, "")) <= before * 2 + 20


def test_a_key_in_an_address_to_go_to_is_gone() -> None:
    got = Got(status=302, headers={"Location": ("https://me:pw@b.example/x?token=a&page=2",)})

    kept = filtered_response(got, Secrets())

    assert kept.headers == {"Location": ("https://b.example/x?token=[filtered]&page=2",)}


def test_a_key_in_the_pieces_of_choices_that_take_turns_is_gone() -> None:
    events = [
        {"choices": [{"index": index, "delta": {"content": piece}}]}
        for piece in (KEY[:9], KEY[9:])
        for index in (0, 1)
    ]
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events)

    kept = filtered_response(Got(status=200, body=body.encode()), Secrets([KEY])).body.decode()

    assert KEY[:9] not in kept
    assert KEY[9:] not in kept


def test_bytes_that_are_no_text_lose_the_key_too() -> None:
    sent = request(headers={"authorization": (f"Bearer {KEY}",)}, body=b"\xff\xfe" + KEY.encode())

    assert filtered_request(sent, Secrets(sent_secrets(sent))).body == b"\xff\xfe[filtered]"


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("GZIP", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda body: zlib.compress(body, wbits=-15)),
        ("deflate, gzip", lambda body: gzip.compress(zlib.compress(body))),
        ("gzip", lambda body: body),
    ],
    ids=["gzip", "in capitals", "deflate", "raw deflate", "twice", "undone by the client"],
)
def test_a_compressed_response_is_filtered_and_kept_readable(encoding: str, pack: Any) -> None:
    headers = {
        "Content-Encoding": (encoding,),
        "Content-Length": ("1",),
        "Transfer-Encoding": ("chunked",),
    }
    got = Got(status=200, headers=headers, body=pack(json.dumps({"a": KEY}).encode()))

    kept = filtered_response(got, Secrets([KEY]))

    assert json.loads(kept.body) == {"a": FILTERED}
    assert kept.headers == {"Content-Length": (str(len(kept.body)),)}


@pytest.mark.parametrize("encoding", ["br-unknown", "gzip"])
def test_what_cannot_be_read_is_not_kept(encoding: str) -> None:
    got = Got(status=200, headers={"content-encoding": (encoding,)}, body=b"\x8b\xff\x00")

    with pytest.raises(CassetteError, match=f"compressed with '{encoding}'"):
        filtered_response(got, Secrets())


def test_what_a_model_wrote_is_kept_for_the_agent_to_act_on() -> None:
    written = {"key": "customer/4711", "page_token": "abcdefgh", "password": "hunter2"}
    chat = {"message": {"tool_calls": [{"function": {"arguments": json.dumps(written)}}]}}
    messages = {"content": [{"type": "tool_use", "input": written}]}
    kept = {"key": "customer/4711", "page_token": "abcdefgh", "password": FILTERED}

    for body in (chat, messages):
        hidden = json.loads(
            filtered_body(json.dumps(body).encode(), Secrets(), content_type="", answer=True)
        )
        if body is chat:
            call = hidden["message"]["tool_calls"][0]["function"]
            assert json.loads(call["arguments"]) == kept
        else:
            assert hidden["content"][0]["input"] == kept


def test_what_a_model_answers_as_json_is_kept() -> None:
    answer = json.dumps({"key": "customer/4711", "session": "the morning session"})
    body = json.dumps({"choices": [{"message": {"content": answer}}]}).encode()

    assert filtered_body(body, Secrets(), content_type="", answer=True) == body


def test_a_key_of_digits_is_gone_where_it_is_a_number() -> None:
    body = b'{"a": 123456789012, "b": [9123456789012.5, true]}'

    hidden = filtered_body(body, Secrets(["123456789012"]), content_type="", answer=True)

    assert json.loads(hidden) == {"a": FILTERED, "b": [FILTERED, True]}


def test_lines_of_a_stream_that_are_no_json_are_filtered_too() -> None:
    body = f": {KEY}\nid: {KEY}\ndata: {KEY}\ndata: {{{KEY}\n\n".encode()

    hidden = filtered_body(body, Secrets([KEY]), content_type="", answer=True).decode()

    assert hidden == f": {FILTERED}\nid: {FILTERED}\ndata: {FILTERED}\ndata: {{{FILTERED}\n\n"


def test_counts_schemas_and_probabilities_are_no_secrets() -> None:
    body = {
        "max_tokens": 12345678,
        "usage": {"prompt_tokens": 9, "total_tokens": 123456789},
        "logprobs": [{"token": "information", "logprob": -1.5}],
        "tools": [{"parameters": {"properties": {"password": {"description": "the password"}}}}],
        "authorization": None,
        "secret": True,
    }

    raw = json.dumps(body).encode()

    assert filtered_body(raw, Secrets(), content_type="", answer=False) == raw
    assert filtered_body(raw, Secrets(), content_type="", answer=True) == raw


@pytest.mark.parametrize(
    "text",
    [
        "sk-ant-api03-abcdefghijklmnop1234",
        "sk-pro*****************wxyz",
        "AIzaSyA1234567890abcdefghijklmnopqrstuv",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_abcdefghijklmnopqrst12345",
        "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
    ],
)
def test_what_looks_like_a_key_is_hidden_unasked(text: str) -> None:
    assert Secrets().hide(f"see {text}, please") == f"see {FILTERED}, please"


@pytest.mark.parametrize("text", ["sk-learn and risk-free-investments-2024", "a token", "ask-1"])
def test_ordinary_words_are_no_keys(text: str) -> None:
    assert Secrets().hide(text) == text


def test_a_password_in_the_url_of_a_proxy_or_a_database_is_a_secret() -> None:
    environment = {
        "HTTPS_PROXY": "http://me:proxy-password@proxy.example:8080",
        "DATABASE_URL": "postgresql+psycopg://me:db-password@db.example/x",
        "HOMEPAGE": "https://example.org:8080/someone@example.org",
    }

    assert secrets_of(environment) == ("proxy-password", "db-password")


def test_secrets_of_the_environment_are_told_by_their_names() -> None:
    environment = {
        "OPENAI_API_KEY": "aaaaaaaa",
        "PGPASSWORD": "bbbbbbbb",
        "GITHUB_TOKEN": "cccccccc",
        "MYSQL_PWD": "dddddddd",
        "SHORT_KEY": "eeeeeee",
        "PWD": "/somewhere/else",
        "SSH_AUTH_SOCK": "/tmp/agent.1",  # noqa: S108 - a value, no file
        "DESKTOP_SESSION": "a-desktop",
    }

    assert secrets_of(environment) == ("aaaaaaaa", "bbbbbbbb", "cccccccc", "dddddddd")


@pytest.mark.parametrize("name", ["keyboard", "monkey", "tokenizer", "author", "prompt_tokens_x"])
def test_names_that_only_sound_like_secrets_are_none(name: str) -> None:
    assert not is_secret(name)
    assert not is_surely_secret(name)


def test_the_word_that_stands_in_for_a_key_of_the_scripted_model_is_none() -> None:
    sent = request(headers={"authorization": ("Bearer tripwire",)})

    assert Secrets(sent_secrets(sent)).hide("tripwire_hint") == "tripwire_hint"


def test_secrets_are_not_shown() -> None:
    assert KEY not in repr(Secrets([KEY]))
