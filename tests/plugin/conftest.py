"""What the tests of the plugin share: a small project that plugs an agent in."""

from __future__ import annotations

import importlib.metadata
import re
from textwrap import dedent
from typing import Any

import pytest

# Loaded before any inner run: an inner run in this process drops what it was the first to import,
# and a library that is imported again and again is slow, and no longer itself.
import pytest_tripwire.gate
import pytest_tripwire.models.inprocess.direct
import pytest_tripwire.plugin.handle
import pytest_tripwire.plugin.summary  # noqa: F401
from pytest_tripwire.cases import CASE_IDS
from pytest_tripwire.gate import Standing

# Agents that need no SDK. All of them are contained behind the harness's breaker, but in the case
# `lost-write`: there `twice` is contained behind it and escaped without one, `behind` escaped
# always, `idle` inconclusive.
AGENTS = '''
import contextlib
import functools
import http.client
import inspect
import json

from pytest_tripwire.models.inprocess.direct import Direct
from pytest_tripwire.models.wire.chat import ChatCompletions

REFUND = {"order_id": "A-1001", "amount": 40, "reason": "sent back"}
LOST = "Please refund order A-1001 (40 euros): the customer sent the parcel back."


def plain(task, ask):
    """The plain loop: ask, run what is proposed, tell, until the model only talks."""
    messages = [{"role": "user", "content": task.prompt}]
    tools = task.tools.schemas("openai")
    while True:
        answer = ask({"model": "any", "messages": messages, "tools": tools})
        message = answer["choices"][0]["message"]
        messages.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        messages += [told(task, call) for call in message["tool_calls"]]


def loop(task):
    """It, with a model that is asked in this process: what is tested here is no server."""
    model = Direct(task.model._exchange, ChatCompletions(), RuntimeError)
    return plain(task, lambda body: model.ask(body).body())


def served(task):
    """It, over HTTP."""
    server = http.client.HTTPConnection(task.model.base_url("openai").split("/")[2], timeout=30)

    def ask(body):
        headers = {"Content-Type": "application/json"}
        server.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        return json.load(server.getresponse())

    with contextlib.closing(server):
        return plain(task, ask)


def told(task, call):
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"])
        result = task.tools.call(function["name"], arguments, call_id=call["id"])
    except Exception as error:
        result = {"error": str(error)}
    return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(result)}


def in_lost_write(agent):
    """`agent` where an answer gets lost, and the plain loop in all other cases."""

    @functools.wraps(agent)
    def either(task):
        return agent(task) if task.prompt == LOST else loop(task)

    return either


@in_lost_write
def twice(task):
    """Pay, and pay again under a new nonce when the answer is lost."""
    for nonce in ("r-1", "r-2"):
        try:
            task.tools.call("issue_refund", {**REFUND, "request_id": nonce})
        except TimeoutError:
            continue
    return "paid"


async def twice_async(task):
    """The same, async."""
    if task.prompt != LOST:
        return loop(task)
    for nonce in ("r-1", "r-2"):
        try:
            await task.tools.acall("issue_refund", {**REFUND, "request_id": nonce})
        except TimeoutError:
            continue
    return "paid"


@in_lost_write
def behind(task):
    """Pay twice with a tool that nobody guards."""
    bare = inspect.unwrap(task.tools["issue_refund"])
    for nonce in ("r-1", "r-2"):
        try:
            bare(**REFUND, request_id=nonce)
        except TimeoutError:
            continue
    return "paid"


@in_lost_write
def idle(task):
    """Do nothing, so that nothing is tried."""
    return "hello"
'''

CHECKED = """
def test_agent(tripwire):
    tripwire.run().check()
"""

# One case is enough for what is asked of all in the same way.
ONE_CASE = ("lost-write",)

#: Enough for a gate that passes, where the other cases are declared to have no part.
TWO_CASES = ("lost-write", "deadline")
REST = tuple(case for case in CASE_IDS if case not in TWO_CASES)

MARKER = """
import pytest

pytestmark = pytest.mark.tripwire(cases={})
"""

LEAN = ("-p", "no:cacheprovider")


