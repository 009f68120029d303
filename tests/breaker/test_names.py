"""What the name of an argument or of a field tells, and that it tells no more than that."""

from __future__ import annotations

import string

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import names
from pytest_tripwire.breaker.fingerprint import is_minted, is_talk_of

from .driver import Driver, Mode, Reason, bare, read, stepped, write

#: Words of names by which things are really called.
BUSINESS = (
    *(
        "order",
        "customer",
        "invoice",
        "path",
        "city",
        "amount",
        "title",
        "status",
        "owner",
        "price",
    ),
    *("branch", "account", "product", "room", "day", "sku", "colour", "level", "region", "email"),
)
PARTS = st.lists(st.sampled_from([*BUSINESS, "id", "key", "ref", "token", "uuid"]), min_size=1)


def snake(words: list[str]) -> str:
    return "_".join(words)


def kebab(words: list[str]) -> str:
    return "-".join(words)


def camel(words: list[str]) -> str:
    return words[0] + "".join(word.title() for word in words[1:])


STYLES = st.sampled_from([snake, kebab, camel])


# -- nonces


@pytest.mark.parametrize(
    "name",
    [
        *("request_id", "requestId", "RequestID", "X-Request-Id", "req_id", "trace_id", "spanId"),
        *("idempotency_key", "idempotencyKey", "Idempotency-Key", "nonce", "client_nonce"),
        *("correlation_id", "correlation", "traceparent", "dedupe_key", "dedup_token"),
        *("timestamp", "ts", "sent_at", "now", "attempt", "attempt_id", "retry", "retry_count"),
        *("client_request_id", "clientMsgId", "client_token_id", "retry_token"),
    ],
)
def test_names_of_nonces(name: str) -> None:
    assert names.is_nonce(name)
    assert is_minted(name, read("tool"))


@pytest.mark.parametrize(
    "name",
    [
        *("id", "key", "token", "ref", "uuid", "order_id", "client_id", "clientId", "client_ref"),
        *("message_id", "thread_id", "session_id", "request", "request_type", "requester_id"),
        *("trace", "tracing_level", "attempts", "max_attempts", "retries", "timestamps"),
        *("created_at", "date", "timezone", "spanner_id", "nowhere", "tsv", "idempotent", ""),
        *("pull_request_number", "feature_request", "retry_policy", "client_name"),
    ],
)
def test_names_of_no_nonces(name: str) -> None:
    assert not names.is_nonce(name)
    assert not is_minted(name, read("tool"))


@pytest.mark.parametrize(
    "declared",
    [{"identity": ("request_id",)}, {"cursor": ("request_id",)}],
)
def test_declaration_outweighs_the_name(declared: dict[str, tuple[str, ...]]) -> None:
    assert not is_minted("request_id", read("tool", **declared))
    assert is_minted("mark", read("tool", volatile=("mark",)))


@given(PARTS, STYLES)
def test_business_name_is_never_a_nonce(words: list[str], style: object) -> None:
    assert not names.is_nonce(style(words))  # type: ignore[operator]


@given(st.text(alphabet=string.ascii_lowercase, min_size=1, max_size=12))
def test_word_that_means_nothing_is_never_a_nonce(name: str) -> None:
    known = {"nonce", "idempotency", "correlation", "traceparent", "dedupe", "dedup"}
    assume(name not in known | {"timestamp", "ts", "attempt", "retry", "now"})

    assert not names.is_nonce(name)


@settings(max_examples=40)
@given(PARTS, STYLES)
def test_renamed_argument_still_tells_two_questions_apart(words: list[str], style: object) -> None:
    name = style(words)  # type: ignore[operator]
    driver = Driver(read("get"))

    for number in range(12):
        assert driver.gives("none of note", "get", **{name: f"O-{number}"})
    assert driver.is_open


