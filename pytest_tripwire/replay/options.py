"""The command line of `agent-tripwire replay`: what can be asked for, and what it means."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

from pytest_tripwire.replay import tables
from pytest_tripwire.replay.budgets import Budgets, budgets_of
from pytest_tripwire.replay.declarations import specs_of
from pytest_tripwire.replay.reading import Grouping
from pytest_tripwire.replay.settings import Settings
from pytest_tripwire.timeline import Effect

SUMMARY = "feed recorded runs to a breaker and say where it would have stopped them, and why"

_DESCRIPTION = """\
Feed recorded runs to a breaker and say where it would have stopped them, and why.
Nothing is executed: no tool, no model, no network.
"""

_EPILOG = """\
formats (recognised by their content, mixed at will):
  recorded runs   a JSON object with `id` and `trace` for each run; one in a file, several
                  in an array, or one on each line
  OpenTelemetry   spans of the conventions for generative AI (`chat`, `execute_tool`,
                  `invoke_agent`) in OTLP JSON, as the collector's file exporter writes them
  Of a folder, *.json, *.jsonl and *.ndjson are read, with those of its subfolders.

examples:
  agent-tripwire replay runs/                        where would runs have been stopped?
  agent-tripwire replay --suggest runs/ > b.toml     budgets that fit these runs
  agent-tripwire replay --budget b.toml runs/        what would they have stopped?
  agent-tripwire replay --specs tools.toml spans.jsonl
  zcat spans.jsonl.gz | agent-tripwire replay --json -

files:
  --specs   [tools.issue_refund]         any field of ToolSpec, `effect` at least
            effect = "write"
            identity = ["order_id"]
  --budget  [budget]                     any field of RunBudget, for all runs; or
            [classes.research]           for the runs of one workflow class
            max_turns = 20
  Both may be the same file.

exit status:
  0    every run was replayed; with --check every labelled one as expected
  1    something could not be read or replayed, --check found a labelled run that went
       another way or found none at all, or --suggest found a run that its own budgets
       would stop
  2    wrong usage, of the command or of a file given with --specs or --budget
  130  interrupted from the keyboard
  141  nobody reads the output any more
"""


#: Of the margin: a hundred times what was seen bounds nothing any more.
_WIDEST = 100


class UsageError(ValueError):
    """Wrong usage; the message says what would do."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks for, checked.

    Args:
        paths: files and folders; `-` is standard input.
        settings: how to replay.
        budgets: limits by workflow class, None where none were given.
        grouping: which spans make one run.
        as_json: whether the report is JSON.
        check: whether a labelled run that goes another way is a failure.
        suggest: whether budgets are wanted instead of a report.
        margin: what is laid on top of what was seen, as a share.
        class_name: the workflow class of all runs, where the user names one.
        progress: whether a bar may be drawn.
    """

    paths: tuple[str, ...]
    settings: Settings = Settings()
    budgets: Budgets | None = None
    grouping: Grouping = Grouping.CONVERSATION
    as_json: bool = False
    check: bool = False
    suggest: bool = False
    margin: Decimal = Decimal("0.25")
    class_name: str | None = None
    progress: bool = True


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.description = _DESCRIPTION
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("paths", nargs="+", metavar="PATH", help="file or folder; - for stdin")
    _add_how(parser.add_argument_group("how to replay"))
    _add_what(parser.add_argument_group("what to print"))


def _add_how(group: Any) -> None:
    group.add_argument("--specs", metavar="FILE", help="declarations of tools (TOML)")
    group.add_argument(
        "--default-effect",
        choices=[each.value for each in Effect],
        help="what a tool does that neither --specs nor the trace declares; without it such "
        "runs are not replayed, as a guess would hide what is looked for",
    )
    group.add_argument(
        "--no-hints", action="store_true", help="leave out what traces declare about their tools"
    )
    group.add_argument(
        "--budget",
        metavar="FILE",
        help="limits (TOML); each one in it replaces that of the trace",
    )
    group.add_argument(
        "--class",
        dest="class_name",
        metavar="NAME",
        help="workflow class of all runs; by default each run's own, else `default`",
    )
    group.add_argument(
        "--group-by",
        choices=[each.value for each in Grouping],
        default=Grouping.CONVERSATION.value,
        help="which spans make one run: those of a conversation, where they name one "
        "(default), or those of a trace",
    )


def _add_what(group: Any) -> None:
    group.add_argument("--json", action="store_true", help="print JSON, for programs")
    group.add_argument(
        "--check",
        action="store_true",
        help="fail if a run that is labelled with `expect` went another way, or none is labelled",
    )
    group.add_argument(
        "--suggest",
        action="store_true",
        help="print the tightest budgets that stop none of these runs, by workflow class; "
        "runs that are labelled hostile are left out",
    )
    group.add_argument(
        "--margin",
        metavar="SHARE",
        help="what --suggest lays on top of the most that was seen: 0.25 (default) or 25%%",
    )
    group.add_argument("--no-progress", action="store_true", help="draw no bar on a terminal")


def wanted(given: argparse.Namespace) -> Wanted:
    """What the user asks for, with the files read that the options name.

    Raises:
        UsageError: for options that do not fit together, or a file that cannot be used.
    """
    _fitting(given)
    try:
        return _wanted(given)
    except tables.TableError as error:
        raise UsageError(str(error)) from None


def _wanted(given: argparse.Namespace) -> Wanted:
    content = _Files()
    budgets = budgets_of(content.of(given.budget), given.budget) if given.budget else None
    specs = specs_of(content.of(given.specs), given.specs) if given.specs else {}
    if budgets is not None and given.class_name is not None:
        budgets = Budgets(plain=budgets.picked(given.class_name))
    return Wanted(
        paths=tuple(given.paths),
        settings=Settings(
            hints=not given.no_hints,
            specs=specs,
            default_effect=Effect(given.default_effect) if given.default_effect else None,
        ),
        budgets=budgets,
        grouping=Grouping(given.group_by),
        as_json=given.json,
        check=given.check,
        suggest=given.suggest,
        margin=_margin(given.margin or "0.25"),
        class_name=given.class_name,
        progress=not given.no_progress,
    )


def _fitting(given: argparse.Namespace) -> None:
    """Demand that the options fit together."""
    wrong = [
        (given.suggest and given.json, "--suggest prints TOML; leave --json out"),
        (given.suggest and given.check, "--suggest leaves hostile runs out; leave --check out"),
        (given.suggest and given.budget, "--suggest makes budgets; leave --budget out"),
        (given.margin and not given.suggest, "--margin is for --suggest"),
        (
            given.class_name is not None and not (given.budget or given.suggest),
            "--class is for --budget, or for --suggest",
        ),
        (given.class_name == "", "--class wants a name"),
        (given.paths.count("-") > 1, "standard input can be read only once; give one -"),
    ]
    for is_wrong, what in wrong:
        if is_wrong:
            raise UsageError(what)


def _margin(text: str) -> Decimal:
    try:
        share = Decimal(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except InvalidOperation:
        share = Decimal(-1)
    if not (share.is_finite() and 0 <= share <= _WIDEST):
        raise UsageError(f"--margin {text}: this is no share, such as 0.25 or 25%")
    return share


class _Files:
    """Files that options name, each read once."""

    def __init__(self) -> None:
        self._read: dict[str, Mapping[str, Any]] = {}

    def of(self, path: str) -> Mapping[str, Any]:
        if path not in self._read:
            self._read[path] = tables.load(path)
        return self._read[path]
