"""The fixture and the marker `tripwire_cassette`: one cassette for each test, judged at its end."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from pytest_tripwire.models import ModelServer, Say
from pytest_tripwire.plugin.cassettes import file_name

pytest.importorskip("vcr")
# Inner runs forget what they are the first to import.
for name in ("pytest_tripwire.models.cassettes.recorder", "pytest_tripwire.models.cassettes.files"):
    importlib.import_module(name)

CLIENT = """
import http.client
import json
import os

KEY = "own-planted-0123456789abcdefXYZ"


def ask(prompt="hello"):
    host = os.environ["PROVIDER"]
    connection = http.client.HTTPConnection(host, timeout=20)
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], "user": KEY}
    headers = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
    answer = json.load(connection.getresponse())["choices"][0]["message"]["content"]
    connection.close()
    return answer


def swallowed(prompt="hello"):
    try:
        return ask(prompt)
    except Exception:
        return "sorry"
"""

SHOWN = "cassettes/test_it/test_one.yaml"

ONE = """
from client import ask

def test_one(tripwire_cassette):
    assert ask() == "There is nothing more to do."
"""


class Nobody:
    """Binds nothing: the stand-in for a provider proposes no tools."""

    def tool_name(self, role: str) -> str:
        raise LookupError(role)

    def arguments(self, role: str, slots: Mapping[str, Any]) -> dict[str, Any]:
        raise LookupError(role)


@pytest.fixture(autouse=True)
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """The provider that the inner tests ask; no build, so that they may record."""
    with ModelServer(
        script=lambda _: Say(text="hello"), binder=Nobody(), observe=lambda _: None
    ) as server:
        monkeypatch.setenv("PROVIDER", server.base_url("openai").split("/")[2])
        monkeypatch.delenv("CI", raising=False)
        yield server


@pytest.fixture
def inner(project: Any) -> Any:
    project.write("client", CLIENT)
    return project


@pytest.fixture
def write(inner: Any) -> Callable[[str], None]:
    return lambda text: inner.write("test_it", text)


def files(inner: Any) -> list[str]:
    folder: Path = inner.pytester.path
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.yaml"))


def test_a_test_is_recorded_once_and_played_when_the_provider_is_down(
    inner: Any, write: Callable[[str], None], provider: ModelServer
) -> None:
    write(ONE)

    inner.run().assert_outcomes(passed=1)
    asked = provider.requests
    provider.stop()
    inner.run().assert_outcomes(passed=1)

    assert asked == 1
    assert files(inner) == ["cassettes/test_it/test_one.yaml"]
    assert "planted" not in (inner.pytester.path / files(inner)[0]).read_text("utf-8")


def test_the_marker_alone_does(
    inner: Any, write: Callable[[str], None], provider: ModelServer
) -> None:
    write(
        """
        import pytest
        from client import ask

        @pytest.mark.parametrize("prompt", [
            pytest.param("a", marks=pytest.mark.tripwire_cassette), "b"
        ])
        def test_one(prompt, request):
            ask(prompt)
            assert ("tripwire_cassette" in request.fixturenames) is (prompt == "a")
        """
    )

    inner.run().assert_outcomes(passed=2)
    inner.run().assert_outcomes(passed=2)

    assert files(inner) == ["cassettes/test_it/test_one-a.yaml"]
    assert provider.requests == 3


def test_every_test_has_a_file_of_its_own(inner: Any, write: Callable[[str], None]) -> None:
    write(
        """
        import pytest
        from client import ask

        pytestmark = pytest.mark.tripwire_cassette

        class TestA:
            @pytest.mark.parametrize("x", ["gpt-5", "a/b", "A/b", "../../etc"])
            def test_one(self, x):
                ask(x)

        @pytest.mark.tripwire_cassette(path="recorded/shared.yaml")
        def test_two():
            ask("two")
        """
    )

    inner.run().assert_outcomes(passed=5)

    found = files(inner)
    assert [re.sub(r"-[0-9a-f]{8}\.", "-#.", name) for name in found] == sorted([
        "cassettes/test_it/TestA.test_one-gpt-5.yaml",
        "cassettes/test_it/TestA.test_one-a-b-#.yaml",
        "cassettes/test_it/TestA.test_one-A-b-#.yaml",
        "cassettes/test_it/TestA.test_one-..-..-etc-#.yaml",
        "recorded/shared.yaml",
    ])  # fmt: skip
    assert len({name.lower() for name in found}) == 5


@pytest.mark.parametrize(
    ("one", "other"),
    [("t[a/b]", "t[a-b]"), ("t[A]", "t[a]"), ("t[" + "x" * 300 + "]", "t[" + "x" * 301 + "]")],
)
def test_names_that_would_come_to_the_same_stay_apart(one: str, other: str) -> None:
    names = [file_name(one), file_name(other)]

    assert len({name.lower() for name in names}) == 2
    assert all(re.fullmatch(r"[\w.-]{1,120}", name) for name in names)


def test_a_divergence_fails_the_test_though_the_agent_swallowed_it(
    inner: Any, write: Callable[[str], None]
) -> None:
    write("from client import *\ndef test_one(tripwire_cassette):\n    swallowed('hello')\n")
    inner.run().assert_outcomes(passed=1)
    write(
        "from client import *\ndef test_one(tripwire_cassette):\n    swallowed('a word too much')\n"
    )

    result = inner.run()

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        f"E   *CassetteDivergence: {SHOWN}: request 1 of the agent is not what was recorded: "
        "`messages[[]0].content` differs from recorded request 1 *"
    )
    result.stdout.no_fnmatch_line("*a word too much in*")


def test_a_divergence_that_fails_the_test_is_told_once(
    inner: Any, write: Callable[[str], None]
) -> None:
    write(ONE)
    inner.run().assert_outcomes(passed=1)
    write(ONE.replace("ask()", "ask('other')"))
    inner.run().assert_outcomes(failed=1)
    write(
        """
        from client import ask

        def test_one(tripwire_cassette):
            try:
                ask("other")
            except Exception as error:
                raise ConnectionError from error
        """
    )

    inner.run().assert_outcomes(failed=1)


SHARING = """
import pytest
from client import ask

