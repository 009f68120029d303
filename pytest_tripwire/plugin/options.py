"""Command line options and ini values, and what is wrong with them."""

from __future__ import annotations

import argparse
from contextlib import suppress
from pathlib import Path

import pytest

#: What can be under test. The harness knows the same three; it is not loaded for this.
PROTECTIONS = ("harness", "production", "own")
DEFAULT_PROTECTION = "harness"
#: What cassettes may record, as the models' side knows it too.
RECORD_MODES = ("none", "once", "new_episodes", "all")
#: Options that name files to write.
OUTPUTS = ("--tripwire-report", "--tripwire-html")
#: Which model agents ask, as the harness knows them too.
MODELS = ("scripted", "cassette", "live")


def add(parser: pytest.Parser) -> None:
    """Declare them. Options are plain values, as xdist hands them to its workers."""
    group = parser.getgroup("tripwire", "tripwire: agents under hostile conditions")
    _add_gate(group)
    _add_files(group)
    _add_model(group)
    _add_ini(parser)


def _add_gate(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--tripwire-gate",
        dest="tripwire_gate",
        action="store_true",
        default=False,
        help="fail unless every declared agent is contained in every standard case; what was "
        "deselected, skipped or lost with a worker counts as not run",
    )
    group.addoption(
        "--tripwire-protection",
        dest="tripwire_protection",
        choices=PROTECTIONS,
        default=None,
        help="what is under test: the breaker that the harness supplies (harness, the default), "
        "your application's own, made by the fixture tripwire_breaker (production), or the agent's "
        "own protection, its tools unguarded (own)",
    )
    group.addoption(
        "--tripwire-repeat",
        dest="tripwire_repeat",
        type=int,
        metavar="N",
        default=1,
        help="try each cell N times, for agents that vary: all have to be contained",
    )


def _add_files(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--tripwire-report",
        dest="tripwire_report",
        metavar="PATH",
        default=None,
        help="write the cells and the verdict to this file, as JSON; `agent-tripwire gate` makes "
        "one verdict of several",
    )
    group.addoption(
        "--tripwire-html",
        dest="tripwire_html",
        metavar="PATH",
        default=None,
        help="write the cells, their timelines and the verdict to this file, as a page",
    )


def _add_model(group: pytest.OptionGroup) -> None:
    group.addoption(
        "--tripwire-record-mode",
        dest="tripwire_record_mode",
        choices=RECORD_MODES,
        default=None,
        help="what cassettes may record: nothing (none, the default where CI is set), everything "
        "if there is no cassette yet (once, the default elsewhere), what it does not hold "
        "(new_episodes), or everything anew (all)",
    )
    group.addoption(
        "--tripwire-model",
        dest="tripwire_model",
        choices=MODELS,
        default=None,
        help="which model the standard cases' agents ask: the scripted one (scripted, the "
        "default), a real one whose traffic is recorded once (cassette), or a real one at every "
        "run (live)",
    )


def _add_ini(parser: pytest.Parser) -> None:
    parser.addini(
        "tripwire_model",
        "which model the standard cases' agents ask: scripted or cassette",
        default="",
    )
    parser.addini(
        "tripwire_model_name",
        "the name of the real model, where one is asked",
        default="",
    )
    parser.addini(
        "tripwire_protection",
        "what is under test: " + ", ".join(PROTECTIONS) + "; the gate wants it declared",
        default="",
    )
    parser.addini(
        "tripwire_baseline",
        "the file that says which cells are known to fail; by default tripwire-baseline.toml in "
        "the root folder, if it is there",
        default="",
    )
    parser.addini(
        "tripwire_not_applicable",
        "cells that have no part in the agent, one a line: `agent: case, case`",
        type="linelist",
        default=[],
    )
    parser.addini(
        "tripwire_agents",
        "ids of the agents that the gate counts, one a line; by default those collected",
        type="linelist",
        default=[],
    )


def check(config: pytest.Config) -> None:
    """Raise UsageError (exit code 4) for a value that means nothing."""
    value = config.getini("tripwire_protection")
    if value and value not in PROTECTIONS:
        choices = ", ".join(PROTECTIONS)
        raise pytest.UsageError(f"ini tripwire_protection = {value!r}: choose from {choices}")
    if rounds(config) < 1:
        raise pytest.UsageError(f"--tripwire-repeat={rounds(config)}: give a number from 1 on")
    not_applicable(config)
    _check_paths(config)
    if config.getoption("tripwire_gate") and config.getoption("dist", default="no") == "each":
        raise pytest.UsageError(
            "--tripwire-gate with --dist=each: each worker runs every test, and the gate makes one "
            "verdict; use --dist=load, or a run for each"
        )
    _check_model(config)


