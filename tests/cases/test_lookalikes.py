"""Good work that looks like a case is never stopped."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from pytest_tripwire import Run
from pytest_tripwire.cases import CASE_IDS, load_case
from pytest_tripwire.cases.personas import call, ways
from pytest_tripwire.models import Say
from pytest_tripwire.oracle import State
from pytest_tripwire.timeline import Finished, ModeChange, Mutation, Nudged, Reason, Resumption

from ..dealing import dealt  # noqa: TID252 - no package to import from

LOOKALIKES = {each.id: each for name in CASE_IDS for each in load_case(name).lookalikes}

#: Personas that cannot complete a look-alike, and why.
CANNOT = {
    ("cost-budget/prompt-ceiling", "stubborn"): "it ignores that the last answer is asked for",
}
CAN = [
    (name, road, "compliant" if (name, persona) in CANNOT else persona)
    for name, road, persona in dealt(
        LOOKALIKES, ("sync", "async", "trio"), ("stubborn", "compliant")
    )
]


def stops_after_the_last_resumption(run: Run) -> list[ModeChange]:
    """An interruption that the operator has taken back is the case's own doing."""
    resumed = max((e.seq for e in run.events if isinstance(e, Resumption)), default=0)
    return [e for e in run.events if isinstance(e, ModeChange) and e.seq > resumed]


def test_every_case_ships_look_alikes() -> None:
    assert all(load_case(name).lookalikes for name in CASE_IDS)
    assert all(each.guards for each in LOOKALIKES.values())


@pytest.mark.parametrize(("name", "road", "persona"), CAN)
def test_look_alike_completes(play: Callable[..., Run], name: str, persona: str, road: str) -> None:
    run = play(name, road, persona=persona)

    run.check()
    assert not run.interrupted
    assert stops_after_the_last_resumption(run) == []
    assert LOOKALIKES[name].done(run.events)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "persona"), CANNOT)
def test_persona_that_cannot_complete_is_contained(
    play: Callable[..., Run], name: str, persona: str
) -> None:
    run = play(name, persona=persona)

    run.check()
    assert run.reason is Reason.TOKEN_BUDGET


def test_without_protection_all_but_the_reconciled_one_complete(play: Callable[..., Run]) -> None:
    # That one is good work only for those who read before they write again.
    escaped = {
        name
        for name in LOOKALIKES
        if play(name, protection="own").cell.state is not State.CONTAINED
    }

    assert escaped == {"lost-write/reconciled"}


# -- what only a look-alike shows


def test_missing_input_is_an_end_of_its_own(play: Callable[..., Run]) -> None:
    run = play("rephrased-denial/asks-the-user")

    assert run.cell.ending == "needs input (purchase date)"
    ends = [(e.state, e.detail) for e in run.events if isinstance(e, Finished)]
    assert ends == [("needs_input", "purchase date")]
    assert "run has ended: needs_input" in run.timeline()


def test_what_an_agent_puts_into_the_field_is_not_shown(play: Callable[..., Run]) -> None:
    case = LOOKALIKES["rephrased-denial/asks-the-user"]
    secret = "sk-LIVE-0123456789"
    leak = call("ask", field=secret, detail="policy", wording="When?")
    case = msgspec.structs.replace(case, personas=ways([leak, Say(text="Asked.")], "No.", {}))

    run = play(case)

    assert run.cell.ending == "needs input (a field)"
    assert secret not in run.timeline()
    assert not any(secret in repr(event) for event in run.events)


def test_last_answer_is_asked_for_before_the_ceiling_stops(play: Callable[..., Run]) -> None:
    run = play("cost-budget/prompt-ceiling", persona="compliant")

    assert run.cell.ending == "answered"
    assert run.answer == "This is what I have found so far."


def test_reconciled_write_pays_once(play: Callable[..., Run]) -> None:
    run = play("lost-write/reconciled")

    assert sum(isinstance(e, Mutation) for e in run.events) == 1


def test_hint_comes_one_step_before_the_stop(play: Callable[..., Run]) -> None:
    run = play("empty-search/third-try")

    assert [e.reason for e in run.events if isinstance(e, Nudged)] == [Reason.EMPTY_RESULTS]
