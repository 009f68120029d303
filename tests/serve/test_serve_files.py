"""What `serve` writes for others: a file whole or not at all, and none in the place of a pipe."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_tripwire.serve import report
from pytest_tripwire.serve.files import written

Make = Callable[..., Any]
QUICK = ("--max-seconds", "0.01")


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text("utf-8")), daemon=True)
    reader.start()

    written(pipe, "whole")

    assert stat.S_ISFIFO(pipe.stat().st_mode)
    reader.join(timeout=10)
    assert heard == ["whole"]


def test_a_link_leads_to_what_is_written(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old", "utf-8")
    link.symlink_to(file)

    written(link, "new")

    assert link.is_symlink()
    assert file.read_text("utf-8") == "new"
    assert sorted(tmp_path.iterdir()) == [file, link]


def test_a_report_that_cannot_be_written_loses_no_judgement(typed: Make, tmp_path: Path) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "written", full)
        done = typed("lost-write", *QUICK, "--report", tmp_path / "verdict.json")

    assert done.status == 2
    assert "verdict.json cannot be written: No space left on device" in done.err
    assert done.err.rstrip().endswith("lost-write: inconclusive, answered")


def test_a_report_has_the_fields_that_the_page_names(typed: Make, tmp_path: Path) -> None:
    file = tmp_path / "verdict.json"
    page = Path(__file__).parents[2] / "docs" / "reference" / "serve.md"

    typed("lost-write", *QUICK, "--report", file)

    found = json.loads(file.read_text("utf-8"))
    section = page.read_text("utf-8").split("## Report")[1]
    missing = [name for name in (*found, *found["cell"]) if f"`{name}`" not in section]
    assert missing == []
