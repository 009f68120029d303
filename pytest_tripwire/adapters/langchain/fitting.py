"""Arguments of a call as a tool of the framework's gets them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from pytest_tripwire.adapters.given import Given, without
from pytest_tripwire.adapters.reading import by_model, read_as, with_defaults

#: Stands for the breaker's own key, which nobody has before the call is decided about.
_KEY = "0" * 32
#: What the framework makes of `*args` and `**kwargs`, and hands over only if it was sent.
_REST = ("args", "kwargs")


def read(tool: Any, sent: dict[str, Any], key: str | None) -> Given:
    """The arguments as the framework hands them to a tool: validated by its model, without what the
    model that calls is not shown. A schema as JSON is not looked at by the framework; of that the
    defaults alone are known. Where they do not fit they stay as they were sent.

    Args:
        tool: carries the call out; None for one that the node does not have.
        sent: as the model has sent them.
        key: the argument that the breaker fills in.
    """
    model = None if tool is None else _model_of(tool)
    if isinstance(model, Mapping):
        return read_as(sent, without(key, with_defaults(model, sent)))
    if model is None:
        return Given.unread(sent)
    stands_in = sent if key is None else {**sent, key: _KEY}
    try:
        taken = by_model(model.model_validate(copy.deepcopy(stands_in)))
    except Exception:  # noqa: BLE001 - a validator may raise anything, and will once more
        return Given.unread(sent)
    found = {name: value for name, value in taken.items() if name in sent or name not in _REST}
    return read_as(sent, without(key, found))


def _model_of(tool: Any) -> Any:
    """What validates the arguments that a model is shown. The tool's own has its validators too;
    where the framework puts arguments in, which nobody has yet, it is the model without these.
    """
    shown: Any = tool.tool_call_schema
    if isinstance(shown, Mapping):
        return shown
    if not hasattr(shown, "model_validate"):
        return None  # a model of Pydantic's first version
    own = tool.get_input_schema()
    same = set(getattr(own, "model_fields", ())) == set(shown.model_fields)
    return own if same else shown