def check_blocked(config: pytest.Config, plugin: str) -> None:
    """Raise UsageError where a gate is asked for and `plugin`, which makes it, is blocked."""
    if config.getoption("tripwire_gate"):
        raise pytest.UsageError(
            f"--tripwire-gate, and its plugin is blocked: take `-p no:{plugin}` out of the command "
            "line, addopts and PYTEST_ADDOPTS"
        )


def _check_paths(config: pytest.Config) -> None:
    given = {option: path for option in OUTPUTS if (path := output(config, option)) is not None}
    for option, path in given.items():
        if _is_folder(path):
            raise pytest.UsageError(f"{option}={path} is a folder: give the name of a file")
    if len(set(given.values())) < len(given):
        raise pytest.UsageError(f"{' and '.join(given)} name one file: give each its own")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def output(config: pytest.Config, option: str) -> Path | None:
    """The file that an option names, from where pytest was called; None without it."""
    return _file(config, config.option, option)


def _file(config: pytest.Config, given: argparse.Namespace, option: str) -> Path | None:
    name = getattr(given, option.lstrip("-").replace("-", "_"), None)
    return config.invocation_params.dir / name if name else None


def clear(config: pytest.Config) -> None:
    """Take away what an earlier run has written where this one will: if it does not come to its
    end, nobody is to take the one for the other. Devices, pipes and links are not an earlier run's.
    """
    for option in OUTPUTS:
        path = _file(config, config.known_args_namespace, option)
        # A name that no file can have is an error when it is written.
        with suppress(OSError):
            if path is not None and path.is_file() and not path.is_symlink():
                path.unlink()


def rounds(config: pytest.Config) -> int:
    """How often each cell is tried."""
    return int(config.getoption("tripwire_repeat"))


def not_applicable(config: pytest.Config) -> list[tuple[str, str]]:
    """(agent, case) of the cells that the project declares to have no part. Raises UsageError."""
    found = []
    for line in config.getini("tripwire_not_applicable"):
        agent, colon, cases = line.rpartition(":")
        names = [each.strip() for each in cases.split(",")]
        if not colon or not agent.strip() or not all(names):
            raise pytest.UsageError(
                f"ini tripwire_not_applicable has the line {line!r}: write `agent: case, case`"
            )
        found += [(agent.strip(), name) for name in names]
    return found


def _check_model(config: pytest.Config) -> None:
    value = config.getini("tripwire_model")
    if value == "live":
        raise pytest.UsageError(
            "ini tripwire_model = 'live': a real model is asked at every run only where the "
            "command line says so, with --tripwire-model=live"
        )
    if value and value not in MODELS:
        raise pytest.UsageError(f"ini tripwire_model = {value!r}: choose from scripted, cassette")
    if model(config) != "scripted" and not config.getini("tripwire_model_name"):
        raise pytest.UsageError(
            f"the model is to be {model(config)}, and nobody says which: set the ini value "
            "tripwire_model_name, such as gpt-5-mini"
        )


def model(config: pytest.Config) -> str:
    """Which model is asked."""
    said = config.getoption("tripwire_model") or config.getini("tripwire_model")
    return str(said or MODELS[0])


def protection(config: pytest.Config) -> str | None:
    """The protection that option or ini declare; None if neither does."""
    return config.getoption("tripwire_protection") or config.getini("tripwire_protection") or None


def require_xdist(config: pytest.Config, parser: pytest.Parser, args: list[str]) -> None:
    """Raise UsageError when workers are asked for and pytest-xdist is not there."""
    if config.pluginmanager.hasplugin("xdist"):
        return
    _, unknown = parser.parse_known_and_unknown_args(args)
    wanted = [each for each in unknown if each.startswith(("-n", "--numprocesses"))]
    if wanted:
        raise pytest.UsageError(
            f"{wanted[0]} asks for several workers, which needs pytest-xdist, and that is not "
            "loaded. Install it: pip install 'pytest-agent-tripwire[xdist]'"
        )
