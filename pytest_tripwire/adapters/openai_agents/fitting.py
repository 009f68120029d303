"""Arguments are seen to fit before a run is asked: what does not fit begins nothing."""

from __future__ import annotations

import json
from typing import Any

from pytest_tripwire.breaker.canonical import digest


def check(tool: Any, context: Any, raw: str, arguments: dict[str, Any], key: str | None) -> None:
    """See that a call's arguments fit a tool made by `function_tool`. What was prepared is kept for
    the call, so that the tool's own validators run once. Any other tool reads them itself, and
    nobody can tell where that ends and its work begins.

    Args:
        tool: the team's own.
        context: of the call.
        raw: the arguments as the model has sent them.
        arguments: the same, read.
        key: the argument that the breaker fills in, whatever the model has put there.

    Raises:
        ModelBehaviorError: they do not fit; the SDK's own, and with its words.
    """
    # The SDK has looked at them already where a policy of approval was shown them.
    if getattr(context, "_function_tool_arguments", None) is not None:
        return
    prepare = getattr(tool.on_invoke_tool, "prepare_arguments", None)
    inspected = None if prepare is None else prepare(raw, tool.name)
    if inspected is None:
        return
    # What is inspected for a policy tells no failure; its owner is what reads the arguments.
    if key is None:
        prepared = inspected.owner(raw, tool.name)
        context._function_tool_arguments = prepared  # noqa: SLF001 - as the SDK itself hands them on
    else:
        # Any key will do: the breaker's own is made when it lets the call through.
        inspected.owner(json.dumps({**arguments, key: digest(key)}), tool.name)
