"""How a file is cut into JSON values, and where it is said to be wrong."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_tripwire.replay.problem import Problem
from pytest_tripwire.replay.reading import Sizes, read, sources
from pytest_tripwire.replay.reading.values import Value, values

Make = Callable[..., Any]


def ids(found: list[Any]) -> list[str]:
    return [item.reason if isinstance(item, Problem) else item.id for item in found]


SHAPES = ["lines", "array", "long array", "one", "lines with gaps"]
#: A name that says lines is believed.
NO_LINES = {"runs.jsonl": {"long array"}}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        (name, shape)
        for name in ("runs.json", "runs.jsonl", "runs.txt")
        for shape in SHAPES
        if shape not in NO_LINES.get(name, ())
    ],
)
def test_the_content_decides_how_a_file_is_read(
    name: str, shape: str, recorded: Make, written: Make, items: Make
) -> None:
    runs = [recorded("a"), recorded("b")]
    text = {
        "lines": "\n".join(map(json.dumps, runs)),
        "lines with gaps": "\n\r\n" + "\r\n \n".join(map(json.dumps, runs)) + "\n\n",
        "array": json.dumps(runs),
        "long array": json.dumps(runs, indent=2),
        "one": json.dumps(runs[0], indent=2 if name != "runs.jsonl" else None),
    }[shape]
    found = ids(items(written(name, text)))

    assert found == (["a"] if shape == "one" else ["a", "b"])


def test_a_mark_at_the_beginning_is_passed_over(recorded: Make, written: Make, items: Make) -> None:
    text = b"\xef\xbb\xbf" + json.dumps(recorded("a")).encode()

    assert ids(items(written("a.json", text), written("b.jsonl", text))) == ["a", "a"]


def test_a_trace_knows_the_line_where_it_begins(recorded: Make, written: Make, items: Make) -> None:
    text = "\n[\n\n" + ",\n\n".join(json.dumps(recorded(each), indent=1) for each in "ab") + "]"
    length = len(json.dumps(recorded("a"), indent=1).splitlines())

    found = items(written("runs.json", text))

    assert [trace.line for trace in found] == [4, 4 + length + 1]


BROKEN = {
    "no JSON at all": (b"hello\n", 1, "no JSON: "),
    "half a line": (b'{"id": "a", "trace": [', None, "it ends in the middle"),
    "half an array": (b'[{"id": "a"}, ', None, "it ends in the middle"),
    "not a number": (b'{"id": NaN}', 8, "no JSON: "),
    "an infinite number": (
        b'{"id": "a", "trace": [{"tool": "x", "args": {"n": 1e999}}]}',
        None,
        "range",
    ),
    "half a character": (b'{"id": "\xff", "trace": []}', None, "no JSON: "),
    "half a pair": (b'{"id": "\\ud800", "trace": []}', 15, "no JSON: "),
    "an object too much": (b'{"id": "a"} {"id": "b"}', 13, "trailing"),
    "a number": (b"7", None, "Expected `object`"),
    "depth without end": (b'{"id": ' + b"[" * 100_000, None, "nested too deeply"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_one_broken_line_costs_no_other(
    broken: str, recorded: Make, written: Make, items: Make
) -> None:
    text, column, complaint = BROKEN[broken]
    good = json.dumps(recorded("a")).encode()

    problem, after = items(written("runs.jsonl", text.removesuffix(b"\n") + b"\n" + good))

    assert isinstance(problem, Problem)
    assert (problem.line, problem.column) == (1, column)
    assert complaint in problem.reason
    assert after.id == "a"


def test_an_error_deep_in_a_document_is_found_at_its_line(written: Make, items: Make) -> None:
    (problem,) = items(written("run.json", '{\n "id": "a",\n "trace": [oops]\n}'))

    assert (problem.line, problem.column) == (3, 12)
    assert problem.where.endswith("run.json:3:12")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "empty"),
        (b" \n\n\t\n", "empty"),
        (b"[]", "no trace in it"),
        (b"\x7fELF\0\0\0" * 10, "no text"),
        (b'{"name": "x"}', "neither a recorded run"),
        (b'{"resourceLogs": []}', "neither a recorded run"),
        (b'{"resourceSpans": []}', "none of its spans"),
    ],
)
@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_a_file_without_a_trace_is_a_problem(
    name: str, content: bytes, complaint: str, written: Make, items: Make
) -> None:
    (problem,) = items(written(name, content))

    assert complaint in problem.reason


def test_a_line_that_is_too_long_is_passed_over(recorded: Make, written: Make, items: Make) -> None:
    runs = [recorded("a"), recorded("long", calls=50), recorded("b")]
    path = written("runs.jsonl", runs)

    found = items(path, sizes=Sizes(line=1000))

    assert ids(found) == ["a", f"the line has more than {1000 / 2**20:g} MiB", "b"]
    assert found[1].line == 2


def test_a_first_line_that_is_too_long_is_passed_over_as_well(
    recorded: Make, written: Make, items: Make
) -> None:
    runs = [recorded("long", calls=50), recorded("b")]

    found = ids(items(written("runs.jsonl", runs), sizes=Sizes(line=1000)))

    assert ["MiB" in found[0], *found[1:]] == [True, "b"]


def test_each_line_may_be_an_array(recorded: Make, written: Make, items: Make) -> None:
    lines = "\n".join(json.dumps([recorded(each), recorded(each * 2)]) for each in "ab")

    assert ids(items(written("runs.json", lines))) == ["a", "aa", "b", "bb"]


def test_a_line_may_be_as_long_as_is_said(recorded: Make, written: Make, items: Make) -> None:
    line = json.dumps(recorded("a"))
    path = written("runs.jsonl", f"{line}\n{line}")

    assert ids(items(path, sizes=Sizes(line=len(line)))) == ["a", "a"]
    assert all("MiB" in each for each in ids(items(path, sizes=Sizes(line=len(line) - 1))))


def test_a_document_that_is_too_long_is_refused(recorded: Make, written: Make, items: Make) -> None:
    text = json.dumps(recorded("a", calls=9), indent=1)
    path = written("run.json", text)

    (problem,) = items(path, sizes=Sizes(document=len(text) - 1))

    assert "one trace per line" in problem.reason
    assert ids(items(path, sizes=Sizes(document=len(text)))) == ["a"]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("line", [200, 10**6])
def test_all_that_is_read_is_told(line: int, indent: int | None, recorded: Make) -> None:
    data = json.dumps(recorded("a", calls=99), indent=indent).encode() + b"\n"
    told: list[int] = []

    by_line = indent is None
    list(
        values(
            "x",
            io.BytesIO(data),
            by_line=by_line,
            sizes=Sizes(line=line),
            on_bytes=told.append,
        )
    )

    assert sum(told) == len(data)


def test_standard_input_is_read_like_a_file(recorded: Make, items: Make) -> None:
    lines = "\n".join(json.dumps(recorded(each)) for each in "ab").encode()

    found = items("-", stdin=lines)

    assert ids(found) == ["a", "b"]
    assert found[1].source == "<stdin>"
    assert ids(items("-", stdin=json.dumps([recorded("c")], indent=1).encode())) == ["c"]


def test_what_is_held_is_what_the_reference_says() -> None:
    assert (Sizes().line, Sizes().document) == (64 * 2**20, 512 * 2**20)


class TestSources:
    """Which files are read."""

    def test_a_folder_gives_its_files_in_order(
        self, recorded: Make, written: Make, items: Make, tmp_path: Path
    ) -> None:
        folders = [f"deep/{letter}/c.ndjson" for letter in "hgfedcba"]
        for name in ("b.json", "a.jsonl", *folders, "D.JSON", "notes.txt"):
            written(name, json.dumps(recorded(name)))

        assert ids(items(tmp_path)) == ["D.JSON", "a.jsonl", "b.json", *sorted(folders)]

    def test_a_folder_that_may_not_be_entered_is_a_problem(
        self,
        recorded: Make,
        written: Make,
        items: Make,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        written("in/a.json", recorded("a"))
        written("b.json", recorded("b"))
        scandir = os.scandir

        def forbidden(path: str) -> Any:
            if path.endswith("in"):
                raise PermissionError(13, "Permission denied", path)
            return scandir(path)

        monkeypatch.setattr(os, "scandir", forbidden)

        first, problem = items(tmp_path)

        assert first.id == "b"
        assert (problem.file[-2:], "Permission denied" in problem.reason) == ("in", True)

    def test_a_file_is_read_once_however_it_is_named(
        self, recorded: Make, written: Make, items: Make, tmp_path: Path
    ) -> None:
        path = written("a.json", recorded("a"))
        (tmp_path / "same.json").symlink_to(path)

        assert ids(items(path, tmp_path, path)) == ["a"]

    def test_links_in_a_ring_end(
        self, recorded: Make, written: Make, items: Make, tmp_path: Path
    ) -> None:
        written("in/a.json", recorded("a"))
        (tmp_path / "in" / "again").symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / "lost.json").symlink_to(tmp_path / "lost.json")

        first, second = items(tmp_path)

        assert {type(first), type(second)} == {Problem, type(first), type(second)}
        assert sorted(len(each) > 1 for each in ids([first, second])) == [False, True]

    def test_what_is_not_there_is_a_problem(
        self, recorded: Make, written: Make, items: Make, tmp_path: Path
    ) -> None:
        found = items(tmp_path / "no.json", written("a.json", recorded("a")))

        assert found[0].file.endswith("no.json")
        assert "No such file" in found[0].reason
        assert found[1].id == "a"

    def test_a_folder_without_a_file_is_a_problem(self, items: Make, tmp_path: Path) -> None:
        (problem,) = items(tmp_path)

        assert "*.jsonl" in problem.reason

    def test_a_file_that_breaks_off_is_a_problem(self, recorded: Make) -> None:
        class Torn(io.BytesIO):
            def readline(self, size: int | None = -1) -> bytes:
                if self.tell():
                    raise OSError(5, "Input/output error")
                return super().readline(size)

        torn = Torn(json.dumps(recorded("a")).encode() + b"\n{}")

        first, problem = read(sources(["-"]), stdin=torn)

        assert first.id == "a"
        assert "Input/output error" in problem.reason

    def test_a_name_that_is_no_text_can_be_told(
        self, recorded: Make, items: Make, tmp_path: Path
    ) -> None:
        name = os.fsencode(tmp_path) + b"/\xff.json"
        with open(name, "wb") as file:  # noqa: PTH123 - a name in bytes
            file.write(b"oops")

        (problem,) = items(tmp_path)

        assert problem.where.encode().endswith(b".json:1:1")


anything = st.binary(max_size=200) | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
).map(lambda value: json.dumps(value).encode())


@given(parts=st.lists(anything, max_size=5), by_line=st.booleans())
def test_no_file_breaks_the_reader(parts: list[bytes], *, by_line: bool) -> None:
    data = b"\n".join(parts)
    told: list[int] = []

    found = list(
        values("x", io.BytesIO(data), by_line=by_line, sizes=Sizes(), on_bytes=told.append)
    )

    assert all(isinstance(each, Value | Problem) for each in found)
    assert sum(told) <= len(data)


@given(st.lists(st.dictionaries(st.text(), st.integers()), min_size=1), st.sampled_from([None, 1]))
def test_values_are_the_same_in_an_array_and_on_lines(
    wanted: list[dict[str, int]], indent: int | None
) -> None:
    array = json.dumps(wanted, indent=indent).encode()
    lines = "\n".join(map(json.dumps, wanted)).encode()

    def read(data: bytes) -> list[Any]:
        found = values("x", io.BytesIO(data), by_line=False, sizes=Sizes(), on_bytes=lambda _: None)
        return [json.loads(each.data) for each in found if isinstance(each, Value)]

    assert read(array) == read(lines) == wanted
