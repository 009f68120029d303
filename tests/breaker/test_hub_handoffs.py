"""A hub that comes back to its specialists: work in between makes the way a new one."""

from __future__ import annotations

import pytest

from .driver import Driver, Reason, ToolSpec, handoff, read, write

TO = {name: handoff(f"transfer_to_{name}", identity=()) for name in ("hub", "a", "b", "c")}
PAY, LOOK = write("pay", identity=("key",)), read("look", identity=("key",))
TOOLS = (*TO.values(), PAY, LOOK)


def visit(driver: Driver, name: str, *work: tuple[ToolSpec, str]) -> bool:
    """The hub hands over, the specialist works and hands back; whether all was let through."""
    there = driver.by("hub", "ok", f"transfer_to_{name}")
    done = all(driver.by(name, f"{tool.name} {key}", tool.name, key=key) for tool, key in work)
    return there and done and driver.by(name, "ok", "transfer_to_hub")


@pytest.mark.parametrize("names", ["a", "ab", "abc"])
def test_specialists_that_pay_something_new_each_time_are_gone_back_to(names: str) -> None:
    driver = Driver(*TOOLS)

    for turn in range(6):
        for name in names:
            assert visit(driver, name, (PAY, f"{name}{turn}")), driver.reason


def test_a_specialist_that_does_nothing_new_is_not_gone_back_to_for_ever() -> None:
    driver = Driver(*TOOLS)
    visits = 0

    assert visit(driver, "a", (PAY, "first"))
    while visits < 10 and visit(driver, "a"):
        visits += 1

    assert visits < 3
    assert driver.reason is Reason.HANDOFF_WITHOUT_PROGRESS


def test_looking_at_the_same_again_is_no_work() -> None:
    driver = Driver(*TOOLS)
    visits = 0

    while visits < 10 and visit(driver, "a", (LOOK, "same")):
        visits += 1

    assert visits < 4
