"""Every store keeps what the protocol promises of denials and approvals."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from pytest_tripwire.ledger import Store
from pytest_tripwire.ledger.sql.bodies import handle
from pytest_tripwire.timeline import ApprovalNote, DenialNote


def denial(kind: str, resource: str, refused: int = 0) -> DenialNote:
    return DenialNote(
        kind=kind, resource=resource, rules=("r",), tool="t", intents=("i",), refused=refused
    )


def approval(call_id: str, **over: Any) -> ApprovalNote:
    values: dict[str, Any] = {"run_id": "run", "call_id": call_id, "intent": "i", "kind": "pay"}
    return ApprovalNote(**{**values, **over})


def test_denials_are_kept_one_for_each_kind_and_resource(store: Store) -> None:
    store.note_denials("run", [denial("pay", "a"), denial("pay", "b")])
    store.note_denials("other", [denial("pay", "a")])
    store.note_denials("run", [denial("send", "a"), denial("pay", "a", refused=2)])

    assert store.denials_of("run") == (
        denial("pay", "a", refused=2),
        denial("pay", "b"),
        denial("send", "a"),
    )

    store.note_denials("run", [])
    assert store.denials_of("run") == ()
    assert store.denials_of("other") == (denial("pay", "a"),)


def test_approvals_are_kept_one_for_each_call_whatever_its_id(store: Store) -> None:
    # Neither an index nor its compression makes it short.
    long = random.Random(1).randbytes(4000).hex()  # noqa: S311 -- no secret
    others = [long, f"{long}2", "\x00", "\ud800", "\x01", handle("\x00")]
    for each in ["1", *others]:
        store.keep_approval(approval(each))
    store.keep_approval(approval("2", run_id="other"))
    store.keep_approval(approval("1", granted=True, names=("n",), expires_at=2.5, left=3))

    assert store.approvals_of("run") == (
        approval("1", granted=True, names=("n",), expires_at=2.5, left=3),
        *map(approval, others),
    )
    assert store.approvals_of("none") == ()


def test_attempts_are_taken_from_what_is_granted_and_given_back(store: Store) -> None:
    store.keep_approval(approval("asked", left=5))
    store.keep_approval(approval("granted", granted=True, left=2))

    assert not store.use_approval("run", "none")
    assert not store.use_approval("run", "asked")
    assert not store.use_approval("run", "granted", 3)
    assert store.use_approval("run", "granted", 2)
    assert not store.use_approval("run", "granted")
    assert store.use_approval("run", "granted", -1)

    assert [each.left for each in store.approvals_of("run")] == [5, 1]


def test_no_attempt_is_taken_twice_by_any_number_of_threads(
    store: Store, at_once: Callable[..., list[Any]]
) -> None:
    store.keep_approval(approval("1", granted=True, left=5))

    taken = at_once(24, lambda _number: store.use_approval("run", "1"))

    assert taken.count(True) == 5
    assert store.approvals_of("run")[0].left == 0