@pytest.mark.tripwire_cassette(path="cassettes/shared.yaml")
@pytest.mark.parametrize("prompt", ["one", "two"])
def test_one(prompt):
    ask(prompt)
"""


def test_a_file_of_two_tests_is_replaced_by_neither(
    inner: Any, write: Callable[[str], None], provider: ModelServer
) -> None:
    write(SHARING)
    inner.run("--tripwire-record-mode=new_episodes").assert_outcomes(passed=2)

    result = inner.run("--tripwire-record-mode=all")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(
        ["E*cassettes/shared.yaml is test_it.py::test_one?one?'s too, and record mode*file each*"]
    )
    assert provider.requests == 3


def test_neither_key_nor_prompt_is_in_the_report_of_a_divergence(
    inner: Any, write: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("""
        import os
        from client import ask

        def test_one(tripwire_cassette):
            ask(os.environ["PROMPT"])
    """)
    monkeypatch.setenv("PROMPT", "hello")
    inner.run().assert_outcomes(passed=1)
    monkeypatch.setenv("PROMPT", "confidential")

    result = inner.run("--junitxml=junit.xml")

    result.assert_outcomes(failed=1)
    told = result.stdout.str() + (inner.pytester.path / "junit.xml").read_text("utf-8")
    assert "`messages[0].content` differs" in told
    assert "confidential" not in told
    assert "planted" not in told


def test_a_divergence_behind_another_failure_is_told_too(
    inner: Any, write: Callable[[str], None]
) -> None:
    write(ONE)
    inner.run().assert_outcomes(passed=1)
    write(
        "from client import *\ndef test_one(tripwire_cassette):\n    assert swallowed('x') == 'y'\n"
    )

    inner.run().assert_outcomes(failed=1, errors=1)


def test_one_request_too_many_fails_and_one_too_few_only_if_asked(
    inner: Any, write: Callable[[str], None]
) -> None:
    def times(number: int, marker: str = "") -> str:
        text = f"""
            import pytest
            from client import swallowed
            {marker}
            def test_one(tripwire_cassette):
                for _ in range({number}):
                    swallowed()
                assert tripwire_cassette.requests == {number}
            """
        return dedent(text)

    write(times(2))
    inner.run().assert_outcomes(passed=1)
    write(times(3))
    more = inner.run()
    more.assert_outcomes(passed=1, errors=1)
    more.stdout.fnmatch_lines(["*request 3 of the agent is one more than was recorded*holds 2*"])

    write(times(1))
    inner.run().assert_outcomes(passed=1)
    write(times(1, "@pytest.mark.tripwire_cassette(strict=True)"))
    fewer = inner.run()
    fewer.assert_outcomes(passed=1, errors=1)
    fewer.stdout.fnmatch_lines(["*the agent made 1 requests, and never the recorded 2.*"])


ENDS = """
    @pytest.mark.parametrize("n", range(4))
    def test_one(n, tripwire_cassette):
        ask(f"prompt {n}")
        if n == 0:
            assert False
        if n == 1:
            raise KeyError
        if n == 2:
            pytest.skip("enough")
        pytest.xfail("bad")
