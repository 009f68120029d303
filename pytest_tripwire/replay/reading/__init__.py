"""From paths to traces. `values` cuts files into JSON values, a `Format` makes traces of them."""

from pytest_tripwire.replay.reading.read import Grouping, formats, read
from pytest_tripwire.replay.reading.sources import STDIN, Source, sources
from pytest_tripwire.replay.reading.values import Sizes

__all__ = ["STDIN", "Grouping", "Sizes", "Source", "formats", "read", "sources"]
