"""The command line of `agent-tripwire records`."""

from __future__ import annotations

import argparse
from typing import Any, TypeAlias

import msgspec

from pytest_tripwire.console.records import help_texts
from pytest_tripwire.replay.options import UsageError
from pytest_tripwire.timeline import Reason, WriteStatus

SUMMARY = help_texts.SUMMARY
#: Names the store where `--store` does not; a password in it is in no list of processes.
VARIABLE = "AGENT_TRIPWIRE_STORE"
_MOST = 50


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """Show records in a table; see `Wanted` of the store for the filters."""

    open_only: bool = True
    tenant: str | None = None
    workflow: str | None = None
    reason: Reason | None = None
    most: int = _MOST
    as_json: bool = False


class Showing(msgspec.Struct, frozen=True, kw_only=True):
    """Show one record wholly."""

    run: str
    as_json: bool = False


class Resolving(msgspec.Struct, frozen=True, kw_only=True):
    """Say what became of a write. Without `write` it is the only unsettled one."""

    run: str
    status: WriteStatus
    write: str | None = None
    result_id: str | None = None
    operator: str | None = None


class Closing(msgspec.Struct, frozen=True, kw_only=True):
    """End an interruption. Without `token_version` whatever version the record has."""

    run: str
    operator: str | None = None
    token_version: int | None = None


class Counting(msgspec.Struct, frozen=True, kw_only=True):
    """Count interruptions by what became of them."""

    as_json: bool = False


class HandingOver(msgspec.Struct, frozen=True, kw_only=True):
    """Print the line by which an application takes a run up."""

    run: str
    read_only: bool = False
    operator: str | None = None


What: TypeAlias = Listing | Showing | Resolving | Closing | Counting | HandingOver


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks of `records`.

    Args:
        what: the sub-command and its own options.
        store: the address of the store; None where the environment names it.
    """

    what: What
    store: str | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the sub-commands of `records` and their options."""
    _describe(parser, "")
    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True)
    for name, declare in _DECLARED.items():
        one = kinds.add_parser(name, help=help_texts.SHORT[name], allow_abbrev=False)
        _describe(one, name)
        declare(one)
        one.add_argument(
            "--store", metavar="URL", help=f"address of the store (default: ${VARIABLE})"
        )


def _describe(parser: argparse.ArgumentParser, name: str) -> None:
    parser.description = help_texts.DESCRIPTIONS[name]
    parser.epilog = help_texts.EPILOGS.get(name, help_texts.STATUSES)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter


def _list(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--open", action="store_true", help="those that are not over (default)")
    which.add_argument("--all", action="store_true", help="those that are over too")
    parser.add_argument("--tenant", metavar="NAME", help="on whose behalf")
    parser.add_argument("--workflow", metavar="NAME", help="workflow and version, as refunds@4")
    parser.add_argument(
        "--reason", metavar="REASON", choices=[each.value for each in Reason], help="why"
    )
    parser.add_argument(
        "--most", metavar="N", type=_number, default=_MOST, help="how many (default: %(default)s)"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")


def _show(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object, for programs")


def _resolve(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument(
        "write", metavar="WRITE", nargs="?", help="key of the write, or how it begins; may be left "
        "out where one write is unsettled",
    )  # fmt: skip
    parser.add_argument(
        "--as",
        dest="status",
        required=True,
        choices=[WriteStatus.CONFIRMED.value, WriteStatus.REJECTED.value],
        help="confirmed: it has happened. rejected: it has not, and will not",
    )
    parser.add_argument("--result-id", metavar="ID", help="stable id of what was written")
    _add_operator(parser)


def _close(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    _add_operator(parser)
    parser.add_argument(
        "--token-version",
        metavar="N",
        type=_number,
        help="of the record that you have seen: refuse if somebody has taken it up since",
    )


def _stats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object a line, for programs")


def _resume_token(parser: argparse.ArgumentParser) -> None:
    _add_run(parser)
    parser.add_argument("--read-only", action="store_true", help="to go on without writing")
    _add_operator(parser)


_DECLARED = {
    "list": _list,
    "show": _show,
    "resolve": _resolve,
    "close": _close,
    "stats": _stats,
    "resume-token": _resume_token,
}


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="id of the run, or how it begins")


def _add_operator(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--operator", metavar="NAME", help="who you are (default: the user of the machine)"
    )


def wanted(given: argparse.Namespace) -> Wanted:
    """What the user asks of `records`.

    Raises:
        UsageError: for options that do not fit together.
    """
    return Wanted(what=_what(given), store=given.store or None)


def _what(given: Any) -> What:
    match given.what:
        case "list":
            return Listing(
                open_only=not given.all,
                tenant=given.tenant,
                workflow=given.workflow,
                reason=Reason(given.reason) if given.reason else None,
                most=given.most,
                as_json=given.json,
            )
        case "show":
            return Showing(run=given.run, as_json=given.json)
        case "resolve":
            return _resolving(given)
        case "close":
            return Closing(
                run=given.run, operator=given.operator, token_version=given.token_version
            )
        case "stats":
            return Counting(as_json=given.json)
        case _:
            return HandingOver(run=given.run, read_only=given.read_only, operator=given.operator)


def _resolving(given: Any) -> Resolving:
    status = WriteStatus(given.status)
    if status is WriteStatus.REJECTED and given.result_id is not None:
        raise UsageError("--result-id is for --as confirmed: what did not happen has no id")
    return Resolving(
        run=given.run,
        write=given.write,
        status=status,
        result_id=given.result_id,
        operator=given.operator,
    )


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9 or int(text) < 1:  # noqa: PLR2004 - what any store can count
        raise argparse.ArgumentTypeError(f"{text[:20]!r} is no number from 1 on")
    return int(text)
