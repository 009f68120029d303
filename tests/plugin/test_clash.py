"""Two distributions that own the plugin name `tripwire`, built as wheels and installed for real."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# An installation that holds nothing of the developer's environment but what pytest and we need.
NEEDED = ("pytest", "pluggy", "iniconfig", "packaging", "pygments", "msgspec")

OURS = "pytest_tripwire.plugin"
THEIRS = "tripwire.pytest_plugin"
USAGE_ERROR = int(pytest.ExitCode.USAGE_ERROR)

# Fails unless exactly the plugin named in the environment is active in the session.
PROBE = """
import os

def test_active(pytestconfig):
    registered = {getattr(p, "__name__", "") for p in pytestconfig.pluginmanager.get_plugins()}
    owners = {"pytest_tripwire.plugin", "tripwire.pytest_plugin"}
    assert registered & owners == set(os.environ["EXPECTED"].split())
"""


class Sites:
    """Site directories that can be put on the path in any order; the first owner of a name wins."""

    def __init__(self, needed: Path, ours: Path, theirs: Path, project: Path) -> None:
        self.ours = ours
        self.theirs = theirs
        self._needed = needed
        self._project = project

    def run(
        self, *sites: Path, args: str = "", expected: str = "", autoload: bool = True
    ) -> subprocess.CompletedProcess[str]:
        # Compiled once, as nothing on these paths is ever written anew.
        strange = ("PYTEST", "COVERAGE", "PYTHONDONTWRITEBYTECODE")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(strange)}
        env = kept | {
            "PYTHONPATH": os.pathsep.join(map(str, (self._needed, *sites))),
            "EXPECTED": expected,
        }
        if not autoload:
            env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        # Without `site` the environment's own packages and .pth files, an editable install of
        # this repository among them, are not on the path.
        command = [sys.executable, "-S", "-P", "-m", "pytest", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, *args.split()],
            cwd=self._project,
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Sites:
    base = tmp_path_factory.mktemp("clash")
    project = base / "project"
    project.mkdir()
    (project / "pytest.ini").write_text("[pytest]\n")
    (project / "test_probe.py").write_text(PROBE)
    return Sites(
        needed=_link_needed(base / "needed"),
        ours=_unpack(_build_ours(base / "dist"), base / "ours"),
        theirs=_unpack(_build_theirs(base / "dist"), base / "theirs"),
        project=project,
    )


def _link_needed(target: Path) -> Path:
    target.mkdir()
    for name in NEEDED:
        dist = distribution(name)
        tops = {file.parts[0] for file in dist.files or ()} - {"..", "__pycache__"}
        for top in tops:
            (target / top).symlink_to(Path(str(dist.locate_file(top))))
    return target


def _build_ours(target: Path) -> Path:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return next(target.glob("pytest_agent_tripwire-*.whl"))


def _build_theirs(target: Path) -> Path:
    info = "pytest_tripwire-0.21.1.dist-info"
    contents = {
        "tripwire/__init__.py": "",
        "tripwire/pytest_plugin.py": "",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: pytest-tripwire\nVersion: 0.21.1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[pytest11]\ntripwire = {THEIRS}\n",
    }
    record = "".join(f"{name},,\n" for name in (*contents, f"{info}/RECORD"))
    wheel = target / "pytest_tripwire-0.21.1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in (contents | {f"{info}/RECORD": record}).items():
            archive.writestr(name, text)
    return wheel


def _unpack(wheel: Path, target: Path) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    return target


@pytest.fixture(scope="module", params=["ours-first", "theirs-first"])
def both(sites: Sites, request: pytest.FixtureRequest) -> tuple[Path, Path]:
    if request.param == "ours-first":
        return sites.ours, sites.theirs
    return sites.theirs, sites.ours


@pytest.fixture(scope="module")
def plain(sites: Sites, both: tuple[Path, Path]) -> subprocess.CompletedProcess[str]:
    """A run with both installed, and without options."""
    return sites.run(*both)


def assert_passed(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout


def test_both_installed_is_a_usage_error(plain: subprocess.CompletedProcess[str]) -> None:
    assert_usage_error(plain)


@pytest.mark.parametrize("args", ["-p tripwire", ""])
def test_no_option_helps(sites: Sites, both: tuple[Path, Path], args: str) -> None:
    """Neither the name, nor one of ours: an option that theirs does not know, or the module that
    looks after the name where ours is loaded anyway.
    """
    ours = "-p tripwire_clash" if both[0] == sites.ours else "--tripwire-gate"
    assert_usage_error(sites.run(*both, args=args or ours))


def assert_usage_error(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == USAGE_ERROR, result.stdout + result.stderr
    assert result.stdout.strip() == ""
    assert result.stderr.startswith("ERROR: two installed pytest plugins are called `tripwire`:")
    assert "unrecognized arguments" not in result.stderr


def test_the_message_names_both_and_the_one_loaded(
    sites: Sites, both: tuple[Path, Path], plain: subprocess.CompletedProcess[str]
) -> None:
    message = plain.stderr

    loaded = OURS if both[0] == sites.ours else THEIRS
    assert f"{OURS} of pytest-agent-tripwire\n" in message
    assert f"{THEIRS} of pytest-tripwire\n" in message
    assert f"This time it loaded\n{loaded};" in message


def test_each_remedy_that_is_printed_works(
    sites: Sites, both: tuple[Path, Path], plain: subprocess.CompletedProcess[str]
) -> None:
    """Of the two, the one that takes what is not loaded by itself."""
    wanted = THEIRS if both[0] == sites.ours else OURS
    printed = re.findall(r"`(-p no:\S+ -p (\S+))`", plain.stderr)
    (remedy,) = [options for options, module in printed if module == wanted]

    assert len(printed) == 2
    assert_passed(sites.run(*both, args=remedy, expected=wanted))


def test_the_remedy_of_uninstalling_either_works(sites: Sites) -> None:
    assert_passed(sites.run(sites.ours, expected=OURS))
    assert_passed(sites.run(sites.theirs, expected=THEIRS))


def test_a_plugin_that_the_user_blocked_is_no_clash(sites: Sites) -> None:
    assert_passed(sites.run(sites.theirs, sites.ours, args="-p no:tripwire", expected=""))


@pytest.mark.parametrize("autoload", [True, False])
def test_ours_alone_loads_by_name(sites: Sites, *, autoload: bool) -> None:
    assert_passed(sites.run(sites.ours, args="-p tripwire", expected=OURS, autoload=autoload))


def test_a_stranger_that_holds_the_name_is_a_clash(sites: Sites, tmp_path: Path) -> None:
    info = tmp_path / "stranger-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[pytest11]\ntripwire = strange\n")
    (tmp_path / "strange.py").write_text("")

    result = sites.run(tmp_path, sites.ours)

    assert result.returncode == USAGE_ERROR
    assert "strange of stranger\n" in result.stderr


def test_a_known_rival_that_gave_the_name_up_is_no_clash(sites: Sites, tmp_path: Path) -> None:
    info = tmp_path / "pytest_tripwire-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pytest-tripwire\nVersion: 1\n")
    points = "[pytest11]\nrenamed = strange\n[console_scripts]\ntripwire = strange:main\n"
    (info / "entry_points.txt").write_text(points)
    (tmp_path / "strange.py").write_text("")

    assert_passed(sites.run(sites.ours, tmp_path, expected=OURS))


def test_the_wheel_holds_the_package_only(sites: Sites) -> None:
    tops = {path.name for path in sites.ours.iterdir()}

    assert {top for top in tops if not top.endswith(".dist-info")} == {"pytest_tripwire"}
