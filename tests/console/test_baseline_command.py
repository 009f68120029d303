"""`agent-tripwire baseline`: shows what is known to fail, and prunes it."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.gate import parse
from pytest_tripwire.gate.prune import PruneError, without
from pytest_tripwire.oracle import CHECKS, Broken, State

from .conftest import TODAY, Command, Write, cell, evidence

HEAD = "# Whoever adds an entry asks the platform team.\n\n"


def entry(case: str, check: str = "a good end", *, agent: str = "shop", days: int = 30) -> str:
    return f"""\
# {agent} on {case}: the reason
[[known_failing]]
agent = "{agent}"
case = "{case}"   # as the catalogue has it
check = "{check}"
reason = "why"
issue = "#7"
expires = {TODAY + dt.timedelta(days=days)}

"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tripwire-baseline.toml"


BAD = cell("lost-write", state=State.ESCAPED, broken=(Broken(check="a good end", message="so"),))


def test_what_is_fixed_and_what_is_not_there_is_taken_out(
    write: Write, command: Command, file: Path
) -> None:
    kept = entry("lost-write")
    file.write_text(
        HEAD + entry("deadline") + kept + entry("deadline", agent="gone"), encoding="utf-8"
    )
    made = write("r.json", evidence(BAD, cell("deadline")))

    assert command("baseline", "--file", str(file), "--prune", made) == 0

    assert file.read_text("utf-8") == HEAD + kept
    assert command.out.splitlines() == [
        "taken out: shop on deadline (a good end)",
        "taken out: gone on deadline (a good end)",
        "2 taken out, 1 left",
    ]


@pytest.mark.parametrize(("days", "told"), [(0, "last day"), (1, "1 day left")])
def test_the_end_of_an_entry_is_told_in_words(
    command: Command, file: Path, days: int, told: str
) -> None:
    file.write_text(entry("deadline", days=days), encoding="utf-8")

    assert command("baseline", "--file", str(file)) == 0
    assert f"  {told}  shop on deadline" in command.out


def test_what_expired_and_fails_stays(write: Write, command: Command, file: Path) -> None:
    text = entry("lost-write", days=-3)
    file.write_text(text, encoding="utf-8")

    assert command("baseline", "--file", str(file), "--prune", write("r.json", evidence(BAD))) == 0
    assert file.read_text("utf-8") == text


def test_what_was_not_run_stays(write: Write, command: Command, file: Path) -> None:
    text = entry("deadline")
    file.write_text(text, encoding="utf-8")

    assert command("baseline", "--file", str(file), "--prune", write("r.json", evidence(BAD))) == 0
    assert file.read_text("utf-8") == text


def test_a_demand_that_holds_now_is_taken_out(write: Write, command: Command, file: Path) -> None:
    kept = entry("lost-write")
    file.write_text(kept + entry("lost-write", "no unknown write retried"), encoding="utf-8")

    assert command("baseline", "--file", str(file), "--prune", write("r.json", evidence(BAD))) == 0
    assert file.read_text("utf-8") == kept


def test_it_is_shown_with_the_next_to_expire_first(command: Command, file: Path) -> None:
    file.write_text(entry("deadline") + entry("lost-write", days=-1), encoding="utf-8")

    assert command("baseline", "--file", str(file)) == 0
    yesterday, later = (TODAY + dt.timedelta(days=days) for days in (-1, 30))
    assert command.out.splitlines() == [
        f"{yesterday}  expired  shop on lost-write (a good end): why, #7",
        f"{later}  30 days left  shop on deadline (a good end): why, #7",
    ]


def test_an_empty_one_says_so(command: Command, file: Path) -> None:
    file.write_text("", encoding="utf-8")

    assert command("baseline", "--file", str(file)) == 0
    assert command.out == "nothing is known to fail\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "tripwire-baseline.toml: No such file or directory"),
        ("[[known", "tripwire-baseline.toml: it is no TOML"),
        (entry("no-such-case"), "there is no case 'no-such-case'"),
    ],
)
def test_what_is_no_baseline_is_wrong_usage(
    command: Command, file: Path, text: str | None, told: str
) -> None:
    if text is not None:
        file.write_text(text, encoding="utf-8")

    assert command("baseline", "--file", str(file)) == 2
    assert told in command.err


def test_there_is_no_way_to_accept_everything(command: Command) -> None:
    for option in ("--accept-all", "--update", "--add"):
        assert command("baseline", option) == 2


# -- the text


def parsed(text: str) -> tuple[object, ...]:
    return parse(text, today=TODAY, case_problem=lambda _: "", checks=CHECKS)


@given(st.sets(st.integers(0, 4)), st.sampled_from(["\n", "\r\n"]))
def test_everything_else_is_as_it_was(gone: set[int], end: str) -> None:
    parts = [entry(f"case-{number}") for number in range(5)]
    whole = (HEAD + "".join(parts)).replace("\n", end)
    entries = parse(whole, today=TODAY, case_problem=lambda _: "", checks=CHECKS)

    left = without(whole, [entries[number] for number in gone])

    kept = [part for number, part in enumerate(parts) if number not in gone]
    assert left == (HEAD + "".join(kept)).replace("\n", end)
    assert len(parsed(left)) == 5 - len(gone)


@pytest.mark.parametrize(
    "text",
    [
        f'known_failing = [{{agent="a",case="x",check="x",reason="r",issue="i",expires={TODAY}}}]',
        entry("x").replace('"why"', '"""\n[[known_failing]]\n"""'),
    ],
    ids=["inline", "in a text"],
)
def test_an_entry_that_cannot_be_told_from_the_rest_is_left_to_a_person(text: str) -> None:
    entries = parse(text, today=TODAY, case_problem=lambda _: "", checks=CHECKS)

    with pytest.raises(PruneError, match="by hand"):
        without(text, entries)