"""


def test_what_a_test_that_did_not_pass_recorded_is_not_kept(
    inner: Any, write: Callable[[str], None], provider: ModelServer
) -> None:
    text = f"import pytest\nfrom client import ask\n{dedent(ENDS)}"
    write(text)
    inner.run().assert_outcomes(failed=2, skipped=1, xfailed=1)
    assert files(inner) == []
    assert list(inner.pytester.path.rglob("*.tmp")) == []

    write(text.partition("    if n == 0")[0] + "    ask('and the rest')\n")
    inner.run().assert_outcomes(passed=4)
    inner.run().assert_outcomes(passed=4)
    assert provider.requests == 4 * 3


def test_a_failed_setup_keeps_nothing(inner: Any, write: Callable[[str], None]) -> None:
    write(
        """
        import pytest
        from client import ask

        @pytest.fixture
        def agent(tripwire_cassette):
            ask()
            raise KeyError

        def test_one(agent):
            pass
        """
    )

    inner.run().assert_outcomes(errors=1)

    assert files(inner) == []


def test_a_build_records_nothing_unless_told_to(
    inner: Any, write: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, provider: ModelServer
) -> None:
    monkeypatch.setenv("CI", "true")
    write(ONE)

    result = inner.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [f"E   *CassetteError: {SHOWN}: request 1 of the agent has no answer: there is no*"]
    )
    assert provider.requests == 0

    inner.run("--tripwire-record-mode=once").assert_outcomes(passed=1)
    inner.run().assert_outcomes(passed=1)
    assert provider.requests == 1


def test_the_command_line_outweighs_the_marker(
    inner: Any, write: Callable[[str], None], provider: ModelServer
) -> None:
    write(f"import pytest\npytestmark = pytest.mark.tripwire_cassette(record_mode='none')\n{ONE}")

    inner.run().assert_outcomes(failed=1)
    inner.run("--tripwire-record-mode=all").assert_outcomes(passed=1)
    inner.run("--tripwire-record-mode=all").assert_outcomes(passed=1)
    inner.run().assert_outcomes(passed=1)

    assert provider.requests == 2


WRONG = {
    "'x.yaml'": "it takes names only",
    "paths='x'": "unexpected keyword argument 'paths'",
    "path=1": "path is no path",
    "strict='yes'": "strict is neither True nor False",
    "ignore=[1]": "ignore has more in it than names of fields",
    "record_mode='some'": "record mode 'some': choose from none, once, new_episodes, all",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_a_marker_that_is_written_wrongly_says_how(
    arguments: str, inner: Any, write: Callable[[str], None]
) -> None:
    write(f"import pytest\npytestmark = pytest.mark.tripwire_cassette({arguments})\n{ONE}")

    result = inner.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"E   *CassetteError: *{WRONG[arguments]}*"])


def test_fields_named_in_the_marker_may_differ(
    inner: Any, write: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    inner.write("client", CLIENT.replace('"user": KEY', '"seed": os.environ["SEED"]'))
    marked = f"import pytest\npytestmark = pytest.mark.tripwire_cassette(ignore='seed')\n{ONE}"
    write(marked)
    monkeypatch.setenv("SEED", "1")
    inner.run().assert_outcomes(passed=1)
    monkeypatch.setenv("SEED", "2")

    inner.run().assert_outcomes(passed=1)
    write(ONE)
    result = inner.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E   *`seed` differs from recorded request 1*"])


def test_a_broken_cassette_is_an_error_and_left_alone(
    inner: Any, write: Callable[[str], None], provider: ModelServer
) -> None:
    write(ONE)
    inner.write("cassettes/test_it/test_one.yaml", "services: {}\n")

    result = inner.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["E   *cassettes/test_it/test_one.yaml is no cassette, or a broken*"]
    )
    left = (inner.pytester.path / "cassettes/test_it/test_one.yaml").read_text("utf-8")
    assert left == "services: {}\n"
    assert provider.requests == 0


def test_workers_record_and_play_each_their_own(
    inner: Any, write: Callable[[str], None], provider: ModelServer
) -> None:
    pytest.importorskip("xdist")
    write(
        """
        import pytest
        from client import ask

        @pytest.mark.tripwire_cassette
        @pytest.mark.parametrize("n", range(6))
        def test_one(n):
            ask(f"prompt {n}")
        """
    )

    assert inner.shared("2").ret == 0
    asked = provider.requests
    provider.stop()
    inner.run("--tripwire-record-mode=none").assert_outcomes(passed=6)

    assert asked == 6
    assert len(files(inner)) == 6


def test_the_scripted_model_is_asked_inside_a_cassette_as_ever(inner: Any, rows: Any) -> None:
    inner.plug_in("served")
    agents = inner.pytester.path / "agents.py"
    agents.write_text(agents.read_text("utf-8").replace('"any"', "task.model.name"), "utf-8")
    inner.tests("def test_agent(tripwire, tripwire_cassette):\n    tripwire.run().check()\n")

    result = inner.run("--tripwire-record-mode=none")

    assert [row[2] for row in rows(result)] == ["contained"]
    assert files(inner) == []