@settings(max_examples=40)
@given(PARTS, STYLES, st.booleans())
def test_renamed_argument_still_tells_two_writes_apart(
    words: list[str],
    style: object,
    declared: bool,  # noqa: FBT001 - drawn
) -> None:
    name = style(words)  # type: ignore[operator]
    spec = write("set", identity=(name,))
    driver = Driver(spec if declared else bare(spec))

    assert all(driver.gives("ok", "set", **{name: number}) for number in range(12))
    assert not driver.gives("ok", "set", **{name: 0})
    assert driver.last.reason is Reason.DUPLICATE_WRITE


@pytest.mark.parametrize("name", ["request_id", "traceId", "idempotency-key", "ts", "clientMsgId"])
def test_nonce_hides_no_loop(name: str) -> None:
    driver = Driver(read("get"))

    assert stepped(driver.gives("a", "get", of="x", **{name: n}) for n in range(9)) == 3
    assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME
    assert driver.rests_on == ["get"] * 3


@pytest.mark.parametrize("name", ["request_id", "traceId", "idempotency-key", "ts", "clientMsgId"])
def test_nonce_makes_no_second_write(name: str) -> None:
    driver = Driver(write("pay"))

    assert driver.gives("ok", "pay", order="O-1", **{name: "one"})
    assert not driver.gives("ok", "pay", order="O-1", **{name: "two"})
    assert driver.last.reason is Reason.DUPLICATE_WRITE


# -- parts of names


@given(st.lists(st.text(string.ascii_lowercase, min_size=2, max_size=6), min_size=1, max_size=4))
def test_however_a_name_joins_its_words(words: list[str]) -> None:
    assert names.parts(snake(words)) == names.parts(kebab(words)) == names.parts(camel(words))
    assert names.parts(snake(words).upper()) == tuple(words)


@given(st.text())
def test_no_name_is_too_strange(name: str) -> None:
    for tells in (names.is_nonce, names.is_passing, names.is_talk, names.is_plea, names.is_span):
        assert tells(name) in {True, False}


# -- fields that pass


@pytest.mark.parametrize(
    "name",
    [
        *("duration", "duration_ms", "elapsed", "took", "latency", "uptime", "pid", "clock"),
        *("generated_at", "fetchedAt", "retrieved-at", "checked_at", "served_at", "server_time"),
        *("responseTime", "as_of", "session_id", "request_id", "trace_id", "timestamp"),
    ],
)
def test_fields_that_change_by_themselves(name: str) -> None:
    assert names.is_passing(name)
    driver = Driver(read("get"))
    assert stepped(driver.gives({"state": "x", name: n}, "get") for n in range(9)) == 3


@pytest.mark.parametrize(
    "name",
    [
        *(
            "state",
            "status",
            "amount",
            "updated_at",
            "created_at",
            "modified",
            "version",
            "percent",
        ),
        *("time_zone", "rapid", "clocks", "duty", "rating", "arrived_at", "due_at", "cursor"),
    ],
)
def test_fields_that_are_news(name: str) -> None:
    assert not names.is_passing(name)
    driver = Driver(read("get"))
    assert all(driver.gives({"state": "x", name: n}, "get") for n in range(9))


# -- what is said, and why


@pytest.mark.parametrize(
    "name", ["thought", "my_thoughts", "reasoning", "rationale", "explanation"]
)
def test_talk_is_no_part_of_the_question(name: str) -> None:
    assert names.is_talk(name)
    assert is_talk_of(name, read("tool"))
    driver = Driver(read("get"))
    words = ("first I look", "let me look again", "perhaps now", "once more", "and again")
    assert stepped(driver.gives("a", "get", of="x", **{name: each}) for each in words) == 3


@pytest.mark.parametrize("name", ["query", "text", "note", "memo", "thoughtful", "comment", "body"])
def test_text_that_may_be_the_question_is_no_talk(name: str) -> None:
    assert not names.is_talk(name)
    driver = Driver(read("get"))
    assert all(
        driver.gives(f"answer {n}", "get", of="x", **{name: f"{n} things"}) for n in range(9)
    )


def test_declared_talk_is_the_question() -> None:
    spec = read("rate", identity=("explanation",))
    driver = Driver(spec)

    assert not is_talk_of("explanation", spec)
    assert all(driver.gives("good", "rate", explanation=f"text {n}") for n in range(9))


