"""Runs that get nowhere are stopped after a few steps, whatever they try instead."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest

from .driver import Driver, Status, ToolSpec, bare, handoff, read, write

Script = Callable[[Driver], Iterator[bool]]

#: Runs by name, with their tools, and how many calls may go before the first that is stopped.
RUNS: dict[str, tuple[tuple[ToolSpec, ...], Script, int]] = {}


def fruitless(*specs: ToolSpec, most: int) -> Callable[[Script], Script]:
    """A run that gets nowhere, as a function that yields which of its calls were let through."""

    def keep(script: Script) -> Script:
        RUNS[script.__name__] = (specs, script, most)
        return script

    return keep


@fruitless(read("search", identity=("topic",), wording=("query",)), most=4)
def same_search_new_words_empty(run: Driver) -> Iterator[bool]:
    for q in [
        "lamp return policy",
        "return policy of the lamp",
        "how to return a lamp",
        "lamp returns",
        "policy for returning lamps",
        "lamp return rules",
        "rules for the return of lamps",
        "returning the lamp",
        "send back lamp policy",
        "lamp policy returns",
    ] * 4:
        yield run.gives([], "search", query=q, topic="t")


@fruitless(read("search", identity=("topic",), wording=("query",)), most=4)
def same_search_new_words_same_hit(run: Driver) -> Iterator[bool]:
    for q in [
        "lamp return policy",
        "return policy of the lamp",
        "policy on lamp return",
        "lamp returns policy",
        "policy for returning lamps",
        "lamp return policy rules",
        "policy: return lamp",
        "the lamp return policy",
        "lamp policy for return",
        "lamp policy returns",
    ] * 4:
        yield run.gives(["faq-1"], "search", query=q, topic="t")


@fruitless(read("search"), most=6)
def synonyms_without_shared_words(run: Driver) -> Iterator[bool]:
    for q in [
        "lamp refund",
        "money back for light",
        "reimburse luminaire",
        "compensation fixture",
        "repay bulb holder",
        "return bedside light",
        "restitution lantern",
        "credit for lighting",
    ] * 5:
        yield run.gives([], "search", query=q)


@fruitless(read("get", identity=("id",)), most=3)
def nonce_argument_changes(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives({"s": "open"}, "get", id="1", request_id=f"r{n}")


@fruitless(read("get", identity=("id",), volatile=("cachebuster",)), most=4)
def nonce_with_odd_name(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives({"s": "open"}, "get", id="1", cachebuster=str(uuid.UUID(int=n * 7919**9)))


@fruitless(read("get", identity=("id",)), most=3)
def timestamps_in_result(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives(
            {"s": "open", "generated_at": f"2026-01-01T00:00:{n:02}Z", "latency_ms": n},
            "get",
            id="1",
        )


@fruitless(read("exec_"), most=3)
def text_with_pid_and_time(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives(
            f"Process exited after {n}.{n} seconds with code 1", "exec_", command="make"
        )


@fruitless(read("get", identity=("id",)), read("why", identity=("id",)), most=5)
def two_reads_alternate(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives(["a", "b"][n % 2], ["get", "why"][n % 2], id="1")


@fruitless(*(read(each) for each in "abcde"), most=14)
def ring_of_five_reads(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives("same", "abcde"[n % 5], x=1)


@fruitless(read("get"), read("new"), most=5)
def failing_check_with_one_new_read_between(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.fails(Status.DEFINITE, "1 failed", "get", id=1)
        yield run.gives(f"n{n}", "new", n=n)


@fruitless(read("test"), write("note", identity=("id",)), most=9)
def same_error_with_new_note_each(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.fails(Status.DEFINITE, "1 failed", "test", path="t")
        yield run.gives("ok", "note", id=n, text=f"try {n}")


@fruitless(write("create_ticket", identity=("project",), wording=("title", "body")), most=1)
def lost_ticket_again_reworded(run: Driver) -> Iterator[bool]:
    yield run.fails(
        Status.UNKNOWN,
        "timeout",
        "create_ticket",
        project="IT",
        title="Printer broken",
        body="The printer in room 4 is broken",
    )
    for t in ["Printer is broken", "The printer is broken", "Broken printer"] * 9:
        yield run.gives({"id": t}, "create_ticket", project="IT", title=t, body=f"{t}, room 4")


@fruitless(handoff("transfer", identity=("to",), wording=("note",)), most=6)
def ping_pong(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.by(
            "ab"[n % 2], "ok", "transfer", to="ba"[n % 2], note=f"you have this, number {n}"
        )


@fruitless(
    handoff("to_a", operation="t", identity=(), wording=("note",)),
    handoff("to_b", operation="t", identity=(), wording=("note",)),
    most=6,
)
def ping_pong_tool_per_agent(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.by("ab"[n % 2], "ok", ["to_b", "to_a"][n % 2], note=f"please take it {n}")


@fruitless(handoff("transfer", identity=("to",), wording=("note",)), read("memo"), most=13)
def ping_pong_with_reads_known(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.by("ab"[n % 2], "ok", "transfer", to="ba"[n % 2], note=f"n {n}")
        yield run.gives("known", "memo", of="x")


@fruitless(write("bash"), most=2)
def denied_command_reworded(run: Driver) -> Iterator[bool]:
    for c in [
        "rm -rf /data/cache",
        "rm -r -f /data/cache",
        "/bin/rm -rf /data/cache",
        "find /data/cache -delete",
        "python -c \"import shutil; shutil.rmtree('/data/cache')\"",
        "sudo rm -rf /data/cache",
        "rm -rf /data/cache/*",
    ] * 4:
        yield run.denies("no-rm", "bash", command=c)


@fruitless(
    write("refund", operation="pay", identity=("order",), wording=("reason",)),
    write("credit", operation="pay", identity=("order",), wording=("note",)),
    most=2,
)
def denied_refund_by_sibling(run: Driver) -> Iterator[bool]:
    for n in range(40):
        if n % 2 == 0:
            yield run.denies("window", "refund", order="1", amount=5, reason=f"because {n}")
        else:
            yield run.denies("window", "credit", order="1", amount=5, note=f"because {n}")


@fruitless(write("post"), most=1)
def denied_post_reworded(run: Driver) -> Iterator[bool]:
    for t in [
        "All offers end today, buy now",
        "Buy now, all offers end today",
        "Offers end today! Buy!",
        "Today all offers end: buy now",
        "Buy, offers ending today",
        "Last offers today, buy now",
    ] * 4:
        yield run.denies("spam", "post", channel="all", text=t)


@fruitless(write("set", identity=("name",)), most=8)
def toggle_for_ever(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives("ok", "set", name="f", value=n % 2)


@fruitless(read("fetch"), most=5)
def errors_of_all_kinds(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.fails(Status.DEFINITE, f"error kind {n}", "fetch", url=f"u{n}")


@fruitless(read("fetch"), read("ok_"), most=10)
def errors_between_successes(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.fails(Status.DEFINITE, "bad argument", "fetch", url=f"u{n}")
        yield run.gives(f"n{n}", "ok_", n=n)


@fruitless(read("read_file", identity=("path",), cursor=("offset",), result_version="v"), most=11)
def rereads_ranges_of_one_version(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives(
            {"v": "1", "t": f"t{n % 4}"}, "read_file", path="a", offset=n % 4 * 100, limit=100
        )


@fruitless(read("think", wording=("thought",)), most=4)
def thinks_only(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives("ok", "think", thought=f"Hm, let me think about step {n}")


@fruitless(read("wait"), most=3)
def waits_for_ever(run: Driver) -> Iterator[bool]:
    for _n in range(40):
        run.waits(30)
        yield run.gives("Waited 30 seconds", "wait", seconds=30)


@fruitless(read("search"), read("open_"), most=8)
def search_and_open_same_result(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives(
            ["doc-1"],
            "search",
            query=["lamp policy", "policy lamp", "lamps policy", "the lamp policy"][n % 4],
        )
        yield run.gives("text", "open_", id="doc-1")


@fruitless(read("get"), most=5)
def error_text_with_ids(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.fails(Status.TRANSIENT, f"request req-{n}abc failed", "get", id=1)


@fruitless(write("update"), most=5)
def write_rejected_for_ever(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.fails(
            Status.DEFINITE, "schema invalid", "update", id=1, body=f"text number {n} of it"
        )


@fruitless(write("bash", repeatable=True), most=5)
def shell_failing_with_new_flags(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.fails(Status.DEFINITE, "command not found: foo", "bash", command=f"foo --try {n}")


@fruitless(read("get"), most=4)
def case_and_space_variants(run: Driver) -> Iterator[bool]:
    for n in range(40):
        yield run.gives(
            ["x"],
            "get",
            name=["Anna Lee", "anna lee", "ANNA LEE", " Anna  Lee ", "Anna lee", "anna LEE"][n % 6],
        )


@pytest.mark.parametrize("pause_s", [0.0, 5.0], ids=["at once", "with pauses"])
@pytest.mark.parametrize("declared", [True, False], ids=["declared", "undeclared"])
@pytest.mark.parametrize("name", RUNS)
def test_run_that_gets_nowhere_is_stopped(name: str, pause_s: float, *, declared: bool) -> None:
    specs, script, most = RUNS[name]
    driver = Driver(*(specs if declared else map(bare, specs)), pause_s=pause_s)

    allowed = 0
    for went in script(driver):
        if not went:
            break
        allowed += 1

    assert allowed <= most
    assert not driver.last.allowed
    assert driver.last.evidence


@pytest.mark.parametrize("name", RUNS)
def test_run_that_goes_on_all_the_same_changes_nothing_more(name: str) -> None:
    specs, script, most = RUNS[name]
    driver = Driver(*specs)

    # One call that is refused for itself alone may be followed by others that are let through.
    assert sum(script(driver)) <= 2 * most
