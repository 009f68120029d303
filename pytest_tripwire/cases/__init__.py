"""The standard cases, one file each, all of one shape. `catalogue` lists them."""

from pytest_tripwire.cases.catalogue import (
    CASE_IDS,
    CATALOGUE_VERSION,
    UnknownCaseError,
    load_case,
)

__all__ = ["CASE_IDS", "CATALOGUE_VERSION", "UnknownCaseError", "load_case"]
