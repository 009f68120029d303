"""The layers of the package, as `[tool.importlinter]` in pyproject.toml declares them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINT = """
import sys
from importlinter.cli import lint_imports
sys.exit(lint_imports(no_cache=True, no_logo=True))
"""


def test_no_layer_imports_a_higher_one() -> None:
    # A process of its own: import-linter reads its configuration from the working directory.
    result = subprocess.run(
        [sys.executable, "-c", LINT], cwd=ROOT, capture_output=True, text=True, check=False
    )

    if result.returncode != 0:
        pytest.fail(result.stdout + result.stderr, pytrace=False)
