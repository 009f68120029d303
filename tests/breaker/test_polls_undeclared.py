"""Waiting for something, where nobody has declared a poll: seen by what comes back, by what the run
itself has started, and by the time that passes between two looks.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_tripwire.breaker import Usage
from pytest_tripwire.breaker.polls import is_under_way

from .driver import Driver, Outcome, Reason, Status, read, stepped, write

RUNNING = {"status": "running"}


def looked(driver: Driver, results: list[Any], *, every_s: float, tool: str = "job") -> int:
    """Look again and again; returns how many looks were let through."""

    def look(result: Any) -> bool:
        driver.waits(every_s)
        return driver.gives(result, tool, id="J-1")

    return stepped(look(each) for each in results)


# -- the loop


@pytest.mark.parametrize("result", [RUNNING, "still running", "queued", {"state": "PENDING"}])
@pytest.mark.parametrize("every_s", [0.0, 0.9])
def test_asking_as_fast_as_possible_is_no_waiting(result: Any, every_s: float) -> None:
    driver = Driver(read("job"))

    assert looked(driver, [result] * 9, every_s=every_s) == 3
    assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME
    assert driver.rests_on == ["job"] * 3


@pytest.mark.parametrize("result", ["all is well", {"status": "ready"}, {"value": 7}, ["a"]])
def test_what_does_not_say_so_is_not_waited_for(result: Any) -> None:
    driver = Driver(read("job"))

    assert looked(driver, [result] * 9, every_s=60) == 3


def test_hundred_looks_are_enough() -> None:
    driver = Driver(read("job"))

    # The first look is none yet, and after the last that is granted two more make three of a kind.
    assert looked(driver, [RUNNING] * 300, every_s=30) == 102
    assert driver.reason is Reason.REPEATED_INTENT_SAME_OUTCOME


def test_nonce_in_each_look_hides_no_hurry() -> None:
    driver = Driver(read("job"))

    assert stepped(driver.gives(RUNNING, "job", id="J", request_id=str(n)) for n in range(9)) == 3


def test_waiting_resets_no_other_count() -> None:
    driver = Driver(read("job"), read("list"))
    tries = []
    for round_ in range(4):
        tries.append(driver.gives(["a"], "list"))
        for look in range(10):
            driver.waits(10)
            driver.gives({"status": "running", "percent": 10 * round_ + look}, "job", id="J-1")

    assert tries == [True, True, True, False]


def says(driver: Driver, text: str = "Not yet, I look again.") -> bool:
    """One turn of the model's, with these words; whether the run goes on."""
    allowed: bool = driver.run.before_model().allowed
    driver.run.after_model(Usage(), text)
    return allowed


@pytest.mark.parametrize(("job", "every_s"), [(read("job"), 10.0), (read("job", poll=True), 0.0)])
def test_the_same_words_before_each_look_at_what_is_waited_for(job: Any, every_s: float) -> None:
    driver = Driver(job)

    for _ in range(30):
        assert says(driver)
        assert looked(driver, [RUNNING], every_s=every_s) == 1
    assert driver.is_open


def test_the_same_words_when_nothing_is_waited_for_any_more() -> None:
    driver = Driver(read("job"))
    for _ in range(5):
        says(driver)
        looked(driver, [RUNNING], every_s=10)

    assert stepped(says(driver) for _ in range(9)) == 3
    assert driver.reason is Reason.OUTPUT_REPETITION


def test_the_same_words_before_each_hurried_look() -> None:
    driver = Driver(read("job"))

    looks = (says(driver) and bool(looked(driver, [RUNNING], every_s=0)) for _ in range(9))

    assert stepped(looks) == 3
    assert not driver.is_open


def test_empty_answer_about_a_stranger_is_not_waited_for() -> None:
    driver = Driver(read("job"))

    assert looked(driver, [[]] * 9, every_s=60) == 3
    assert driver.reason is Reason.EMPTY_RESULTS


def test_failures_with_pauses_are_for_the_rules_that_count_errors() -> None:
    driver = Driver(read("job"))

    def look() -> bool:
        driver.waits(30)
        return driver.fails(Status.TRANSIENT, "Timeout", "job", id="J-1")

    assert driver.executed(look for _ in range(9)) == 5
    assert driver.reason is Reason.ERROR_STREAK


def test_definite_failure_is_no_waiting() -> None:
    driver = Driver(read("job"))

    def look() -> bool:
        driver.waits(30)
        return driver.fails(Status.DEFINITE, "NoSuchJob", "job", id="J-1")

    assert driver.executed(look for _ in range(9)) == 3


# -- good work that looks like it


