"""The console command where its script is not on the path: `python -m pytest_tripwire`."""

from __future__ import annotations

import sys

from pytest_tripwire.cli import main

if __name__ == "__main__":
    sys.exit(main())
