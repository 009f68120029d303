"""The scripted model as an object of a framework's own, asked in the agent's process. One file for
each framework, which is imported when it is asked for: nothing here needs any of them.
"""

from __future__ import annotations

from typing import Any

from pytest_tripwire.adapters import FRAMEWORKS, MissingFrameworkError, required
from pytest_tripwire.models.exchange import Exchange


def native(framework: str, exchange: Exchange) -> Any:
    """A model object of a framework, which `exchange` answers.

    Args:
        framework: one of those that tell of a `model` in `FRAMEWORKS`.
        exchange: decides the answers.

    Raises:
        MissingFrameworkError: it is not installed, or too old.
    """
    needs = FRAMEWORKS[framework]
    module = f"{__name__}.{framework}"
    what = f"task.model.{framework}()"
    return required(module, needs.model, needs.extra, what).model(exchange)


__all__ = ["MissingFrameworkError", "native"]
