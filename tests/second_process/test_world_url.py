"""What `serve` tells an application of the world, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from pytest_tripwire import Harness, Options, Task
from pytest_tripwire.serve.facts import Facts
from pytest_tripwire.timeline import Dispatch, ModelRequest


@contextmanager
def told_of(task: Task) -> Iterator[Callable[..., Any]]:
    facts = Facts()
    facts.tell_of(task)

    def ask(how: str = "", method: str = "GET") -> Any:
        data = b"" if method == "POST" else None
        request = Request(f"{facts.url}{how}", data, method=method)  # noqa: S310
        with urlopen(request) as reply:  # noqa: S310 - a server of the test's own
            return json.load(reply)

    try:
        yield ask
    finally:
        facts.close()


def test_it_tells_of_time_and_of_versions_and_leaves_no_trace() -> None:
    told = []

    def agent(task: Task) -> None:
        with told_of(task) as ask:
            told.append([ask(), ask("?wait=30", "POST"), ask("?version_of=A-1001")])
            told[-1].append(ask("?version_of=A-9"))

    run = Harness("stale-resume", agent, options=Options(protection="own")).run()

    assert told == [
        [
            {"now": begun},
            {"now": begun + 30},
            {"now": begun + 30, "version": version},
            {"now": begun + 30, "version": None},
        ]
        for begun, version in ((0, "1"), (30, "2"))
    ]
    assert not any(isinstance(each, Dispatch | ModelRequest) for each in run.events)


@pytest.mark.parametrize(
    ("how", "method", "status"),
    [
        ("?wait=-1", "POST", 400),
        ("?wait=nan", "POST", 400),
        ("?wait=soon", "POST", 400),
        ("", "POST", 400),
        ("/elsewhere", "GET", 404),
    ],
)
def test_what_it_cannot_tell_is_turned_down(how: str, method: str, status: int) -> None:
    def agent(task: Task) -> None:
        with told_of(task) as ask:
            with pytest.raises(HTTPError) as turned_down:
                ask(how, method)
            assert turned_down.value.code == status
            # While the server is still there to send it.
            assert json.load(turned_down.value)["error"]
        assert task.clock.now() == 0

    run = Harness("lost-write", agent, options=Options(protection="own")).run()

    assert run.error is None, run.error
