"""The Agent Development Kit: its tools and agents with other bodies, and its agents guarded.

`native` and `cloning` are what plays the cases; the other modules are for production.
"""

from pytest_tripwire.adapters.adk.guarding import guarded
from pytest_tripwire.adapters.adk.native import adopt, definition, tools
from pytest_tripwire.adapters.adk.requests import StoppedError
from pytest_tripwire.adapters.adk.running import AskedError

__all__ = ["AskedError", "StoppedError", "adopt", "definition", "guarded", "tools"]
