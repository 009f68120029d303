"""Recordings of real model traffic, without its secrets. vcrpy is loaded when one is opened."""

from pytest_tripwire.models.cassettes.cassette import Cassette
from pytest_tripwire.models.cassettes.errors import CassetteDivergence, CassetteError
from pytest_tripwire.models.cassettes.modes import RecordMode, default_mode, read_mode

__all__ = [
    "Cassette",
    "CassetteDivergence",
    "CassetteError",
    "RecordMode",
    "default_mode",
    "read_mode",
]