@pytest.mark.parametrize("name", ["reason", "note", "memo", "purpose", "why", "refund_reason"])
def test_names_of_pleas(name: str) -> None:
    assert names.is_plea(name)


@pytest.mark.parametrize("name", ["amount", "reason_code", "body", "message", "note_id", "order"])
def test_names_of_no_pleas(name: str) -> None:
    assert not names.is_plea(name)


@pytest.mark.parametrize("name", ["query", "q", "search_text", "user_message", "emailBody", "memo"])
def test_names_of_free_text(name: str) -> None:
    assert names.is_wording(name)


@pytest.mark.parametrize("name", ["path", "queryset", "text_id", "message_id", "body_type", "city"])
def test_names_of_no_free_text(name: str) -> None:
    assert not names.is_wording(name)


# -- where and how much


@pytest.mark.parametrize(
    "name", ["offset", "start_line", "page", "pageToken", "from", "startIndex"]
)
def test_names_of_positions(name: str) -> None:
    assert names.is_position(name)


@pytest.mark.parametrize(
    "name", ["limit", "page_size", "maxResults", "num_lines", "depth", "top_n"]
)
def test_names_of_spans(name: str) -> None:
    assert names.is_span(name)


@pytest.mark.parametrize("name", ["order", "amount", "pages", "skipped", "starter", "customer_id"])
def test_names_of_neither(name: str) -> None:
    assert not names.is_position(name)
    assert not names.is_span(name)


@pytest.mark.parametrize("name", ["as_of", "asOf", "now", "today", "current_time", "localTime"])
def test_names_of_the_present(name: str) -> None:
    assert names.is_present(name)


@pytest.mark.parametrize("name", ["as", "time", "date", "known", "today_only", "current"])
def test_names_of_other_moments(name: str) -> None:
    assert not names.is_present(name)


# -- what a name must not change


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.sampled_from("rw"), st.integers(0, 3), st.integers(0, 1)), max_size=20),
    st.sampled_from(["request_id", "traceId", "nonce"]),
)
def test_added_nonce_changes_no_verdict(steps: list[tuple[str, int, int]], name: str) -> None:
    without, beside = (Driver(read("r"), write("w", identity=("of",))) for _ in range(2))

    for number, (tool, of, result) in enumerate(steps):
        one = without.gives(result, tool, of=of)
        other = beside.gives(result, tool, of=of, **{name: f"n-{number}"})
        assert one == other
        assert without.last.reason is beside.last.reason
    assert without.run.mode is beside.run.mode


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=20), st.booleans())
def test_renaming_changes_no_verdict(steps: list[tuple[int, int]], declared: bool) -> None:  # noqa: FBT001 - drawn
    specs = [
        (read("look", identity=("order",)), write("pay", identity=("order",), wording=("info",))),
        (read("t_1", identity=("col",)), write("t_2", identity=("col",), wording=("ww",))),
    ]
    one, other = (Driver(*(each if declared else bare(each) for each in pair)) for pair in specs)

    for number, (of, result) in enumerate(steps):
        if result:
            first = one.gives("a", "look", order=of), one.last.reason
            second = other.gives("a", "t_1", col=of), other.last.reason
        else:
            first = one.gives("a", "pay", order=of, info=f"w{number % 2}"), one.last.reason
            second = other.gives("a", "t_2", col=of, ww=f"w{number % 2}"), other.last.reason
        assert first == second
    assert one.run.mode is other.run.mode


@settings(max_examples=40)
@given(st.lists(st.permutations(["a", "b", "c"]), min_size=4, max_size=4))
def test_order_of_arguments_and_fields_is_of_no_weight(orders: list[list[str]]) -> None:
    driver = Driver(read("get"))
    tries = [
        driver.gives(
            {name: [dict.fromkeys(order, 1)] for name in order},
            "get",
            **dict.fromkeys(order, 1),
        )
        for order in orders
    ]

    assert tries == [True, True, True, False]
    assert driver.run.mode is not Mode.OPEN
