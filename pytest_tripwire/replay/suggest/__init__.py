"""Reads budgets off runs that went well: the tightest ones that would have stopped none of them."""

from pytest_tripwire.replay.suggest.collect import Collected, collect
from pytest_tripwire.replay.suggest.limits import Suggestion, suggestions
from pytest_tripwire.replay.suggest.text import as_toml
from pytest_tripwire.replay.suggest.use import Use, use_of
from pytest_tripwire.replay.suggest.verify import Verified, verify

__all__ = [
    "Collected",
    "Suggestion",
    "Use",
    "Verified",
    "as_toml",
    "collect",
    "suggestions",
    "use_of",
    "verify",
]
