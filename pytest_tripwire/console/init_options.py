"""The command line of `agent-tripwire init`."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec

SUMMARY = "write a first conftest.py and a test for the agent of a project"

_DESCRIPTION = """\
Write a conftest.py that plugs an agent in, a test that tries it on the standard cases, and, where
pytest has no configuration yet, a pytest.ini that makes a gate of it. They run as they are, with an
example for an agent, and are marked TODO where your own goes. Nothing that is there is changed:
what would have to be added to it is printed.
"""

_EPILOG = """\
The framework is the one that the project's own code imports, or that its dependency files name, or
else that is installed. NAME is one of openai-agents, langchain, pydantic-ai, adk, anthropic, mcp,
openai, or plain for a loop without any.

example:
  agent-tripwire init --dry-run
  agent-tripwire init --framework langchain services/support

exit status:
  0    written; with --dry-run, it would be
  1    conftest.py or test_tripwire.py was there already, and is as it was
  2    wrong usage: no such folder, or one that cannot be written to, or no such framework
"""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asks of `init`.

    Args:
        folder: of the project.
        framework: by its name; None for what is found.
        dry_run: whether to print only what would be written.
    """

    folder: Path
    framework: str | None = None
    dry_run: bool = False


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the command."""
    parser.description, parser.epilog = _DESCRIPTION, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", default=".", help="of the project (default: this)"
    )
    parser.add_argument("--framework", metavar="NAME", help="what the agent is written in")
    parser.add_argument(
        "--dry-run", action="store_true", help="print what would be written, and write nothing"
    )


def wanted(given: argparse.Namespace) -> Wanted:
    """What the user asks of `init`."""
    return Wanted(folder=Path(given.folder), framework=given.framework, dry_run=given.dry_run)
