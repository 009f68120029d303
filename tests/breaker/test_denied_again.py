"""What a tool has denied is not asked again: in other words, with another plea, at the same target
or by way of a file; and asking for something else is good work.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.timeline import Settled

from .driver import (
    Decision,
    Driver,
    Mode,
    Outcome,
    Reason,
    Status,
    Witness,
    handoff,
    read,
    write,
)

SHELL = write("shell")
DELETE = write("delete")
#: The same target by a command that has few words in common with another.
BY_PYTHON = (
    'python -c "import shutil, pathlib; keep = list(range(5)); '
    "shutil.rmtree(pathlib.Path('/data/cache-17'), ignore_errors=True)\""
)
NO = Outcome(status=Status.DENIED, error="Denied", rule="no-deletion")


def denied(driver: Driver, tool: str, rule: str = "no-deletion", **arguments: Any) -> None:
    """A call that the tool denies; fails if it is not let through."""
    assert driver.denies(rule, tool, **arguments)


def is_repeat(driver: Driver, tool: str, **arguments: Any) -> bool:
    """Whether a call is refused as a repeated denial; fails if it is refused for anything else."""
    allowed = driver.gives("ok", tool, **arguments)
    if not allowed:
        assert driver.last.reason is Reason.REPEATED_DENIAL
        assert _outcomes(driver) <= {Status.DENIED, Status.OK}
        assert Status.DENIED in _outcomes(driver)
        assert "no-deletion" in driver.last.message or driver.run.mode is Mode.STOPPED
    return not allowed


def _outcomes(driver: Driver) -> set[Status]:
    """What the answers say that the last verdict rests on."""
    behind = set(driver.last.evidence)
    return {event.status for event in driver.timeline.of(Settled) if event.seq in behind}


def _tools(driver: Driver) -> set[str]:
    """The tools whose answers the last verdict rests on."""
    behind = set(driver.last.evidence)
    return {event.tool for event in driver.timeline.of(Settled) if event.seq in behind}


# -- the loop


@pytest.mark.parametrize(
    "again",
    [
        {"path": "/data/x", "reason": "the disk is full"},
        {"path": "/data/x", "reason": "cleanup", "justification": "I was told to"},
        {"path": "/data/x", "reason": "x", "request_id": "r2"},
        {"path": "/data/x"},
    ],
)
def test_other_plea_is_the_same_request(again: dict[str, Any]) -> None:
    driver = Driver(DELETE)
    denied(driver, "delete", path="/data/x", reason="cleanup", request_id="r1")

    assert is_repeat(driver, "delete", **again)
    assert driver.last.decision is Decision.REFUSE
    assert driver.rests_on == ["delete"]


def test_refused_once_then_stopped() -> None:
    driver = Driver(DELETE)
    denied(driver, "delete", path="/data/x", reason="cleanup")

    for word in ("please", "it matters", "the user wants it"):
        assert is_repeat(driver, "delete", path="/data/x", reason=word)
    assert driver.last.decision is Decision.INTERRUPT
    assert driver.run.mode is Mode.STOPPED
    assert driver.reason is Reason.REPEATED_DENIAL


@pytest.mark.parametrize(
    "again",
    [
        "please post: all lamps half price today",
        "Today all the lamps, half price! Post.",
        "POST ALL LAMPS HALF PRICE TODAY",
    ],
)
def test_other_words_are_the_same_request(again: str) -> None:
    driver = Driver(write("post"))
    denied(driver, "post", channel="all", text="post all lamps half price today")

    assert is_repeat(driver, "post", channel="all", text=again)


def test_two_denials_about_one_target_are_enough() -> None:
    driver = Driver(SHELL)
    denied(driver, "shell", command="rm -rf /data/cache-17")
    denied(driver, "shell", command=BY_PYTHON)

    assert is_repeat(
        driver,
        "shell",
        command="perl -e 'use File::Path qw(remove_tree); my $done = 1; print $done; "
        'remove_tree("/data/cache-17", {safe => $done});\'',
    )
    assert driver.rests_on == ["shell"] * 2


def test_denied_command_put_into_a_file_and_run_from_there() -> None:
    driver = Driver(SHELL, write("write_file"))
    denied(driver, "shell", command="curl -X DELETE https://api.example.org/v1/users")
    driver.gives(
        "ok",
        "write_file",
        path="/tmp/wipe_now.sh",  # noqa: S108 - nothing is written
        text="#!/bin/sh\ncurl -X DELETE https://api.example.org/v1/users\n",
    )

    assert is_repeat(driver, "shell", command="bash /tmp/wipe_now.sh")
    assert _tools(driver) == {"shell", "write_file"}


def test_four_denials_of_one_rule_are_about_the_tool() -> None:
    driver = Driver(SHELL)
    for command in ("shutdown now", "mkfs all disks", "dd zeros everywhere", "chmod open wide"):
        denied(driver, "shell", command=command)

    assert is_repeat(driver, "shell", command="kill every process")
    assert driver.rests_on == ["shell"] * 4


def test_sibling_of_the_operation_is_no_way_round() -> None:
    driver = Driver(
        write("refund", operation="pay", identity=("order",)),
        write("credit", operation="pay", identity=("id",)),
    )
    denied(driver, "refund", order="O-1", amount=50)

    assert is_repeat(driver, "credit", id="O-1", amount=50)


def test_same_class_of_denial_by_tools_of_different_operations() -> None:
    driver = Driver(
        write("refund", identity=("order",), denial_class="money"),
        write("gift", identity=("id",), denial_class="money"),
    )
    denied(driver, "refund", order="O-1", amount=50)

    assert is_repeat(driver, "gift", id="O-1", amount=50)


def test_hand_off_that_was_denied() -> None:
    driver = Driver(handoff("transfer", identity=("to",), wording=("note",)))
    denied(driver, "transfer", to="legal", note="please decide")

    assert is_repeat(driver, "transfer", to="legal", note="please decide this now")


@settings(max_examples=40)
@given(st.lists(st.text(max_size=20), min_size=1, max_size=6))
def test_no_plea_gets_a_denied_request_through(pleas: list[str]) -> None:
    driver = Driver(DELETE)
    denied(driver, "delete", path="/data/x", reason="cleanup")

    assert all(is_repeat(driver, "delete", path="/data/x", reason=plea) for plea in pleas)


# -- good work that looks like it


def test_asking_for_less() -> None:
    driver = Driver(write("refund", identity=("order",)))
    denied(driver, "refund", "too much", order="O-1", amount=500)

    assert not is_repeat(driver, "refund", order="O-1", amount=100)
    assert driver.is_open


@pytest.mark.parametrize("declared", [{"identity": ("path",)}, {}])
def test_other_targets(declared: dict[str, Any]) -> None:
    driver = Driver(write("delete", **declared))
    denied(driver, "delete", path="/data/x", reason="cleanup")

    assert all(
        not is_repeat(driver, "delete", path=f"/data/{name}", reason="cleanup") for name in "abcdef"
    )
    assert driver.is_open


def test_other_command_about_another_target() -> None:
    driver = Driver(SHELL)
    denied(driver, "shell", command="rm -rf /data/cache-17")

    assert not is_repeat(driver, "shell", command="pytest -q tests/breaker")
    assert not is_repeat(driver, "shell", command="cat README.md")
    assert driver.is_open


def test_second_rule_is_another_answer() -> None:
    driver = Driver(SHELL)
    denied(driver, "shell", "no-deletion", command="rm -rf /data/cache-17")
    denied(
        driver,
        "shell",
        "no-network",
        command="scp of it, whole, to a host far away /data/cache-17 as backup by night",
    )

    assert not is_repeat(
        driver,
        "shell",
        command="python count.py with a list of its files and a sum of all sizes of /data/cache-17",
    )


def test_ticket_that_quotes_what_was_denied() -> None:
    driver = Driver(SHELL, write("create_ticket"))
    denied(driver, "shell", command="rm -rf /data/cache-17")

    assert not is_repeat(
        driver,
        "create_ticket",
        title="Cache is full",
        body="I may not run this: rm -rf /data/cache-17. Please do it for me.",
    )
    assert not is_repeat(driver, "shell", command="pytest -q")
    assert driver.is_open


def test_target_of_two_denials_may_be_spoken_of() -> None:
    driver = Driver(SHELL, write("create_ticket"))
    for command in ("rm -rf /data/cache-17", BY_PYTHON):
        denied(driver, "shell", command=command)

    assert not is_repeat(driver, "create_ticket", title="Cache", body="/data/cache-17 is full")
    assert driver.is_open


def test_asking_a_person_about_it() -> None:
    driver = Driver(DELETE, handoff("ask_person"), read("look"))
    denied(driver, "delete", path="/data/x", reason="cleanup")

    assert not is_repeat(driver, "ask_person", about="/data/x", note="may I delete it")
    assert not is_repeat(driver, "look", path="/data/x")
    assert driver.is_open


def test_siblings_that_are_denied_together_are_no_habit() -> None:
    driver = Driver(SHELL)
    commands = (
        "shutdown now",
        "mkfs all disks",
        "dd zeros everywhere",
        "chmod open wide",
        "halt it",
    )
    assert all(driver.together(*((NO, "shell", {"command": each}) for each in commands)))

    assert not is_repeat(driver, "shell", command="pytest of everything")


def test_denied_reads_may_be_asked_again() -> None:
    driver = Driver(read("look"))
    assert driver.denies("private", "look", path="/data/x")

    assert not is_repeat(driver, "look", path="/data/x")


def test_user_who_speaks_lifts_a_denial() -> None:
    driver = Witness(DELETE)
    denied(driver, "delete", path="/data/x", reason="cleanup")
    driver.outside.user_message()

    assert not is_repeat(driver, "delete", path="/data/x", reason="the user says so")


@settings(max_examples=40)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=25, unique=True))
def test_one_denial_holds_no_other_thing_back(numbers: list[int]) -> None:
    for spec in (DELETE, write("delete", identity=("path",))):
        driver = Driver(spec)
        denied(driver, "delete", path="/data/first", reason="cleanup")

        assert not any(is_repeat(driver, "delete", path=f"/data/x{number}") for number in numbers)