@pytest.mark.parametrize(
    "result",
    [
        RUNNING,
        "still running",
        "queued",
        {"state": "PENDING"},
        {"job": {"id": 1}, "phase": "building"},
    ],
)
@pytest.mark.parametrize("every_s", [1.0, 600.0])
def test_patient_look_at_what_says_so_is_waiting(result: Any, every_s: float) -> None:
    driver = Driver(read("job"))

    assert looked(driver, [*[result] * 40, "finished"], every_s=every_s) == 41
    assert driver.is_open


def test_service_that_is_down_for_a_while() -> None:
    driver = Driver(read("job"))
    for _ in range(4):
        driver.waits(30)
        assert driver.fails(Status.TRANSIENT, "Unavailable", "job", id="J-1")

    assert driver.gives("up", "job", id="J-1")
    assert driver.is_open


def test_own_export_is_waited_for_while_nothing_is_there() -> None:
    driver = Driver(write("export"), read("job"))
    driver.gives({"id": "J-1"}, "export", of="orders")

    assert looked(driver, [*[[]] * 20, ["row"]], every_s=5) == 21
    assert driver.is_open


def test_own_id_may_be_a_number_or_the_whole_result() -> None:
    for result, asked in (({"n": 17}, 17), ("J-1", "J-1"), (17, "17")):
        driver = Driver(write("export"), read("job"))
        driver.gives(result, "export", of="orders")
        for _ in range(12):
            driver.waits(5)
            assert driver.gives(None, "job", of=asked)


def test_truth_is_no_id() -> None:
    driver = Driver(write("export"), read("job"))
    driver.gives({"ok": True}, "export", of="orders")

    def look() -> bool:
        driver.waits(5)
        return driver.gives([], "job", of=True)

    assert driver.executed(look for _ in range(9)) == 3


def test_export_that_failed_has_started_nothing() -> None:
    driver = Driver(write("export"), read("job"))
    refused = Outcome(status=Status.DEFINITE, error="Refused", result={"id": "J-1"})
    driver.brings(refused, "export", of="orders")

    assert looked(driver, [[]] * 9, every_s=5) == 3


def test_other_work_between_two_looks() -> None:
    driver = Driver(read("job"), read("list"))
    for number in range(30):
        driver.waits(2)
        assert driver.gives(RUNNING, "job", id="J-1")
        assert driver.gives([number], "list", of=number)
    assert driver.is_open


def test_several_jobs_are_waited_for_side_by_side() -> None:
    driver = Driver(read("job"))
    for _ in range(20):
        driver.waits(10)
        assert all(driver.gives(RUNNING, "job", id=f"J-{number}") for number in range(5))
    assert driver.is_open


def test_declared_poll_needs_neither_words_nor_pauses() -> None:
    driver = Driver(read("job", poll=True))

    assert looked(driver, [{"value": 7}] * 300, every_s=0) == 300
    assert driver.is_open


# -- results that say that something is under way


@pytest.mark.parametrize(
    "result",
    [
        *(
            "running",
            "Still waiting for approval",
            "in progress",
            "IN_PROGRESS",
            "queued",
            "not ready",
        ),
        *("not finished yet", "not completed", "No output yet", "try again later", "Deploying v2"),
        *({"status": "pending"}, {"job_state": "BUILDING"}, {"message": "please come back later"}),
        *({"currentPhase": "provisioning"}, {"output": "still working", "rows": []}),
    ],
)
def test_under_way(result: Any) -> None:
    assert is_under_way(result)


@pytest.mark.parametrize(
    "result",
    [
        *("finished", "Completed running the job", "run failed", "error while building", "ready"),
        *({"status": "done"}, {"status": "running", "state": None}.keys(), {"title": "pending"}),
        *({"status": 3}, {"note": "still running"}, ["running"], None, 7, ""),
        "The report on pending orders. " * 20,
        {"status": "pending review of a text that is far longer than any state " * 5},
    ],
)
def test_not_under_way(result: Any) -> None:
    assert not is_under_way(result)


@settings(max_examples=40)
@given(
    st.recursive(
        st.none() | st.text() | st.integers(), lambda each: st.dictionaries(st.text(), each)
    )
)
def test_no_result_is_too_strange(result: Any) -> None:
    assert is_under_way(result) in {True, False}


@settings(max_examples=40)
@given(st.lists(st.floats(0, 100), min_size=3, max_size=30))
def test_hurried_looks_alone_are_counted(pauses: list[float]) -> None:
    driver = Driver(read("job"))
    hurried, before = 0, float("-inf")
    for pause in pauses:
        driver.waits(pause)
        assert driver.gives(RUNNING, "job", id="J-1") is (hurried < 3)
        first = before == float("-inf")
        hurried += first or driver.clock.seconds - before < 1
        before = driver.clock.seconds
