"""Arguments of a call as a tool of the kit's gets them."""

from __future__ import annotations

import copy
from typing import Any

from google.adk.tools import FunctionTool

from pytest_tripwire.adapters.adk.native import definition
from pytest_tripwire.adapters.given import Given, without
from pytest_tripwire.adapters.reading import read_as, with_defaults


def read(tool: Any, sent: dict[str, Any], key: str | None) -> Given:
    """The arguments as the kit hands them to a tool's function. It leaves a text a text where a
    number is wanted, unless its own flag says otherwise, and so does this.

    Args:
        tool: the team's own.
        sent: as the model has sent them.
        key: the argument that the breaker fills in.
    """
    taken = _by_function(tool, sent) if isinstance(tool, FunctionTool) else None
    if taken is None and not isinstance(tool, FunctionTool):
        taken = with_defaults(definition(tool)["parameters"], sent)
    return Given.unread(sent) if taken is None else read_as(sent, without(key, taken))


def _by_function(tool: Any, sent: dict[str, Any]) -> dict[str, Any] | None:
    """What a function gets by name; None where the kit would not call it, or cannot tell."""
    known = tool._spec  # noqa: SLF001 - the kit tells it nowhere else
    if not known.has_signature:
        return None
    taken, errors = tool._preprocess_args_with_validation(  # noqa: SLF001 - the same
        copy.deepcopy(sent)
    )
    if errors:
        return None
    put_in = tool._ignore_params  # noqa: SLF001 - the same
    parameters = {
        name: each for name, each in known.signature.parameters.items() if name not in put_in
    }
    defaults = {
        name: each.default for name, each in parameters.items() if each.default is not each.empty
    }
    return {**defaults, **{name: value for name, value in taken.items() if name in parameters}}
