"""Arguments are seen to fit before a run is asked: what does not fit begins nothing."""

from __future__ import annotations

import json
from typing import Any

from pytest_tripwire.adapters.given import Given, without
from pytest_tripwire.adapters.reading import by_signature, read_as, signature_of, with_defaults
from pytest_tripwire.breaker.canonical import digest


def read(tool: Any, context: Any, raw: str, arguments: dict[str, Any], key: str | None) -> Given:
    """See that a call's arguments fit a tool made by `function_tool`, and tell what its function
    gets. What was prepared is kept for the call, so that the tool's own validators run once. Any
    other tool reads them itself, and nobody can tell where that ends and its work begins; of its
    schema only the defaults are known.

    Args:
        tool: the team's own.
        context: of the call.
        raw: the arguments as the model has sent them.
        arguments: the same, read.
        key: the argument that the breaker fills in, whatever the model has put there.

    Raises:
        ModelBehaviorError: they do not fit; the SDK's own, and with its words.
    """
    # The SDK has looked at them already where a policy of approval was shown them, and keeps only
    # what the tool gets as it was sent.
    if getattr(context, "_function_tool_arguments", None) is not None:
        return Given.unread(arguments)
    prepare = getattr(tool.on_invoke_tool, "prepare_arguments", None)
    inspected = None if prepare is None else prepare(raw, tool.name)
    if inspected is None:
        by_default = with_defaults(tool.params_json_schema, arguments)
        return read_as(arguments, without(key, by_default))
    # What is inspected for a policy tells no failure; its owner is what reads the arguments.
    if key is None:
        prepared = inspected.owner(raw, tool.name)
        context._function_tool_arguments = prepared  # noqa: SLF001 - as the SDK itself hands them on
    else:
        # Any key will do: the breaker's own is made when it lets the call through.
        prepared = inspected.owner(json.dumps({**arguments, key: digest(key)}), tool.name)
    taken = _by_function(tool, prepared, arguments)
    if taken is None:
        return Given.unread(arguments)
    return read_as(arguments, without(key, taken))


def _by_function(tool: Any, prepared: Any, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """What the function gets by name, but for the SDK's context, which no model is shown; None
    where that cannot be told.
    """
    function = getattr(tool, "__wrapped__", None)
    signature = None if function is None else signature_of(function)
    if signature is None:
        return None
    shown = tool.params_json_schema.get("properties", {})
    named = [each for each in signature.parameters.values() if each.name in shown]
    only = signature.replace(parameters=named)
    return by_signature(only, prepared.args, prepared.kwargs, arguments)