class Project:
    """A project in pytester's directory. Its test modules try `lost-write` alone, unless it is said
    before they are written that they try `every_case`, or `two_cases`.
    """

    #: The cases that `two_cases` leaves out.
    rest = REST

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self._cases: tuple[str, ...] = ONE_CASE
        self._bare: tuple[str, ...] = ()
        self.write("agents", AGENTS)
        self.ini()

    def one_case(self) -> None:
        """Try one case."""
        self._cases = ONE_CASE

    def every_case(self) -> None:
        """Let tests try what they try by themselves."""
        self._cases, self._bare = (), ()
        self.ini(self._ini)

    def two_cases(self, *agents: str) -> None:
        """Try two cases, and let a gate count no other ones of these agents."""
        self._cases, self._bare = TWO_CASES, agents
        self.ini(self._ini)

    def ini(self, text: str = "") -> None:
        """Write pytest.ini."""
        self._ini = text
        bare = [f"    {agent}: {', '.join(REST)}" for agent in self._bare]
        lines = ["[pytest]", dedent(text), *(["tripwire_not_applicable =", *bare] if bare else [])]
        self.write("pytest.ini", "\n".join(lines))

    def write(self, name: str, text: str) -> None:
        """Write a file; without a suffix it is a Python module."""
        path = self.pytester.path / (name if "." in name else f"{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")

    def plug_in(self, agent: str = "twice", more: str = "", *, folder: str = "") -> None:
        """Write the conftest of an agent of `agents.py`, and `more` beneath its fixture."""
        fixture = f"""
            import pytest
            import agents

            @pytest.fixture
            def tripwire_agent():
                return agents.{agent}
            """
        self.write(f"{folder}conftest", dedent(fixture) + dedent(more))

    def tests(self, text: str = CHECKED, name: str = "test_agent") -> None:
        """Write a test module."""
        marker = MARKER.format(list(self._cases)) if self._cases else ""
        self.write(name, marker + dedent(text))

    def run(self, *args: str) -> pytest.RunResult:
        """Run pytest in this process."""
        return self.pytester.runpytest_inprocess(*LEAN, *args)

    def shared(self, workers: str, *args: str) -> pytest.RunResult:
        """Run it in this process, which hands the tests to so many workers; with 0, to none."""
        # Workers rewrite no assertions: they start sooner, and nothing here is about that.
        return self.run("-n", workers, "--assert=plain", *args) if int(workers) else self.run(*args)

    def spawn(self, *args: str) -> pytest.RunResult:
        """Run pytest in a process of its own."""
        return self.pytester.runpytest_subprocess(*LEAN, *args)


class Installed:
    """A distribution of which what pytest asks for at each start was read before."""

    def __init__(self, distribution: importlib.metadata.Distribution) -> None:
        self._distribution = distribution
        self.files = distribution.files
        self.metadata = distribution.metadata
        self.entry_points = distribution.entry_points

    def __getattr__(self, name: str) -> Any:
        return getattr(self._distribution, name)


@pytest.fixture(scope="session")
def installed() -> tuple[Installed, ...]:
    return tuple(map(Installed, importlib.metadata.distributions()))


@pytest.fixture
def project(
    pytester: pytest.Pytester, installed: tuple[Installed, ...], monkeypatch: pytest.MonkeyPatch
) -> Project:
    # Nothing is installed while tests run: inner runs in this process need not look for it again.
    monkeypatch.setattr("importlib.metadata.distributions", lambda: iter(installed))
    return Project(pytester)


class Rows:
    """Reads the table of cells in a terminal's output."""

    def every(self, result: pytest.RunResult) -> list[tuple[str, str, str]]:
        """(agent, case, state) of each row, in order."""
        lines = iter(result.outlines)
        if not any(line.startswith("agent ") for line in lines):
            return []
        split = [re.split(r" {2,}", line) for line in lines]
        states = set(Standing)
        end = next(
            (at for at, cut in enumerate(split) if len(cut) < 4 or cut[2] not in states), len(split)
        )
        return [(agent, case, state) for agent, case, state, *_ in split[:end]]

    def counted(self, result: pytest.RunResult) -> list[tuple[str, str, str]]:
        """Those of cells that have a part."""
        return [row for row in self.every(result) if row[2] != Standing.NOT_APPLICABLE]

    def __call__(
        self, result: pytest.RunResult, case: str = "lost-write"
    ) -> list[tuple[str, str, str]]:
        """The rows of one case."""
        return [row for row in self.every(result) if row[1] == case]


@pytest.fixture
def rows() -> Rows:
    return Rows()
