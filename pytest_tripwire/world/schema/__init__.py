"""JSON schemas of tools: made from signatures, filled with least values, held against values."""

from pytest_tripwire.world.schema.signature import parameters, summary
from pytest_tripwire.world.schema.smallest import SchemaError, smallest
from pytest_tripwire.world.schema.tool import Shape, name_of, shape_of
from pytest_tripwire.world.schema.validate import problems

__all__ = [
    "SchemaError",
    "Shape",
    "name_of",
    "parameters",
    "problems",
    "shape_of",
    "smallest",
    "summary",
]
